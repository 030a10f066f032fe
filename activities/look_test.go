package activities

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"go.temporal.io/sdk/testsuite"

	"github.com/fabricbot/fabricbot/fabric"
	"github.com/fabricbot/fabricbot/hostexec"
)

func TestLastLines(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"last_two", "a\nb\n c \n", "b; c"},
		{"words", "ibwarn: über-große Zahl – 12 µs\n", "ibwarn: über-große Zahl – 12 µs"},
		{"colours", "\x1b[31mno\x1b[0m", "\x1b[31mno\x1b[0m"}, // the template takes them away
		{"octets", "\x00\xff\x17abc", "it printed 6 octets that are no text"},
		{"cut_in_a_character", strings.Repeat("é", 3000) + "x\nlast", "é"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := lastLines([]byte(tt.text), 2); got != tt.want && !(tt.want == "é" && strings.HasPrefix(got, "éé")) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// rack is a few hosts that answer ibstat, or hang until they are given up.
type rack struct {
	names  []string
	hanged map[string]bool
	most   int // what the last command might print
	cut    bool
}

const activePort = "CA 'mlx5_0'\n\tCA type: MT4129\n\tNumber of ports: 1\n\tPort 1:\n\t\tState: Active\n\t\tPhysical state: LinkUp\n\t\tBase lid: 7\n\t\tSM lid: 1\n\t\tLink layer: InfiniBand\n"

func (r *rack) Look(ctx context.Context, host string, cmd hostexec.Command) (hostexec.Result, error) {
	r.most = cmd.MaxOutput
	if r.hanged[host] {
		<-ctx.Done()
		return hostexec.Result{}, ctx.Err()
	}
	return hostexec.Result{Host: host, Stdout: []byte(activePort), Outcome: hostexec.OK, Truncated: r.cut}, nil
}

func (*rack) Get(context.Context, string, string, int64) ([]byte, error) {
	return nil, fmt.Errorf("no files here")
}
func (r *rack) Names() []string                { return r.names }
func (r *rack) Host(name string) bool          { return true }
func (*rack) Groups() []string                 { return nil }
func (*rack) Group(string) ([]string, bool)    { return nil, false }
func (r *rack) Info(h string) (HostInfo, bool) { return HostInfo{Name: h}, true }

func TestFindVantageDoesNotWaitForTheDead(t *testing.T) {
	tests := []struct {
		name string
		dead []string
		want string
	}{
		{"later_one_dead", []string{"node003"}, "node001"},
		{"first_one_dead", []string{"node001"}, "node002"},
		{"all_others_dead", []string{"node002", "node003"}, "node001"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := &rack{names: []string{"node001", "node002", "node003"}, hanged: map[string]bool{}}
			for _, h := range tt.dead {
				r.hanged[h] = true
			}
			var suite testsuite.WorkflowTestSuite
			env := suite.NewTestActivityEnvironment()
			env.SetTestTimeout(20 * time.Second)
			h := &Hosts{Look: r, Site: r}
			env.RegisterActivity(h)
			answer, err := env.ExecuteActivity(h.FindVantage, VantageInput{})
			if err != nil {
				t.Fatal(err)
			}
			var v Vantage
			if err := answer.Get(&v); err != nil {
				t.Fatal(err)
			}
			if v.Host != tt.want || v.State != fabric.PortActive {
				t.Errorf("looks from %+v, want %s", v, tt.want)
			}
		})
	}
}

func TestEndlessOutputIsNoAnswer(t *testing.T) {
	r := &rack{cut: true}
	h := &Hosts{Look: r}
	if _, err := h.look(t.Context(), "node001", time.Second, "ibstat"); err == nil || !strings.Contains(err.Error(), "printed more than 4 MB") {
		t.Errorf("error %v", err)
	}
	if r.most != hostOutputMost {
		t.Errorf("%d octets were allowed", r.most)
	}
	if _, err := h.lookWide(t.Context(), "node001", "ibnetdiscover"); err != nil {
		t.Errorf("a long discovery is an error: %v", err)
	}
}
