package activities

import "time"

// Clock is the time that waiting acts live in; tests bring one that hurries.
type Clock interface {
	Now() time.Time
	After(d time.Duration) <-chan time.Time
}

type realClock struct{}

func (realClock) Now() time.Time { return time.Now() }

func (realClock) After(d time.Duration) <-chan time.Time { return time.After(d) }

func (h *Hosts) clock() Clock {
	if h.Clock != nil {
		return h.Clock
	}
	return realClock{}
}
