package hostexec

import (
	"path"
	"regexp"
	"strings"
)

// patterns name the kinds of value an argument may be. Each is anchored, and
// none matches a leading dash, so a value can never turn into an option.
var patterns = map[string]func(string) bool{
	// RDMA device and network device names, mission rule: discover, never guess.
	"dev":     re(`[A-Za-z0-9_.][A-Za-z0-9_.-]{0,62}`),
	"devport": re(`[A-Za-z0-9_.][A-Za-z0-9_.-]{0,62}([:/][0-9]{1,3})?`),
	"guid":    re(`0x[0-9a-f]{16}`),
	"bdf":     re(`([0-9a-f]{4}:)?[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]`),
	"pciid":   re(`[0-9a-f]{4}:([0-9a-f]{4})?`),
	"num":     re(`[0-9]{1,10}`),
	"addr":    re(`[0-9]{1,5}|0x[0-9a-f]{1,16}|[0-9]{1,3}(,[0-9]{1,3})+`), // LID, GUID or directed route
	"route":   re(`[0-9]{1,3}(,[0-9]{1,3})*`),
	// mdev is what the firmware tools take: a PCI address, an mst node, an RDMA device.
	"mdev":     re(`([0-9a-f]{4}:)?[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]|/dev/mst/[A-Za-z0-9_.-]{1,63}|[A-Za-z][A-Za-z0-9_.-]{0,62}`),
	"host":     re(`[A-Za-z0-9][A-Za-z0-9.:-]{0,253}`),
	"hostlist": re(`[A-Za-z0-9][A-Za-z0-9.,_\[\]-]{0,999}`),
	"word":     re(`[A-Za-z0-9_.][A-Za-z0-9_.:/@,+%=-]{0,255}`),
	"name":     re(`[A-Za-z0-9_][A-Za-z0-9_.:@-]{0,127}`),
	"names":    re(`[A-Za-z0-9_][A-Za-z0-9_.:@,-]{0,255}`),
	"module":   re(`[A-Za-z0-9_][A-Za-z0-9_-]{0,63}`),
	"unit":     re(`[A-Za-z0-9_][A-Za-z0-9_.:@\\-]{0,127}`),
	"format":   re(`[+%A-Za-z0-9_.][%A-Za-z0-9_ .,:;|={}$"()\\/+-]{0,400}`),
	// kubeout leaves out the forms that read a template from a file of the host.
	"kubeout":   re(`json|yaml|name|wide|(jsonpath|custom-columns|go-template)=[%A-Za-z0-9_ .,:;|={}$"()\\/+@?\[\]*-]{0,400}`),
	"time":      re(`[0-9A-Za-z+][0-9A-Za-z :.+-]{0,40}`),
	"text":      re(`[A-Za-z0-9_(\[][ -~]{0,199}`),
	"smunit":    re(`(opensm|opensmd|opensm@0x[0-9a-f]{16})(\.service)?`),
	"svcunit":   re(`(opensm|opensmd|opensm@0x[0-9a-f]{16}|openibd|irqbalance|fabricbot-[A-Za-z0-9_-]{1,60})(\.service|\.timer)?`),
	"hup":       re(`HUP|SIGHUP`),
	"rdmamod":   re(`(ib_[a-z0-9_]+|mlx[45]_[a-z]+|rdma_[a-z]+|iw_cm|nvidia_peermem)`),
	"nvparam":   re(`[A-Z][A-Z0-9_]{1,63}(\[[0-9.]{1,12}\])?`),
	"nvassign":  re(`[A-Z][A-Z0-9_]{1,63}(\[[0-9]{1,3}\])?=[A-Za-z0-9_x.]{1,64}`),
	"sysassign": re(`(net\.(core|ipv4|ipv6)|vm)\.[a-z0-9_.]{1,80}=[0-9][0-9 ]{0,60}`),
	"nodesel":   re(`[Nn]ode[Nn]ame=[A-Za-z0-9][A-Za-z0-9.,_\[\]-]{0,999}`),
	"nodestate": re(`[Ss]tate=([Dd][Rr][Aa][Ii][Nn]|[Rr][Ee][Ss][Uu][Mm][Ee]|[Uu][Nn][Dd][Rr][Aa][Ii][Nn])`),
	"reason":    re(`[Rr]eason=[ -~]{1,200}`),
	"nmword":    re(`[A-Za-z0-9_+.][A-Za-z0-9_.:/+@, -]{0,255}|`),
	// Packages of the RDMA stack and what it is built with; nothing else is
	// installed or removed through this program.
	"package":  re(`(doca|mlnx|mft|mstflint|flexio|dpa|kernel|linux-headers|linux-modules|opensm|infiniband-diags|ibutils|rdma|libib|librdma|libmlx|ibacm|ibverbs|perftest|dkms|ucx|knem|xpmem|srp)[A-Za-z0-9._+~:*=-]{0,127}`),
	"rpath":    func(s string) bool { return ReadPath(s) == nil },
	"wpath":    func(s string) bool { return WritePath(s) == nil },
	"own":      func(s string) bool { return ownPath(s) && WritePath(s) == nil },
	"image":    func(s string) bool { return ownPath(s) && imageName(path.Base(s)) },
	"pkgfile":  func(s string) bool { return ownPath(s) && pkgName(path.Base(s)) },
	"knob":     knobPath,
	"dot":      func(s string) bool { return s == "." },
	"ibperf":   re(`[A-Za-z0-9_.\[][A-Za-z0-9_.:/@,=\[\]%-]{0,255}`),
	"duration": re(`[0-9]{1,6}(s|m|h)?`),
	"dateform": re(`\+[%A-Za-z0-9:._ -]{1,60}`),
	"pathtest": re(`-[efdrsxL]`),
}

var (
	imageName = re(`[A-Za-z0-9._+-]+\.(bin|bfb|fwpkg|mfa|mfa2)`)
	pkgName   = re(`[A-Za-z0-9._+~-]+\.(rpm|deb|tgz|tar\.gz)`)
	// Tuning values that have no tool of their own; written with tee and stdin.
	knobPath = re(`/proc/irq/[0-9]{1,6}/smp_affinity(_list)?` +
		`|/proc/sys/(net/core|net/ipv4|vm)/[a-z0-9_]{1,63}` +
		`|/sys/class/net/[A-Za-z0-9_.][A-Za-z0-9_.-]{0,62}/(mode|mtu|create_child|delete_child)` +
		`|/sys/class/net/[A-Za-z0-9_.][A-Za-z0-9_.-]{0,62}/queues/[rt]x-[0-9]{1,4}/[rx]ps_cpus` +
		`|/sys/devices/system/node/node[0-9]{1,3}/hugepages/hugepages-[0-9]{1,9}kB/nr_hugepages` +
		`|/sys/kernel/mm/hugepages/hugepages-[0-9]{1,9}kB/nr_hugepages` +
		`|/sys/kernel/mm/transparent_hugepage/enabled` +
		`|/sys/devices/system/cpu/cpu[0-9]{1,4}/cpufreq/scaling_governor`)
)

func re(expr string) func(string) bool {
	return regexp.MustCompile(`\A(?:` + expr + `)\z`).MatchString
}

// ownPath is a file or directory that belongs to this product on the host.
func ownPath(s string) bool {
	return clean(s) && (under(s, "/var/lib/fabricbot") || under(s, "/opt/fabricbot") || homeOwn.MatchString(s))
}

var homeOwn = regexp.MustCompile(`\A/(home|root|var/home|users)(/[A-Za-z0-9_.-]+)*/\.fabricbot(/|\z)`)

func under(s, dir string) bool { return s == dir || strings.HasPrefix(s, dir+"/") }

// clean accepts absolute paths of harmless characters without "." or "..".
func clean(s string) bool {
	return strings.HasPrefix(s, "/") && path.Clean(s) == s && pathChars(s)
}

var pathChars = re(`[A-Za-z0-9/_.,:@+=-]{1,512}`)
