package activities

import (
	"context"
	"time"

	"go.temporal.io/sdk/activity"
)

// beatEvery is well below the heartbeat time-out that workflows set (10 s or
// more); the SDK throttles what it sends.
const beatEvery = 2 * time.Second

// beat heartbeats until the returned function is called.
func beat(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		t := time.NewTicker(beatEvery)
		defer t.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-t.C:
				activity.RecordHeartbeat(ctx)
			}
		}
	}()
	return cancel
}
