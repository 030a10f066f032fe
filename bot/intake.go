package bot

import (
	"context"
	"sync"
	"time"

	"go.uber.org/zap"
)

// seenFor is how long a request is remembered: Slack's last retry comes after
// about five minutes.
const seenFor = 20 * time.Minute

// seen remembers keys of requests.
type seen struct {
	mu   sync.Mutex
	keys map[string]time.Time
	next time.Time
}

// first reports whether the key is new, and remembers it. An empty key is
// always new.
func (s *seen) first(key string, now time.Time) bool {
	if key == "" {
		return true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.keys == nil {
		s.keys = map[string]time.Time{}
	}
	if now.After(s.next) {
		for k, at := range s.keys {
			if now.Sub(at) > seenFor {
				delete(s.keys, k)
			}
		}
		s.next = now.Add(time.Minute)
	}
	if at, ok := s.keys[key]; ok && now.Sub(at) <= seenFor {
		return false
	}
	s.keys[key] = now
	return true
}

// forget makes a key new again.
func (s *seen) forget(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.keys, key)
}

// job is work that follows an acknowledgement.
type job struct {
	what string
	do   func(context.Context)
}

// crew works through what was acknowledged, a bounded number at a time.
type crew struct {
	jobs chan job
	log  *zap.Logger
}

// jobTime bounds one job.
const jobTime = 2 * time.Minute

func newCrew(waiting int, log *zap.Logger) *crew {
	return &crew{jobs: make(chan job, waiting), log: log}
}

// offer queues a job; false means that the crew is overrun.
func (c *crew) offer(j job) bool {
	select {
	case c.jobs <- j:
		return true
	default:
		c.log.Error("more requests than can be worked on", zap.String("op", j.what))
		return false
	}
}

// run works until ctx ends, then finishes what has begun.
func (c *crew) run(ctx context.Context, workers int) {
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for {
				select {
				case <-ctx.Done():
					return
				case j := <-c.jobs:
					c.one(ctx, j)
				}
			}
		})
	}
	wg.Wait()
}

// one does a job; a bug in one request must not silence the bot.
func (c *crew) one(ctx context.Context, j job) {
	defer func() {
		if bug := recover(); bug != nil {
			c.log.Error("a request could not be worked on", zap.String("op", j.what), zap.Any("bug", bug), zap.Stack("stack"))
		}
	}()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), jobTime)
	defer cancel()
	j.do(ctx)
}
