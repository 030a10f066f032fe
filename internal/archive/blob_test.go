package archive

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestBlobs(t *testing.T) {
	dir := t.TempDir()
	a := open(t, dir)
	content := bytes.Repeat([]byte{0, 1, 2}, 100_000)
	id, size, err := a.PutBlob(bytes.NewReader(content))
	if err != nil || size != int64(len(content)) {
		t.Fatalf("%d octets, error %v", size, err)
	}
	if again, _, err := a.PutBlob(bytes.NewReader(content)); err != nil || again != id {
		t.Errorf("the same content: got %s, error %v, want %s", again, err, id)
	}
	read := func() ([]byte, error) {
		r, err := a.Blob(id)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		return io.ReadAll(r)
	}
	if got, err := read(); err != nil || !bytes.Equal(got, content) {
		t.Errorf("got %d octets, error %v", len(got), err)
	}
	if err := os.Truncate(a.blobPath(id), 1000); err != nil {
		t.Fatal(err)
	}
	if _, err := read(); err == nil || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("a damaged blob: got error %v", err)
	}
	if _, _, err := a.PutBlob(bytes.NewReader(content)); err != nil {
		t.Fatal(err)
	}
	if _, err := read(); err != nil {
		t.Errorf("a mended blob: %v", err)
	}
	for _, bad := range []BlobID{"", "../../fabricbot.lock", id[:10], BlobID(strings.ToUpper(string(id)))} {
		if _, err := a.Blob(bad); err == nil {
			t.Errorf("blob %q was opened", bad)
		}
	}
	if _, err := a.Blob(BlobID(strings.Repeat("0", 64))); !errors.Is(err, ErrNotFound) {
		t.Errorf("got error %v, want that it is not in the archive", err)
	}
	broken := io.MultiReader(strings.NewReader("half"), errReader{})
	if _, _, err := a.PutBlob(broken); err == nil {
		t.Error("half a blob was kept")
	}
	if left, err := os.ReadDir(filepath.Join(dir, "tmp")); err != nil || len(left) != 0 {
		t.Errorf("left over: %v, error %v", left, err)
	}
}

type errReader struct{}

func (errReader) Read([]byte) (int, error) { return 0, fmt.Errorf("the host went away") }
