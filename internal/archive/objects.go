package archive

import (
	"bytes"
	"crypto/sha1"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/format/objfile"
	"github.com/go-git/go-git/v5/plumbing/object"
)

// objectWriter makes the objects of one commit and sees to it that they reach the disk before anything refers to them.
type objectWriter struct {
	archive *Archive
	fresh   []string // files that were written now
}

func (w *objectWriter) blob(content []byte) (plumbing.Hash, error) {
	o := new(plumbing.MemoryObject)
	o.SetType(plumbing.BlobObject)
	if _, err := o.Write(content); err != nil {
		return plumbing.ZeroHash, err
	}
	return w.store(o)
}

// tree makes the trees of files with paths and returns the topmost.
func (w *objectWriter) tree(files map[string]plumbing.Hash) (plumbing.Hash, error) {
	var entries []object.TreeEntry
	below := map[string]map[string]plumbing.Hash{}
	for name, hash := range files {
		dir, rest, nested := strings.Cut(name, "/")
		if !nested {
			entries = append(entries, object.TreeEntry{Name: name, Mode: filemode.Regular, Hash: hash})
			continue
		}
		if below[dir] == nil {
			below[dir] = map[string]plumbing.Hash{}
		}
		below[dir][rest] = hash
	}
	for dir, inner := range below {
		hash, err := w.tree(inner)
		if err != nil {
			return plumbing.ZeroHash, err
		}
		entries = append(entries, object.TreeEntry{Name: dir, Mode: filemode.Dir, Hash: hash})
	}
	return w.put(&object.Tree{Entries: sortedTree(entries)})
}

// sortedTree puts entries in git's order, in which a folder's name ends with a slash.
func sortedTree(entries []object.TreeEntry) []object.TreeEntry {
	key := func(e object.TreeEntry) string {
		if e.Mode == filemode.Dir {
			return e.Name + "/"
		}
		return e.Name
	}
	slices.SortFunc(entries, func(a, b object.TreeEntry) int { return strings.Compare(key(a), key(b)) })
	return entries
}

// put stores a tree or a commit.
func (w *objectWriter) put(value interface {
	Encode(plumbing.EncodedObject) error
}) (plumbing.Hash, error) {
	o := new(plumbing.MemoryObject)
	if err := value.Encode(o); err != nil {
		return plumbing.ZeroHash, err
	}
	return w.store(o)
}

// store writes an object unless a whole one is there. A power cut can leave an object with a name and no content, and git would
// never write it again, so what is there is read before it is relied upon.
func (w *objectWriter) store(o plumbing.EncodedObject) (plumbing.Hash, error) {
	hash := o.Hash()
	path := w.archive.objectPath(hash)
	switch err := checkObject(path, hash); {
	case err == nil:
		return hash, nil
	case errors.Is(err, os.ErrNotExist):
		// It may be in a pack, if somebody ran "git gc"; then it was synced by git.
		if w.archive.git.HasEncodedObject(hash) == nil {
			return hash, nil
		}
	default:
		if err := os.Remove(path); err != nil {
			return plumbing.ZeroHash, fmt.Errorf("removing the broken object %s: %w", hash, err)
		}
	}
	got, err := w.archive.git.SetEncodedObject(o)
	if err != nil {
		return plumbing.ZeroHash, err
	}
	w.fresh = append(w.fresh, path)
	return got, nil
}

// settle syncs what was written, contents first and then the names.
func (w *objectWriter) settle() error {
	folders := []string{filepath.Join(w.archive.dir, "objects")}
	for _, path := range w.fresh {
		if err := syncPath(path); err != nil {
			return err
		}
		folders = append(folders, filepath.Dir(path))
	}
	slices.Sort(folders)
	for _, folder := range slices.Compact(folders) {
		if err := syncPath(folder); err != nil {
			return err
		}
	}
	return nil
}

func (a *Archive) objectPath(hash plumbing.Hash) string {
	name := hash.String()
	return filepath.Join(a.dir, "objects", name[:2], name[2:])
}

// checkObject reads a loose object and compares it with its name.
func checkObject(path string, hash plumbing.Hash) (err error) {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	reader, err := objfile.NewReader(file)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, reader.Close()) }()
	kind, size, err := reader.Header()
	if err != nil {
		return err
	}
	sum := sha1.New() // git's own name for objects, not a protection
	fmt.Fprintf(sum, "%s %d\x00", kind, size)
	if _, err := io.Copy(sum, reader); err != nil {
		return err
	}
	if !bytes.Equal(sum.Sum(nil), hash[:]) {
		return fmt.Errorf("object %s is broken", hash)
	}
	return nil
}
