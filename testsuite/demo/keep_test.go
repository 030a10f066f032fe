package demo

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// mayfly is a daemon that lives for one entry of lives after the other.
type mayfly struct {
	lives  []time.Duration
	starts int
	ended  chan struct{}
}

func (m *mayfly) StartDaemon(context.Context) error {
	m.ended = make(chan struct{})
	m.starts++
	if len(m.lives) == 0 {
		return nil
	}
	life := m.lives[0]
	m.lives = m.lives[1:]
	if life == 0 {
		close(m.ended)
		return errors.New("fabricd ended while starting")
	}
	time.AfterFunc(life, func() { close(m.ended) })
	return nil
}

func (m *mayfly) Ended() <-chan struct{} { return m.ended }
func (m *mayfly) PID() int               { return 4000 + m.starts }
func (m *mayfly) DaemonLog() string      { return "/run/x/fabricd.log" }

func TestKeep(t *testing.T) {
	second := time.Second
	for name, tt := range map[string]struct {
		lives  []time.Duration
		starts int
		gaveUp bool
	}{
		"killed_now_and_then": {[]time.Duration{time.Hour, second, second, time.Hour, second, second, second, time.Hour}, 9, false},
		"dies_quickly":        {[]time.Duration{time.Hour, second, second, second, second, time.Hour}, 5, true},
		"does_not_start":      {[]time.Duration{time.Hour, 0, 0, 0, 0, time.Hour}, 5, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := &mayfly{lives: tt.lives}
				if err := m.StartDaemon(t.Context()); err != nil {
					t.Fatal(err)
				}
				ctx, cancel := context.WithTimeout(t.Context(), 100*time.Hour)
				defer cancel()
				var out bytes.Buffer
				err := (&guide{out: &out}).keep(ctx, m)
				if (err != nil) != tt.gaveUp || m.starts != tt.starts {
					t.Errorf("error %v after %d starts, want giving up %v after %d\n%s", err, m.starts, tt.gaveUp, tt.starts, &out)
				}
				if err != nil && !strings.Contains(err.Error(), m.DaemonLog()) {
					t.Errorf("the error does not name the log: %v", err)
				}
			})
		})
	}
}
