package embedded

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
	"modernc.org/sqlite" // the driver the server's own plugin uses: one SQLite in the program
	sqlite3 "modernc.org/sqlite/lib"
)

const databaseFile = "engine.sqlite"

// busyTimeoutMS is how long a statement waits for another process's lock before it gives up, in milliseconds. The
// check at the start waits less: nobody else has business in this file, and a person is waiting for the answer.
const (
	busyTimeoutMS      = 10_000
	busyTimeoutStartMS = 1_500
)

// uriPath is a path for SQLite's file: URI, in which ?, # and % have a meaning.
func uriPath(path string) string { return (&url.URL{Path: path}).EscapedPath() }

// openStore opens the file beside the server, before it starts: to check locks, to read and change the schema, to copy.
// It never makes the file: an empty database where the old one was expected would look like a first start.
func openStore(path string) (*sql.DB, error) {
	q := url.Values{"mode": {"rw"}, "_pragma": {
		fmt.Sprintf("busy_timeout(%d)", busyTimeoutStartMS), "journal_mode(wal)", "synchronous(full)",
	}}
	db, err := sql.Open("sqlite", "file:"+uriPath(path)+"?"+q.Encode())
	if err != nil {
		return nil, fmt.Errorf("opening %s: %w", path, err)
	}
	db.SetMaxOpenConns(1)
	return db, nil
}

// checkUnlocked takes SQLite's write lock for a moment. A backup tool or a forgotten sqlite3 shell that holds it would
// otherwise show as a server that never gets ready.
func checkUnlocked(ctx context.Context, db *sql.DB, path string) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	c, err := db.Conn(ctx)
	if err == nil {
		defer c.Close()
		_, err = c.ExecContext(ctx, "BEGIN IMMEDIATE")
	}
	if err == nil {
		_, err = c.ExecContext(ctx, "ROLLBACK")
	}
	return explainStore(path, err)
}

// explainStore puts the SQLite results that a person can do something about into words.
func explainStore(path string, err error) error {
	var e *sqlite.Error
	if err == nil || !errors.As(err, &e) {
		return err
	}
	switch e.Code() & 0xff { // the low octet is the primary result code, sqlite.org/rescode.html
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return fmt.Errorf("database %s is locked by %s: end it, or wait until it is done, and start again: %w", path, process(lockHolder(path)), err)
	case sqlite3.SQLITE_FULL:
		return fmt.Errorf("database %s cannot grow, the disk is full: make room: %w", path, err)
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return fmt.Errorf("database %s is damaged: restore it, or one of the copies beside it, from before: %w", path, err)
	case sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM, sqlite3.SQLITE_READONLY:
		return fmt.Errorf("database %s cannot be opened for writing: check that this user owns it: %w", path, err)
	}
	return fmt.Errorf("database %s: %w", path, err)
}

// lockHolder finds who holds a lock on the database or one of its companions, by the inode in /proc/locks
// (proc_locks(5)). It prefers a process other than this one and returns 0 when it cannot tell.
func lockHolder(path string) int {
	inodes := map[string]bool{}
	for _, suffix := range []string{"", "-wal", "-shm"} {
		var st unix.Stat_t
		if unix.Stat(path+suffix, &st) == nil {
			inodes[strconv.FormatUint(st.Ino, 10)] = true
		}
	}
	f, err := os.Open("/proc/locks")
	if err != nil {
		return 0
	}
	defer f.Close()
	holder := 0
	for sc := bufio.NewScanner(f); sc.Scan(); {
		// 1: POSIX  ADVISORY  WRITE 3568 fd:00:2531452 0 EOF
		w := strings.Fields(sc.Text())
		if len(w) < 8 || w[1] == "->" {
			continue
		}
		pid, err := strconv.Atoi(w[4])
		if err != nil || pid < 1 || !inodes[w[5][strings.LastIndexByte(w[5], ':')+1:]] {
			continue
		}
		if holder == 0 || pid != os.Getpid() {
			holder = pid
		}
	}
	return holder
}
