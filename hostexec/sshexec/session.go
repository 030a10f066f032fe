package sshexec

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/fabricbot/fabricbot/hostexec"
	"github.com/fabricbot/fabricbot/hostexec/wire"
)

// work is one script to run on one channel.
type work struct {
	script  wire.Script
	argv    []string // for people
	stdin   []byte
	timeout time.Duration
	idle    time.Duration
	keep    int
	spill   bool
}

// answer is the result and the marker line that began it.
type answer struct {
	hostexec.Result
	marker wire.Marker
}

const (
	// killTime bounds the second channel that kills; killing itself takes up to 4 s.
	killTime = 15 * time.Second
	// lingerTime is how long output may still come once the program has ended:
	// a daemon it left behind can hold the streams open for ever.
	lingerTime = time.Second
)

// session runs the work on one channel of c. begun is false while nothing can
// have run on the host, so that the caller may try another connection.
func (p *Pool) session(ctx context.Context, c *conn, host string, w work) (a answer, begun bool, err error) {
	nonce, err := wire.NewNonce()
	if err != nil {
		return a, false, err
	}
	w.script.Nonce = nonce
	ch, reqs, err := openChannel(ctx, c)
	if err != nil {
		e := &hostexec.Error{Host: host, Act: hostexec.Display(w.argv), Step: "start", Outcome: hostexec.Unreachable, Detail: "no channel could be opened", Err: err}
		if rejected, ok := errors.AsType[*ssh.OpenChannelError](err); ok {
			e.Outcome, e.Detail, e.Err = hostexec.Refused, "the host opens no further channel: "+Printable([]byte(rejected.Message), 200), nil
			e.Next = "lower the commands per host or raise MaxSessions in its sshd_config"
		}
		a.Result = hostexec.Result{Host: host, Argv: w.argv, Exit: -1, Outcome: e.Outcome, Step: e.Step, Detail: detailOf(e)}
		return a, false, e
	}
	r := newRunning(p, host, w, ch, reqs)
	defer ch.Close()
	text, request := w.script.Text(), wire.Request
	if c.bourne.Load() && w.script.Direct() {
		request, text = string(text), nil
	}
	ok, err := ch.SendRequest("exec", true, ssh.Marshal(struct{ Command string }{request}))
	if err == nil && !ok {
		return r.end(hostexec.Refused, "start", "the host runs no commands for this user"), true, r.err()
	}
	if err == nil && text != nil {
		_, err = ch.Write(text)
	}
	if err != nil && !r.ended() {
		return r.end(hostexec.Lost, "start", "the connection broke while the command was being sent"), true, r.err()
	}
	a = r.watch(ctx, c)
	return a, true, r.err()
}

// openChannel gives up with the context; a channel that opens later is closed.
func openChannel(ctx context.Context, c *conn) (ssh.Channel, <-chan *ssh.Request, error) {
	type opened struct {
		ch   ssh.Channel
		reqs <-chan *ssh.Request
		err  error
	}
	got := make(chan opened, 1)
	go func() {
		ch, reqs, err := c.client.OpenChannel("session", nil)
		got <- opened{ch, reqs, err}
	}()
	select {
	case o := <-got:
		return o.ch, o.reqs, o.err
	case <-ctx.Done():
		go func() {
			if o := <-got; o.err == nil {
				go ssh.DiscardRequests(o.reqs)
				_ = o.ch.Close()
			}
		}()
		return nil, nil, ctx.Err()
	}
}

// running is a script under way.
type running struct {
	p        *Pool
	host     string
	w        work
	ch       ssh.Channel
	out, msg *capture
	beat     atomic.Int64 // Unix nanoseconds of the last output
	marked   chan wire.Marker
	badMark  chan error
	exited   chan struct{} // closed at exit-status or exit-signal
	done     chan struct{} // closed when streams and requests have ended

	exit   int
	signal string
	result answer
}

func newRunning(p *Pool, host string, w work, ch ssh.Channel, reqs <-chan *ssh.Request) *running {
	r := &running{
		p: p, host: host, w: w, ch: ch, exit: -1,
		marked: make(chan wire.Marker, 1), badMark: make(chan error, 1), exited: make(chan struct{}), done: make(chan struct{}),
	}
	r.beat.Store(time.Now().UnixNano())
	dir := ""
	if w.spill {
		dir = p.opt.SpillDir
	}
	name := strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '.' {
			return c
		}
		return '_'
	}, host)
	r.out = &capture{marker: []byte(w.script.Nonce), keep: w.keep, dir: dir, pattern: name + "-*.stdout", limit: p.opt.MaxSpill, beat: &r.beat, onLine: r.mark}
	r.msg = &capture{marker: []byte(w.script.Nonce), keep: w.keep, dir: dir, pattern: name + "-*.stderr", limit: p.opt.MaxSpill, beat: &r.beat}
	var all sync.WaitGroup
	all.Go(func() { _, _ = io.Copy(r.out, ch) })
	all.Go(func() { _, _ = io.Copy(r.msg, ch.Stderr()) })
	all.Go(func() { r.requests(reqs) })
	go func() { all.Wait(); close(r.done) }()
	return r
}

func (r *running) mark(line string) {
	m, err := wire.ReadMarker(line)
	if err != nil {
		r.badMark <- err
		return
	}
	r.marked <- m
}

func (r *running) requests(reqs <-chan *ssh.Request) {
	told := false
	for q := range reqs {
		switch q.Type {
		case "exit-status":
			var v struct{ Status uint32 }
			if ssh.Unmarshal(q.Payload, &v) == nil && !told {
				r.exit, told = int(v.Status), true
				close(r.exited)
			}
		case "exit-signal":
			var v struct {
				Signal string
				Core   bool
				Error  string
				Lang   string
			}
			if ssh.Unmarshal(q.Payload, &v) == nil && !told {
				r.signal, told = Printable([]byte(v.Signal), 20), true
				close(r.exited)
			}
		}
		if q.WantReply {
			_ = q.Reply(false, nil)
		}
	}
}

func (r *running) ended() bool {
	select {
	case <-r.exited:
		return true
	default:
		return false
	}
}

// watch waits for the end, for a time-out, or for the caller to give up.
func (r *running) watch(ctx context.Context, c *conn) answer {
	start := time.NewTimer(r.p.opt.StartTimeout)
	defer start.Stop()
	var limit, idle <-chan time.Time
	exited := r.exited
	var linger <-chan time.Time
	if !r.w.script.Stdin {
		_ = r.ch.CloseWrite()
	}
	for {
		select {
		case m := <-r.marked:
			r.result.marker = m
			c.bourne.Store(c.bourne.Load() || m.Bourne)
			start.Stop()
			if m.Word == "go" {
				go r.feed()
			} else {
				_ = r.ch.CloseWrite()
			}
			t := time.NewTimer(r.w.timeout)
			defer t.Stop()
			limit = t.C
			if r.w.idle > 0 {
				t := time.NewTicker(max(r.w.idle/8, time.Millisecond))
				defer t.Stop()
				idle = t.C
			}
		case err := <-r.badMark:
			return r.end(hostexec.Refused, "start", err.Error())
		case <-exited:
			exited = nil
			t := time.NewTimer(lingerTime)
			defer t.Stop()
			linger = t.C
		case <-r.done:
			return r.conclude()
		case <-linger:
			_ = r.ch.Close()
			return r.conclude()
		case <-start.C:
			r.result.Remains = true
			return r.end(hostexec.TimedOut, "start", fmt.Sprintf("the host's shell did not answer within %v%s", r.p.opt.StartTimeout, r.instead()))
		case <-limit:
			return r.stop(c, hostexec.TimedOut, "command", fmt.Sprintf("still running after %v", r.w.timeout))
		case <-idle:
			if quiet := time.Since(time.Unix(0, r.beat.Load())); quiet >= r.w.idle {
				return r.stop(c, hostexec.TimedOut, "idle", fmt.Sprintf("no output for %v", r.w.idle))
			}
		case <-ctx.Done():
			if errors.Is(ctx.Err(), context.DeadlineExceeded) {
				return r.stop(c, hostexec.TimedOut, "deadline", "the caller's deadline passed")
			}
			return r.stop(c, hostexec.Failed, "cancel", "cancelled")
		}
	}
}

// feed sends the program's input once the script has been parsed.
func (r *running) feed() {
	if !r.w.script.Stdin {
		return
	}
	if _, err := io.Copy(r.ch, bytes.NewReader(r.w.stdin)); err == nil {
		_ = r.ch.CloseWrite()
	}
}

// stop kills the remote process tree and says whether it is dead.
func (r *running) stop(c *conn, o hostexec.Outcome, step, why string) answer {
	pid := r.result.marker.PID
	switch {
	case pid == 0:
		r.result.Remains = true
		why += "; the command may still begin"
	default:
		gone, err := r.p.kill(c, r.host, pid, r.w.script.Sudo)
		if gone {
			why += fmt.Sprintf("; process %d and its descendants are dead", pid)
			r.p.opt.Event(Event{Kind: "killed", Host: r.host, Detail: fmt.Sprintf("process %d, %s: %s", pid, hostexec.Display(r.w.argv), step)})
			select { // what it wrote last
			case <-r.done:
			case <-time.After(lingerTime):
			}
		} else {
			r.result.Remains = true
			why += fmt.Sprintf("; process %d may still run: %v", pid, err)
		}
	}
	_ = r.ch.Close()
	return r.end(o, step, why)
}

// kill runs the kill script on a second channel of the same connection. The
// caller's context is over by now; killTime bounds it instead.
func (p *Pool) kill(c *conn, host string, pid int, sudo bool) (gone bool, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), killTime)
	defer cancel()
	w := work{
		script: wire.Script{Kind: wire.KindKill, Args: []string{fmt.Sprint(pid)}, Sudo: sudo},
		argv:   []string{"kill", fmt.Sprint(pid)}, timeout: killTime, keep: 4096,
	}
	nonce, err := wire.NewNonce()
	if err != nil {
		return false, err
	}
	w.script.Nonce = nonce
	ch, reqs, err := openChannel(ctx, c)
	if err != nil {
		return false, err
	}
	defer ch.Close()
	r := newRunning(p, host, w, ch, reqs)
	if _, err := ch.SendRequest("exec", true, ssh.Marshal(struct{ Command string }{wire.Request})); err != nil {
		return false, err
	}
	if _, err := ch.Write(w.script.Text()); err != nil {
		return false, err
	}
	_ = ch.CloseWrite()
	select {
	case <-r.done:
	case <-ctx.Done():
		return false, ctx.Err()
	}
	said, _, _, _ := r.out.finish()
	if strings.TrimSpace(string(said)) == "gone" {
		return true, nil
	}
	return false, fmt.Errorf("killing it: %s", Printable(said, 200))
}

// instead shows what the host said in place of the marker.
func (r *running) instead() string {
	said := bytes.TrimSpace(append(r.out.before(), r.msg.before()...))
	if len(said) == 0 {
		return ""
	}
	return ": it said " + Printable(said, 300)
}
