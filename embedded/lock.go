package embedded

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

const lockFile = "lock"

// LockedError says that another process has the data directory. Two servers on one SQLite file both start and both
// serve, each with its own idea of the queues, so the second must not get that far.
type LockedError struct {
	Dir string
	PID int // of the holder; 0 when the lock file does not tell
}

func (e *LockedError) Error() string {
	return fmt.Sprintf("data directory %s is in use by %s: stop that one first, or name another directory", e.Dir, process(e.PID))
}

// dirLock is an flock on DataDir/lock. The kernel drops it with the process, however that ends, so nothing stale can
// stay behind; the pid inside is only for the message.
type dirLock struct{ f *os.File }

func lockDir(dir string) (*dirLock, error) {
	path := filepath.Join(dir, lockFile)
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening lock of data directory: %w", err)
	}
	err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		defer f.Close()
		return nil, &LockedError{Dir: dir, PID: pidIn(path)}
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("locking %s: %w: the file system must support flock", path, err)
	}
	if err = f.Truncate(0); err == nil {
		_, err = f.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("writing lock of data directory: %w", err)
	}
	return &dirLock{f}, nil
}

func (l *dirLock) release() { _ = l.f.Close() }

func pidIn(path string) int {
	b, err := os.ReadFile(path)
	if err != nil {
		return 0
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil || pid < 1 {
		return 0
	}
	return pid
}

// process words a pid for a person: with the program's name where /proc tells it.
func process(pid int) string {
	if pid == 0 {
		return "another process"
	}
	name, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/comm")
	if err != nil {
		return fmt.Sprintf("process %d", pid)
	}
	return fmt.Sprintf("process %d (%s)", pid, strings.TrimSpace(string(name)))
}
