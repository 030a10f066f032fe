package lab

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// varBytes is the size of a host's /var, small so that a full disk is soon
// made and costs the machine little.
const varBytes = 64 << 20

// tree writes files below a directory and keeps the first error.
type tree struct {
	dir string
	err error
}

func (t *tree) path(p string) string { return filepath.Join(t.dir, p) }

func (t *tree) mkdir(p string, mode os.FileMode) {
	t.keep(os.MkdirAll(t.path(p), 0o755))
	t.keep(os.Chmod(t.path(p), mode))
}

func (t *tree) file(p string, mode os.FileMode, text string) {
	t.keep(os.MkdirAll(filepath.Dir(t.path(p)), 0o755))
	t.keep(os.WriteFile(t.path(p), []byte(text), mode))
	t.keep(os.Chmod(t.path(p), mode))
}

func (t *tree) link(p, to string) {
	t.keep(os.MkdirAll(filepath.Dir(t.path(p)), 0o755))
	t.keep(os.Symlink(to, t.path(p)))
}

// opaque makes a directory of the upper layer hide the one below it.
func (t *tree) opaque(p string, mode os.FileMode) {
	t.mkdir(p, mode)
	t.keep(unix.Setxattr(t.path(p), "trusted.overlay.opaque", []byte("y"), 0))
}

// hideStrangers removes from the host's view what does not belong to a Debian
// root: whatever else the machine keeps at its top level is none of a host's
// business. A character device 0/0 in the upper layer is overlayfs's whiteout.
func (t *tree) hideStrangers() {
	known := " bin boot dev etc home lib lib32 lib64 libx32 media mnt opt proc root run sbin srv sys tmp usr var "
	entries, err := os.ReadDir("/")
	t.keep(err)
	for _, e := range entries {
		if !strings.Contains(known, " "+e.Name()+" ") {
			t.keep(unix.Mknod(t.path("sys/upper/"+e.Name()), unix.S_IFCHR, 0))
		}
	}
	t.opaque("sys/upper/mnt", 0o755)
	t.opaque("sys/upper/media", 0o755)
}

func (t *tree) keep(err error) {
	if t.err == nil {
		t.err = err
	}
}

// writeHost lays out a host's own files. It runs on the lab's thread, the only
// one that sees the directory.
func (l *Lab) writeHost(h *Host) error {
	t := &tree{dir: h.state}
	for _, d := range []string{"root", "home", "opt", "srv", "sys/upper", "sys/work", "var", "ib/infiniband_mad"} {
		t.mkdir(d, 0o755)
	}
	if t.err == nil {
		t.keep(unix.Mount("var", t.path("var"), "tmpfs", 0, fmt.Sprintf("mode=0755,size=%d", varBytes)))
	}
	t.mkdir("var/upper", 0o755)
	t.mkdir("var/work", 0o755)
	for d, mode := range map[string]os.FileMode{"log": 0o755, "cache": 0o755, "tmp": 0o777 | os.ModeSticky, "spool": 0o755, "opt": 0o755} {
		t.opaque("var/upper/"+d, mode)
	}
	t.mkdir("var/upper/cache/opensm", 0o755)
	t.mkdir("root", 0o700)
	t.file("boot_id", 0o444, newUUID()+"\n")
	t.hideStrangers()
	l.writeAccounts(t, h)
	l.writeSSH(t, h)
	l.writeTools(t, h)
	if h.Role == roleSM {
		l.writeSM(t, h)
	}
	t.keep(writeSlot(t.path("ib"), l.fabric.Device(), pciSlot(0)))
	if own, ok := l.fabric.(hostPlugger); ok {
		for i := range h.node.More {
			t.keep(writeSlot(t.path("ib"), deviceName(i+1), pciSlot(i+1)))
		}
		if t.err == nil {
			t.keep(own.PlugHost(h.Name, t.path("ib")))
		}
	} else {
		t.keep(writeSysfs(t.path("ib"), h.node, l.fabric.Device(), PortState{}))
		t.file("ib/infiniband_mad/abi_version", 0o444, "5\n")
	}
	if t.err != nil {
		return fmt.Errorf("laying out %s: %w", h.Name, t.err)
	}
	return nil
}

func (l *Lab) writeAccounts(t *tree, h *Host) {
	etc := "sys/upper/etc/"
	t.file(etc+"hostname", 0o644, h.Name+"\n")
	t.file(etc+"machine-id", 0o444, strings.ReplaceAll(newUUID(), "-", "")+"\n")
	var hosts strings.Builder
	hosts.WriteString("127.0.0.1\tlocalhost\n")
	for _, o := range l.Hosts {
		fmt.Fprintf(&hosts, "%s\t%s\n", o.Address, o.Name)
	}
	t.file(etc+"hosts", 0o644, hosts.String())
	passwd, err := os.ReadFile("/etc/passwd")
	t.keep(err)
	var users, shadow strings.Builder
	for _, line := range strings.Split(string(passwd), "\n") {
		f := strings.Split(line, ":")
		if len(f) != 7 || len(f[2]) > 3 && f[0] != "nobody" {
			continue // people of the machine do not live on the host
		}
		if f[0] == "root" {
			f[5], f[6] = "/root", h.Shell
		}
		users.WriteString(strings.Join(f, ":") + "\n")
		shadow.WriteString(f[0] + ":*:19000:0:99999:7:::\n")
	}
	users.WriteString("ops:x:1000:1000:Fabric operations:/home/ops:/bin/sh\n")
	shadow.WriteString("ops:*:19000:0:99999:7:::\n")
	t.file(etc+"passwd", 0o644, users.String())
	t.file(etc+"shadow", 0o600, shadow.String())
	group, err := os.ReadFile("/etc/group")
	t.keep(err)
	t.file(etc+"group", 0o644, strings.TrimRight(string(group), "\n")+"\nops:x:1000:\n")
	t.file(etc+"sudoers", 0o440, "Defaults env_reset, secure_path=\"/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin\"\nroot ALL=(ALL:ALL) ALL\n@includedir /etc/sudoers.d\n")
	t.opaque(etc+"sudoers.d", 0o750)
	t.file(etc+"sudoers.d/ops", 0o440, "ops ALL=(root) NOPASSWD: ALL\n")
	t.file(etc+"profile", 0o644, "umask 022\n")
	t.opaque(etc+"profile.d", 0o755)
	t.opaque(etc+"cron.d", 0o755)
	t.opaque("sys/upper/usr/local", 0o755)
	for _, d := range []string{"bin", "sbin", "lib"} {
		t.mkdir("sys/upper/usr/local/"+d, 0o755)
	}
	t.file("root/.ssh/authorized_keys", 0o600, l.authorizedKey)
	t.file("home/ops/.ssh/authorized_keys", 0o600, l.authorizedKey)
	for _, d := range []string{"root/.ssh", "home/ops/.ssh"} {
		t.keep(os.Chmod(t.path(d), 0o700))
	}
	for _, p := range []string{"home/ops", "home/ops/.ssh", "home/ops/.ssh/authorized_keys"} {
		t.keep(os.Chown(t.path(p), 1000, 1000))
	}
	if h.Shell == "/bin/bash" {
		t.file("root/.bashrc", 0o644, "echo \"*** $(hostname): authorised use only, all activity is logged ***\"\n")
	}
}

const sshdConfig = `Port %d
ListenAddress %s
HostKey /etc/ssh/ssh_host_ed25519_key
PidFile /run/sshd.pid
PermitRootLogin prohibit-password
PasswordAuthentication no
KbdInteractiveAuthentication no
UsePAM no
UseDNS no
PrintMotd no
MaxStartups 100:30:200
Subsystem sftp internal-sftp
`

func (l *Lab) writeSSH(t *tree, h *Host) {
	ssh := "sys/upper/etc/ssh"
	t.opaque(ssh, 0o755)
	t.file(ssh+"/ssh_host_ed25519_key", 0o600, h.key.private)
	t.file(ssh+"/ssh_host_ed25519_key.pub", 0o644, h.key.public)
	t.file(ssh+"/sshd_config", 0o644, fmt.Sprintf(sshdConfig, h.backendPort, h.backend))
	if h.Daemon == daemonDropbear && t.err == nil {
		t.mkdir("sys/upper/etc/dropbear", 0o755)
		t.keep(convertKey(t.path(ssh+"/ssh_host_ed25519_key"), t.path("sys/upper/etc/dropbear/dropbear_ed25519_host_key")))
	}
}

// convertKey writes an OpenSSH key in Dropbear's own format.
func convertKey(from, to string) error {
	out, err := exec.Command("dropbearconvert", "openssh", "dropbear", from, to).CombinedOutput()
	if err != nil {
		return fmt.Errorf("converting host key for dropbear: %w: %s", err, bytes.TrimSpace(out))
	}
	return nil
}

func (l *Lab) writeTools(t *tree, h *Host) {
	usr := "sys/upper/usr/"
	for _, d := range []string{"lib/fabriclab/sbin", "lib/fabriclab/bin", "lib/fabriclab/readings"} {
		t.mkdir(usr+d, 0o755)
	}
	for _, sm := range []bool{false, true} {
		name := "env.tool"
		if sm {
			name = "env.sm"
		}
		var env strings.Builder
		for _, kv := range l.fabric.ToolEnv(h.Name, sm) {
			k, v, _ := strings.Cut(kv, "=")
			fmt.Fprintf(&env, "export %s='%s'\n", k, v)
		}
		t.file(usr+"lib/fabriclab/"+name, 0o644, env.String())
	}
	if own, ok := l.fabric.(*simFabric); ok {
		library, err := os.ReadFile(own.library)
		t.keep(err)
		t.file("sys/upper"+simLibrary, 0o755, string(library))
	}
	for _, tool := range fabricTools {
		t.file(usr+"sbin/"+tool, 0o755, string(emul("ibtool")))
	}
	if _, err := os.Stat("/usr/bin/ibis"); err == nil { // what ibdiagnet of ibutils runs in
		t.file(usr+"bin/ibis", 0o755, string(emul("ibtool")))
	}
	t.file(usr+"sbin/opensm", 0o755, string(emul("opensm")))
	for _, name := range []string{"ofed_info", "ibdev2netdev", "lspci", "mlxlink", "mget_temp"} {
		t.file(usr+"bin/"+name, 0o755, string(emul(name)))
	}
	for _, name := range []string{"reboot", "poweroff", "halt", "shutdown"} {
		t.file(usr+"sbin/"+name, 0o755, string(emul("reboot")))
	}
	t.file(usr+"lib/fabriclab/pci.dump", 0o644, pciDump(h.node))
	t.file("var/upper/lib/fabriclab/ofed", 0o644, ofedState)
}

// ofedState is the bundle a fresh host has: version, then packages.
const ofedState = `24.10-0.7.0.0
ibutils2
infiniband-diags
kmod-mlnx-ofa_kernel
libibverbs
librdmacm
mlnx-ofa_kernel
mlnx-tools
mstflint
opensm
perftest
rdma-core
`

// smSettings are the lines of opensm.conf that differ from the program's own
// template. The short polling makes a standby notice a dead master within
// seconds; opensm's own default takes most of a minute.
func (l *Lab) smSettings(h *Host) map[string]string {
	return map[string]string{
		"guid":                   fmt.Sprintf("0x%016x", h.PortGUID),
		"sm_priority":            fmt.Sprint(h.smPriority),
		"sminfo_polling_timeout": "1000",
		"polling_retry_number":   "2",
		"log_max_size":           "8",
		"force_log_flush":        "TRUE",
		"dump_files_dir":         "/var/log",
	}
}

func (l *Lab) writeSM(t *tree, h *Host) {
	etc := "sys/upper/etc/"
	t.file(etc+"opensm/opensm.conf", 0o644, overrideConf(l.smTemplate, l.smSettings(h)))
	t.file(etc+"opensm/partitions.conf", 0o644, "Default=0x7fff,ipoib,mtu=5:ALL=full,SELF=full;\n")
	t.file(etc+"init.d/opensmd", 0o755, string(emul("opensmd")))
	t.link(etc+"rc3.d/S50opensmd", "../init.d/opensmd")
}

// smTemplate asks opensm itself for a complete configuration file.
func smTemplate(dir string) (string, error) {
	file := filepath.Join(dir, "opensm.conf.template")
	out, err := exec.Command("opensm", "-c", file).CombinedOutput()
	text, rerr := os.ReadFile(file)
	if rerr != nil {
		return "", fmt.Errorf("asking opensm for its configuration template: %w: %s", errors.Join(err, rerr), bytes.TrimSpace(out))
	}
	return string(text), os.Remove(file)
}

// overrideConf sets options in a file of "name value" lines; an option the
// file does not have is added at its end.
func overrideConf(text string, set map[string]string) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	seen := map[string]bool{}
	for i, line := range lines {
		name, _, ok := strings.Cut(line, " ")
		if v, want := set[name]; ok && want {
			lines[i] = name + " " + v
			seen[name] = true
		}
	}
	for _, name := range sortedKeys(set) {
		if !seen[name] {
			lines = append(lines, name+" "+set[name])
		}
	}
	return strings.Join(lines, "\n") + "\n"
}
