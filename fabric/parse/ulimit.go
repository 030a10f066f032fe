package parse

import (
	"encoding/json"
	"io"
	"regexp"
	"strings"
)

// LimitsReport is what ulimit -a prints in a POSIX shell, or ulimit -l alone.
type LimitsReport struct {
	Trouble
	Verdict
	// MaxLockedMemory is what verbs can register: see Enough.
	MaxLockedMemory *Limit `json:"max_locked_memory_kbytes,omitempty"`
	OpenFiles       *Limit `json:"open_files,omitempty"`
	MaxMemorySize   *Limit `json:"max_memory_size,omitempty"`
	Processes       *Limit `json:"max_user_processes,omitempty"`
	StackSize       *Limit `json:"stack_size_kbytes,omitempty"`
	VirtualMemory   *Limit `json:"virtual_memory,omitempty"`
}

// Limit is a number in the shell's unit, or no limit.
type Limit struct {
	Unlimited bool
	Value     uint64
}

// MarshalJSON writes the number or "unlimited".
func (l Limit) MarshalJSON() ([]byte, error) {
	if l.Unlimited {
		return []byte(`"unlimited"`), nil
	}
	return json.Marshal(l.Value)
}

// leastLocked is from where a number counts as enough, in KiB. RDMA hosts
// are set to unlimited, so 1 GiB is a choice: far above the defaults of
// distributions (64 KiB, 8 MiB), below what an MPI job registers.
const leastLocked = 1 << 20

// Enough reports whether the limit on locked memory lets RDMA programs run.
func (rep *LimitsReport) Enough() bool {
	l := rep.MaxLockedMemory
	return l != nil && (l.Unlimited || l.Value >= leastLocked)
}

// ULimit reads the output of ulimit.
func ULimit(r io.Reader) (*LimitsReport, error) {
	s := newLines(r)
	rep := &LimitsReport{}
	known := false
	for line, ok := s.text(); ok; line, ok = s.text() {
		text := strings.TrimSpace(line)
		if _, ok := invoked(text, "ulimit"); ok {
			continue
		}
		if rep.line(text) {
			known = true
			continue
		}
		rep.complained(line)
	}
	switch {
	case rep.MaxLockedMemory == nil && rep.Error != "":
		rep.is(Failed, "error")
	case rep.MaxLockedMemory == nil:
		rep.is(Truncated, "")
	case !rep.Enough():
		rep.is(NeedsAction, "memlock_too_small")
	default:
		rep.is(Succeeded, "memlock_ok")
	}
	rep.Incomplete = rep.Outcome == Truncated
	return rep, rep.ended(s, known)
}

var _ = tool(ULimit, "ulimit", "ulimit -a", "ulimit -l")

// limitRow is bash's "max locked memory       (kbytes, -l) 64" and dash's
// "locked memory        (kbytes) 64", zsh's "-l: locked-in-memory size (kbytes) 64".
var limitRow = regexp.MustCompile(`^(?:-\w: )?(\w[\w -]*?)\s*\(([^)]*)\)\s+(unlimited|\d+)$`)

func (rep *LimitsReport) line(text string) bool {
	if limit, ok := aLimit(text); ok { // ulimit -l alone
		rep.MaxLockedMemory = limit
		return true
	}
	m := limitRow.FindStringSubmatch(text)
	if m == nil {
		return false
	}
	limit, ok := aLimit(m[3])
	if !ok {
		return false
	}
	switch m[1] {
	case "max locked memory", "locked memory", "locked-in-memory size":
		rep.MaxLockedMemory = limit
	case "open files", "nofiles", "file descriptors":
		rep.OpenFiles = limit
	case "max memory size", "memory", "resident set size":
		rep.MaxMemorySize = limit
	case "max user processes", "process", "processes":
		rep.Processes = limit
	case "stack size", "stack":
		rep.StackSize = limit
	case "virtual memory", "vmemory", "address space":
		rep.VirtualMemory = limit
	}
	return true
}

func aLimit(text string) (*Limit, bool) {
	if text == "unlimited" {
		return &Limit{Unlimited: true}, true
	}
	n, rest, ok := digits([]byte(text), 10)
	if !ok || len(rest) > 0 {
		return nil, false
	}
	return &Limit{Value: n}, true
}
