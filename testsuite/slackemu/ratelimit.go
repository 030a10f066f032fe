package slackemu

import (
	"math"
	"time"
)

// tier is Slack's rate class of a method, in calls per minute per workspace:
// docs.slack.dev/apis/web-api/rate-limits. The documents promise "at least";
// the emulator gives exactly that.
type tier int

// The tiers. Special methods have their own number.
const (
	tier1       tier = 1
	tier2       tier = 20
	tier3       tier = 50
	tier4       tier = 100
	tierSpecial tier = 600
)

// Posting: about one message a second per channel, short bursts allowed, and
// several hundred a minute per workspace.
const (
	postBurst        = 5
	postPerMinute    = 60
	postPerWorkspace = 300
)

type bucket struct {
	tokens float64
	last   time.Time
}

type limiter struct{ buckets map[string]*bucket }

// take spends one token of a bucket that refills at perMinute and holds at
// most size. When it is empty the time until the next token comes back.
func (l *limiter) take(key string, perMinute, size float64, now time.Time) (wait time.Duration, ok bool) {
	b := l.buckets[key]
	if b == nil {
		b = &bucket{tokens: size, last: now}
		l.buckets[key] = b
	}
	b.tokens = math.Min(size, b.tokens+now.Sub(b.last).Minutes()*perMinute)
	b.last = now
	if b.tokens >= 1 {
		b.tokens--
		return 0, true
	}
	return time.Duration((1 - b.tokens) / perMinute * float64(time.Minute)), false
}

// limited applies the real limits to a call; seconds is Retry-After. The
// caller holds s.mu.
func (s *Server) limited(m method, c *call) (seconds int, hit bool) {
	if !s.faults.realLimits {
		return 0, false
	}
	now := s.now()
	wait, ok := time.Duration(0), true
	if m.name == "chat.postMessage" {
		wait, ok = s.limits.take(m.name+" "+c.arg("channel"), postPerMinute, postBurst, now)
		if ok {
			wait, ok = s.limits.take(m.name, postPerWorkspace, postPerWorkspace, now)
		}
	} else {
		wait, ok = s.limits.take(m.name, float64(m.tier), float64(m.tier), now)
	}
	if ok {
		return 0, false
	}
	return max(1, int(math.Ceil(wait.Seconds()))), true
}
