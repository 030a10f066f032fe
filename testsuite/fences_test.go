package testsuite

import (
	"bufio"
	"bytes"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
)

const (
	module = "github.com/fabricbot/fabricbot/"

	ssh      = "golang.org/x/crypto/ssh"
	slack    = "github.com/slack-go/slack"
	temporal = "go.temporal.io/"
)

// fence says what a room must not contain. A name that ends in /... stands for
// all packages beneath it and itself; one of our own rooms is written without the
// module's path. Packages of the standard library are judged by what the room
// itself imports (fmt brings os in everywhere), and so are names that begin
// with =; all others are judged by everything that is linked in.
type fence struct {
	room      string
	forbidden []string
	why       string
}

// fences are the rules of docs/architecture.md.
var fences = []fence{
	{"op", []string{"activities", "workflows", "bot", "fabric", "os", "net", "context"}, "words outlive Slack, Temporal and hosts: values only, no input and output"},
	{"fabric", []string{"op", "activities", "hostexec", "os", "net", "context"}, "the nouns of the fabric are everybody's: values only, no input and output"},
	{"fabric/parse", []string{"hostexec", "os", "os/exec", "net", "net/http"}, "Reader in, values out, so that every parser can be fuzzed and replayed"},
	{"fabric/layout", []string{"pictures", "os", "net", "image/color"}, "it computes places and knows neither colours nor files"},
	{"pictures", []string{"activities", "workflows", "bot", "hostexec", slack, temporal + "...", "os", "net"}, "values in, octets out"},
	{"hostexec", []string{ssh + "/...", temporal + "...", slack, "fabric", "os", "os/exec", "net"}, "what may run and what came back; no transport"},
	{"hostexec/wire", []string{ssh + "/...", temporal + "...", "hostexec", "os", "os/exec", "net"}, "it writes and reads texts and sends nothing"},
	{"hostexec/sshexec", []string{temporal + "...", slack, "activities", "workflows", "bot", "internal/...", "os/exec"}, "the room that can log in knows nobody who could ask it to"},
	{"templates", []string{"activities", "workflows", "bot", temporal + "...", slack, "net", "os"}, "words only: a sentence can break no run"},
	{"activities", []string{"bot", "workflows", "templates", "pictures", "hostexec/sshexec", "internal/...", slack, ssh + "/...", "os", "os/exec", "net"}, "an act is handed its hands and its voice, it does not own them"},
	{"workflows", []string{"bot", "templates", "pictures", "hostexec/sshexec", "internal/...", slack, ssh + "/...", "os", "os/exec", "net", "math/rand", "math/rand/v2", "encoding/json"}, "order only: time, chance and the world come through Temporal, or a run cannot be replayed"},
	{"bot", []string{"hostexec/sshexec", "internal/...", "pictures", ssh + "/...", "=go.temporal.io/sdk/client", "os", "os/exec"}, "ears and mouth, no hands"},

	{"internal/access", []string{"activities", "workflows", "bot", "internal/config", temporal + "...", slack, "os", "net"}, "who may do what is decided from what it is handed"},
	{"internal/archive", []string{"activities", "workflows", "bot", ssh + "/...", temporal + "...", slack, "net"}, "what runs found outlives the programs; and the Slack side links it, so it may bring no SSH"},
	{"internal/audit", []string{"activities", "workflows", "bot", "hostexec", temporal + "...", slack, "net"}, "the record depends on nothing that it records"},
	{"internal/chatside", []string{"hostexec/sshexec", "internal/workside", ssh + "/...", "os/exec"}, "whoever listens to people cannot log in to hosts"},
	{"internal/config", []string{"activities", "workflows", "bot", "internal/site", temporal + "...", slack, "os/exec"}, "settings are read before anything is opened"},
	{"internal/engine", []string{"op", "activities", "workflows", "internal/config", "go.temporal.io/server/..."}, "a connection to Temporal, whatever runs over it"},
	{"internal/inventory", []string{"activities", "workflows", "bot", "internal/config", temporal + "...", slack, ssh + "/...", "os/exec"}, "it knows hosts and opens no connection"},
	{"internal/parsecmd", []string{"activities", "workflows", "internal/site", temporal + "...", "os", "os/exec", "net"}, "parsing works offline and opens no file"},
	{"internal/redact", []string{"internal/config", "os", "net", temporal + "..."}, "the last line reads nothing but the text it is handed"},
	{"internal/runs", []string{"bot", "hostexec/sshexec", "internal/...", slack, ssh + "/...", "os", "os/exec"}, "both surfaces steer runs through it, so it can belong to neither"},
	{"internal/site", []string{"bot", "hostexec/sshexec", slack, ssh + "/...", "os/exec"}, "both halves of a site open it, so it may hold neither secret's user"},
	{"internal/strictyaml", []string{"internal/config", "internal/inventory", "os", "net"}, "it reads documents, not particular files"},
	{"internal/terminal", []string{"bot", "internal/chatside", slack}, "the terminal works where there is no Slack"},
	{"internal/workside", []string{"bot", "templates", "internal/chatside", slack}, "whoever logs in to hosts cannot be spoken to from Slack"},

	{"cmd/fabricbot", []string{"hostexec/sshexec", "internal/workside", ssh + "/...", "go.temporal.io/server/...", "testsuite/...", "hostexec/hosttest", "fabric/fabrictest"}, "one secret per process: this one has the Slack tokens"},
	{"cmd/fabricworker", []string{"bot", "internal/chatside", slack, "go.temporal.io/server/...", "testsuite/...", "hostexec/hosttest", "fabric/fabrictest"}, "one secret per process: this one has the SSH keys"},
	{"cmd/fabricctl", []string{"bot", "internal/chatside", slack, "go.temporal.io/server/...", "testsuite/...", "hostexec/hosttest", "fabric/fabrictest"}, "a terminal needs neither Slack nor a server"},
	{"testsuite/lab", []string{"op", "fabric", "activities", "workflows", "bot", "hostexec", "internal/..."}, "a lab that shares the product's code would share its mistakes"},
	{"testsuite/fabricsim", []string{"op", "fabric", "hostexec", "activities", "workflows", "bot", "internal/...", "testsuite/lab"}, "a fabric that shares the product's code would share its mistakes"},
	{"testsuite/slackemu", []string{"op", "activities", "workflows", "bot", "templates", "internal/...", slack}, "an emulator that shares the product's code would share its mistakes"},
}

// unfenced rooms have no rule of their own.
var unfenced = []string{
	"testsuite", "testsuite/...", // sees everything
	"fabric/fabrictest", "hostexec/hosttest", // made for tests
	"cmd/fabriclab", // wires the demo
	"internal/gen",  // wires the generators
}

func TestFences(t *testing.T) {
	rooms := list(t)
	for _, f := range fences {
		t.Run(strings.ReplaceAll(f.room, "/", "_"), func(t *testing.T) {
			room, ok := rooms[module+f.room]
			if !ok {
				t.Fatalf("there is no package %s any more: take its rule out or rename it", f.room)
			}
			for _, name := range f.forbidden {
				if !exists(rooms, name) {
					t.Errorf("the rule forbids %s, which does not exist: it would hold for ever and mean nothing", name)
				}
				for _, found := range breaches(room, name) {
					t.Errorf("%s contains %s: %s", f.room, found, f.why)
				}
			}
		})
	}
}

func TestEveryRoomHasAFence(t *testing.T) {
	for path := range list(t) {
		name, ours := strings.CutPrefix(path, module)
		if !ours {
			continue
		}
		fenced := slices.ContainsFunc(fences, func(f fence) bool { return f.room == name })
		free := slices.ContainsFunc(unfenced, func(p string) bool { return matches(name, p) })
		if !fenced && !free {
			t.Errorf("%s has no rule in fences_test.go: say what it must never import, and why", name)
		}
	}
}

func TestNothingSeesTheTestsuite(t *testing.T) {
	for path, room := range list(t) {
		if !strings.HasPrefix(path, module) || strings.HasPrefix(path, module+"testsuite") || path == module+"cmd/fabriclab" {
			continue
		}
		for _, name := range []string{"testsuite/...", "hostexec/hosttest", "fabric/fabrictest"} {
			if path == module+strings.TrimSuffix(name, "/...") {
				continue
			}
			for _, found := range breaches(room, name) {
				t.Errorf("%s contains %s: nothing of the product may see what is made for tests", path, found)
			}
		}
	}
}

// pkg is what go list says about a package, without its tests.
type pkg struct {
	standard      bool
	imports, deps []string
}

// list asks the Go tool once about every package of the root module and what
// they are made of.
var listOnce = sync.OnceValues(func() (map[string]pkg, error) {
	cmd := exec.Command("go", "list", "-deps", "-f", `{{.ImportPath}}|{{.Standard}}|{{join .Imports " "}}|{{join .Deps " "}}`, "./...")
	cmd.Dir = ".."
	out, err := cmd.Output()
	if err != nil {
		return nil, err
	}
	all := map[string]pkg{}
	lines := bufio.NewScanner(bytes.NewReader(out))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		f := strings.Split(lines.Text(), "|")
		all[f[0]] = pkg{f[1] == "true", strings.Fields(f[2]), strings.Fields(f[3])}
	}
	return all, lines.Err()
})

func list(t *testing.T) map[string]pkg {
	t.Helper()
	all, err := listOnce()
	if err != nil {
		t.Fatalf("listing packages: %v", err)
	}
	return all
}

// full is the import path that a rule means.
func full(name string) string {
	first, _, _ := strings.Cut(name, "/")
	if slices.Contains([]string{"op", "fabric", "hostexec", "templates", "pictures", "activities", "workflows", "bot", "internal", "cmd", "testsuite"}, first) {
		return module + name
	}
	return name
}

func matches(path, pattern string) bool {
	if stem, all := strings.CutSuffix(pattern, "/..."); all {
		return path == stem || strings.HasPrefix(path, stem+"/")
	}
	return path == pattern
}

// breaches lists what of a room a rule forbids.
func breaches(room pkg, name string) []string {
	from := room.deps
	name, direct := strings.CutPrefix(name, "=")
	if direct || isStandard(name) {
		from = room.imports
	}
	var found []string
	for _, path := range from {
		if matches(path, full(name)) {
			found = append(found, path)
		}
	}
	return found
}

func isStandard(name string) bool {
	first, _, _ := strings.Cut(full(name), "/")
	return !strings.Contains(first, ".")
}

// exists reports whether a rule names something real. The server is real in
// the nested module only, and its absence here is the point.
func exists(rooms map[string]pkg, name string) bool {
	name = strings.TrimPrefix(name, "=")
	if isStandard(name) || strings.HasPrefix(name, "go.temporal.io/server") {
		return true
	}
	for path := range rooms {
		if matches(path, full(name)) {
			return true
		}
	}
	return false
}
