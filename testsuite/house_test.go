package testsuite

import (
	"bytes"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// maxLines bounds a hand-written file; four in five should stay under 300.
const maxLines = 400

// unwanted is what no file says: paths of somebody's machine, and notes to
// oneself instead of work done.
var unwanted = regexp.MustCompile(`/home/[a-z]+/(src|go|work)|\b(TODO|FIXME|XXX)\b[:(]`)

// walk visits the project's files, without what was built or fetched.
func walk(t *testing.T, visit func(path string, content []byte)) {
	t.Helper()
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name := d.Name(); name == ".git" || name == "bin" || name == "corpus" {
				return filepath.SkipDir
			}
			return nil
		}
		if !d.Type().IsRegular() || d.Name() == ".git" {
			return nil
		}
		b, err := os.ReadFile(path)
		if err == nil {
			visit(strings.TrimPrefix(filepath.ToSlash(path), "../"), b)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestFilesStayShort(t *testing.T) {
	walk(t, func(path string, content []byte) {
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || bytes.Contains(content, []byte("\n// Code generated ")) {
			return
		}
		if n := bytes.Count(content, []byte("\n")); n > maxLines {
			t.Errorf("%s has %d lines, more than %d: it holds more than one idea", path, n, maxLines)
		}
	})
}

func TestUnwantedWords(t *testing.T) {
	walk(t, func(path string, content []byte) {
		if path == "testsuite/house_test.go" || bytes.IndexByte(content[:min(len(content), 8000)], 0) >= 0 {
			return
		}
		for i, line := range bytes.Split(content, []byte("\n")) {
			if found := unwanted.Find(line); found != nil {
				t.Errorf("%s:%d says %q", path, i+1, found)
			}
		}
	})
}

// TestPackageComments holds every package to one package comment, in doc.go; a
// program may have it in main.go.
func TestPackageComments(t *testing.T) {
	comments := map[string][]string{}
	walk(t, func(path string, content []byte) {
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.Contains(path, "testdata/") {
			return
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, content, parser.PackageClauseOnly|parser.ParseComments)
		if err != nil {
			t.Error(err)
			return
		}
		dir := filepath.Dir(path)
		if comments[dir] == nil {
			comments[dir] = []string{}
		}
		if f.Doc == nil {
			return
		}
		comments[dir] = append(comments[dir], path)
		main, begins := f.Name.Name == "main", "Package "+f.Name.Name+" "
		if main {
			begins = "Command " + filepath.Base(dir) + " "
		}
		if file := filepath.Base(path); file != "doc.go" && !(main && file == "main.go") {
			t.Errorf("%s has a package comment: it belongs in doc.go", path)
		}
		if !strings.HasPrefix(f.Doc.Text(), begins) {
			t.Errorf("%s: the package comment does not begin with %q", path, begins)
		}
	})
	for dir, files := range comments {
		if len(files) != 1 {
			t.Errorf("package %s has %d package comments (%s), want one: what for, what it may not do, where to start", dir, len(files), strings.Join(files, ", "))
		}
	}
}
