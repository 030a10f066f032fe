package hostexec

// changeRules alter a host. Not here, and so out of reach for everyone: flint
// -nofs, -allow_psid_change, --clear_semaphore, --ignore_dev_data,
// --override_cache_replacement, sg, hw, erase, bb; opensm -r and deletion of
// guid2lid; writes with mcra and mst*write; mlxfwmanager --online; sminfo -p;
// clearing of counters; openibd force-restart.
var changeRules = []rule{
	// Subnet manager and services.
	{"systemctl", Change, "--no-block start|stop|restart|try-restart|reload|reload-or-restart|enable|disable <svcunit>..."},
	{"systemctl", Change, "--now enable|disable <svcunit>..."},
	{"systemctl", Change, "+-s:hup --kill-who:name --kill-whom:name kill <smunit>"},
	{"systemctl", Change, "daemon-reload"},
	{"systemctl", Change, "reboot"},
	{"/etc/init.d/opensmd", Change, "start|stop|restart|reload"},
	{"/etc/init.d/openibd", Change, "start|stop|restart"},

	// Driver. Firmware is never part of a driver installation.
	{"own:mlnxofedinstall", Change, "+--without-fw-update --add-kernel-support --skip-repo --force --check-deps-only --skip-unsupported-devices-check --kernel:word --kernel-sources:rpath --distro:word --tmpdir:own -k:word -s:rpath"},
	{"ofed_uninstall.sh /usr/sbin/ofed_uninstall.sh", Change, "--force"},
	{"/opt/mellanox/doca/tools/doca-kernel-support doca-kernel-support", Change, ""},
	{"dnf yum", Change, "+-y -q --exclude:package --allowerasing --disablerepo:word --enablerepo:word install|remove|reinstall|downgrade|upgrade <package>..."},
	{"dnf yum", Change, "-y -q --exclude:package localinstall|install <pkgfile>..."},
	{"dnf yum", Change, "-q clean all"},
	{"apt-get", Change, "+-y -q -qq --allow-downgrades --no-install-recommends --reinstall install|remove|purge <package>..."},
	{"apt-get", Change, "-q -qq update"},
	{"apt-get", Change, "+-y -q autoremove"},
	{"zypper", Change, "+-n --non-interactive --allow-unsigned-rpm -y install|remove <package>..."},
	{"zypper", Change, "-n refresh"},
	{"rpm", Change, "-v -h --replacepkgs --oldpackage +-U <pkgfile>..."},
	{"rpm", Change, "-v -h --replacepkgs +-i <pkgfile>..."},
	{"dpkg", Change, "+-i <pkgfile>..."},
	{"tar", Change, "+-x -z -j -f:pkgfile -C:own --strip-components:num"},
	{"tar", Change, "-xzf:pkgfile -xf:pkgfile +-C:own --strip-components:num"},
	{"modprobe", Change, "-r -v <rdmamod>..."},
	{"depmod", Change, "-a"},
	{"dracut", Change, "-f --force"},
	{"update-initramfs", Change, "-u -k:word"},
	{"mst", Change, "start|stop|restart"},

	// Firmware, by an exact device and an image of our own.
	{"flint mstflint", Change, "+-d:mdev --device:mdev +-i:image --image:image +-y --yes --log:own burn|b"},
	{"flint mstflint", Change, "+-d:mdev --device:mdev ri <own>"},
	{"mlxfwreset mstfwreset", Change, "+-d:mdev +-y --yes -l:num --level:num -t:num --type:num --sync:num -m:num --method:num reset|r"},
	{"mlxconfig mstconfig", Change, "+-d:mdev +-y --yes set|s <nvassign>..."},
	{"mlxconfig mstconfig", Change, "+-d:mdev -f:own --file:own backup"},

	// Addresses, interrupts, memory.
	{"nmcli", Change, "-t -w:num con|connection add|modify|mod <nmword>..."},
	{"nmcli", Change, "-t -w:num con|connection up|down|delete|reload [nmword] [nmword]"},
	{"ip", Change, "link set [dev] <dev> up|down"},
	{"ip", Change, "link set dev <dev> mtu <num>"},
	{"tee", Change, "<knob>"},
	{"sysctl", Change, "+-w <sysassign>..."},
	{"sysctl", Change, "-p:wpath -q"},
	{"set_irq_affinity_bynode.sh", Change, "<num> <dev>"},
	{"set_irq_affinity.sh", Change, "<dev>"},
	{"set_irq_affinity_cpulist.sh", Change, "<word> <dev>"},

	// Files of our own and the configuration files we manage.
	{"mkdir", Change, "-p -m:num <wpath>..."},
	{"cp", Change, "-p -a <wpath> <wpath>"},
	{"mv", Change, "-f <own> <wpath>"},
	{"rm", Change, "-f <own>..."},
	{"rmdir", Change, "<own>..."},

	// Taking a host out of service and back.
	{"scontrol", Change, "update <nodesel> <nodestate> [reason]"},
	{"kubectl", Change, "cordon|uncordon <name>"},
	{"kubectl", Change, "--ignore-daemonsets --delete-emptydir-data --timeout:duration --grace-period:num drain <name>"},

	// Load on the fabric.
	{"ib_write_bw ib_send_bw ib_read_bw ib_write_lat ib_send_lat ib_read_lat", Change,
		"-d:dev -i:num -p:num -s:num -n:num -D:num -q:num -Q:num -t:num -x:num -m:num -S:num -b -a -F -R -c:name -z -l:num -N --report_gbits --report-both --out_json --out_json_file:own --use_cuda:num --perform_warm_up --connection:name --ib-dev:dev --ib-port:num --port:num --size:num --duration:num --qp:num --gid-index:num [host]"},
	{"own:ibperf ibperf", Change, "-listen:ibperf -peer:ibperf -device:dev -port:num -gid:num -sizes:ibperf -size:num -qps:num -duration:duration -iterations:num -bidirectional -json -op:name -numa:num -timeout:duration [ibperf]..."},
}
