package testsuite

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	link   = regexp.MustCompile(`\]\(([^)#:]+)(#[^)]*)?\)`)
	source = regexp.MustCompile("`((?:[a-z0-9_]+/)+[a-z0-9_]+\\.(?:go|sh|yaml|tmpl|md|json|service))`")
	target = regexp.MustCompile("make ([a-z]+)")
)

// TestDocsPointSomewhere holds the documents to files and make targets that
// exist: prose about structure rots first where nobody looks.
func TestDocsPointSomewhere(t *testing.T) {
	makefile, err := os.ReadFile("../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	walk(t, func(path string, content []byte) {
		if !strings.HasSuffix(path, ".md") || strings.Contains(path, "testdata/") {
			return
		}
		text := string(content)
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			if _, err := os.Stat(filepath.Join("..", filepath.Dir(path), m[1])); err != nil {
				t.Errorf("%s links to %s, which is not there", path, m[1])
			}
		}
		for _, m := range source.FindAllStringSubmatch(text, -1) {
			// Other paths are those of a site, or of a folder spoken of.
			room, _, _ := strings.Cut(m[1], "/")
			if _, err := os.Stat(filepath.Join("..", room)); err != nil {
				continue
			}
			// The example operation of CONTRIBUTING.md does not exist.
			if strings.Contains(m[1], "cable_report") || strings.Contains(m[1], "cable-report") || strings.Contains(m[1], "mlxcables") {
				continue
			}
			if _, err := os.Stat(filepath.Join("..", m[1])); err != nil {
				t.Errorf("%s names the file %s, which is not there", path, m[1])
			}
		}
		for _, m := range target.FindAllStringSubmatch(text, -1) {
			if strings.Contains(text, "`"+m[0]) && !strings.Contains(string(makefile), "\n"+m[1]+":") {
				t.Errorf("%s speaks of `%s`, which the Makefile does not have", path, m[0])
			}
		}
	})
}
