package sshexec

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"regexp"
	"strings"
	"time"

	"github.com/fabricbot/fabricbot/hostexec"
	"github.com/fabricbot/fabricbot/hostexec/wire"
)

const (
	// maxPut bounds an upload in bytes; driver bundles are fetched by the host
	// itself, not pushed through here.
	maxPut = 512 << 20
	// putRate is the slowest upload that is waited for, in bytes per second.
	putRate = 256 << 10
)

var sumPattern = regexp.MustCompile(`^[0-9a-f]{64}$`)

// Put writes a file on the host: received beside the target, compared with
// sum (SHA-256 in hex), then renamed over it, so that nobody ever sees half a
// file. When content and mode are there already nothing is sent. path must be
// one that hostexec.WritePath permits. When the login user may not write to
// the directory, sudo -n is used.
func (p *Pool) Put(ctx context.Context, host string, lease hostexec.Lease, path string, mode fs.FileMode, content io.Reader, sum string) error {
	argv := []string{"put", path}
	act := hostexec.Display(argv)
	if err := hostexec.WritePath(path); err != nil {
		return refused(host, act, "allow", "nothing was sent", "", err)
	}
	if err := lease.Check(); err != nil {
		return refused(host, act, "allow", "nothing was sent", "", err)
	}
	if mode&^0o777 != 0 || mode == 0 {
		return refused(host, act, "allow", fmt.Sprintf("mode %o is not a plain file mode", uint32(mode)), "", nil)
	}
	data, err := io.ReadAll(io.LimitReader(content, maxPut+1))
	if err != nil {
		return fmt.Errorf("putting %s on %s: reading the content: %w", path, host, err)
	}
	if len(data) > maxPut {
		return refused(host, act, "allow", fmt.Sprintf("the content is larger than %d bytes", maxPut), "let the host fetch it from a mirror", nil)
	}
	real := sha256.Sum256(data)
	if got := hex.EncodeToString(real[:]); !sumPattern.MatchString(sum) || got != sum {
		return refused(host, act, "allow", fmt.Sprintf("the content has SHA-256 %s, announced was %s", got, Printable([]byte(sum), 80)), "", nil)
	}
	return p.put(ctx, host, lease, path, mode, data, sum)
}

// put is Put without its checks of path and sum; the host compares the sum again.
func (p *Pool) put(ctx context.Context, host string, lease hostexec.Lease, path string, mode fs.FileMode, data []byte, sum string) error {
	argv := []string{"put", path}
	act := hostexec.Display(argv)
	limit := hostexec.DefaultTimeout + time.Duration(len(data)/putRate)*time.Second
	a, err := p.do(ctx, host, work{
		script: wire.Script{
			Kind: wire.KindPut, Args: []string{path, fmt.Sprintf("%o", uint32(mode)), sum},
			Sudo: true, Stdin: true, Run: lease.Run, Token: lease.Token,
		},
		argv: argv, stdin: data, timeout: limit, keep: 4096,
	})
	if err != nil {
		return err
	}
	if a.marker.Word == "same" {
		return nil
	}
	said := strings.TrimSpace(string(a.Stdout))
	if a.Outcome == hostexec.OK && said == "done" {
		return nil
	}
	detail := Printable(a.Stderr, 300)
	if what, ok := strings.CutPrefix(said, "bad "); ok {
		detail = strings.TrimSpace(what + ": " + detail)
	}
	e := &hostexec.Error{Host: host, Act: act, Step: "write", Outcome: hostexec.Failed, Detail: detail, Next: "the old file is untouched"}
	if line, no := sudoRefusal(1, nil, a.Stderr); no {
		e.Outcome, e.Step, e.Detail = hostexec.Refused, "sudo", line
	}
	return e
}

// Get reads a whole file of at most limit bytes. path must be one that
// hostexec.ReadPath permits; a longer file is an error, not cut.
func (p *Pool) Get(ctx context.Context, host, path string, limit int64) ([]byte, error) {
	if limit <= 0 || limit > maxPut {
		return nil, fmt.Errorf("getting %s from %s: limit of %d bytes, want 1 to %d", path, host, limit, maxPut)
	}
	cmd := hostexec.Command{Argv: []string{"cat", path}, MaxOutput: int(limit)}.WithDefaults()
	if class, err := hostexec.Classify(cmd.Argv); err != nil || class != hostexec.Look {
		return nil, refused(host, hostexec.Display(cmd.Argv), "allow", "nothing was sent", "", err)
	}
	a, err := p.do(ctx, host, work{
		script: wire.Script{Kind: wire.KindRun, Args: cmd.Argv}, argv: cmd.Argv, timeout: cmd.Timeout, keep: cmd.MaxOutput,
	})
	if err != nil {
		return nil, err
	}
	if a.Outcome != hostexec.OK {
		return nil, &hostexec.Error{Host: host, Act: hostexec.Display(cmd.Argv), Step: "read", Outcome: hostexec.Failed, Detail: Printable(a.Stderr, 300)}
	}
	if a.Truncated {
		return nil, &hostexec.Error{Host: host, Act: hostexec.Display(cmd.Argv), Step: "read", Outcome: hostexec.Failed, Detail: fmt.Sprintf("the file is longer than %d bytes", limit)}
	}
	return a.Stdout, nil
}

var (
	commPattern   = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,14}$`)
	signalPattern = regexp.MustCompile(`^(HUP|USR1|USR2)$`)
)

// Signal sends HUP, USR1 or USR2 to the process pid of the host, and only while
// that process is named comm (as in /proc/<pid>/comm), for example opensm.
func (p *Pool) Signal(ctx context.Context, host string, lease hostexec.Lease, pid int, comm, signal string) error {
	argv := []string{"signal", signal, fmt.Sprint(pid), comm}
	act := hostexec.Display(argv)
	if err := lease.Check(); err != nil {
		return refused(host, act, "allow", "nothing was sent", "", err)
	}
	if pid <= 1 || !commPattern.MatchString(comm) || !signalPattern.MatchString(signal) {
		return refused(host, act, "allow", "nothing was sent", "", hostexec.ErrNotAllowed)
	}
	a, err := p.do(ctx, host, work{
		script: wire.Script{Kind: wire.KindSignal, Args: []string{fmt.Sprint(pid), comm, signal}, Sudo: true, Run: lease.Run, Token: lease.Token},
		argv:   argv, timeout: 30 * time.Second, keep: 4096,
	})
	if err != nil {
		return err
	}
	if said := strings.TrimSpace(string(a.Stdout)); said != "done" {
		return &hostexec.Error{Host: host, Act: act, Step: "command", Outcome: hostexec.Failed, Detail: Printable([]byte(said+" "+string(a.Stderr)), 300)}
	}
	return nil
}
