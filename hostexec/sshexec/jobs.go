package sshexec

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/fabricbot/fabricbot/hostexec"
	"github.com/fabricbot/fabricbot/hostexec/wire"
)

// jobTime bounds one conversation about a job: waiting for the journal lock
// (20 s), for the launch (5 s), or for a cancelled tree to die (10 s).
const jobTime = 60 * time.Second

// StartJob launches the job detached from this connection, or attaches to it:
// when the host already has a journal of this ID nothing is started, and its
// status comes back with Attached set. It is safe to repeat after any error.
//
// A lease older than the newest the host has seen gives state Fenced, a held
// lock gives Busy; both with a nil error and nothing started.
func (p *Pool) StartJob(ctx context.Context, host string, lease hostexec.Lease, job hostexec.Job) (hostexec.JobStatus, error) {
	argv := append([]string{"start-job", job.ID}, job.Command.Argv...)
	if err := job.Check(); err != nil {
		return hostexec.JobStatus{}, refused(host, hostexec.Display(argv), "allow", "nothing was sent", "", err)
	}
	if _, err := hostexec.Classify(job.Command.Argv); err != nil {
		return hostexec.JobStatus{}, refused(host, hostexec.Display(argv), "allow", "nothing was sent", "", err)
	}
	if err := lease.Check(); err != nil {
		return hostexec.JobStatus{}, refused(host, hostexec.Display(argv), "allow", "nothing was sent", "", err)
	}
	seconds := 0
	if job.Command.Timeout > 0 {
		seconds = int((job.Command.Timeout + time.Second - 1) / time.Second)
	}
	line := wire.QuoteAll(job.Command.Argv)
	if job.Command.Sudo {
		line = `$fb_sudo ` + line
	}
	a, err := p.do(ctx, host, work{
		script: wire.Script{
			Kind: wire.KindStart, Args: []string{job.ID, job.Lock, strconv.Itoa(seconds), line}, Sudo: job.Command.Sudo,
			Stdin: len(job.Command.Stdin) > 0, Run: lease.Run, Token: lease.Token,
		},
		argv: argv, stdin: job.Command.Stdin, timeout: jobTime, keep: 1 << 20,
	})
	if a.marker.Word == "fenced" {
		return hostexec.JobStatus{State: hostexec.Fenced, Detail: a.Detail}, nil
	}
	if err != nil {
		return hostexec.JobStatus{}, err
	}
	how, rest, _ := strings.Cut(string(a.Stdout), "\n")
	if why, bad := strings.CutPrefix(how, "bad "); bad {
		return hostexec.JobStatus{}, refused(host, hostexec.Display(argv), "start", Printable([]byte(why), 300), "", nil)
	}
	st, err := report(host, argv, rest, a)
	st.Attached = how == "attached"
	return st, err
}

// PollJob looks at a job without waiting. Output holds what came since offset;
// pass the last OutputBytes to follow it.
func (p *Pool) PollJob(ctx context.Context, host, jobID string, offset int64) (hostexec.JobStatus, error) {
	argv := []string{"poll-job", jobID}
	if err := hostexec.CheckJobID(jobID); err != nil {
		return hostexec.JobStatus{}, refused(host, hostexec.Display(argv), "allow", "nothing was sent", "", err)
	}
	a, err := p.do(ctx, host, work{
		script: wire.Script{Kind: wire.KindPoll, Args: []string{jobID, strconv.FormatInt(max(offset, 0), 10)}},
		argv:   argv, timeout: jobTime, keep: 1 << 20,
	})
	if err != nil {
		return hostexec.JobStatus{}, err
	}
	return report(host, argv, string(a.Stdout), a)
}

// CancelJob kills the job's process tree and returns its status: Done with
// exit 143 or 137 when the journal could still record the end.
func (p *Pool) CancelJob(ctx context.Context, host string, lease hostexec.Lease, jobID string) (hostexec.JobStatus, error) {
	argv := []string{"cancel-job", jobID}
	if err := hostexec.CheckJobID(jobID); err != nil {
		return hostexec.JobStatus{}, refused(host, hostexec.Display(argv), "allow", "nothing was sent", "", err)
	}
	if err := lease.Check(); err != nil {
		return hostexec.JobStatus{}, refused(host, hostexec.Display(argv), "allow", "nothing was sent", "", err)
	}
	a, err := p.do(ctx, host, work{
		script: wire.Script{Kind: wire.KindCancel, Args: []string{jobID}, Sudo: true, Run: lease.Run, Token: lease.Token},
		argv:   argv, timeout: jobTime, keep: 1 << 20,
	})
	if a.marker.Word == "fenced" {
		return hostexec.JobStatus{State: hostexec.Fenced, Detail: a.Detail}, nil
	}
	if err != nil {
		return hostexec.JobStatus{}, err
	}
	return report(host, argv, string(a.Stdout), a)
}

// report reads what scripts/journal.sh prints.
func report(host string, argv []string, text string, a answer) (hostexec.JobStatus, error) {
	bad := func(why string) (hostexec.JobStatus, error) {
		return hostexec.JobStatus{}, &hostexec.Error{
			Host: host, Act: hostexec.Display(argv), Step: "journal", Outcome: hostexec.Failed,
			Detail: why + ": " + Printable([]byte(text+" "+string(a.Stderr)), 300), Next: "look at the journal directory on the host and at the space left there",
		}
	}
	head, body, ok := strings.Cut(text, "\n\n")
	if !ok {
		return bad("the report is not complete")
	}
	f := map[string]string{}
	for l := range strings.SplitSeq(head, "\n") {
		k, v, _ := strings.Cut(l, " ")
		f[k] = v
	}
	st := hostexec.JobStatus{Detail: Printable([]byte(f["detail"]), 300)}
	if err := st.State.UnmarshalText([]byte(f["state"])); err != nil || st.State == 0 {
		return bad("the report names no state")
	}
	if f["out"] == "" {
		return st, nil // absent or busy: nothing more to say
	}
	var numbers [9]int64
	for i, k := range []string{"pid", "exit", "started", "ended", "token", "out", "from", "err", "errfrom"} {
		n, err := strconv.ParseInt(f[k], 10, 64)
		if err != nil || n < 0 {
			return bad(fmt.Sprintf("%s is %q", k, f[k]))
		}
		numbers[i] = n
	}
	st.PID, st.Exit = int(numbers[0]), int(numbers[1])
	st.Started, st.Ended = instant(numbers[2]), instant(numbers[3])
	st.Token = uint64(numbers[4])
	st.OutputBytes, st.OutputStart, st.ErrorsBytes = numbers[5], numbers[6], numbers[7]
	out, errs := numbers[5]-numbers[6], numbers[7]-numbers[8]
	if out < 0 || errs < 0 || int64(len(body)) != out+errs {
		return bad(fmt.Sprintf("%d bytes of output were announced and %d came", out+errs, len(body)))
	}
	st.Output, st.Errors = []byte(body[:out]), []byte(body[out:])
	return st, nil
}

func instant(seconds int64) time.Time {
	if seconds == 0 {
		return time.Time{}
	}
	return time.Unix(seconds, 0)
}
