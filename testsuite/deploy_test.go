package testsuite

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/fabricbot/fabricbot/internal/access"
	"github.com/fabricbot/fabricbot/internal/config"
	"github.com/fabricbot/fabricbot/op"
	"github.com/fabricbot/fabricbot/workflows"
)

// TestSystemdUnits lets systemd itself judge the units. The programs are not
// installed where tests run, so the copies name one that is everywhere.
func TestSystemdUnits(t *testing.T) {
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("systemd-analyze is missing (package systemd)")
	}
	units, err := filepath.Glob("../deploy/systemd/*.service")
	if err != nil || len(units) == 0 {
		t.Fatalf("no units: %v", err)
	}
	program := regexp.MustCompile(`(?m)^ExecStart=/usr/bin/(\S+)`)
	for _, unit := range units {
		t.Run(filepath.Base(unit), func(t *testing.T) {
			text, err := os.ReadFile(unit)
			if err != nil {
				t.Fatal(err)
			}
			found := program.FindSubmatch(text)
			if found == nil || string(found[1])+".service" != filepath.Base(unit) {
				t.Errorf("the unit does not start the program of its name: %q", found)
			}
			copied := filepath.Join(t.TempDir(), filepath.Base(unit))
			if err := os.WriteFile(copied, program.ReplaceAll(text, []byte("ExecStart=/bin/true")), 0o644); err != nil {
				t.Fatal(err)
			}
			if out, err := exec.Command(analyze, "verify", "--man=no", copied).CombinedOutput(); err != nil || len(out) > 0 {
				t.Errorf("systemd-analyze verify: %v\n%s", err, out)
			}
		})
	}
}

func TestSudoers(t *testing.T) {
	visudo, err := exec.LookPath("visudo")
	if err != nil {
		t.Skip("visudo is missing (package sudo)")
	}
	if out, err := exec.Command(visudo, "-cf", "../deploy/sudoers.d/fabricbot").CombinedOutput(); err != nil {
		t.Errorf("visudo: %v\n%s", err, out)
	}
}

// TestExampleConfiguration holds the file that the README has people copy to
// what the programs accept.
func TestExampleConfiguration(t *testing.T) {
	c := load(t, "../deploy/fabricbot.yaml")
	if err := c.SSH.CheckLogin(); err != nil {
		t.Error(err)
	}
	if c.Temporal.Embedded == nil || c.Temporal.Embedded.UIPort != 0 {
		t.Errorf("the engine's page is on: %+v", c.Temporal.Embedded)
	}
}

// TestExampleForTheTerminal takes the # away where the example says so.
func TestExampleForTheTerminal(t *testing.T) {
	text, err := os.ReadFile("../deploy/fabricbot.yaml")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "fabricbot.yaml")
	if err := os.WriteFile(path, regexp.MustCompile(`(?m)^( *)# ( *- \{|people:)`).ReplaceAll(text, []byte("$1$2")), 0o600); err != nil {
		t.Fatal(err)
	}
	c := load(t, path)
	rules, err := access.New(c.Access, c.Slack.TeamID, nil)
	if err != nil {
		t.Fatal(err)
	}
	const me = "local:104@vm"
	for _, what := range []access.Action{
		{Operation: "runs list", Class: op.Control}, {Operation: "sm status", Class: op.ReadOnly}, {Operation: "sm restart", Class: op.Dangerous},
	} {
		if d := rules.Decide(t.Context(), me, what); !d.Allowed {
			t.Error(d.Reason)
		}
	}
	mine := access.Action{Act: access.Approve, Operation: "sm restart", Class: op.Dangerous, Requester: me}
	if d := rules.Decide(t.Context(), access.Person(c.Slack.TeamID+":"+c.Access.People[0].Slack), mine); d.Allowed {
		t.Errorf("one human asks and approves: %s", d.Reason)
	}
}

func load(t *testing.T, path string) *config.Config {
	t.Helper()
	catalog, err := workflows.Index()
	if err != nil {
		t.Fatal(err)
	}
	var operations []string
	for _, e := range catalog.Entries() {
		operations = append(operations, e.Name)
	}
	c, err := config.Load(path, operations)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestPrintedExample holds what `fabricctl config example` prints to the
// operations there are.
func TestPrintedExample(t *testing.T) { load(t, "../internal/config/example.yaml") }
