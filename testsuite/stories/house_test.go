package stories

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fabricbot/fabricbot/testsuite/lab"
	"github.com/fabricbot/fabricbot/testsuite/slackemu"
	"github.com/fabricbot/fabricbot/testsuite/stage"
)

const (
	// hostCount gives two leaves with a subnet manager under each.
	hostCount = 8
	userC     = "U07OPERC"
	// master and standby run the subnet managers, by the lab's priorities.
	master, standby = "node001", "node005"
	// storyTakes bounds one story; the longest wait for time-outs of the
	// product that are tens of seconds.
	storyTakes = 3 * time.Minute
)

// story is one test's view of the house.
type story struct {
	*testing.T
	*stage.Stage
	ctx context.Context
}

// open begins a story: it skips where there is no lab, demands that the house
// is well, and at the end looks after what the story left.
func open(t *testing.T) *story {
	t.Helper()
	if missing := lab.Missing(); missing != "" {
		t.Skipf("the stage needs %s", missing)
	}
	ctx, cancel := context.WithTimeout(context.Background(), storyTakes)
	s := &story{T: t, Stage: house, ctx: ctx}
	select {
	case <-s.Ended():
		s.restart()
	default:
	}
	s.well()
	t.Cleanup(func() {
		s.Slack.ClearFaults()
		if t.Failed() {
			s.tell()
		}
		cancel()
	})
	return s
}

// must ends the story on an error.
func (s *story) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

// tell logs what a failed story left to be read.
func (s *story) tell() {
	out, _ := exec.Command("tail", "-n", "25", s.DaemonLog()).CombinedOutput()
	s.Logf("fabricd's log ends:\n%s", out)
}

// restart starts fabricd, and waits until it listens.
func (s *story) restart() {
	s.Helper()
	s.must(s.StartDaemon(s.ctx))
}

// crash kills fabricd and starts it again.
func (s *story) crash() {
	s.Helper()
	s.Kill()
	s.must(s.waitSockets(0))
	s.restart()
}

func (s *story) waitSockets(n int) error {
	return s.Slack.Wait(s.ctx, func(st slackemu.State) bool { return st.Sockets == n })
}

// eventually waits until ok holds.
func (s *story) eventually(what string, within time.Duration, ok func() bool) {
	s.Helper()
	for deadline := time.Now().Add(within); !ok(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			s.Fatalf("not within %s: %s", within, what)
		}
	}
}

// on runs a command on a lab host past the product.
func (s *story) on(host string, argv ...string) (string, error) {
	h, err := s.Lab.Host(host)
	if err != nil {
		return "", err
	}
	return h.Run(s.ctx, argv...)
}

// manager is what sminfo says of the SM on a host, asked there.
func (s *story) manager(host string) string {
	out, err := s.on(host, "sh", "-c", "lid=$(ibstat | awk '/Base lid:/{print $3}'); sminfo $lid")
	if err != nil {
		return err.Error()
	}
	return strings.TrimSpace(out)
}

// well waits until the planned master and standby are what they should be.
func (s *story) well() {
	s.Helper()
	var m, b string
	s.eventually("both subnet managers are well", time.Minute, func() bool {
		m, b = s.manager(master), s.manager(standby)
		return strings.Contains(m, "SMINFO_MASTER") && strings.Contains(b, "SMINFO_STANDBY")
	})
}

// fault breaks something for the rest of the story.
func (s *story) fault(words ...string) {
	s.Helper()
	_, err := s.Lab.Fault(s.ctx, words...)
	s.must(err)
	s.Cleanup(func() { s.heal(words...) })
}

func (s *story) heal(words ...string) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if _, err := s.Lab.Heal(ctx, words...); err != nil {
		s.Errorf("putting %v right: %v", words, err)
	}
}

// starts counts the starts of each subnet manager so far, by the lab's record.
func (s *story) starts() map[string]int {
	s.Helper()
	counts := map[string]int{}
	for _, host := range []string{master, standby} {
		n, err := s.Lab.SMStarts(host)
		s.must(err)
		counts[host] = n
	}
	return counts
}

// started demands how often each was started since.
func (s *story) started(before map[string]int, onMaster, onStandby int) {
	s.Helper()
	now := s.starts()
	for host, want := range map[string]int{master: onMaster, standby: onStandby} {
		if got := now[host] - before[host]; got != want {
			s.Errorf("the subnet manager of %s was started %d times, want %d", host, got, want)
		}
	}
}

// fabric is the whole discovery with every LID, without its date.
func (s *story) fabric() string {
	s.Helper()
	out, err := s.on(master, "ibnetdiscover")
	s.must(err)
	var kept []string
	for line := range strings.Lines(out) {
		if !strings.HasPrefix(line, "# Topology file") && !strings.HasPrefix(line, "# Initiated from") {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "")
}

// entry is a line of the audit file.
type entry struct {
	Event, By, Reason, Result string
	Run                       string `json:"run_id"`
}

// recorded lists the audit file's entries of a run; an empty run means all.
func (s *story) recorded(run string) []entry {
	s.Helper()
	f, err := os.Open(filepath.Join(s.Dir, "data", "audit.jsonl"))
	s.must(err)
	defer f.Close()
	var all []entry
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var e entry
		s.must(json.Unmarshal(lines.Bytes(), &e))
		if run == "" || e.Run == run {
			all = append(all, e)
		}
	}
	s.must(lines.Err())
	return all
}

// count is how often the audit file has an event of a run.
func (s *story) count(run, event string) int {
	s.Helper()
	n := 0
	for _, e := range s.recorded(run) {
		if e.Event == event {
			n++
		}
	}
	return n
}

// commits counts what the archive holds, by git itself.
func (s *story) commits() int {
	s.Helper()
	dir := filepath.Join(s.Dir, "data", "archive")
	out, err := exec.CommandContext(s.ctx, "git", "--git-dir", dir, "rev-list", "--all", "--count").CombinedOutput()
	if err != nil {
		s.Fatalf("counting commits in %s: %v: %s", dir, err, out)
	}
	var n int
	_, err = fmt.Sscan(string(out), &n)
	s.must(err)
	return n
}
