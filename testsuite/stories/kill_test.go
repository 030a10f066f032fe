package stories

import (
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/fabricbot/fabricbot/testsuite/stage"
)

// seed makes the moments of the kills; FABRICBOT_SEED repeats a run.
func (s *story) seed() *rand.Rand {
	s.Helper()
	seed := uint64(time.Now().UnixNano())
	if given := os.Getenv("FABRICBOT_SEED"); given != "" {
		var err error
		seed, err = strconv.ParseUint(given, 10, 64)
		s.must(err)
	}
	s.Logf("seed: FABRICBOT_SEED=%d", seed)
	return rand.New(rand.NewPCG(seed, 0))
}

// A run of about fifteen seconds is killed ten times in two runs, each time at
// a random moment: after the run moved on from the last kill, or while it
// still waits for what that kill interrupted.
func TestKilledAtTenMomentsOfSMRestart(t *testing.T) {
	s := open(t)
	random := s.seed()
	lids := s.fabric()
	for range 2 {
		before := s.starts()
		r := s.ask("sm restart")
		s.approve(r)
		for range 5 {
			shown := s.now(r)
			if random.IntN(4) > 0 {
				s.eventually("the run moves on", time.Minute, func() bool { return s.now(r) != shown })
			}
			moment := time.Duration(random.Int64N(int64(3 * time.Second)))
			time.Sleep(moment)
			s.Logf("killed %s later, while the message says:\n%s", moment.Round(time.Millisecond), s.now(r))
			s.crash()
		}
		s.ends(r, "done", "2 subnet managers restarted", "LIDs unchanged")
		s.started(before, 1, 1)
		if n := s.count(r.ID, "approved"); n != 1 {
			s.Errorf("the approval is recorded %d times", n)
		}
		s.well()
		if now := s.fabric(); now != lids {
			s.Errorf("the LID map changed from\n%s\nto\n%s", lids, now)
		}
	}
}

// now is what a run's message says of its state and last steps.
func (s *story) now(r stage.Run) string {
	s.Helper()
	r, err := s.Stage.Run(r.ID)
	s.must(err)
	lines := strings.Split(s.Plain(r.Message), "\n")
	return lines[0] + "\n" + strings.Join(lines[max(1, len(lines)-4):], "\n")
}

func TestKilledDuringTopologyBackup(t *testing.T) {
	s := open(t)
	random := s.seed()
	for range 2 {
		before := s.commits()
		r := s.begin("topology backup")
		time.Sleep(time.Duration(random.Int64N(int64(700 * time.Millisecond))))
		s.crash()
		s.ends(r, "done", "stored")
		if n := s.commits() - before; n != 1 {
			s.Errorf("one run made %d commits", n)
		}
	}
}

func TestKilledWhileWaitingForApproval(t *testing.T) {
	s := open(t)
	before := s.starts()
	r := s.ask("sm restart")
	s.crash()
	s.has("the requester", s.press(r, stage.UserA, stage.Approve), "somebody else has to approve")
	s.buttons(r.ID)
	// The click is delivered and fabricd is gone: it may or may not count, but
	// never twice.
	if _, err := s.Press(s.ctx, r, stage.UserB, stage.Approve); err != nil {
		s.Fatal(err)
	}
	s.crash()
	if s.count(r.ID, "approved") == 0 {
		s.approve(s.buttons(r.ID))
	}
	r = s.ends(r, "done")
	s.started(before, 1, 1)
	if n := s.count(r.ID, "approved"); n != 1 {
		s.Errorf("the approval is recorded %d times", n)
	}
}
