package stories

import (
	"bytes"
	"context"
	"os"
	"testing"
	"time"

	"github.com/fabricbot/fabricbot/testsuite/stage"
)

// A request that nobody decides on expires, which denies. A minute is the
// shortest window that the configuration takes; stories that leave the
// managers alone are played meanwhile.
func TestWhileARequestExpires(t *testing.T) {
	s := open(t)
	s.settings("limits: {approval_window: 1m}\n")
	before := s.starts()
	r := s.ask("sm restart")
	for _, meanwhile := range []struct {
		name string
		play func(*testing.T)
	}{
		{"mistakes", mistakesAreToldAndChangeNothing},
		{"places_and_strangers", placesAndStrangers},
		{"redelivered_command", redeliveredCommandIsOneRun},
		{"same_command_of_two", sameCommandOfTwoPeople},
		{"runs_show_and_list", runsShowAndList},
		{"garbage_output", garbageOutput},
		{"endless_output", hundredMegabytesOfOutput},
		{"host_unreachable", hostUnreachable},
		{"host_key_changed", hostKeyChanged},
	} {
		t.Run(meanwhile.name, meanwhile.play)
	}
	s.ends(r, "expired", "nobody approved it before")
	s.started(before, 0, 0)
	s.typed(stage.UserB, "approve "+r.ID, "does not wait for approval any more")
	if n := s.count(r.ID, "expired"); n != 1 {
		s.Errorf("the expiry is recorded %d times", n)
	}
}

// settings adds to the configuration for the rest of the story.
func (s *story) settings(more string) {
	s.Helper()
	old, err := os.ReadFile(s.Config())
	s.must(err)
	again := func(text []byte) {
		s.StopDaemon()
		s.must(os.WriteFile(s.Config(), text, 0o600))
		s.must(s.waitSockets(0))
		s.restart()
	}
	s.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		s.ctx = ctx
		again(old)
	})
	again(append(bytes.Clone(old), more...))
}
