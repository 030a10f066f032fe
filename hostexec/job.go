package hostexec

import (
	"fmt"
	"regexp"
	"time"
)

// Job is a command that runs detached from the connection that started it,
// with a journal on the host. Its Command must be in class Change or Look as
// Classify says; starting one always needs a lease.
type Job struct {
	// ID is the same in every retry of the same step (workflow id and step,
	// never the attempt). The host runs at most one process per ID, ever.
	ID      string
	Command Command // Timeout zero means that nothing on the host ends it
	// Lock, if set, names a resource of the host that only one job may hold at
	// a time, for example "flash-0000:3b:00.0". The program inherits the lock,
	// so it stays held while any of its descendants lives: do not combine it
	// with a program that leaves a daemon behind.
	Lock string
}

var (
	jobIDPattern = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,127}$`)
	lockPattern  = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.:-]{0,63}$`)
)

// CheckJobID reports why id cannot name a job.
func CheckJobID(id string) error {
	if !jobIDPattern.MatchString(id) {
		return fmt.Errorf("job id %q: want 1 to 128 of letters, digits and _.- and a letter or digit first", id)
	}
	return nil
}

// Check reports why the job cannot be started.
func (j Job) Check() error {
	if err := CheckJobID(j.ID); err != nil {
		return err
	}
	if j.Lock != "" && !lockPattern.MatchString(j.Lock) {
		return fmt.Errorf("lock %q of job %s: want 1 to 64 of letters, digits and _.:-", j.Lock, j.ID)
	}
	return CheckArgv(j.Command.Argv)
}

// JobState is what the journal on the host says about a job.
type JobState uint8

const (
	// Running: the recorded process is alive on the same boot.
	Running JobState = iota + 1
	// Done: the exit status is recorded.
	Done
	// Unknown: begun, no exit status, and the process is gone or the host
	// has booted since. Nobody knows how far it came: a person decides, it is
	// never started again under this ID.
	Unknown
	// Fenced: the host has seen a newer lease; nothing was started.
	Fenced
	// Busy: another job holds the lock; nothing was started, the ID is free.
	Busy
	// Absent: the host has no journal of this ID.
	Absent
)

var jobStateNames = [...]string{Running: "running", Done: "done", Unknown: "unknown", Fenced: "fenced", Busy: "busy", Absent: "absent"}

// String returns the word used on the wire and in messages.
func (s JobState) String() string {
	if s >= Running && int(s) < len(jobStateNames) {
		return jobStateNames[s]
	}
	return fmt.Sprintf("state(%d)", uint8(s))
}

// MarshalText writes the name.
func (s JobState) MarshalText() ([]byte, error) {
	if s == 0 {
		return nil, nil
	}
	return []byte(s.String()), nil
}

// UnmarshalText reads the name.
func (s *JobState) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		*s = 0
		return nil
	}
	for i, n := range jobStateNames {
		if i > 0 && n == string(text) {
			*s = JobState(i)
			return nil
		}
	}
	return fmt.Errorf("unknown job state %q", text)
}

// JobStatus is one look at a job's journal.
type JobStatus struct {
	State JobState
	// Attached says that StartJob found the job already there.
	Attached bool
	PID      int // 0 before the process has begun
	// Exit is the exit status, meaningful in state Done; 128+n for signal n.
	Exit int
	// Output holds standard output from byte OutputStart on, at most 64 KiB:
	// what came since the offset asked for, or the last part of it.
	Output      []byte
	OutputStart int64
	OutputBytes int64 // size of standard output so far; ask from here next time
	// Errors is the last part of standard error, at most 8 KiB.
	Errors      []byte
	ErrorsBytes int64
	Started     time.Time // by the host's clock, seconds
	Ended       time.Time // by the host's clock, seconds; zero while running
	Token       uint64    // of the lease that started it
	// Detail says more for a person: who holds the lock, which token is newer,
	// why the outcome is unknown.
	Detail string
}
