package archive

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
)

// Bounds of one snapshot, in octets and files: a fabric of 10,000 hosts gives some 20 MB of text in a handful of files.
const (
	maxText  = 256 << 20
	maxFiles = 20_000
	maxRun   = 200
	maxPath  = 240
)

// Snapshot is what a run wants to keep.
type Snapshot struct {
	Run    string            // id of the run; it has one snapshot of a kind and fabric
	Kind   string            // such as topology: small letters, digits, hyphens
	Fabric string            // such as ib0, likewise
	Files  map[string][]byte // texts by path with slashes; they replace all files of the kind and fabric
	// Message says in a line what this is; more lines may follow.
	Message string
}

var (
	kindName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,62}$`)
	pathPart = regexp.MustCompile(`^[A-Za-z0-9_@+=,][A-Za-z0-9_@+=,.:\- ]*$`)
)

// Commit archives the snapshot durably and returns its entry. Calling it again for the same run, kind and fabric returns the entry that
// is there, whatever the files, so that a repeated activity does no harm. Files that did not change are recorded all the same, as
// unchanged. The context bounds the wait for other processes.
func (a *Archive) Commit(ctx context.Context, s Snapshot) (Entry, error) {
	if err := s.check(); err != nil {
		return Entry{}, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	unlock, err := a.lock(ctx)
	if err != nil {
		return Entry{}, err
	}
	defer unlock()
	if err := a.refresh(); err != nil {
		return Entry{}, err
	}
	if i, found := a.byRun[runKey{s.Run, s.Kind, s.Fabric}]; found {
		return a.list[i], nil
	}
	hash, err := a.write(s)
	if err != nil {
		return Entry{}, fmt.Errorf("archiving %s of %s for run %s in %s: %w", s.Kind, s.Fabric, s.Run, a.dir, err)
	}
	if err := a.refresh(); err != nil {
		return Entry{}, err
	}
	return a.at(ID(hash.String()))
}

func (s Snapshot) check() error {
	switch {
	case s.Run == "" || len(s.Run) > maxRun || strings.ContainsFunc(s.Run, func(r rune) bool { return r == ' ' || !unicode.IsPrint(r) }):
		return fmt.Errorf("archiving: %.80q is no run id", s.Run)
	case !kindName.MatchString(s.Kind):
		return fmt.Errorf("archiving: kind %.80q is not of small letters, digits and hyphens", s.Kind)
	case !kindName.MatchString(s.Fabric):
		return fmt.Errorf("archiving: fabric %.80q is not of small letters, digits and hyphens", s.Fabric)
	case len(s.Files) == 0:
		return fmt.Errorf("archiving %s of run %s: no files; an empty result would look as if everything had vanished", s.Kind, s.Run)
	case len(s.Files) > maxFiles:
		return fmt.Errorf("archiving %s of run %s: %d files, at most %d are allowed", s.Kind, s.Run, len(s.Files), maxFiles)
	}
	total := 0
	for _, name := range slices.Sorted(maps.Keys(s.Files)) {
		if err := checkPath(name); err != nil {
			return err
		}
		for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
			if _, both := s.Files[dir]; both {
				return fmt.Errorf("archiving: %.80q is a file and a folder", dir)
			}
		}
		if bytes.IndexByte(s.Files[name], 0) >= 0 {
			return fmt.Errorf("archiving: %.80q is not text; put it into the archive as a blob", name)
		}
		if total += len(s.Files[name]); total > maxText {
			return fmt.Errorf("archiving %s of run %s: more than %d MiB of text", s.Kind, s.Run, maxText>>20)
		}
	}
	return nil
}

// checkPath takes only paths that are the same on every system and mean nothing to git.
func checkPath(name string) error {
	if len(name) > maxPath {
		return fmt.Errorf("archiving: path %.80q… is longer than %d octets", name, maxPath)
	}
	for part := range strings.SplitSeq(name, "/") {
		if !pathPart.MatchString(part) || strings.HasSuffix(part, ".") || strings.HasSuffix(part, " ") {
			return fmt.Errorf("archiving: path %.80q: the part %.80q is not allowed", name, part)
		}
	}
	return nil
}

// write makes the objects, waits until they are on disk, and then moves the branch.
func (a *Archive) write(s Snapshot) (plumbing.Hash, error) {
	w := objectWriter{archive: a}
	files := make(map[string]plumbing.Hash, len(s.Files))
	for _, name := range slices.Sorted(maps.Keys(s.Files)) {
		hash, err := w.blob(a.redact(s.Files[name]))
		if err != nil {
			return plumbing.ZeroHash, err
		}
		files[name] = hash
	}
	own, err := w.tree(files)
	if err != nil {
		return plumbing.ZeroHash, err
	}
	parent := a.head
	var root, kind object.Tree
	if !parent.IsZero() {
		commit, err := object.GetCommit(a.git, parent)
		if err != nil {
			return plumbing.ZeroHash, err
		}
		before, err := commit.Tree()
		if err != nil {
			return plumbing.ZeroHash, err
		}
		root = *before
		if sub, err := before.Tree(s.Kind); err == nil {
			kind = *sub
		} else if !errors.Is(err, object.ErrDirectoryNotFound) {
			return plumbing.ZeroHash, err
		}
	}
	entries, same := replaced(kind.Entries, s.Fabric, own)
	kindHash, err := w.put(&object.Tree{Entries: entries})
	if err != nil {
		return plumbing.ZeroHash, err
	}
	entries, _ = replaced(root.Entries, s.Kind, kindHash)
	rootHash, err := w.put(&object.Tree{Entries: entries})
	if err != nil {
		return plumbing.ZeroHash, err
	}
	who := object.Signature{Name: "fabricbot", Email: "fabricbot@localhost", When: a.now().UTC()}
	commit := &object.Commit{Author: who, Committer: who, Message: a.message(s, same), TreeHash: rootHash}
	if !parent.IsZero() {
		commit.ParentHashes = []plumbing.Hash{parent}
	}
	hash, err := w.put(commit)
	if err != nil {
		return plumbing.ZeroHash, err
	}
	if err := w.settle(); err != nil {
		return plumbing.ZeroHash, err
	}
	// go-git truncates the branch's file before it writes it; a kill in between would lose the branch, so it is renamed over.
	return hash, a.writeAtomically(filepath.Join(a.dir, filepath.FromSlash(branch.String())), func(file *os.File) error {
		_, err := io.WriteString(file, hash.String()+"\n")
		return err
	})
}

// replaced returns the entries with the folder name at hash, and whether it was there already.
func replaced(entries []object.TreeEntry, name string, hash plumbing.Hash) ([]object.TreeEntry, bool) {
	same := slices.ContainsFunc(entries, func(e object.TreeEntry) bool { return e.Name == name && e.Hash == hash })
	rest := slices.DeleteFunc(slices.Clone(entries), func(e object.TreeEntry) bool { return e.Name == name })
	rest = append(rest, object.TreeEntry{Name: name, Mode: filemode.Dir, Hash: hash})
	return sortedTree(rest), same
}

// message puts the trailers into a paragraph of their own at the end.
func (a *Archive) message(s Snapshot, unchanged bool) string {
	words := strings.TrimSpace(string(a.redact([]byte(s.Message))))
	if words == "" {
		words = s.Kind + " of " + s.Fabric
	}
	return fmt.Sprintf("%s\n\n%s: %s\n%s: %s\n%s: %s\n%s: %t\n", words,
		trailerRun, s.Run, trailerKind, s.Kind, trailerFabric, s.Fabric, trailerUnchanged, unchanged)
}
