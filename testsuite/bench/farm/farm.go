package farm

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// User is the account that every endpoint lets in.
const User = "bench"

// MaxHosts is how many addresses 127.78.0.1 to 127.78.0.254 give.
const MaxHosts = 254

const (
	// perServer is MAX_LISTEN_SOCKS of OpenSSH's sshd.c (9.2).
	perServer = 16
	uid       = 61234
	// upWithin bounds the start; eight servers take 0.2 s on two cores.
	upWithin = 30 * time.Second
	// quietWithin bounds how long a finished round's sessions may take to go.
	quietWithin = 30 * time.Second
)

// sshd is where Debian, Fedora and SUSE put it; it insists on a full path.
const sshd = "/usr/sbin/sshd"

// Missing says what keeps a farm from being started here, or "".
func Missing() string {
	if os.Geteuid() != 0 {
		return "root is needed to give the SSH servers a user of their own in a mount namespace"
	}
	for _, p := range []string{sshd, "ssh", "unshare"} {
		if _, err := exec.LookPath(p); err != nil {
			return p + " is not installed"
		}
	}
	if out, err := exec.Command("unshare", "-m", "true").CombinedOutput(); err != nil {
		return "mount namespaces are not available: " + strings.TrimSpace(string(out))
	}
	return ""
}

// Farm is a set of endpoints.
type Farm struct {
	Files
	servers []*exec.Cmd
	kept    int // sessions that may stay between rounds
}

// Start brings up n endpoints; dir, which other users must be able to enter,
// takes keys and settings.
func Start(ctx context.Context, dir string, n int) (*Farm, error) {
	if n < 1 || n > MaxHosts {
		return nil, fmt.Errorf("starting ssh servers: %d hosts, want 1 to %d", n, MaxHosts)
	}
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	files, err := write(dir, n, port)
	if err != nil {
		return nil, err
	}
	f := &Farm{Files: files}
	for first := 0; first < n; first += perServer {
		if err := f.serve(first, min(first+perServer, n)); err != nil {
			f.Close()
			return nil, err
		}
	}
	if err := f.awaitUp(ctx); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.78.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("finding a free port: %w", err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}

// inNamespace runs with its own view of /etc/passwd; nothing of it is seen
// outside, and the mounts vanish with the process.
const inNamespace = `mount --bind "$1" /etc/passwd || exit 1
[ -d /run/sshd ] || { mount -t tmpfs tmpfs /run && mkdir -m 755 /run/sshd; } || exit 1
exec "$2" -r -D -e -f "$3"`

func (f *Farm) serve(first, end int) error {
	conf := filepath.Join(f.Dir, fmt.Sprintf("sshd_config.%d", first))
	if err := os.WriteFile(conf, []byte(f.serverConfig(first, end)), 0o600); err != nil {
		return fmt.Errorf("writing the server's settings: %w", err)
	}
	log, err := os.Create(filepath.Join(f.Dir, fmt.Sprintf("sshd.%d.log", first)))
	if err != nil {
		return fmt.Errorf("opening the server's log: %w", err)
	}
	defer log.Close()
	cmd := exec.Command("unshare", "-m", "/bin/sh", "-c", inNamespace, "sh", f.passwd, sshd, conf)
	cmd.Stderr = log
	// The servers end with this process, however it ends.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("starting sshd: %w", err)
	}
	f.servers = append(f.servers, cmd)
	return nil
}

// awaitUp returns when every address greets.
func (f *Farm) awaitUp(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, upWithin)
	defer cancel()
	for i := range f.Hosts {
		for !greets(ctx, f.Addr(i)) {
			if err := ctx.Err(); err != nil {
				return fmt.Errorf("waiting for sshd on %s: %w; it said: %s", f.Addr(i), err, f.logs())
			}
			time.Sleep(20 * time.Millisecond)
		}
	}
	return f.Settle(ctx)
}

func greets(ctx context.Context, addr string) bool {
	c, err := (&net.Dialer{Timeout: time.Second}).DialContext(ctx, "tcp", addr)
	if err != nil {
		return false
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(5 * time.Second))
	hello := make([]byte, 4)
	_, err = c.Read(hello)
	return err == nil && bytes.Equal(hello, []byte("SSH-"))
}

func (f *Farm) logs() string {
	var all []byte
	names, _ := filepath.Glob(filepath.Join(f.Dir, "sshd.*.log"))
	for _, n := range names {
		text, err := os.ReadFile(n)
		if err == nil {
			all = append(all, text...)
		}
	}
	if len(all) > 2000 {
		all = all[:2000]
	}
	return strings.TrimSpace(string(all))
}
