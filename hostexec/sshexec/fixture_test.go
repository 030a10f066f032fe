package sshexec

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/fabricbot/fabricbot/hostexec"
)

// login is a user that exists only inside the mount namespace of a test's SSH
// server, where its own passwd file is bound over the system's.
type login struct {
	name, shell string
	startup     map[string]string // file in the home directory: content
}

var logins = []login{
	{"fbsh", "/bin/sh", nil},
	{"fbsudo", "/bin/sh", nil},
	{"fbbash", "/bin/bash", map[string]string{".bashrc": "echo 'Welcome to node'; echo 'be careful' >&2; printf 'no newline'\n"}},
	{"fbdash", "/usr/bin/dash", nil},
	{"fbrbash", "/bin/rbash", map[string]string{".bashrc": "echo restricted; echo no >&2\n"}},
	{"fbcsh", "/usr/bin/tcsh", map[string]string{".cshrc": "echo 'csh motd'\nset path=(/usr/bin /bin)\n"}},
	{"fbfish", "/usr/bin/fish", map[string]string{".config/fish/config.fish": "echo fishy\necho err >&2\n"}},
	{"fbzsh", "/usr/bin/zsh", map[string]string{".zshenv": "print zsh noise\n"}},
	{"fbmksh", "/usr/bin/mksh", nil},
	{"fbnone", "/usr/sbin/nologin", nil},
}

const firstUID = 64100

// server is a real sshd or dropbear on loopback.
type server struct {
	dir, knownHosts, key string
	port                 int
	hostKey              string // its public key line
	cmd                  *exec.Cmd
}

func needRoot(t testing.TB, programs ...string) {
	t.Helper()
	for _, p := range programs {
		if _, err := exec.LookPath(p); err != nil {
			t.Skipf("%s is not installed", p)
		}
	}
	if os.Geteuid() != 0 {
		t.Skip("root is needed to give an SSH server users of its own in a mount namespace")
	}
	if err := exec.Command("unshare", "-m", "true").Run(); err != nil {
		t.Skipf("mount namespaces are not available: %v", err)
	}
}

func write(t testing.TB, path, text string, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

func command(t testing.TB, name string, args ...string) string {
	t.Helper()
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %v: %v: %s", name, args, err, out)
	}
	return string(out)
}

func freePort(t testing.TB) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// startServer runs "openssh", "openssh-ca" (with a host certificate) or "dropbear" with the users of logins and root.
func startServer(t testing.TB, kind string) *server {
	t.Helper()
	if kind == "dropbear" {
		needRoot(t, "dropbear", "dropbearkey", "ssh-keygen", "unshare")
	} else {
		needRoot(t, "/usr/sbin/sshd", "ssh-keygen", "unshare")
	}
	dir, err := os.MkdirTemp("", "fbssh")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	s := &server{dir: dir, key: dir + "/id", knownHosts: dir + "/known_hosts", port: freePort(t)}
	command(t, "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", s.key)
	pub, err := os.ReadFile(s.key + ".pub")
	if err != nil {
		t.Fatal(err)
	}
	passwd, shadow := "root:x:0:0:root:"+dir+"/home/root:/bin/sh\nsshd:x:100:65534::/run/sshd:/usr/sbin/nologin\nnobody:x:65534:65534::/nonexistent:/usr/sbin/nologin\n", "root:*:19000:0:99999:7:::\n"
	homes := []login{{name: "root"}}
	for i, l := range logins {
		passwd += fmt.Sprintf("%s:x:%d:65534::%s/home/%s:%s\n", l.name, firstUID+i, dir, l.name, l.shell)
		shadow += l.name + ":*:19000:0:99999:7:::\n"
		homes = append(homes, l)
	}
	for i, l := range homes {
		home := filepath.Join(dir, "home", l.name)
		write(t, home+"/.ssh/authorized_keys", string(pub), 0o600)
		for f, text := range l.startup {
			write(t, filepath.Join(home, f), text, 0o644)
		}
		if i > 0 {
			command(t, "chown", "-R", fmt.Sprintf("%d:65534", firstUID+i-1), home)
		}
		command(t, "chmod", "700", home, home+"/.ssh")
	}
	write(t, dir+"/passwd", passwd, 0o644)
	write(t, dir+"/shadow", shadow, 0o600)
	write(t, dir+"/sudoers", "fbsudo ALL=(ALL) NOPASSWD: ALL\n", 0o440)
	write(t, dir+"/shells", strings.Join([]string{"/bin/sh", "/bin/bash", "/usr/bin/dash", "/bin/rbash", "/usr/bin/tcsh", "/usr/bin/fish", "/usr/bin/zsh", "/usr/bin/mksh", "/usr/sbin/nologin", ""}, "\n"), 0o644)
	bind := "mount --make-rprivate / && mount --bind D/passwd /etc/passwd && mount --bind D/shadow /etc/shadow && " +
		"{ [ ! -f /etc/shells ] || mount --bind D/shells /etc/shells; } && { [ ! -f /etc/sudoers ] || mount --bind D/sudoers /etc/sudoers; } && exec "
	if kind == "dropbear" {
		out := command(t, "dropbearkey", "-t", "ed25519", "-f", dir+"/hostkey")
		for l := range strings.Lines(out) {
			if strings.HasPrefix(l, "ssh-ed25519 ") {
				s.hostKey = strings.Join(strings.Fields(l)[:2], " ")
			}
		}
		bind += fmt.Sprintf("dropbear -F -E -s -r D/hostkey -p 127.0.0.1:%d", s.port)
	} else {
		command(t, "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", dir+"/hostkey")
		line, err := os.ReadFile(dir + "/hostkey.pub")
		if err != nil {
			t.Fatal(err)
		}
		s.hostKey = strings.Join(strings.Fields(string(line))[:2], " ")
		if err := os.MkdirAll("/run/sshd", 0o755); err != nil {
			t.Fatal(err)
		}
		config := fmt.Sprintf("Port %d\nListenAddress 127.0.0.1\nHostKey %s/hostkey\nPidFile none\nUsePAM no\nPermitRootLogin yes\nStrictModes no\nMaxStartups 200\nAllowTcpForwarding yes\n", s.port, dir)
		write(t, dir+"/sshd_config", config, 0o644)
		if kind == "openssh-ca" {
			command(t, "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", dir+"/ca")
			command(t, "ssh-keygen", "-q", "-s", dir+"/ca", "-h", "-I", "host", "-n", "127.0.0.1", dir+"/hostkey.pub")
			write(t, dir+"/sshd_config", config+"HostCertificate "+dir+"/hostkey-cert.pub\n", 0o644)
		}
		bind += "/usr/sbin/sshd -D -e -f D/sshd_config"
	}
	s.cmd = exec.Command("unshare", "-m", "sh", "-c", strings.ReplaceAll(bind, "D/", dir+"/"))
	log, err := os.Create(dir + "/log")
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	s.cmd.Stdout, s.cmd.Stderr = log, log
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = syscall.Kill(-s.cmd.Process.Pid, syscall.SIGKILL)
		_ = s.cmd.Wait()
		reap(dir)
	})
	write(t, s.knownHosts, fmt.Sprintf("[127.0.0.1]:%d %s\n", s.port, s.hostKey), 0o644)
	for range 100 {
		if c, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", s.port)); err == nil {
			_ = c.Close()
			return s
		}
		time.Sleep(50 * time.Millisecond)
	}
	text, _ := os.ReadFile(dir + "/log")
	t.Fatalf("%s did not start: %s", kind, text)
	return nil
}

// reap kills what a failed test left running on its host.
func reap(dir string) {
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, f := range files {
		line, err := os.ReadFile(f)
		pid, perr := strconv.Atoi(filepath.Base(filepath.Dir(f)))
		if err == nil && perr == nil && strings.Contains(string(line), dir+"/home") {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

// pool logs in to the server; the host's name is the user's.
func (s *server) pool(t testing.TB, change func(*Options)) *Pool {
	t.Helper()
	o := Options{
		KnownHosts: []string{s.knownHosts}, Keys: []string{s.key}, SpillDir: t.TempDir(),
		Resolve: func(user string) (Endpoint, error) {
			return Endpoint{Address: "127.0.0.1", Port: s.port, User: user, StateDir: filepath.Join(s.dir, "home", user, "state")}, nil
		},
	}
	if change != nil {
		change(&o)
	}
	p, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

// raw runs what the allow list would not pass: the tests of the transport need
// programs that operations do not.
func (p *Pool) raw(ctx context.Context, host string, cmd hostexec.Command) (hostexec.Result, error) {
	return p.run(ctx, host, hostexec.Lease{}, cmd)
}

func deadline(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}
