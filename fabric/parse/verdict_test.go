package parse

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/fabricbot/fabricbot/fabric"
)

// A command that changes a host must not look done in a text that ends before
// the words that prove it, wherever it ends.
func TestCutActIsNoSuccess(t *testing.T) {
	for _, c := range []struct{ tool, fixture, proof string }{
		{"flint", "minor_psid_change_burned", "Writing Boot image component -   OK"},
		{"mlxfwmanager", "updated_with_backspaces", "Done"},
		{"mlxconfig", "reset_done", "Done!"},
		{"mlnxofedinstall", "firmware_part_failed", "Installation finished successfully"},
	} {
		text, err := os.ReadFile(filepath.Join("testdata", c.tool, c.fixture+".txt"))
		if err != nil {
			t.Fatal(err)
		}
		p, _ := Tool(c.tool)
		end := bytes.Index(text, []byte(c.proof))
		if end < 0 {
			t.Fatalf("%s: no %q in %s", c.tool, c.proof, c.fixture)
		}
		for i := range end {
			if got := outcome(t, p, text[:i]); got == Succeeded {
				t.Errorf("%s: success for the first %d octets: %q", c.tool, i, text[max(0, i-40):i])
				break
			}
		}
		if got := outcome(t, p, text); got != Succeeded {
			t.Errorf("%s: %q for the whole text", c.tool, got)
		}
	}
}

// outcome returns the report's outcome, nothing for a text too short to be
// understood.
func outcome(t *testing.T, parse func(io.Reader) (any, error), text []byte) Outcome {
	t.Helper()
	v, err := parse(bytes.NewReader(text))
	if err != nil {
		return ""
	}
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var verdict struct{ Outcome Outcome }
	if err := json.Unmarshal(b, &verdict); err != nil {
		t.Fatal(err)
	}
	return verdict.Outcome
}

func TestFlintQueryAsValues(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("testdata", "flint", "query_full_running_older.txt"))
	if err != nil {
		t.Fatal(err)
	}
	rep, err := Flint(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if g, ok := rep.NodeGUID(); !ok || g != fabric.GUID(0x0c42a10300aa0010) {
		t.Errorf("got node GUID %v and %v", g, ok)
	}
	if rep.RunsFlash() {
		t.Error("the flash is said to run, want the older version running")
	}
	if got, want := rep.SecurityAttributes(), []string{"secure-fw", "dev"}; !reflect.DeepEqual(got, want) {
		t.Errorf("got attributes %q, want %q", got, want)
	}
}

func TestBlankGUIDsAreNone(t *testing.T) {
	for _, q := range []FlintQuery{{BaseGUID: "N/A"}, {GUIDs: []string{strings.Repeat("f", 16)}}, {BaseGUID: strings.Repeat("0", 16)}, {}} {
		if g, ok := q.NodeGUID(); ok {
			t.Errorf("%+v: got %v, want none", q, g)
		}
	}
}

func TestNewerFirmware(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"20.25.0262", "20.24.1000", true}, {"20.24.1000", "20.25.0262", false}, {"20.24.1000", "20.24.1000", false},
		{"20.24.1000", "N/A", false}, {"8025", "8024", false}, {"", "", false},
	} {
		if got := versionNewer(c.a, c.b); got != c.want {
			t.Errorf("%s newer than %s: got %v", c.a, c.b, got)
		}
	}
}

func TestEchoedCommand(t *testing.T) {
	for line, want := range map[string]string{
		"flint -d 41:00.0 q":                                "41:00.0",
		"root@node07:~# flint -d 41:00.0 q":                 "41:00.0",
		"$ sudo /usr/bin/flint --device=41:00.0 q":          "41:00.0",
		"#flint -d 41:00.0 q":                               "41:00.0",
		"-I- To load new FW use flint -d 41:00.0 or reboot": "",
	} {
		args, _ := invoked(line, "flint")
		if got := option(args, "-d", "--device"); got != want {
			t.Errorf("%s: got %q, want %q", line, got, want)
		}
	}
}
