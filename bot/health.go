package bot

import (
	"context"
	"fmt"
	"sync"
	"time"

	"go.uber.org/zap"
)

// pulse remembers when Slack was last really there.
type pulse struct {
	mu        sync.Mutex
	last      time.Time
	socket    bool // socket mode is used
	connected bool
	since     time.Time // when connected last changed
}

func (p *pulse) ok(now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last = now
}

func (p *pulse) connection(up bool, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.socket || p.connected != up {
		p.since = now
	}
	p.socket, p.connected = true, up
}

// lost is how long there has been no connection.
func (p *pulse) lost(now time.Time) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.socket || p.connected {
		return 0
	}
	return now.Sub(p.since)
}

// Health reports whether Slack answered within the last minutes and, in socket
// mode, whether the bot is connected or was moments ago. The sentence says
// what is wrong.
func (b *Bot) Health() (bool, string) {
	now := b.o.Clock.Now()
	b.health.mu.Lock()
	last := b.health.last
	b.health.mu.Unlock()
	patience := 3 * b.o.ProbeEvery
	if last.IsZero() {
		return false, "slack has not answered yet"
	}
	if quiet := now.Sub(last); quiet > patience {
		return false, fmt.Sprintf("slack has not answered for %v", quiet.Round(time.Second))
	}
	if lost := b.health.lost(now); lost > patience {
		return false, fmt.Sprintf("the socket to slack has been down for %v", lost.Round(time.Second))
	}
	return true, "slack answers"
}

// probe makes a round trip now and then; it returns only with ctx or when the
// tokens are refused.
func (b *Bot) probe(ctx context.Context) error {
	for {
		if err := b.o.Clock.Sleep(ctx, b.o.ProbeEvery); err != nil {
			return nil
		}
		inner, cancel := context.WithTimeout(ctx, 15*time.Second)
		_, err := b.o.API.AuthTestContext(inner)
		cancel()
		if auth, ok := authError(err); ok {
			return auth
		}
		if err != nil {
			b.log.Warn("slack does not answer", zap.Error(err))
			continue
		}
		b.health.ok(b.o.Clock.Now())
	}
}
