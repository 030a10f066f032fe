package hosttest

import (
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"syscall"

	"golang.org/x/crypto/ssh"

	"github.com/fabricbot/fabricbot/hostexec/wire"
)

func (h *Host) accept() {
	for {
		c, err := h.ln.Accept()
		if err != nil {
			return
		}
		h.mu.Lock()
		h.conns[c] = true
		cfg := h.cfg
		h.mu.Unlock()
		go func() {
			h.serve(c, cfg)
			_ = c.Close()
			h.mu.Lock()
			delete(h.conns, c)
			h.mu.Unlock()
		}()
	}
}

func (h *Host) serve(c net.Conn, cfg *ssh.ServerConfig) {
	conn, chans, reqs, err := ssh.NewServerConn(c, cfg)
	if err != nil {
		return
	}
	h.logins.Add(1)
	go func() {
		for r := range reqs {
			if r.WantReply { // keepalive@openssh.com: any answer will do
				_ = r.Reply(false, nil)
			}
		}
	}()
	for n := range chans {
		switch n.ChannelType() {
		case "session":
			if ch, reqs, err := n.Accept(); err == nil {
				go h.session(ch, reqs)
			}
		case "direct-tcpip":
			go forward(n)
		default:
			_ = n.Reject(ssh.UnknownChannelType, "not here")
		}
	}
	_ = conn.Close()
}

// forward is what makes a jump host; only to loopback.
func forward(n ssh.NewChannel) {
	var to struct {
		Host     string
		Port     uint32
		From     string
		FromPort uint32
	}
	if ssh.Unmarshal(n.ExtraData(), &to) != nil || !net.ParseIP(to.Host).IsLoopback() {
		_ = n.Reject(ssh.Prohibited, "loopback only")
		return
	}
	target, err := net.Dial("tcp", net.JoinHostPort(to.Host, strconv.Itoa(int(to.Port))))
	if err != nil {
		_ = n.Reject(ssh.ConnectionFailed, err.Error())
		return
	}
	ch, reqs, err := n.Accept()
	if err != nil {
		_ = target.Close()
		return
	}
	go ssh.DiscardRequests(reqs)
	go func() { _, _ = io.Copy(target, ch); _ = target.Close() }()
	_, _ = io.Copy(ch, target)
	_ = ch.Close()
}

func (h *Host) session(ch ssh.Channel, reqs <-chan *ssh.Request) {
	defer ch.Close()
	for r := range reqs {
		var cmd struct{ Text string }
		if r.Type != "exec" || ssh.Unmarshal(r.Payload, &cmd) != nil {
			_ = r.Reply(false, nil)
			continue
		}
		_ = r.Reply(true, nil)
		go ssh.DiscardRequests(reqs)
		if h.opt.Noise != "" {
			_, _ = io.WriteString(ch, h.opt.Noise)
			_, _ = io.WriteString(ch.Stderr(), h.opt.Noise)
		}
		h.exec(ch, cmd.Text)
		return
	}
}

func (h *Host) exec(ch ssh.Channel, request string) {
	if s, err := wire.Decode([]byte(request)); err == nil {
		defer h.enter()()
		if h.opt.Shell != "" && !h.knows(s.Args) {
			h.shell(ch, request, ch)
		} else {
			h.answer(ch, s)
		}
		return
	}
	if request != wire.Request {
		h.shell(ch, request, ch)
		return
	}
	text, s, err := readScript(ch)
	if err != nil {
		exit(ch, 1)
		return
	}
	if s.Kind != wire.KindKill {
		defer h.enter()()
	}
	if h.opt.Shell != "" {
		if s.Kind != wire.KindRun || !h.knows(s.Args) {
			h.shell(ch, request, io.MultiReader(text, ch))
			return
		}
	}
	h.answer(ch, s)
}

func (h *Host) knows(argv []string) bool {
	h.book.mu.Lock()
	defer h.book.mu.Unlock()
	for _, t := range h.book.list {
		if equal(t.Argv, argv) {
			return true
		}
	}
	return h.book.handle != nil
}

// shell runs the request as sshd does: in a session of its own.
func (h *Host) shell(ch ssh.Channel, request string, stdin io.Reader) {
	if h.opt.Shell == "" {
		_, _ = io.WriteString(ch.Stderr(), "hosttest: no shell here\n")
		exit(ch, 127)
		return
	}
	cmd := exec.Command(h.opt.Shell, "-c", request)
	cmd.Dir, cmd.Env = h.opt.Home, []string{"HOME=" + h.opt.Home, "PATH=" + os.Getenv("PATH")}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	in, err := cmd.StdinPipe()
	if err != nil {
		exit(ch, 126)
		return
	}
	out, err1 := cmd.StdoutPipe()
	msg, err2 := cmd.StderrPipe()
	if err := errors.Join(err1, err2, cmd.Start()); err != nil {
		exit(ch, 126)
		return
	}
	go func() { _, _ = io.Copy(in, stdin); _ = in.Close() }()
	var both sync.WaitGroup
	both.Go(func() { _, _ = io.Copy(ch, out) })
	both.Go(func() { _, _ = io.Copy(ch.Stderr(), msg) })
	both.Wait()
	err = cmd.Wait()
	var failed *exec.ExitError
	if errors.As(err, &failed) {
		if ws, ok := failed.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
			killed(ch, signalName(ws.Signal()))
			return
		}
		exit(ch, failed.ExitCode())
		return
	}
	exit(ch, 0)
}

func signalName(s syscall.Signal) string {
	switch s {
	case syscall.SIGTERM:
		return "TERM"
	case syscall.SIGKILL:
		return "KILL"
	case syscall.SIGHUP:
		return "HUP"
	}
	return "INT"
}

func exit(ch ssh.Channel, code int) {
	_, _ = ch.SendRequest("exit-status", false, ssh.Marshal(struct{ Status uint32 }{uint32(code)}))
}

func killed(ch ssh.Channel, signal string) {
	_, _ = ch.SendRequest("exit-signal", false, ssh.Marshal(struct {
		Signal string
		Core   bool
		Error  string
		Lang   string
	}{Signal: signal}))
}
