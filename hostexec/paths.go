package hostexec

import (
	"fmt"
	"strings"
)

// readable are the trees and files that may be read. /proc and /sys are listed
// piece by piece: /proc/<pid>/environ and the like hold other people's secrets.
var readable = []string{
	"/sys/class/infiniband", "/sys/class/infiniband_mad", "/sys/class/infiniband_verbs", "/sys/class/net", "/sys/bus/pci/devices",
	"/sys/bus/pci/drivers", "/sys/module", "/sys/devices/pci*", "/sys/devices/system", "/sys/devices/virtual/net", "/sys/devices/virtual/infiniband_mad",
	"/sys/kernel/mm/hugepages", "/sys/kernel/mm/transparent_hugepage", "/sys/class/dmi/id", "/sys/class/hwmon", "/sys/class/drm",
	"/sys/kernel/debug/mlx5", "/sys/firmware/efi/efivars/SecureBoot-*",
	"/proc/interrupts", "/proc/irq", "/proc/cpuinfo", "/proc/cmdline", "/proc/meminfo", "/proc/modules", "/proc/mounts", "/proc/loadavg", "/proc/uptime",
	"/proc/version", "/proc/net/dev", "/proc/net/route", "/proc/net/rdma", "/proc/driver", "/proc/buddyinfo", "/proc/softirqs", "/proc/stat", "/proc/sys/kernel",
	"/proc/sys/vm", "/proc/sys/net/core", "/proc/sys/net/ipv4", "/proc/fs",
	"/etc/opensm", "/etc/rdma", "/etc/infiniband", "/etc/infiniband-diags", "/etc/ibutils2", "/etc/mft", "/etc/modprobe.d", "/etc/modules-load.d",
	"/etc/security/limits.conf", "/etc/security/limits.d", "/etc/sysctl.conf", "/etc/sysctl.d", "/etc/udev/rules.d", "/etc/tuned",
	"/etc/os-release", "/etc/redhat-release", "/etc/lsb-release", "/etc/debian_version", "/etc/default/opensm", "/etc/sysconfig/opensm", "/etc/default/irqbalance",
	"/etc/sysconfig/irqbalance", "/etc/nccl.conf", "/etc/ceph/ceph.conf", "/etc/hosts", "/etc/hostname", "/etc/fstab", "/etc/machine-info",
	"/etc/NetworkManager/conf.d", "/etc/systemd/system/opensm*", "/lib/systemd/system/opensm*", "/usr/lib/systemd/system/opensm*",
	"/var/cache/opensm", "/var/log/opensm*", "/var/log/mlnx*", "/var/log/ofed*", "/var/log/doca*", "/var/lib/dkms", "/var/tmp/ibdiagnet2",
	"/usr/lib/os-release", "/boot/config-*", "/var/lib/fabricbot", "/opt/fabricbot", "/run/systemd/system", "/run/reboot-required", "/var/run/reboot-required",
	"/lib/modules", "/usr/lib/modules", "/usr/src",
}

// writable are the trees and files that Put and the file commands may alter.
var writable = []string{
	"/var/lib/fabricbot", "/opt/fabricbot",
	"/etc/opensm", "/etc/rdma", "/etc/infiniband", "/etc/default/opensm", "/etc/sysconfig/opensm", "/var/cache/opensm",
	"/etc/nccl.conf", "/etc/ceph/ceph.conf", "/etc/sysctl.d", "/etc/security/limits.d", "/etc/modprobe.d", "/etc/modules-load.d",
	"/etc/udev/rules.d", "/etc/default/irqbalance", "/etc/sysconfig/irqbalance", "/etc/systemd/system/opensm*", "/etc/systemd/system/fabricbot-*",
}

// ReadPath reports why a file of a host may not be read.
func ReadPath(p string) error {
	if !clean(p) {
		return fmt.Errorf("path %q: want an absolute path without .. and unusual characters", p)
	}
	if homeOwn.MatchString(p) || inside(p, readable) {
		return nil
	}
	return fmt.Errorf("path %s: %w for reading", p, ErrNotAllowed)
}

// WritePath reports why a file of a host may not be written.
func WritePath(p string) error {
	if !clean(p) {
		return fmt.Errorf("path %q: want an absolute path without .. and unusual characters", p)
	}
	// The journal decides what may run twice; only the job scripts write it.
	if strings.Contains(p+"/", "/jobs/") && ownPath(p) {
		return fmt.Errorf("path %s: the job journal is %w for writing", p, ErrNotAllowed)
	}
	if homeOwn.MatchString(p) || inside(p, writable) {
		return nil
	}
	return fmt.Errorf("path %s: %w for writing", p, ErrNotAllowed)
}

// inside matches whole path elements; an entry that ends in * matches any
// name that begins so, and what is below it.
func inside(p string, list []string) bool {
	for _, e := range list {
		if stem, ok := strings.CutSuffix(e, "*"); ok {
			if strings.HasPrefix(p, stem) {
				return true
			}
		} else if under(p, e) {
			return true
		}
	}
	return false
}
