package archive

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/storage/filesystem"

	"github.com/go-git/go-billy/v5/osfs"
)

const (
	// branch is the only one that is written.
	branch = plumbing.ReferenceName("refs/heads/main")
	// lockPoll is how often a busy lock is asked for again.
	lockPoll = 20 * time.Millisecond
	// leastFree is how much room the disk must have before work begins, in octets: more than ten snapshots of 10,000 hosts.
	leastFree = 64 << 20
	// staleBlob is how long a blob that is being written may stand still.
	staleBlob = time.Hour
)

// Archive is an open archive. It is safe for concurrent use, also by several processes on one folder.
type Archive struct {
	dir    string
	redact func([]byte) []byte
	now    func() time.Time

	mu    sync.Mutex // guards all below and git, whose storage is not made for concurrent use
	git   *filesystem.Storage
	packs time.Time     // when git's folder of packs last changed
	head  plumbing.Hash // up to where entries has been read
	list  []Entry       // oldest first
	byRun map[runKey]int
	byID  map[ID]int
}

// Options of an archive.
type Options struct {
	// Redact is applied to every text before it is written; required, because what is in the archive stays there.
	Redact func([]byte) []byte
	// Now is the clock; time.Now if nil.
	Now func() time.Time
}

// Open opens the archive in dir and makes one where there is none. It clears away what a killed process left half done.
func Open(ctx context.Context, dir string, options Options) (*Archive, error) {
	if options.Redact == nil {
		return nil, errors.New("opening archive: no redaction given")
	}
	if options.Now == nil {
		options.Now = time.Now
	}
	a := &Archive{dir: dir, redact: options.Redact, now: options.Now, byRun: map[runKey]int{}, byID: map[ID]int{}}
	for _, sub := range []string{"tmp", "blobs"} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o750); err != nil {
			return nil, fmt.Errorf("opening archive %s: %w", dir, err)
		}
	}
	unlock, err := a.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if err := a.clearLeftovers(); err != nil {
		return nil, fmt.Errorf("opening archive %s: clearing what was left half done: %w", dir, err)
	}
	if err := a.openGit(); err != nil {
		return nil, fmt.Errorf("opening archive %s: %w", dir, err)
	}
	if err := a.refresh(); err != nil {
		return nil, err
	}
	return a, nil
}

// openGit opens the repository, and again whenever somebody has packed it, since go-git reads the list of packs only once.
func (a *Archive) openGit() error {
	var packs time.Time
	if info, err := os.Stat(filepath.Join(a.dir, "objects", "pack")); err == nil {
		packs = info.ModTime()
	}
	if a.git != nil && packs.Equal(a.packs) {
		return nil
	}
	a.packs = packs
	storage := filesystem.NewStorage(osfs.New(a.dir, osfs.WithBoundOS()), cache.NewObjectLRUDefault())
	_, err := storage.Reference(plumbing.HEAD)
	if errors.Is(err, plumbing.ErrReferenceNotFound) {
		err = initBare(storage)
	}
	a.git = storage
	return err
}

// initBare makes an empty bare repository. go-git's own function for it would bring an SSH client along, which the Slack side
// must not have.
func initBare(storage *filesystem.Storage) error {
	if err := storage.Init(); err != nil {
		return err
	}
	c, err := storage.Config()
	if err != nil {
		return err
	}
	c.Core.IsBare = true
	if err := storage.SetConfig(c); err != nil {
		return err
	}
	return storage.SetReference(plumbing.NewSymbolicReference(plumbing.HEAD, branch))
}

// clearLeftovers removes temporary files. It is called under the lock, under which all are written but the blobs; of those only
// the ones nobody has written to for long are left over.
func (a *Archive) clearLeftovers() error {
	for _, pattern := range []string{"tmp/new-*", "tmp/blob-*", "objects/pack/tmp_obj_*"} {
		left, err := filepath.Glob(filepath.Join(a.dir, filepath.FromSlash(pattern)))
		if err != nil {
			return err
		}
		for _, path := range left {
			if info, err := os.Stat(path); pattern == "tmp/blob-*" && err == nil && a.now().Sub(info.ModTime()) < staleBlob {
				continue
			}
			if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
				return err
			}
		}
	}
	return nil
}

// Check says whether the archive can be written to and has room. A run asks before it does anything that it could not record.
func (a *Archive) Check() error {
	var disk syscall.Statfs_t
	if err := syscall.Statfs(a.dir, &disk); err != nil {
		return fmt.Errorf("checking archive %s: %w", a.dir, err)
	}
	if free := disk.Bavail * uint64(disk.Bsize); free < leastFree {
		return fmt.Errorf("archive %s: %d MiB are free on its disk, %d are needed; free space first", a.dir, free>>20, leastFree>>20)
	}
	for _, sub := range []string{"tmp", "objects", "refs/heads", "blobs"} {
		probe, err := os.CreateTemp(filepath.Join(a.dir, sub), ".check-*")
		if err != nil {
			return fmt.Errorf("archive %s cannot be written to, so nothing may start: %w", a.dir, err)
		}
		if err := errors.Join(probe.Close(), os.Remove(probe.Name())); err != nil {
			return fmt.Errorf("checking archive %s: %w", a.dir, err)
		}
	}
	return nil
}

// lock takes the archive's lock, which ends with the process that holds it.
func (a *Archive) lock(ctx context.Context) (unlock func(), err error) {
	file, err := os.OpenFile(filepath.Join(a.dir, "fabricbot.lock"), os.O_RDWR|os.O_CREATE, 0o640)
	if err != nil {
		return nil, fmt.Errorf("locking archive: %w", err)
	}
	for {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			// Closing gives the lock back; there is nothing to lose in its error.
			return func() { _ = file.Close() }, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			return nil, errors.Join(fmt.Errorf("locking archive %s: %w", a.dir, err), file.Close())
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(fmt.Errorf("locking archive %s, which another process holds: %w", a.dir, ctx.Err()), file.Close())
		case <-time.After(lockPoll):
		}
	}
}

// writeAtomically puts what write produces at path, whole or not at all and durably.
func (a *Archive) writeAtomically(path string, write func(*os.File) error) error {
	file, err := os.CreateTemp(filepath.Join(a.dir, "tmp"), "new-*")
	if err != nil {
		return err
	}
	err = write(file)
	if err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(file.Name()))
	}
	return syncPath(filepath.Dir(path))
}

// syncPath makes a file, or the names in a folder, survive a power cut.
func syncPath(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(file.Sync(), file.Close())
}
