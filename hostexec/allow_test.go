package hostexec

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func words(s string) []string { return strings.Fields(s) }

func TestEveryRuleCompiles(t *testing.T) {
	table, err := compiled()
	if err != nil {
		t.Fatal(err)
	}
	if len(table) < 100 {
		t.Fatalf("only %d programs in the table", len(table))
	}
}

// Each look command of the fact sheet, in the form operations use it.
func TestLookCommandsAreAllowed(t *testing.T) {
	for _, line := range []string{
		"hostname", "hostname -f", "uname -rm", "uptime", "date +%s", "lspci -D -nn -d 15b3:", "lspci -vvv -s 0000:3b:00.0",
		"ibstat", "ibstat mlx5_0", "ibstat mlx5_0 1", "ibstat -p", "ibstatus", "ibv_devinfo -v", "ibv_devinfo -d ibp0s12f4 -i 1",
		"rdma link show", "rdma -j link show", "rdma -j dev show", "rdma resource show", "rdma -j statistic show link mlx5_0/1",
		"ibdev2netdev -v", "show_gids", "ip -d link show dev ib0", "ip -d link", "ip -j addr show", "iblinkinfo -l", "iblinkinfo --switches-only",
		"ibnetdiscover", "ibnetdiscover --cache /var/lib/fabricbot/fabric.cache", "ibnetdiscover --diff /var/lib/fabricbot/fabric.cache",
		"ibhosts", "ibswitches", "sminfo", "sminfo 4", "sminfo -C mlx5_0 -P 1", "saquery", "saquery -s", "saquery -N", "saquery NR 5",
		"smpquery nodeinfo 4", "smpquery portinfo 4 1", "smpquery -D nodeinfo 0,1", "perfquery", "perfquery -x 4 1", "perfquery -G 0x0002c902009a2b3a 1",
		"ibqueryerrors -c -r --details", "ibqueryerrors --data", "ibportstate 4 1", "ibportstate -C mlx5_0 -P 1 -D 0 1", "ibportstate 4 1 query",
		"ibroute 4", "ibtracert 4 7", "ibaddr", "ethtool -i ib0", "ethtool -S ib0", "ethtool -m eth2", "flint -d 0000:3b:00.0 q full", "mstflint -d mlx5_0 query",
		"flint -i /var/lib/fabricbot/images/fw-28.bin v", "mlxfwmanager --query", "mlxconfig -d 0000:3b:00.0 q", "mlxconfig -d /dev/mst/mt4129_pciconf0 -e q LINK_TYPE_P1",
		"mlxlink -d mlx5_0 -m -c -e --show_fec --show_device", "mstlink -d 3b:00.0 -p 1", "mget_temp -d 3b:00.0", "mlxfwreset -d 3b:00.0 query", "ofed_info -s",
		"modinfo mlx5_core", "modinfo -F version mlx5_core", "lsmod", "dkms status", "systemctl is-active openibd", "systemctl status opensm.service --no-pager",
		"systemctl cat opensm", "systemctl show -p ActiveState,MainPID opensm@0x0002c902009a2b3a", "/etc/init.d/openibd status", "/etc/init.d/opensmd status",
		"cat /proc/interrupts", "cat /proc/irq/120/smp_affinity_list", "cat /sys/class/infiniband/mlx5_0/ports/1/counters/port_rcv_data",
		"grep -s -H . /sys/class/infiniband/mlx5_0/ports/1/state /sys/class/infiniband/mlx5_0/ports/1/rate", "grep -r -s . /sys/class/infiniband/mlx5_0/ports/1/counters",
		"cat /etc/os-release", "cat /etc/opensm/opensm.conf", "cat /var/log/opensm.log", "tail -n 200 /var/log/opensm.0x10001.log", "cat /proc/sys/kernel/random/boot_id",
		"stat -c %s:%Y /etc/opensm/partitions.conf", "sha256sum /etc/rdma/rdma.conf", "test -e /sys/class/infiniband", "readlink -f /sys/class/infiniband/mlx5_0", "ls -1 /sys/class/infiniband",
		"squeue -h -w node001 -o %i", "sinfo -h -N -n node[001-004] -o %t", "scontrol show node node001 -o", "kubectl get nodes -o json", "journalctl -k -n 200 --no-pager", "dmesg -T",
		"numactl --hardware", "numactl -N 0 hostname", "timeout 30 iblinkinfo -l", "apt-get -s install doca-ofed",
	} {
		class, err := Classify(words(line))
		if err != nil || class != Look {
			t.Errorf("%s: %v, %v; want look", line, class, err)
		}
	}
}

func TestChangeCommandsAreClassedChange(t *testing.T) {
	for _, line := range []string{
		"systemctl restart opensm", "systemctl stop opensmd.service", "systemctl reload opensm@0x0002c902009a2b3a", "systemctl kill -s HUP opensm",
		"/etc/init.d/opensmd restart", "/etc/init.d/openibd restart", "systemctl reboot", "apt-get -y install doca-ofed", "dnf -y install doca-ofed",
		"/var/lib/fabricbot/driver/mlnxofedinstall --without-fw-update --add-kernel-support --skip-repo",
		"flint -d 0000:3b:00.0 -i /var/lib/fabricbot/images/fw-28.43.2026.bin --yes burn", "flint --device 0000:3b:00.0 --image /var/lib/fabricbot/images/a.bin -y b",
		"mlxfwreset -d 0000:3b:00.0 --level 3 -y reset", "nmcli con add type infiniband con-name ib0 ifname ib0 ipv4.method manual", "tee /proc/irq/120/smp_affinity_list",
		"sysctl -w vm.nr_hugepages=1024", "scontrol update nodename=node001 state=drain", "scontrol update NodeName=node001 State=RESUME", "kubectl drain node001 --ignore-daemonsets",
		"ib_write_bw -d mlx5_0 -F -D 10 -q 2 -s 1048576 --report_gbits 10.0.0.2", "numactl -N 1 -m 1 ib_write_bw -d mlx5_0", "/var/lib/fabricbot/bin/ibperf -json -device mlx5_0",
	} {
		class, err := Classify(words(line))
		if err != nil || class != Change {
			t.Errorf("%s: %v, %v; want change", line, class, err)
		}
	}
	if class, err := Classify([]string{"scontrol", "update", "nodename=n1", "state=drain", "reason=firmware, run 12 (planned)"}); err != nil || class != Change {
		t.Errorf("drain with reason: %v, %v", class, err)
	}
}

// What the fact sheet keeps out of the bot, and a sample of attempts to slip past the table.
func TestDeniedCommandsHaveNoDoor(t *testing.T) {
	for _, line := range []string{
		"flint -d 3b:00.0 -i /var/lib/fabricbot/images/a.bin -y -nofs burn", "flint -nofs -d 3b:00.0 -i /var/lib/fabricbot/images/a.bin -y b",
		"flint -d 3b:00.0 -i /var/lib/fabricbot/images/a.bin -y -allow_psid_change burn", "flint -d 3b:00.0 --clear_semaphore", "flint -d 3b:00.0 --ignore_dev_data -i /var/lib/fabricbot/images/a.bin -y b",
		"flint -d 3b:00.0 --override_cache_replacement q", "flint -d 3b:00.0 sg", "mstflint -d 3b:00.0 hw set X=1", "flint -d 3b:00.0 erase 0x1000", "flint -d 3b:00.0 bb",
		"flint -d 3b:00.0 -i /tmp/x.bin -y burn", "flint -d 3b:00.0 -i /var/lib/fabricbot/../x.bin -y burn",
		"opensm -r", "opensm -B", "mcra 3b:00.0 0x10 1", "mlxfwmanager --online -u", "mlxfwmanager --query --online", "mlxfwmanager -u", "mstmwrite 3b:00.0 0 1",
		"sminfo -s 3", "sminfo -p 15", "sminfo 4 -p 15", "sminfo -a 1", "perfquery -r", "perfquery -R", "ibqueryerrors -k", "ibqueryerrors -K", "ibqueryerrors --clear-errors",
		"ibportstate 4 1 disable", "ibportstate 4 1 reset", "ibportstate 4 1 speed 1", "ibportstate 4 1 width 1", "mlxlink -d mlx5_0 -a DN", "mlxlink -d mlx5_0 --pc", "mlxlink -d mlx5_0 -s 100G",
		"mlxlink -d mlx5_0 --test_mode EN", "ibdiagnet --pc -o /var/lib/fabricbot/d", "ibdiagnet -r", "rm -f /var/cache/opensm/guid2lid", "rm -f /var/lib/fabricbot/jobs/a", "rm -rf /",
		"/etc/init.d/openibd force-restart", "/etc/init.d/opensmd stop;reboot", "mlnxofedinstall --force", "/var/lib/fabricbot/driver/mlnxofedinstall --force",
		"sh -c id", "bash", "sudo id", "env id", "timeout 5 sh", "numactl -N 0 bash", "timeout 5 timeout 5 timeout 5 hostname", "cat /etc/shadow", "cat /proc/1/environ", "cat /etc/opensm/../shadow",
		"cat /sys/class/infiniband/../../../etc/shadow", "cat etc/os-release", "ip link set ib0 up; id", "ip netns exec x id", "date -s 2020", "hostname evil", "systemctl stop sshd", "systemctl restart sshd.service",
		"dmesg -c", "dmesg -C", "journalctl --vacuum-size=1", "kill -9 1", "tee /etc/passwd", "tee /proc/sysrq-trigger", "sysctl -w kernel.core_pattern=|/tmp/x", "apt-get -y install netcat", "kubectl delete node n1", "kubectl get nodes -o go-template-file=/etc/shadow", "kubectl get nodes --output=jsonpath-file=/etc/shadow",
		"numactl -N 0", "timeout", "-x", "LD_PRELOAD=x hostname", "lspci -H1", "ethtool -s eth0 speed 100", "modprobe evil", "tar -xzf /var/lib/fabricbot/a.tgz -C /etc",
	} {
		if class, err := Classify(words(line)); err == nil {
			t.Errorf("%s: allowed as %v", line, class)
		}
	}
	if _, err := Classify(nil); err == nil {
		t.Error("empty argv allowed")
	}
	if _, err := Classify(words("flint -d 3b:00.0 sg")); !errors.Is(err, ErrNotAllowed) {
		t.Errorf("%v does not wrap ErrNotAllowed", err)
	}
}

// Whatever an attacker mixes from the tables' own words and the forbidden ones:
// a forbidden word never comes through.
func TestForbiddenWordsNeverPass(t *testing.T) {
	forbidden := []string{"-nofs", "--nofs", "-allow_psid_change", "--allow_psid_change", "--clear_semaphore", "-clear_semaphore", "--ignore_dev_data", "-ignore_dev_data",
		"--override_cache_replacement", "-ocr", "sg", "hw", "erase", "bb", "--online", "force-restart", "-K", "--pc", "--reset_phy_info"}
	programs := []string{"flint", "mstflint", "mlxfwmanager", "ibqueryerrors", "mlxlink", "ibdiagnet", "/etc/init.d/openibd", "sminfo", "perfquery", "mlxconfig", "mlxfwreset"}
	fill := []string{"-d", "3b:00.0", "-i", "/var/lib/fabricbot/images/a.bin", "-y", "burn", "q", "query", "full", "--query", "-e", "-m", "v", "reset", "set", "-o", "/var/lib/fabricbot/x", "4", "1", "-C", "mlx5_0"}
	rapid.Check(t, func(t *rapid.T) {
		argv := []string{rapid.SampledFrom(programs).Draw(t, "program")}
		argv = append(argv, rapid.SliceOfN(rapid.SampledFrom(slices.Concat(fill, forbidden)), 1, 9).Draw(t, "args")...)
		if _, err := Classify(argv); err != nil {
			return
		}
		for i, a := range argv[1:] {
			// A forbidden word may only be there as the value of a device option, where it is a name.
			if slices.Contains(forbidden, a) && !slices.Contains([]string{"-d", "-C", "-i"}, argv[i]) {
				t.Fatalf("%q is allowed", argv)
			}
		}
	})
}

func TestNoPatternTakesADash(t *testing.T) {
	for name, p := range patterns {
		if name == "pathtest" {
			continue
		}
		for _, v := range []string{"-x", "--help", "-", "a\nb", "a\x00b", "$(id)\n", "`id`\n"} {
			if p(v) {
				t.Errorf("pattern %s takes %q", name, v)
			}
		}
	}
}

func TestPaths(t *testing.T) {
	for _, p := range []string{"/etc/opensm/opensm.conf", "/var/lib/fabricbot/bin/ibperf", "/root/.fabricbot/bin/ibperf", "/home/ops/.fabricbot/x"} {
		if err := WritePath(p); err != nil {
			t.Error(err)
		}
	}
	for _, p := range []string{"/etc/passwd", "/etc/opensm/../passwd", "/etc/opensmx", "/var/lib/fabricbot/jobs/a/exit", "/root/.fabricbot/jobs/a/exit", "relative", "/etc/opensm/a b", "/root/.fabricbotx/y"} {
		if err := WritePath(p); err == nil {
			t.Errorf("%s may be written", p)
		}
	}
}

func FuzzClassify(f *testing.F) {
	f.Add("flint\x00-d\x003b:00.0\x00q")
	f.Add("systemctl\x00restart\x00opensm")
	f.Fuzz(func(t *testing.T, s string) {
		argv := strings.Split(s, "\x00")
		if class, err := Classify(argv); err == nil && class != Look && class != Change {
			t.Fatalf("%q: class %v without error", argv, class)
		}
	})
}
