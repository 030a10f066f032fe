package hosttest

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/fabricbot/fabricbot/hostexec/wire"
)

func equal(a, b []string) bool { return slices.Equal(a, b) }

// readScript reads until the script is complete; text gives it again.
func readScript(ch ssh.Channel) (text io.Reader, s wire.Script, err error) {
	var all []byte
	buf := make([]byte, 32<<10)
	for len(all) < 1<<20 {
		n, rerr := ch.Read(buf)
		all = append(all, buf[:n]...)
		if n > 0 && bytes.HasSuffix(all, []byte("exit; }\n")) {
			if s, err = wire.Decode(all); err == nil {
				return bytes.NewReader(all), s, nil
			}
		}
		if rerr != nil {
			return nil, s, fmt.Errorf("reading a script: %w", rerr)
		}
	}
	return nil, s, fmt.Errorf("reading a script: too long")
}

const fakePID = 4242

// answer plays a host without a shell.
func (h *Host) answer(ch ssh.Channel, s wire.Script) {
	time.Sleep(h.opt.Latency)
	word := h.jobs.fence(s)
	if s.Kind == wire.KindPut && word == "go" && h.jobs.has(s.Args) {
		word = "same"
	}
	fmt.Fprintf(ch, "%s %d bourne %s\n", s.Nonce, fakePID, word)
	fmt.Fprintf(ch.Stderr(), "%s\n", s.Nonce)
	if word != "go" {
		exit(ch, 0)
		return
	}
	c := Call{Kind: s.Kind, Argv: s.Args, Sudo: s.Sudo, Token: s.Token}
	if s.Stdin {
		c.Stdin, _ = io.ReadAll(ch)
	}
	switch s.Kind {
	case wire.KindRun:
		t, ok := h.book.find(c)
		if !ok {
			t = Transcript{Stderr: fmt.Sprintf("sh: 1: exec: %s: not found\n", s.Args[0]), Exit: 127}
		}
		play(ch, t)
		return
	case wire.KindKill:
		fmt.Fprintln(ch, "gone")
	case wire.KindPut:
		h.book.find(c)
		fmt.Fprintln(ch, h.jobs.put(s.Args, c.Stdin))
	case wire.KindSignal:
		h.book.find(c)
		fmt.Fprintln(ch, "done")
	default:
		h.job(ch, c)
	}
	exit(ch, 0)
}

func play(ch ssh.Channel, t Transcript) {
	_, _ = io.WriteString(ch, t.Stdout)
	_, _ = io.WriteString(ch.Stderr(), t.Stderr)
	time.Sleep(t.Delay)
	if t.Signal != "" {
		killed(ch, t.Signal)
		return
	}
	exit(ch, t.Exit)
}

// jobs is the journal and the files of a host without a shell.
type jobs struct {
	mu    sync.Mutex
	token uint64
	by    string
	all   map[string]*job
	files map[string]file
	next  int
}

type job struct {
	id, lock string
	pid      int
	token    uint64
	begun    time.Time
	t        Transcript
	exit     int
	ended    time.Time // set by a cancel
}

type file struct{ mode, sum string }

func (j *jobs) fence(s wire.Script) string {
	j.mu.Lock()
	defer j.mu.Unlock()
	if s.Token == 0 {
		return "go"
	}
	if s.Token < j.token {
		return fmt.Sprintf("fenced %d %s", j.token, j.by)
	}
	j.token, j.by = s.Token, "run"
	return "go"
}

func (j *jobs) has(args []string) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return len(args) == 3 && j.files[args[0]] == file{args[1], args[2]}
}

func (j *jobs) put(args []string, content []byte) string {
	sum := sha256.Sum256(content)
	if got := hex.EncodeToString(sum[:]); got != args[2] {
		return "bad sum " + got
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.files[args[0]] = file{args[1], args[2]}
	return "done"
}

func (j *job) end() (time.Time, bool) {
	if !j.ended.IsZero() {
		return j.ended, true
	}
	end := j.begun.Add(j.t.Delay)
	return end, !time.Now().Before(end)
}

// job answers start, poll and cancel from the transcript of the job's command.
func (h *Host) job(ch ssh.Channel, c Call) {
	j := &h.jobs
	id := c.Argv[0]
	var t Transcript
	var ok bool
	if c.Kind == wire.KindStart {
		words, err := wire.Words(c.Argv[3])
		if err != nil {
			fmt.Fprintln(ch, "bad command line")
			return
		}
		j.mu.Lock()
		known := j.all[id] != nil
		j.mu.Unlock()
		if !known {
			call := c
			call.Argv = words
			if t, ok = h.book.find(call); !ok {
				t = Transcript{Stderr: words[0] + ": not found\n", Exit: 127}
			}
		}
	} else {
		h.book.mu.Lock()
		h.book.calls = append(h.book.calls, c)
		h.book.mu.Unlock()
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	x := j.all[id]
	switch {
	case c.Kind == wire.KindStart && x != nil:
		fmt.Fprintln(ch, "attached")
	case c.Kind == wire.KindStart:
		for _, o := range j.all {
			if _, done := o.end(); !done && o.lock != "" && o.lock == c.Argv[1] {
				fmt.Fprintf(ch, "new\nstate busy\ndetail lock %s is held by job %s\n\n", o.lock, o.id)
				return
			}
		}
		j.next++
		x = &job{id: id, lock: c.Argv[1], pid: fakePID + j.next, token: c.Token, begun: time.Now(), t: t, exit: t.Exit}
		j.all[id] = x
		fmt.Fprintln(ch, "new")
	case c.Kind == wire.KindCancel && x != nil:
		if _, done := x.end(); !done {
			x.ended, x.exit = time.Now(), 143
		}
	}
	if x == nil {
		fmt.Fprint(ch, "state absent\n\n")
		return
	}
	x.report(ch, c)
}

func (x *job) report(w io.Writer, c Call) {
	state, ended := "running", int64(0)
	out, msg := "", ""
	if end, done := x.end(); done {
		state, ended, out, msg = "done", end.Unix(), x.t.Stdout, x.t.Stderr
	}
	from := 0
	if c.Kind == wire.KindPoll {
		_, _ = fmt.Sscan(c.Argv[1], &from)
	}
	from = min(from, len(out))
	var b strings.Builder
	fmt.Fprintf(&b, "state %s\npid %d\nexit %d\nstarted %d\nended %d\ntoken %d\nout %d\nfrom %d\nerr %d\nerrfrom 0\ndetail \n\n",
		state, x.pid, x.exit, x.begun.Unix(), ended, x.token, len(out), from, len(msg))
	_, _ = io.WriteString(w, b.String()+out[from:]+msg)
}
