package bot

import (
	"context"
	"testing"
	"time"

	"github.com/fabricbot/fabricbot/testsuite/slackemu"
)

// TestWithinRealLimits speaks at the real pace to a Slack with the real limits.
func TestWithinRealLimits(t *testing.T) {
	emu, th, _ := voice(t, Pace{})
	inject(t, emu, slackemu.Fault{Kind: slackemu.FaultRealLimits})
	runs := []string{"aaaaaaaa01", "bbbbbbbb02", "cccccccc03", "dddddddd04"}
	for _, run := range runs {
		until(t, func(ctx context.Context) error { return th.Show(ctx, running(run, 1)) })
	}
	for seq := range 30 {
		for _, run := range runs {
			_ = th.Show(t.Context(), running(run, seq+2))
		}
		time.Sleep(10 * time.Millisecond)
	}
	for _, run := range runs {
		until(t, func(ctx context.Context) error { return th.Show(ctx, ended(run, 99)) })
	}
	for _, c := range emu.State().Calls {
		if c.Status == 429 {
			t.Errorf("%s was refused for its rate", c.Method)
		}
	}
}
