package hostexec

import (
	"time"
)

// Result is what came back from one command on one host.
type Result struct {
	Host   string
	Argv   []string
	Stdout []byte // at most Command.MaxOutput bytes
	Stderr []byte // at most Command.MaxOutput bytes
	// StdoutSpill and StderrSpill are local files with the bytes that came
	// after those kept; empty when everything fitted or no spill directory is set.
	StdoutSpill, StderrSpill string
	// Truncated says that Stdout or Stderr is not the whole output.
	Truncated bool
	// Exit is the exit status, -1 when the program gave none.
	Exit int
	// Signal is the signal that ended the program, without "SIG"; a program
	// started by an intermediate shell shows as Exit 128+n instead.
	Signal  string
	Outcome Outcome
	// Step is where it ended: allow, queue, connect, login, host key, start,
	// sudo, command, idle, cancel, lease, spill.
	Step string
	// Remains says that a program was started and could not be proven dead.
	Remains bool
	Took    time.Duration
	// Detail is one sentence for a person; never a secret.
	Detail string
}

// Err returns nil for OK and for a program that ran and exited with a status
// (Failed with Exit >= 0), else an *Error that tells the story of the result.
func (r Result) Err() error {
	if r.Outcome == OK || r.Outcome == Failed && r.Exit >= 0 {
		return nil
	}
	return &Error{Host: r.Host, Act: Display(r.Argv), Step: r.Step, Outcome: r.Outcome, Detail: r.Detail}
}
