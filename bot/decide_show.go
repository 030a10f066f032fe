package bot

import (
	"context"

	"github.com/slack-go/slack"

	"github.com/fabricbot/fabricbot/activities"
)

// Recording takes the buttons away at once, before the decision is put to the
// run: Slack cannot disable a button.
func (t *Thread) Recording(ctx context.Context, v activities.View, by activities.Person) error {
	if v.Gate == nil {
		return nil
	}
	t.mu.Lock()
	t.recording[v.Run] = recording{by: by, gate: v.Gate.ID, seq: v.Seq}
	t.mu.Unlock()
	return t.Show(ctx, v)
}

// NotRecorded gives the buttons back after a decision that the run refused.
func (t *Thread) NotRecorded(ctx context.Context, v activities.View) error {
	t.mu.Lock()
	delete(t.recording, v.Run)
	t.mu.Unlock()
	return t.Show(ctx, v)
}

func (t *Thread) recordingOf(v activities.View) *activities.Person {
	t.mu.Lock()
	defer t.mu.Unlock()
	r, ok := t.recording[v.Run]
	if !ok || v.Gate == nil || v.Gate.ID != r.gate || v.Seq > r.seq {
		return nil
	}
	return &r.by
}

// Link is the address of a run's message, empty if the run has none here or
// Slack does not tell.
func (t *Thread) Link(ctx context.Context, run string) string {
	rec, err := t.store.get(liveKey(run))
	if err != nil || rec.TS == "" {
		return ""
	}
	link, err := t.api.GetPermalinkContext(ctx, &slack.PermalinkParameters{Channel: rec.Channel, Ts: rec.TS})
	if err != nil {
		return ""
	}
	return link
}
