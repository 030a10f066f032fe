package activities

import (
	"context"

	"go.temporal.io/sdk/activity"
)

// Voice is what the run says to people. Each method is idempotent: a repeated
// call after a crash finds what was already said and does not say it again.
type Voice interface {
	// Show makes the run's one live message equal to the view. A view that is
	// not final may be dropped when the workspace's budget is spent; a final
	// one is delivered or the call fails.
	Show(ctx context.Context, v View) error
	// Reply posts one notice into the run's thread, once per key.
	Reply(ctx context.Context, v View, n Notice) error
	// Attach uploads one file of the archive into the run's thread, once per
	// file name.
	Attach(ctx context.Context, v View, f File) error
}

// Notice is a new message in the thread: something that must notify.
type Notice struct {
	// Key makes the notice unique within its run.
	Key string `json:"key"`
	// Kind picks the template: "ask", "decided", "failed", "summary".
	Kind string `json:"kind"`
}

// Chat holds the acts on the chat queue.
type Chat struct {
	Voice Voice
}

// Show updates the live message; see [Voice].
func (c *Chat) Show(ctx context.Context, v View) error {
	defer beat(ctx)()
	return c.Voice.Show(ctx, v)
}

// Reply posts a notice; see [Voice].
func (c *Chat) Reply(ctx context.Context, v View, n Notice) error {
	defer beat(ctx)()
	return c.Voice.Reply(ctx, v, n)
}

// Attach uploads a file; see [Voice].
func (c *Chat) Attach(ctx context.Context, v View, f File) error {
	defer beat(ctx)()
	activity.GetLogger(ctx).Debug("attaching file", "name", f.Name, "bytes", f.Bytes)
	return c.Voice.Attach(ctx, v, f)
}
