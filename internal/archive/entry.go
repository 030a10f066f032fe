package archive

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
)

// ErrNotFound is wrapped by errors about an entry, a file or a blob that the archive does not hold.
var ErrNotFound = errors.New("not in the archive")

// ID names one entry: the hash of its commit, in hex.
type ID string

// Entry is one archived snapshot.
type Entry struct {
	ID     ID        `json:"id"`
	Run    string    `json:"run"`
	Kind   string    `json:"kind"`   // such as topology
	Fabric string    `json:"fabric"` // such as ib0
	Time   time.Time `json:"time"`
	Title  string    `json:"title"` // first line of the message
	// Unchanged says that the files are the same as in the entry of the same kind and fabric before.
	Unchanged bool `json:"unchanged"`
}

// runKey is what there is one entry of.
type runKey struct{ run, kind, fabric string }

// The trailers of a commit. They are its last paragraph, which people's words never reach.
const (
	trailerRun       = "Run"
	trailerKind      = "Kind"
	trailerFabric    = "Fabric"
	trailerUnchanged = "Unchanged"
)

// Last returns the newest entry of a kind, of one fabric or, where that is empty, of any.
func (a *Archive) Last(kind, fabric string) (Entry, error) {
	entries, err := a.List(kind, fabric)
	if err != nil {
		return Entry{}, err
	}
	if len(entries) == 0 {
		return Entry{}, fmt.Errorf("%s of fabric %q: %w", kind, fabric, ErrNotFound)
	}
	return entries[0], nil
}

// List returns the entries of a kind and a fabric, newest first; an empty kind or fabric means any.
func (a *Archive) List(kind, fabric string) ([]Entry, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := a.refresh(); err != nil {
		return nil, err
	}
	var entries []Entry
	for _, e := range slices.Backward(a.list) {
		if (kind == "" || e.Kind == kind) && (fabric == "" || e.Fabric == fabric) {
			entries = append(entries, e)
		}
	}
	return entries, nil
}

// At returns the entry with this id, or with the one id that begins so, if at least 7 digits are given.
func (a *Archive) At(id ID) (Entry, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := a.refresh(); err != nil {
		return Entry{}, err
	}
	return a.at(id)
}

func (a *Archive) at(id ID) (Entry, error) {
	if i, found := a.byID[id]; found {
		return a.list[i], nil
	}
	var match []Entry
	if len(id) >= 7 {
		for _, e := range a.list {
			if strings.HasPrefix(string(e.ID), string(id)) {
				match = append(match, e)
			}
		}
	}
	switch len(match) {
	case 0:
		return Entry{}, fmt.Errorf("entry %.40q: %w", string(id), ErrNotFound)
	case 1:
		return match[0], nil
	}
	return Entry{}, fmt.Errorf("entry %.40q: %d ids begin so; give more digits", string(id), len(match))
}

// Files lists the paths of an entry's files, sorted.
func (a *Archive) Files(id ID) ([]string, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	tree, err := a.treeOf(id)
	if err != nil {
		return nil, err
	}
	var paths []string
	walker := object.NewTreeWalker(tree, true, nil)
	defer walker.Close()
	for {
		path, entry, err := walker.Next()
		if errors.Is(err, io.EOF) {
			return paths, nil
		}
		if err != nil {
			return nil, fmt.Errorf("listing entry %s: %w", id, err)
		}
		if entry.Mode != filemode.Dir {
			paths = append(paths, path)
		}
	}
}

// Read returns one file of an entry.
func (a *Archive) Read(id ID, path string) ([]byte, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	tree, err := a.treeOf(id)
	if err != nil {
		return nil, err
	}
	file, err := tree.File(path)
	if errors.Is(err, object.ErrFileNotFound) {
		return nil, fmt.Errorf("file %.80q of entry %s: %w", path, id, ErrNotFound)
	}
	if err != nil {
		return nil, fmt.Errorf("reading %.80q of entry %s: %w", path, id, err)
	}
	reader, err := file.Reader()
	if err != nil {
		return nil, fmt.Errorf("reading %.80q of entry %s: %w", path, id, err)
	}
	content, err := io.ReadAll(reader)
	if err = errors.Join(err, reader.Close()); err != nil {
		return nil, fmt.Errorf("reading %.80q of entry %s: %w", path, id, err)
	}
	return content, nil
}

// treeOf returns the folder of an entry's own kind and fabric.
func (a *Archive) treeOf(id ID) (*object.Tree, error) {
	if err := a.refresh(); err != nil {
		return nil, err
	}
	entry, err := a.at(id)
	if err != nil {
		return nil, err
	}
	commit, err := object.GetCommit(a.git, plumbing.NewHash(string(entry.ID)))
	if err != nil {
		return nil, fmt.Errorf("reading entry %s: %w", id, err)
	}
	root, err := commit.Tree()
	if err != nil {
		return nil, fmt.Errorf("reading entry %s: %w", id, err)
	}
	tree, err := root.Tree(entry.Kind + "/" + entry.Fabric)
	if err != nil {
		return nil, fmt.Errorf("reading entry %s: %w", id, err)
	}
	return tree, nil
}

// refresh reads the entries that were added, also by other processes, since it last did.
func (a *Archive) refresh() error {
	if err := a.openGit(); err != nil {
		return fmt.Errorf("opening archive %s: %w", a.dir, err)
	}
	head, err := a.headHash()
	if err != nil {
		return fmt.Errorf("reading archive %s: %w", a.dir, err)
	}
	var added []Entry
	for at := head; at != a.head && !at.IsZero(); {
		commit, err := object.GetCommit(a.git, at)
		if err != nil {
			return fmt.Errorf("reading archive %s: commit %s: %w", a.dir, at, err)
		}
		if entry, ok := entryOf(commit); ok {
			added = append(added, entry)
		}
		at = plumbing.ZeroHash
		if len(commit.ParentHashes) > 0 {
			at = commit.ParentHashes[0]
		}
	}
	for _, entry := range slices.Backward(added) {
		if _, known := a.byID[entry.ID]; known {
			continue // the branch was set back by hand; what it held stays readable
		}
		a.byID[entry.ID] = len(a.list)
		a.byRun[runKey{entry.Run, entry.Kind, entry.Fabric}] = len(a.list)
		a.list = append(a.list, entry)
	}
	a.head = head
	return nil
}

// headHash is the commit the branch is at, zero when there is none.
func (a *Archive) headHash() (plumbing.Hash, error) {
	ref, err := a.git.Reference(branch)
	if errors.Is(err, plumbing.ErrReferenceNotFound) {
		return plumbing.ZeroHash, nil
	}
	if err != nil {
		return plumbing.ZeroHash, err
	}
	return ref.Hash(), nil
}

// entryOf reads the trailers; commits made by hand have none and are no entries.
func entryOf(commit *object.Commit) (Entry, bool) {
	message := strings.TrimRight(commit.Message, "\n")
	title, _, _ := strings.Cut(message, "\n")
	entry := Entry{ID: ID(commit.Hash.String()), Time: commit.Author.When.UTC(), Title: title}
	for line := range strings.SplitSeq(message[strings.LastIndex(message, "\n\n")+1:], "\n") {
		key, value, _ := strings.Cut(line, ": ")
		switch key {
		case trailerRun:
			entry.Run = value
		case trailerKind:
			entry.Kind = value
		case trailerFabric:
			entry.Fabric = value
		case trailerUnchanged:
			entry.Unchanged = value == "true"
		}
	}
	return entry, entry.Run != "" && entry.Kind != "" && entry.Fabric != ""
}
