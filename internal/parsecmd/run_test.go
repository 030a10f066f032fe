package parsecmd

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/fabricbot/fabricbot/fabric/parse"
)

func TestRun(t *testing.T) {
	const sminfo = "sminfo: sm lid 16 sm guid 0xc42a103000a0b10, activity count 788120 priority 14 state 3 SMINFO_MASTER\n"
	for name, c := range map[string]struct {
		tool, text string
		err        error
		want       string
	}{
		"answer":          {"sminfo", sminfo, nil, `"priority":14`},
		"tool_failed":     {"sminfo", "sminfo: iberror: failed: query\n", nil, `"error":"query"`},
		"empty_is_answer": {"ibstat", "", nil, `"no_devices":true`},
		"names_asked":     {"ibstat -l", "mlx5_0\nmlx5_1\n", nil, `"ca_names":["mlx5_0","mlx5_1"]`},
		"no_name":         {"ibstat", "hello\n", parse.ErrNotUnderstood, ""},
		"not_understood":  {"sminfo", "good morning\n", parse.ErrNotUnderstood, ""},
		"empty":           {"ibnetdiscover", "", parse.ErrNotUnderstood, ""},
		"no_such_tool":    {"frobnicate", "", ErrNoSuchTool, ""},
		"angle_brackets":  {"smpquery", "# Port info: Lid 1 port 1\nMkey:....<not displayed>\n", nil, `"<not displayed>"`},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			err := Run(c.tool, strings.NewReader(c.text), &out)
			if !errors.Is(err, c.err) {
				t.Fatalf("got error %v, want %v", err, c.err)
			}
			if c.err != nil {
				if out.Len() != 0 || strings.Contains(err.Error(), "\n") {
					t.Errorf("wrote %q and failed with %q: want nothing and one line", out.String(), err)
				}
				return
			}
			var object map[string]any
			if err := json.Unmarshal(out.Bytes(), &object); err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(out.String(), c.want) {
				t.Errorf("got %s, want %s in it", out.String(), c.want)
			}
		})
	}
}
