package testsuite

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/fabricbot/fabricbot/internal/access"
	"github.com/fabricbot/fabricbot/internal/config"
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
	c, err := config.Load("../deploy/fabricbot.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if err := c.SSH.CheckLogin(); err != nil {
		t.Error(err)
	}
	if _, err := access.New(c.Access, c.Slack.TeamID, nil); err != nil {
		t.Error(err)
	}
}
