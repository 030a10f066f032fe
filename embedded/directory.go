package embedded

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// minFreeOctets is the room a start wants on the data directory's file system. A fleet of 5,000 hosts in one rollout
// writes 130 MB (measured 2026-12), so with less than this the next run would stop in the middle.
const minFreeOctets = 64 << 20

// nfsMagic is NFS_SUPER_MAGIC of statfs(2).
const nfsMagic = 0x6969

// openDir makes the data directory, or refuses one that other users may enter: they could read the client key and
// approve changes with it.
func openDir(dir string) error {
	err := os.Mkdir(dir, 0o700)
	if errors.Is(err, fs.ErrNotExist) {
		if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
			return fmt.Errorf("making parent of data directory: %w", err)
		}
		err = os.Mkdir(dir, 0o700)
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("making data directory: %w", explainFull(dir, err))
	}
	info, err := os.Stat(dir)
	if err != nil {
		return fmt.Errorf("reading data directory: %w", err)
	}
	if !info.IsDir() {
		return fmt.Errorf("data directory %s is a file: name another one", dir)
	}
	if p := info.Mode().Perm(); p&0o077 != 0 {
		return fmt.Errorf("data directory %s has mode %04o and may be entered by other users, who could approve changes with its key: "+
			"run chmod 700 on it, or name a directory of its own", dir, p)
	}
	return nil
}

// checkDisk refuses a full or unsuitable file system at the start, where a person looks, and not in the middle of a
// run. It also writes, since a quota does not show in the free space.
func checkDisk(dir string) error {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return fmt.Errorf("looking at the file system of data directory %s: %w", dir, err)
	}
	if int64(st.Type) == nfsMagic {
		return fmt.Errorf("data directory %s is on NFS, where SQLite's locks and shared memory do not work: name a local directory", dir)
	}
	if free := st.Bavail * uint64(st.Bsize); free < minFreeOctets {
		return fmt.Errorf("file system of data directory %s has only %d MiB free and the engine wants %d: make room, or name another directory",
			dir, free>>20, minFreeOctets>>20)
	}
	probe := filepath.Join(dir, "space-probe")
	defer os.Remove(probe)
	err := func() error {
		f, err := os.OpenFile(probe, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
		if err != nil {
			return err
		}
		defer f.Close()
		if _, err := f.Write(make([]byte, 1<<20)); err != nil {
			return err
		}
		return f.Sync()
	}()
	if err != nil {
		return fmt.Errorf("writing to data directory %s: %w", dir, explainFull(dir, err))
	}
	return nil
}

func explainFull(dir string, err error) error {
	switch {
	case errors.Is(err, unix.ENOSPC):
		return fmt.Errorf("%w: the disk is full; make room, or name another directory than %s", err, dir)
	case errors.Is(err, unix.EDQUOT):
		return fmt.Errorf("%w: the quota of this user is used up; raise it, or name another directory than %s", err, dir)
	case errors.Is(err, unix.EROFS):
		return fmt.Errorf("%w: the file system is mounted read-only, which kernels do after disk errors", err)
	}
	return err
}
