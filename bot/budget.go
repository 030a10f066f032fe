package bot

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/slack-go/slack"
)

// Pace is how fast the bot speaks. Zero fields take the defaults, which follow
// docs.slack.dev/apis/web-api/rate-limits (August 2026): chat.update is tier 3,
// 50 a minute for the whole workspace; chat.postMessage about one a second in
// a channel.
type Pace struct {
	// UpdatesPerMinute of all messages together; default 45.
	UpdatesPerMinute int
	// Reserve is how many of them only state changes may use; default 10.
	Reserve int
	// PostGap is the mean time between new messages in a channel, of which a few
	// may go at once; default one second.
	PostGap time.Duration
	// MessageGap is the least time between two pure progress updates of one
	// message; it doubles when the run is older than five minutes and doubles
	// again after half an hour. Default three seconds.
	MessageGap time.Duration
	// Settle is how long an unanswered post may still take effect; before it
	// has passed the channel is not searched for it. Default five seconds.
	Settle time.Duration
	// Call is the deadline of one Slack call; default 15 seconds.
	Call time.Duration
}

func (p Pace) withDefaults() Pace {
	def := func(d *time.Duration, v time.Duration) {
		if *d <= 0 {
			*d = v
		}
	}
	if p.UpdatesPerMinute <= 0 {
		p.UpdatesPerMinute = 45
	}
	if p.Reserve <= 0 {
		p.Reserve = min(10, p.UpdatesPerMinute/4)
	}
	def(&p.PostGap, time.Second)
	def(&p.MessageGap, 3*time.Second)
	def(&p.Settle, 5*time.Second)
	def(&p.Call, 15*time.Second)
	return p
}

// Slack's methods as the budget tells them apart.
const (
	methodPost   = "chat.postMessage"
	methodUpdate = "chat.update"
	methodFind   = "conversations.history"
	methodFile   = "files"
	methodDelete = "chat.delete"
)

// postBurst is how many new messages a channel takes at once: Slack allows
// "short bursts" without a number.
const postBurst = 4

// budget is the one place that knows how much may still be said to the
// workspace. It is shared by all runs.
type budget struct {
	pace  Pace
	clock Clock

	mu      sync.Mutex
	tokens  float64
	filled  time.Time
	posted  map[string]time.Time // channel → when all posts so far are paid for
	blocked map[string]time.Time // method → until when Slack said to wait
}

func newBudget(pace Pace, clock Clock) *budget {
	return &budget{
		pace: pace, clock: clock, tokens: float64(pace.UpdatesPerMinute), filled: clock.Now(),
		posted: map[string]time.Time{}, blocked: map[string]time.Time{},
	}
}

// take reserves one call and returns zero, or says how long to wait first.
func (b *budget) take(method, channel string, urgent bool) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.clock.Now()
	if wait := b.blocked[method].Sub(now); wait > 0 {
		return wait
	}
	switch method {
	case methodUpdate:
		perSecond := float64(b.pace.UpdatesPerMinute) / 60
		b.tokens = min(float64(b.pace.UpdatesPerMinute), b.tokens+now.Sub(b.filled).Seconds()*perSecond)
		b.filled = now
		need := 1.0
		if !urgent {
			need += float64(b.pace.Reserve)
		}
		if b.tokens < need {
			return time.Duration((need-b.tokens)/perSecond*float64(time.Second)) + time.Millisecond
		}
		b.tokens--
	case methodPost:
		next := b.posted[channel]
		if next.Before(now) {
			next = now
		}
		if wait := next.Sub(now) - (postBurst-1)*b.pace.PostGap; wait > 0 {
			return wait
		}
		b.posted[channel] = next.Add(b.pace.PostGap)
	}
	return 0
}

// punish keeps a method still for as long as Slack asked.
func (b *budget) punish(method string, wait time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if until := b.clock.Now().Add(wait); until.After(b.blocked[method]) {
		b.blocked[method] = until
	}
}

// noRetryAfter is the wait after a 429 that names none: the workspace's own
// message quota, which refills by the minute.
const noRetryAfter = 30 * time.Second

// do makes one Slack call within the budget, waiting for its turn, and again
// after each 429. It gives up when the turn would come after ctx's deadline.
func (b *budget) do(ctx context.Context, method, channel string, urgent bool, call func(context.Context) error) error {
	for {
		for {
			wait := b.take(method, channel, urgent)
			if wait == 0 {
				break
			}
			if end, ok := ctx.Deadline(); ok && time.Until(end) < wait {
				return fmt.Errorf("%s has to wait %v for its turn, longer than there is time", method, wait.Round(time.Second))
			}
			if err := b.clock.Sleep(ctx, wait); err != nil {
				return err
			}
		}
		patience := b.pace.Call
		if method == methodFile {
			patience *= 6 // bytes take longer than words
		}
		inner, cancel := context.WithTimeout(ctx, patience)
		err := call(inner)
		cancel()
		var limited *slack.RateLimitedError
		var status slack.StatusCodeError
		switch {
		case errors.As(err, &limited):
			b.punish(method, max(limited.RetryAfter, time.Millisecond))
		case errors.As(err, &status) && status.Code == 429:
			b.punish(method, noRetryAfter)
		default:
			return err
		}
	}
}

// peek says how long a progress update would have to wait now, without taking
// anything.
func (b *budget) peek(method string) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.clock.Now()
	if wait := b.blocked[method].Sub(now); wait > 0 {
		return wait
	}
	perSecond := float64(b.pace.UpdatesPerMinute) / 60
	have := min(float64(b.pace.UpdatesPerMinute), b.tokens+now.Sub(b.filled).Seconds()*perSecond)
	if need := 1 + float64(b.pace.Reserve); have < need {
		return time.Duration((need-have)/perSecond*float64(time.Second)) + time.Millisecond
	}
	return 0
}
