package workflows

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"time"

	"github.com/fabricbot/fabricbot/activities"
	"github.com/fabricbot/fabricbot/fabric"
)

// The archive of the fake site, in memory: commit N has the id "cN".

var fakeCommitTime = time.Date(2026, 11, 30, 6, 0, 0, 0, time.UTC)

func (f *fakeSite) Check() error { return nil }

func (f *fakeSite) Commit(_ context.Context, s activities.Snapshot) (activities.Stored, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.stored = append(f.stored, s)
	return activities.Stored{ID: fmt.Sprintf("c%d", len(f.stored))}, nil
}

func (f *fakeSite) Last(_ context.Context, kind, notRun string) (string, time.Time, bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i, s := range slices.Backward(f.stored) {
		if s.Kind == kind && s.Run != notRun {
			return fmt.Sprintf("c%d", i+1), fakeCommitTime, true, nil
		}
	}
	return "", time.Time{}, false, nil
}

func (f *fakeSite) Find(_ context.Context, kind, what string) (string, time.Time, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i, s := range f.stored {
		if id := fmt.Sprintf("c%d", i+1); s.Kind == kind && (what == id || what == s.Run) {
			return id, fakeCommitTime, nil
		}
	}
	return "", time.Time{}, fs.ErrNotExist
}

func (f *fakeSite) Read(_ context.Context, id, path string) ([]byte, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i, s := range f.stored {
		if b, ok := s.Files[path]; ok && id == fmt.Sprintf("c%d", i+1) {
			return b, nil
		}
	}
	return nil, fs.ErrNotExist
}

func (f *fakeSite) PutBlob(_ context.Context, r io.Reader) (string, int64, error) {
	b, err := io.ReadAll(r)
	sum := sha256.Sum256(b)
	id := hex.EncodeToString(sum[:])
	f.mu.Lock()
	defer f.mu.Unlock()
	f.blobs[id] = b
	return id, int64(len(b)), err
}

func (f *fakeSite) Blob(_ context.Context, id string) (io.ReadCloser, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	b, ok := f.blobs[id]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return io.NopCloser(bytes.NewReader(b)), nil
}

// Topology draws in words.
func (f *fakeSite) Topology(now, _ *fabric.Topology, title string, _, _ time.Time) (png, svg []byte, alt string, err error) {
	alt = fmt.Sprintf("%s: %d nodes", title, len(now.Nodes))
	return []byte("png of " + alt), []byte("svg of " + alt), alt, nil
}
