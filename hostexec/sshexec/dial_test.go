package sshexec

import (
	"context"
	"errors"
	"net"
	"os"
	"testing"
	"time"

	"github.com/fabricbot/fabricbot/hostexec"
)

// Whoever notices a silent host first, the context or the network, the answer
// is the same.
func TestSilentHostTimesOut(t *testing.T) {
	over, cancel := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
	defer cancel()
	silent := &net.OpError{Op: "dial", Net: "tcp", Err: os.ErrDeadlineExceeded}
	p := &Pool{opt: Options{ConnectTimeout: 10 * time.Second}}
	for _, tt := range []struct {
		name string
		ctx  context.Context
		err  error
		want hostexec.Outcome
	}{
		{"context_first", over, context.DeadlineExceeded, hostexec.TimedOut},
		{"network_first", t.Context(), silent, hostexec.TimedOut},
		{"refused", t.Context(), &net.OpError{Op: "dial", Net: "tcp", Err: errors.New("connection refused")}, hostexec.Unreachable},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := hostexec.OutcomeOf(p.dialError(tt.ctx, "node001", "192.0.2.1:22", "connect", tt.err, nil)); got != tt.want {
				t.Errorf("outcome %v, want %v", got, tt.want)
			}
		})
	}
}
