package bot

import (
	"context"
	"io"
	"sync"
	"time"

	"github.com/slack-go/slack"
	"go.uber.org/zap"

	"github.com/fabricbot/fabricbot/activities"
)

// Blobs opens files of the archive by their content's SHA-256.
type Blobs interface {
	Open(sha string) (io.ReadCloser, error)
}

// Thread keeps one message per run equal to the run's view and the thread
// beneath it complete. It is the Voice of the chat activities.
type Thread struct {
	api    *slack.Client
	store  *Store
	draw   Renderer
	blobs  Blobs
	budget *budget
	clock  Clock
	log    *zap.Logger
	turns  turns

	mu sync.Mutex
	// waiting are views that had to wait for the budget; the latest wins.
	waiting map[string]activities.View
	timers  map[string]*time.Timer
	// recording are decisions that were clicked and not yet shown by the run.
	recording map[string]recording
	closed    bool
}

var _ activities.Voice = (*Thread)(nil)

// recording hides the buttons of one gate until the run itself shows more.
type recording struct {
	by   activities.Person
	gate string
	seq  int
}

// ThreadOptions are what a Thread needs.
type ThreadOptions struct {
	API   *slack.Client
	Store *Store
	Draw  Renderer
	Blobs Blobs
	Pace  Pace
	Clock Clock
	Log   *zap.Logger
}

// NewThread makes the voice of runs in Slack.
func NewThread(o ThreadOptions) *Thread {
	if o.Clock == nil {
		o.Clock = wallClock{}
	}
	if o.Log == nil {
		o.Log = zap.NewNop()
	}
	return &Thread{
		api: o.API, store: o.Store, draw: o.Draw, blobs: o.Blobs, clock: o.Clock, log: o.Log,
		budget:  newBudget(o.Pace.withDefaults(), o.Clock),
		waiting: map[string]activities.View{}, timers: map[string]*time.Timer{}, recording: map[string]recording{},
	}
}

// Close stops updates that were waiting; runs show them again.
func (t *Thread) Close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = true
	for _, timer := range t.timers {
		timer.Stop()
	}
}

// Show makes the run's message equal to the view. A view of mere progress that
// is over the budget is kept and shown later unless a newer one comes; a view
// of another state is shown now or the call fails.
func (t *Thread) Show(ctx context.Context, v activities.View) error {
	if v.Place.Channel == "" {
		return nil
	}
	done, err := t.turns.take(ctx, v.Run)
	if err != nil {
		return err
	}
	defer done()
	return t.show(ctx, v)
}

// announce posts a message that belongs to no run.
func (t *Thread) announce(ctx context.Context, channel string, m message) error {
	return told("posting to channel "+channel, t.budget.do(ctx, methodPost, channel, true, func(ctx context.Context) error {
		_, _, err := t.api.PostMessageContext(ctx, channel, m.fit().options()...)
		return err
	}))
}

// show does the work of Show; the caller has the run's turn.
func (t *Thread) show(ctx context.Context, v activities.View) error {
	rec, err := t.store.get(liveKey(v.Run))
	if err != nil {
		return err
	}
	if rec.TS != "" && v.Seq < rec.Seq {
		return nil
	}
	by := t.recordingOf(v)
	m, err := t.draw.live(v, by)
	if err != nil {
		return err
	}
	if m, err = t.pictured(v, m); err != nil {
		return err
	}
	hash, err := m.hash()
	if err != nil {
		return err
	}
	if rec.TS == "" {
		if err := t.post(ctx, v, &rec, m); err != nil {
			return err
		}
		if rec.Hash == "" {
			return t.shown(v, rec, hash)
		}
	}
	if rec.Hash == hash {
		t.forget(v)
		if rec.Seq == v.Seq {
			return nil
		}
		return t.shown(v, rec, hash)
	}
	urgent := by != nil || v.State.Final() || string(v.State) != rec.State || v.State == activities.Waiting
	if !urgent {
		wait := t.gap(v) - t.clock.Now().Sub(rec.Shown)
		if wait <= 0 {
			wait = t.budget.peek(methodUpdate)
		}
		if wait > 0 {
			t.later(v, wait)
			return nil
		}
	}
	if err := t.update(ctx, v, &rec, m, urgent); err != nil {
		return err
	}
	return t.shown(v, rec, hash)
}

// shown records what the message shows now.
func (t *Thread) shown(v activities.View, rec said, hash string) error {
	rec.Seq, rec.State, rec.Hash, rec.Shown = v.Seq, string(v.State), hash, t.clock.Now()
	t.forget(v)
	return t.store.put(liveKey(v.Run), rec)
}

// gap is the least time between two progress updates of a message: nobody
// stares at an old one.
func (t *Thread) gap(v activities.View) time.Duration {
	gap := t.budget.pace.MessageGap
	switch age := t.clock.Now().Sub(v.Started); {
	case age > 30*time.Minute:
		return 4 * gap
	case age > 5*time.Minute:
		return 2 * gap
	}
	return gap
}

// later keeps a view until its turn comes; a newer one takes its place.
func (t *Thread) later(v activities.View, wait time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if old, ok := t.waiting[v.Run]; ok && old.Seq > v.Seq || t.closed {
		return
	}
	t.waiting[v.Run] = v
	if _, ok := t.timers[v.Run]; !ok {
		t.timers[v.Run] = time.AfterFunc(wait, func() { t.flush(v.Run) })
	}
}

// flushWithin bounds one belated update.
const flushWithin = 30 * time.Second

func (t *Thread) flush(run string) {
	t.mu.Lock()
	v, ok := t.waiting[run]
	delete(t.waiting, run)
	delete(t.timers, run)
	stop := t.closed
	t.mu.Unlock()
	if !ok || stop {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), flushWithin)
	defer cancel()
	if err := t.Show(ctx, v); err != nil {
		t.log.Warn("a progress update was not shown", zap.String("workflow_id", run), zap.Error(err))
		t.later(v, t.gap(v))
	}
}

// forget drops a waiting view that is not newer than the one just shown.
func (t *Thread) forget(v activities.View) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if old, ok := t.waiting[v.Run]; ok && old.Seq <= v.Seq {
		delete(t.waiting, v.Run)
		if timer := t.timers[v.Run]; timer != nil {
			timer.Stop()
			delete(t.timers, v.Run)
		}
	}
	if r, ok := t.recording[v.Run]; ok && (v.Seq > r.seq || v.State.Final()) {
		delete(t.recording, v.Run)
	}
}
