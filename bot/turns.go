package bot

import (
	"context"
	"sync"
)

// turns lets one caller at a time do something with each run.
type turns struct {
	mu   sync.Mutex
	runs map[string]*turn
}

type turn struct {
	token   chan struct{}
	waiting int
}

// take waits for the run's turn; the returned function gives it back.
func (t *turns) take(ctx context.Context, run string) (func(), error) {
	t.mu.Lock()
	if t.runs == nil {
		t.runs = map[string]*turn{}
	}
	one, ok := t.runs[run]
	if !ok {
		one = &turn{token: make(chan struct{}, 1)}
		t.runs[run] = one
	}
	one.waiting++
	t.mu.Unlock()
	leave := func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if one.waiting--; one.waiting == 0 {
			delete(t.runs, run)
		}
	}
	select {
	case one.token <- struct{}{}:
		return func() { <-one.token; leave() }, nil
	case <-ctx.Done():
		leave()
		return nil, ctx.Err()
	}
}
