package demo

import (
	"context"
	"fmt"
	"time"
)

// A fabricd that ends sooner than quick after its start died quickly; after
// mostQuick of these in a row it is not started again.
const (
	quick     = 10 * time.Second
	mostQuick = 5
	pause     = time.Second
)

// daemon is what is kept alive.
type daemon interface {
	StartDaemon(ctx context.Context) error
	Ended() <-chan struct{}
	PID() int
	DaemonLog() string
}

// keep starts fabricd again whenever it has ended, as a service manager does,
// until the context ends.
func (g *guide) keep(ctx context.Context, d daemon) error {
	deaths, begun := 0, time.Now()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-d.Ended():
		}
		if deaths++; time.Since(begun) > quick {
			deaths = 1
		}
		if deaths == mostQuick {
			return fmt.Errorf("fabricd ended %d times within %v of its start; its log is %s", deaths, quick, d.DaemonLog())
		}
		// Ctrl-C reaches fabricd as well, and then it must stay down.
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pause):
		}
		fmt.Fprintf(g.out, "%s fabricd (process %d) has ended; starting it again, as systemd would\n", time.Now().Format(time.TimeOnly), d.PID())
		begun = time.Now()
		if err := d.StartDaemon(ctx); err != nil {
			if ctx.Err() == nil {
				fmt.Fprintf(g.out, "%s %v\n", time.Now().Format(time.TimeOnly), err)
			}
			continue
		}
		fmt.Fprintf(g.out, "%s fabricd is up: process %d; kill -9 %[2]d\n", time.Now().Format(time.TimeOnly), d.PID())
	}
}
