package lab

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/crypto/ssh"
)

// What a host is for and how it is reached.
const (
	roleSM      = "sm"
	roleCompute = "compute"

	daemonOpenSSH  = "openssh"
	daemonDropbear = "dropbear"
)

// rebootTakes is how long a rebooting host stays away, far less than a real
// one but long enough to be seen.
const rebootTakes = 2 * time.Second

// Host is one lab host.
type Host struct {
	Name     string // "node001"
	Address  string // where its SSH answers: the proxy
	Port     int
	Rack     string
	Leaf     string // switch on port 1
	Role     string // "sm" or "compute"
	Daemon   string // "openssh" or "dropbear"
	Shell    string // root's login shell
	NodeGUID uint64
	PortGUID uint64

	node        Node
	state       string // directory in the lab's tmpfs
	backend     string // the SSH server's own address
	backendPort int
	key         keyPair
	smPriority  int
	proxy       *proxy

	mu      sync.Mutex
	cmd     *exec.Cmd
	stopped chan struct{} // closed when the present boot has ended
	wanted  bool          // false: stay down
}

type keyPair struct{ private, public string }

func newKey(comment string) (keyPair, error) {
	pub, priv, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return keyPair{}, err
	}
	block, err := ssh.MarshalPrivateKey(priv, comment)
	if err != nil {
		return keyPair{}, err
	}
	key, err := ssh.NewPublicKey(pub)
	if err != nil {
		return keyPair{}, err
	}
	line := strings.TrimSpace(string(ssh.MarshalAuthorizedKey(key)))
	return keyPair{string(pem.EncodeToMemory(block)), line + " " + comment + "\n"}, nil
}

func newUUID() string {
	var b [16]byte
	rand.Read(b[:])
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}

// boot starts the host and waits until its SSH server answers.
func (l *Lab) boot(ctx context.Context, h *Host) error {
	spec := hostSpec{Name: h.Name, State: h.state}
	if h.Daemon == daemonDropbear {
		spec.Daemon = []string{"/usr/sbin/dropbear", "-F", "-E", "-s", "-r", "/etc/dropbear/dropbear_ed25519_host_key", "-P", "/run/sshd.pid", "-p", fmt.Sprintf("%s:%d", h.backend, h.backendPort)}
	} else {
		spec.Daemon = []string{"/usr/sbin/sshd", "-D", "-E", "/var/log/sshd.log"}
	}
	if h.Role == roleSM {
		spec.Witness = l.witnessFile()
		spec.Boot = []string{"/bin/sh", "-c", "[ ! -x /etc/rc3.d/S50opensmd ] || exec /etc/rc3.d/S50opensmd start"}
	}
	text, err := json.Marshal(spec)
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.Command(self)
	cmd.Args = []string{"init [" + h.Name + "]"}
	specFile := filepath.Join(h.state, "spec.json")
	cmd.Env = []string{initEnv + "=" + specFile, "GOMAXPROCS=1", "GOGC=50"}
	var boot bytes.Buffer
	cmd.Stdout, cmd.Stderr = nil, &boot
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: syscall.CLONE_NEWNS | syscall.CLONE_NEWUTS | syscall.CLONE_NEWPID,
		Pdeathsig:  syscall.SIGKILL,
		Setsid:     true,
	}
	err = l.thread.do(func() error {
		if err := errors.Join(
			os.MkdirAll(filepath.Join(h.state, "newroot"), 0o755),
			os.WriteFile(specFile, text, 0o600),
		); err != nil {
			return err
		}
		return cmd.Start()
	})
	if err != nil {
		return fmt.Errorf("starting %s: %w", h.Name, err)
	}
	stopped := make(chan struct{})
	h.mu.Lock()
	h.cmd, h.stopped, h.wanted = cmd, stopped, true
	h.mu.Unlock()
	go func() {
		cmd.Wait()
		close(stopped)
		l.hostEnded(h, cmd)
	}()
	if err := waitSSH(ctx, h.backend, h.backendPort, stopped); err != nil {
		if msg := strings.TrimSpace(boot.String()); isClosed(stopped) && msg != "" {
			err = errors.New(msg)
		}
		return fmt.Errorf("starting %s: %w", h.Name, err)
	}
	return nil
}

func isClosed(c chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// hostEnded decides what follows the end of a host's init: SIGHUP is a reboot
// asked for inside, anything else leaves the host down.
func (l *Lab) hostEnded(h *Host, cmd *exec.Cmd) {
	status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus)
	h.mu.Lock()
	again := h.wanted && h.cmd == cmd && ok && status.Signaled() && status.Signal() == syscall.SIGHUP
	if !again && h.cmd == cmd {
		h.wanted = false
	}
	h.mu.Unlock()
	if !again {
		return
	}
	l.log("%s reboots", h.Name)
	time.Sleep(rebootTakes)
	if err := l.rebirth(l.ctx, h); err != nil {
		l.log("%v", err)
	}
}

// rebirth boots a host that is down, with a new boot id.
func (l *Lab) rebirth(ctx context.Context, h *Host) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	err := l.thread.do(func() error {
		file := filepath.Join(h.state, "boot_id")
		return errors.Join(os.Remove(file), os.WriteFile(file, []byte(newUUID()+"\n"), 0o444))
	})
	if err != nil {
		return fmt.Errorf("booting %s: %w", h.Name, err)
	}
	return l.boot(ctx, h)
}

// halt kills the host: all its processes go with its init.
func (h *Host) halt() {
	h.mu.Lock()
	cmd, stopped := h.cmd, h.stopped
	h.wanted = false
	h.mu.Unlock()
	if cmd == nil {
		return
	}
	cmd.Process.Kill()
	<-stopped
}

// Up tells whether the host runs.
func (h *Host) Up() bool { return h.pid() != 0 }

// pid is the host's init as the machine sees it; 0 when the host is down.
func (h *Host) pid() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.cmd == nil || h.cmd.Process == nil || isClosed(h.stopped) {
		return 0
	}
	return h.cmd.Process.Pid
}

// inside is the path by which the machine reaches a file of a running host.
func (h *Host) inside(path string) (string, error) {
	pid := h.pid()
	if pid == 0 {
		return "", fmt.Errorf("%s is down; fabriclab heal down %s starts it", h.Name, h.Name)
	}
	return filepath.Join("/proc", fmt.Sprint(pid), "root", path), nil
}

// Run runs a command as root on the host, past SSH, and returns its output.
func (h *Host) Run(ctx context.Context, argv ...string) (string, error) {
	pid := h.pid()
	if pid == 0 {
		return "", fmt.Errorf("running %s: %s is down", argv[0], h.Name)
	}
	args := append([]string{"-t", fmt.Sprint(pid), "-m", "-u", "-p", "-r", "-w", "--", "/usr/bin/env", "-i",
		"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root"}, argv...)
	out, err := exec.CommandContext(ctx, "nsenter", args...).CombinedOutput()
	if err != nil {
		return string(out), fmt.Errorf("running %s on %s: %w: %s", argv[0], h.Name, err, bytes.TrimSpace(out))
	}
	return string(out), nil
}

// waitSSH waits for the greeting of an SSH server.
func waitSSH(ctx context.Context, addr string, port int, dead <-chan struct{}) error {
	var d net.Dialer
	for {
		c, err := d.DialContext(ctx, "tcp4", fmt.Sprintf("%s:%d", addr, port))
		if err == nil {
			c.SetDeadline(time.Now().Add(5 * time.Second))
			line, rerr := bufio.NewReader(c).ReadString('\n')
			c.Close()
			if strings.HasPrefix(line, "SSH-2.0") {
				return nil
			}
			err = rerr
		}
		select {
		case <-dead:
			return fmt.Errorf("its init ended before SSH answered: %w", err)
		case <-ctx.Done():
			return fmt.Errorf("SSH did not answer on %s:%d: %w", addr, port, errors.Join(ctx.Err(), err))
		case <-time.After(50 * time.Millisecond):
		}
	}
}
