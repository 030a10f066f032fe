package audit

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"
)

// lockPoll is how often a busy lock is asked for again. A writer holds it for one write and one sync.
const lockPoll = 5 * time.Millisecond

// Log appends to one audit file. Any number of Logs, also in other processes, may write to the same file: a lock on it puts
// them in order. It is safe for concurrent use.
type Log struct {
	path   string
	redact func(string) string
	now    func() time.Time

	mu   sync.Mutex
	seen index
}

// Receipt is where an entry stands in the chain; kept elsewhere it proves that the file is complete up to there.
type Receipt struct {
	Seq  uint64 `json:"seq"`
	Hash string `json:"hash"` // SHA-256 of the line, in hex
}

// Open makes sure that the file at path can be appended to, creating it with mode 0600. redact is applied to every text of
// every entry and must not be nil.
func Open(path string, redact func(string) string) (*Log, error) {
	if redact == nil {
		return nil, errors.New("opening audit file: no redaction given")
	}
	file, err := openFile(path)
	if err != nil {
		return nil, err
	}
	if err := file.Close(); err != nil {
		return nil, fmt.Errorf("closing audit file: %w", err)
	}
	// The new name must survive a power cut as well as the lines do.
	if err := syncDir(filepath.Dir(path)); err != nil {
		return nil, err
	}
	return &Log{path: path, redact: redact, now: time.Now}, nil
}

func openFile(path string) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening audit file: %w; nothing may be changed without a record, so make it writable first", err)
	}
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("audit file %s is not a regular file", path)
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("syncing the folder of the audit file: %w", err)
	}
	if err := errors.Join(d.Sync(), d.Close()); err != nil {
		return fmt.Errorf("syncing the folder of the audit file: %w", err)
	}
	return nil
}

// Append writes one entry and returns once it is on disk. An entry of a run whose event and number are in the file already is not
// written again; its receipt is that of the first. After an error the entry is not in the file and the act it was to record must
// not happen. The context bounds only the wait for other writers.
func (l *Log) Append(ctx context.Context, entry Entry) (receipt Receipt, err error) {
	if err := entry.check(); err != nil {
		return Receipt{}, err
	}
	entry = entry.redacted(l.redact)
	l.mu.Lock()
	defer l.mu.Unlock()
	// Opened anew each time, so that a file moved away by a log rotation is not written to any more.
	file, err := openFile(l.path)
	if err != nil {
		return Receipt{}, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if err := lock(ctx, file); err != nil {
		return Receipt{}, err
	}
	end, err := tailOf(file)
	if err != nil {
		return Receipt{}, fmt.Errorf("reading the end of audit file %s: %w", l.path, err)
	}
	if err := l.seen.catchUp(file, end.size); err != nil {
		return Receipt{}, fmt.Errorf("reading audit file %s: %w", l.path, err)
	}
	if first, found := l.seen.receipts[entry.key()]; found && entry.Run != "" {
		return first, nil
	}
	if entry.Time.IsZero() {
		entry.Time = l.now()
	}
	entry.Time = entry.Time.UTC()
	entry.Seq, entry.Prev, entry.Torn = end.seq+1, end.hash, end.torn
	line, err := entry.line()
	if err != nil {
		return Receipt{}, err
	}
	receipt = Receipt{Seq: entry.Seq, Hash: hashOf(line[:len(line)-1])}
	if end.unfinished {
		line = append([]byte{'\n'}, line...)
	}
	if err := write(file, line, end.size); err != nil {
		return Receipt{}, fmt.Errorf("writing audit file %s: %w; the act was not recorded and must not happen: free space, then ask again", l.path, err)
	}
	return receipt, nil
}

// write appends line whole or not at all: what a full disk let through is cut off again.
func write(file *os.File, line []byte, size int64) error {
	_, err := file.Write(line)
	if err == nil {
		err = file.Sync()
	}
	if err == nil {
		return nil
	}
	if undo := file.Truncate(size); undo != nil {
		return errors.Join(err, fmt.Errorf("taking back the half-written line: %w", undo))
	}
	return errors.Join(err, file.Sync())
}

func lock(ctx context.Context, file *os.File) error {
	for {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case err == nil:
			return nil
		case errors.Is(err, syscall.EINTR):
			continue
		case !errors.Is(err, syscall.EWOULDBLOCK):
			return fmt.Errorf("locking audit file %s: %w", file.Name(), err)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("locking audit file %s, which another process holds: %w", file.Name(), ctx.Err())
		case <-time.After(lockPoll):
		}
	}
}

// tail is what the next line has to continue.
type tail struct {
	size       int64
	seq        uint64
	hash       string
	torn       bool // the last line cannot be read
	unfinished bool // it has no newline either
}

// tailOf reads the last line, from the end of the file. A last line without a newline or that is no entry was torn by a crash.
func tailOf(file *os.File) (tail, error) {
	info, err := file.Stat()
	if err != nil {
		return tail{}, err
	}
	end := tail{size: info.Size(), hash: genesis}
	if end.size == 0 {
		return end, nil
	}
	// Twice the bound: a torn line and the whole one before it, which holds the number to go on from.
	window := make([]byte, min(end.size, 2*maxLine+2))
	if _, err := file.ReadAt(window, end.size-int64(len(window))); err != nil && !errors.Is(err, io.EOF) {
		return tail{}, err
	}
	end.unfinished = window[len(window)-1] != '\n'
	lines := bytes.Split(bytes.TrimSuffix(window, []byte{'\n'}), []byte{'\n'})
	last := lines[len(lines)-1]
	end.hash = hashOf(last)
	for i := len(lines) - 1; i >= 0; i-- {
		var entry Entry
		// A line cut off exactly before its newline still is whole; only what does not decode is torn.
		if json.Unmarshal(lines[i], &entry) == nil && entry.Seq > 0 {
			end.seq = entry.Seq
			return end, nil
		}
		end.torn = true
	}
	if end.size > int64(len(window)) {
		return tail{}, errors.New("no audit entry among its last lines; move the file away and keep it")
	}
	return end, nil
}
