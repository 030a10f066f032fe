package site

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/fabricbot/fabricbot/activities"
	"github.com/fabricbot/fabricbot/internal/archive"
	"github.com/fabricbot/fabricbot/internal/redact"
)

// Archive is the archive of one fabric as acts use it.
type Archive struct {
	*archive.Archive
	fabric string
}

func openArchive(ctx context.Context, dir, fabric string, r *redact.Redactor) (*Archive, error) {
	a, err := archive.Open(ctx, dir, archive.Options{Redact: r.Bytes})
	if err != nil {
		return nil, err
	}
	return &Archive{a, fabric}, nil
}

// Commit stores a snapshot once per run and kind.
func (a *Archive) Commit(ctx context.Context, s activities.Snapshot) (activities.Stored, error) {
	e, err := a.Archive.Commit(ctx, archive.Snapshot{Run: s.Run, Kind: s.Kind, Fabric: a.fabric, Files: s.Files, Message: s.Message})
	return activities.Stored{ID: string(e.ID), Unchanged: e.Unchanged}, err
}

// Last returns the newest snapshot made by another run.
func (a *Archive) Last(_ context.Context, kind, notRun string) (string, time.Time, bool, error) {
	list, err := a.List(kind, a.fabric)
	if err != nil && !errors.Is(err, archive.ErrNotFound) {
		return "", time.Time{}, false, err
	}
	for _, e := range list {
		if e.Run != notRun {
			return string(e.ID), e.Time, true, nil
		}
	}
	return "", time.Time{}, false, nil
}

// Find resolves what a person calls a snapshot.
func (a *Archive) Find(_ context.Context, kind, what string) (string, time.Time, error) {
	e, err := a.Archive.Find(kind, a.fabric, what)
	return string(e.ID), e.Time, err
}

// Read returns one file of a snapshot.
func (a *Archive) Read(_ context.Context, id, path string) ([]byte, error) {
	return a.Archive.Read(archive.ID(id), path)
}

// PutBlob stores content under its hash.
func (a *Archive) PutBlob(_ context.Context, r io.Reader) (string, int64, error) {
	id, size, err := a.Archive.PutBlob(r)
	return string(id), size, err
}

// Blob opens stored content.
func (a *Archive) Blob(_ context.Context, sha256 string) (io.ReadCloser, error) {
	return a.Open(sha256)
}

// Open opens stored content, as the chat side asks for it.
func (a *Archive) Open(sha256 string) (io.ReadCloser, error) {
	return a.Archive.Blob(archive.BlobID(sha256))
}
