package lab

import (
	"fmt"
	"os/exec"
	"runtime"

	"golang.org/x/sys/unix"
)

// spawner starts a command from the lab's own thread.
type spawner func(*exec.Cmd) error

// thread is an OS thread with a mount namespace of its own, from which the
// simulator and all hosts are started. Two things hang on it: what is mounted
// there vanishes with the process, however it ends; and a child's
// parent-death signal is tied to the thread that started it, so this one must
// live as long as the lab.
type thread struct {
	work chan func()
	quit chan struct{}
}

// newThread makes the thread and mounts a private tmpfs on dir in it.
func newThread(dir string, bytes int64) (*thread, error) {
	t := &thread{work: make(chan func()), quit: make(chan struct{})}
	ready := make(chan error, 1)
	go func() {
		// Never unlocked: the thread ends with this goroutine.
		runtime.LockOSThread()
		if err := ownMounts(dir, bytes); err != nil {
			ready <- err
			return
		}
		ready <- nil
		for {
			select {
			case f := <-t.work:
				f()
			case <-t.quit:
				return
			}
		}
	}()
	return t, <-ready
}

func ownMounts(dir string, bytes int64) error {
	if err := unix.Unshare(unix.CLONE_FS | unix.CLONE_NEWNS); err != nil {
		return fmt.Errorf("making a mount namespace (root needed): %w", err)
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("making mounts private: %w", err)
	}
	if err := unix.Mount("lab", dir, "tmpfs", 0, fmt.Sprintf("mode=0755,size=%d", bytes)); err != nil {
		return fmt.Errorf("mounting tmpfs on %s: %w", dir, err)
	}
	return nil
}

// do runs f on the thread and returns its error.
func (t *thread) do(f func() error) error {
	done := make(chan error, 1)
	select {
	case t.work <- func() { done <- f() }:
		return <-done
	case <-t.quit:
		return fmt.Errorf("the lab has ended")
	}
}

func (t *thread) start(c *exec.Cmd) error { return t.do(c.Start) }

func (t *thread) end() { close(t.quit) }
