package bot

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/fabricbot/fabricbot/activities"
	"github.com/fabricbot/fabricbot/op"
	"github.com/fabricbot/fabricbot/workflows"
)

// runsInMemory are runs without an engine: those that look end at once, those
// that change something wait at their gate. They speak through the real voice,
// again and again until it succeeds, as the engine's activities do.
type runsInMemory struct {
	mu      sync.Mutex
	views   map[string]activities.View
	started []activities.Request
	decided []activities.Decision
	control []string
	refuse  error // what Decide answers
	hosts   int
	idle    bool // no worker is there
	voice   activities.Voice
	busy    sync.WaitGroup
}

func (r *runsInMemory) wait() { r.busy.Wait() }

func (r *runsInMemory) Start(_ context.Context, q activities.Request) (activities.View, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.started = append(r.started, q)
	if v, ok := r.views[q.Run]; ok {
		return v, nil
	}
	if r.idle {
		return activities.View{Run: q.Run, Op: q.Op, State: activities.Requested}, nil
	}
	for _, v := range r.views {
		if v.Words == q.Words && !v.State.Final() {
			return activities.View{Run: q.Run, Op: q.Op, State: activities.Duplicate, Of: v.Run, By: q.By, Place: q.Place}, nil
		}
	}
	v := activities.View{
		Run: q.Run, Op: q.Op, Class: "read-only", Words: q.Words, Cluster: "ib1", By: q.By, Place: q.Place,
		State: activities.Done, Started: time.Now(), Updated: time.Now(), Ended: time.Now(), Seq: 9,
		Result: activities.Data(`{"summary":"node001 is master, 1 standby","findings":[{"severity":"warn","text":"<!channel> equal priorities","action":"sm handover"}]}`),
	}
	if q.Op == "sm restart" {
		v.State, v.Class, v.Ended, v.Result, v.Seq = activities.Waiting, op.Dangerous.String(), time.Time{}, nil, 3
		p := activities.Plan{Summary: "restart opensm", Effects: []string{"no new paths for about 20 s"}, Rollback: "none needed"}
		for i := range max(1, r.hosts) {
			p.Changes = append(p.Changes, activities.PlanLine{Host: fmt.Sprintf("sm%d", i+1), What: "restart opensm"})
		}
		if err := p.Seal(); err != nil {
			return v, err
		}
		v.Plan = &p
		v.Gate = &activities.Gate{ID: "g1", Hash: p.Hash, Need: 1, Expires: time.Now().Add(time.Hour), Policy: activities.Policy{Groups: []string{approver}}}
	}
	r.views[q.Run] = v
	r.speak(v)
	if v.Gate != nil {
		r.say(v, activities.Notice{Key: "ask-g1", Kind: "ask"})
	}
	return v, nil
}

func (r *runsInMemory) speak(v activities.View) {
	r.again(func(ctx context.Context) error { return r.voice.Show(ctx, v) })
}

func (r *runsInMemory) say(v activities.View, n activities.Notice) {
	r.again(func(ctx context.Context) error { return r.voice.Reply(ctx, v, n) })
}

// again tries as the engine does: until it works.
func (r *runsInMemory) again(f func(context.Context) error) {
	r.busy.Go(func() {
		for range 200 {
			ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
			err := f(ctx)
			cancel()
			if err == nil {
				return
			}
			time.Sleep(20 * time.Millisecond)
		}
	})
}

func (r *runsInMemory) Control(_ context.Context, _ activities.Person, _ activities.Place, operation string, input any) (Reply, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.control = append(r.control, fmt.Sprintf("%s %v", operation, input))
	switch in := input.(type) {
	case workflows.ListInput:
		reply := Reply{Views: []activities.View{}}
		for _, v := range r.views {
			reply.Views = append(reply.Views, v)
		}
		return reply, nil
	case workflows.RunInput:
		if operation == "runs show" {
			v, ok := r.views[in.Run]
			if !ok {
				return Reply{}, errors.New("there is no run <" + in.Run + ">")
			}
			return Reply{View: &v}, nil
		}
	}
	return Reply{Text: "done & dusted"}, nil
}

func (r *runsInMemory) Decide(_ context.Context, run string, d activities.Decision) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.refuse != nil {
		return r.refuse
	}
	v := r.views[run]
	if v.Gate == nil {
		return errors.New("the gate is closed")
	}
	r.decided = append(r.decided, d)
	v.Decided = append(v.Decided, d)
	v.Gate, v.State, v.Seq, v.Updated = nil, activities.Running, v.Seq+1, time.Now()
	if !d.Yes {
		v.State, v.Error, v.Ended = activities.Denied, "denied: "+d.Reason, time.Now()
	}
	r.views[run] = v
	r.speak(v)
	return nil
}

func (r *runsInMemory) View(_ context.Context, run string) (activities.View, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	v, ok := r.views[run]
	if !ok {
		return v, fmt.Errorf("there is no run %s", run)
	}
	return v, nil
}

// only is the one run that was started.
func (r *runsInMemory) only() (activities.View, int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, v := range r.views {
		return v, len(r.started)
	}
	return activities.View{}, len(r.started)
}
