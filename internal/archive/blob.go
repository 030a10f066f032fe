package archive

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"
	"regexp"
)

// BlobID is the SHA-256 of a binary result, in hex.
type BlobID string

var blobID = regexp.MustCompile(`^[0-9a-f]{64}$`)

// PutBlob keeps everything r gives and returns its id and its size in octets. The same content is kept once. An error leaves
// nothing behind.
func (a *Archive) PutBlob(r io.Reader) (id BlobID, size int64, err error) {
	// The final name is the hash, so the content goes to a nameless place first.
	file, err := os.CreateTemp(filepath.Join(a.dir, "tmp"), "blob-*")
	if err != nil {
		return "", 0, fmt.Errorf("keeping a blob: %w", err)
	}
	sum := sha256.New()
	size, err = io.Copy(io.MultiWriter(file, sum), r)
	if err == nil {
		err = file.Sync()
	}
	err = errors.Join(err, file.Close())
	id = BlobID(hex.EncodeToString(sum.Sum(nil)))
	if err == nil {
		err = a.nameBlob(file.Name(), id)
	}
	if err != nil {
		if gone := os.Remove(file.Name()); gone != nil && !errors.Is(gone, os.ErrNotExist) {
			err = errors.Join(err, gone)
		}
		return "", 0, fmt.Errorf("keeping a blob in %s: %w", a.dir, err)
	}
	return id, size, nil
}

func (a *Archive) nameBlob(from string, id BlobID) error {
	path := a.blobPath(id)
	folder := filepath.Dir(path)
	if err := os.MkdirAll(folder, 0o750); err != nil {
		return err
	}
	// A blob that is there already is replaced by the same content, which also mends it if it was broken.
	if err := os.Rename(from, path); err != nil {
		return err
	}
	return errors.Join(syncPath(folder), syncPath(filepath.Dir(folder)))
}

// Blob opens a blob. Its reader ends with an error instead of io.EOF when the content is not what its id says.
func (a *Archive) Blob(id BlobID) (io.ReadCloser, error) {
	if !blobID.MatchString(string(id)) {
		return nil, fmt.Errorf("blob %.80q: an id has 64 hexadecimal digits", string(id))
	}
	file, err := os.Open(a.blobPath(id))
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("blob %s: %w", id, ErrNotFound)
	}
	if err != nil {
		return nil, fmt.Errorf("opening blob %s: %w", id, err)
	}
	return &blobReader{file: file, id: id, sum: sha256.New()}, nil
}

func (a *Archive) blobPath(id BlobID) string {
	return filepath.Join(a.dir, "blobs", string(id[:2]), string(id[2:]))
}

// blobReader checks the hash when it comes to the end.
type blobReader struct {
	file *os.File
	id   BlobID
	sum  hash.Hash
}

func (b *blobReader) Read(p []byte) (int, error) {
	n, err := b.file.Read(p)
	b.sum.Write(p[:n])
	if errors.Is(err, io.EOF) {
		want, decodeErr := hex.DecodeString(string(b.id))
		if decodeErr != nil || !bytes.Equal(b.sum.Sum(nil), want) {
			return n, fmt.Errorf("blob %s: its content was damaged", b.id)
		}
	}
	return n, err
}

func (b *blobReader) Close() error { return b.file.Close() }
