package farm

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Sessions counts the connections that the servers hold.
func (f *Farm) Sessions() int {
	n := 0
	for _, s := range f.servers {
		n += len(children(s.Process.Pid))
	}
	return n
}

// Keep lets the sessions of this moment stay in Settle: they are connections
// that somebody keeps warm.
func (f *Farm) Keep() { f.kept = f.Sessions() }

// Settle waits until no sessions but the kept ones are left, so that one
// round's endings are not charged to the next.
func (f *Farm) Settle(ctx context.Context) error {
	deadline := time.Now().Add(quietWithin)
	for f.Sessions() > f.kept {
		if time.Now().After(deadline) {
			return fmt.Errorf("waiting for ssh sessions to end: %d are left, %d may stay", f.Sessions(), f.kept)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
	return nil
}

// Close kills the servers and every session they hold.
func (f *Farm) Close() {
	var all []int
	for _, s := range f.servers {
		_ = s.Process.Signal(syscall.SIGSTOP) // no new sessions meanwhile
		all = append(all, descendants(s.Process.Pid)...)
	}
	for _, s := range f.servers {
		_ = s.Process.Kill()
		_ = s.Wait()
	}
	for _, pid := range all {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	f.servers = nil
}

func descendants(pid int) (all []int) {
	for _, c := range children(pid) {
		all = append(all, c)
		all = append(all, descendants(c)...)
	}
	return all
}

// children are the direct ones, of a process with one thread.
func children(pid int) (out []int) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	if err != nil {
		return nil
	}
	for w := range strings.FieldsSeq(string(text)) {
		if n, err := strconv.Atoi(w); err == nil {
			out = append(out, n)
		}
	}
	return out
}
