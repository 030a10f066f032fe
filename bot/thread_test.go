package bot

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fabricbot/fabricbot/activities"
	"github.com/fabricbot/fabricbot/testsuite/slackemu"
)

// voice is a Thread of its own on an emulated workspace.
func voice(t *testing.T, pace Pace) (*slackemu.Server, *Thread, string) {
	t.Helper()
	emu := emulator(t, slackemu.Options{})
	db := filepath.Join(t.TempDir(), "said.db")
	th, store := newThread(t, emu, db, pace)
	t.Cleanup(func() { th.Close(); _ = store.Close() })
	return emu, th, db
}

func running(run string, seq int) activities.View {
	now := time.Now()
	return activities.View{
		Run: run, Op: "topology backup", Class: "read-only", Words: "topology backup", Cluster: "ib1", By: activities.Person{ID: team + ":" + anna},
		Place: activities.Place{Team: team, Channel: ops}, State: activities.Running, Started: now, Updated: now, Seq: seq,
		Progress: &activities.Progress{Done: seq, Total: 1000, Unit: "hosts"},
	}
}

func ended(run string, seq int) activities.View {
	v := running(run, seq)
	v.State, v.Ended, v.Result = activities.Done, v.Updated.Add(time.Second), activities.Data(`{"summary":"kept"}`)
	return v
}

// until tries as the engine does, each try with its own deadline.
func until(t *testing.T, f func(context.Context) error) {
	t.Helper()
	var err error
	for range 400 {
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		err = f(ctx)
		cancel()
		if err == nil {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("never delivered: %v", err)
}

func inject(t *testing.T, emu *slackemu.Server, f slackemu.Fault) {
	t.Helper()
	if err := emu.Inject(f); err != nil {
		t.Fatal(err)
	}
}

func TestSlackAwayThenFinalMessageOnce(t *testing.T) {
	emu, th, _ := voice(t, quick)
	until(t, func(ctx context.Context) error { return th.Show(ctx, running("4f2c09a1d3", 1)) })
	inject(t, emu, slackemu.Fault{Kind: slackemu.FaultRefuse, Duration: 700 * time.Millisecond})
	for seq := range 5 { // progress meanwhile is lost, and holds nothing up
		_ = th.Show(t.Context(), running("4f2c09a1d3", seq+2))
	}
	until(t, func(ctx context.Context) error { return th.Show(ctx, ended("4f2c09a1d3", 9)) })
	m := tops(emu.State(), ops)
	if len(m) != 1 || !strings.Contains(all(m[0]), "*done*") || !strings.Contains(all(m[0]), "kept") {
		t.Errorf("messages: %s", dump(m))
	}
	// A belated retry of an older view changes nothing.
	until(t, func(ctx context.Context) error { return th.Show(ctx, running("4f2c09a1d3", 5)) })
	if m := tops(emu.State(), ops); !strings.Contains(all(m[0]), "*done*") {
		t.Errorf("an older view came through: %s", dump(m))
	}
}

func TestSlackAwayAtTheStart(t *testing.T) {
	for _, fault := range []slackemu.Fault{
		{Kind: slackemu.FaultRefuse, Duration: 300 * time.Millisecond},
		{Kind: slackemu.FaultStatus, Status: 503, Duration: 300 * time.Millisecond},
		{Kind: slackemu.FaultLoseAnswer, Method: "chat.postMessage", Count: 3},
		{Kind: slackemu.FaultLoseAnswer, Method: "conversations.history", Count: 2},
	} {
		t.Run(string(fault.Kind)+fault.Method, func(t *testing.T) {
			emu, th, _ := voice(t, quick)
			inject(t, emu, fault)
			until(t, func(ctx context.Context) error { return th.Show(ctx, running("4f2c09a1d3", 1)) })
			until(t, func(ctx context.Context) error {
				return th.Reply(ctx, running("4f2c09a1d3", 1), activities.Notice{Key: "s", Kind: "summary"})
			})
			m := tops(emu.State(), ops)
			if len(m) != 1 {
				t.Fatalf("%d messages: %s", len(m), dump(m))
			}
			if r := replies(emu.State(), m[0].TS); len(r) != 1 {
				t.Errorf("%d replies: %s", len(r), dump(r))
			}
		})
	}
}

// TestCrashBetweenPostAndRecord loses the answer of the first post, as a
// process does that is killed before it can write the message's id down, and
// goes on with a new process on the same store.
func TestCrashBetweenPostAndRecord(t *testing.T) {
	emu := emulator(t, slackemu.Options{})
	db := filepath.Join(t.TempDir(), "said.db")
	v := running("4f2c09a1d3", 1)
	n := activities.Notice{Key: "ask-g1", Kind: "summary"}
	for _, method := range []string{"chat.postMessage", "chat.postMessage", "files.completeUploadExternal"} {
		th, store := newThread(t, emu, db, quick)
		inject(t, emu, slackemu.Fault{Kind: slackemu.FaultLoseAnswer, Method: method, Count: 1})
		var err error
		switch {
		case method != "chat.postMessage":
			err = th.Attach(t.Context(), v, activities.File{Name: "plan.txt", Title: "Plan", Blob: "sha-plan", Bytes: 15})
		case len(tops(emu.State(), ops)) == 0:
			err = th.Show(t.Context(), v)
		default:
			err = th.Reply(t.Context(), v, n)
		}
		if err == nil {
			t.Fatalf("%s: the answer was not lost", method)
		}
		_ = store.Close() // what kill -9 leaves behind is what was written before the call
		again, store := newThread(t, emu, db, quick)
		until(t, func(ctx context.Context) error { return again.Show(ctx, v) })
		if method != "chat.postMessage" || len(replies(emu.State(), tops(emu.State(), ops)[0].TS)) > 0 {
			until(t, func(ctx context.Context) error { return again.Reply(ctx, v, n) })
		}
		if method != "chat.postMessage" {
			until(t, func(ctx context.Context) error {
				return again.Attach(ctx, v, activities.File{Name: "plan.txt", Title: "Plan", Blob: "sha-plan", Bytes: 15})
			})
		}
		_ = store.Close()
	}
	m := tops(emu.State(), ops)
	if len(m) != 1 {
		t.Fatalf("%d messages: %s", len(m), dump(m))
	}
	shares := 0
	for _, f := range emu.Files() {
		shares += len(f.Shares[ops])
	}
	if r := replies(emu.State(), m[0].TS); len(r) != 2 || shares != 1 {
		t.Errorf("%d replies, %d shares: %s", len(r), shares, dump(r))
	}
}

func TestStoreLost(t *testing.T) {
	emu, th, _ := voice(t, quick)
	v := running("4f2c09a1d3", 1)
	v.Started = v.Started.Add(-2 * time.Minute)
	until(t, func(ctx context.Context) error { return th.Show(ctx, v) })
	other, store := newThread(t, emu, filepath.Join(t.TempDir(), "new.db"), quick)
	defer store.Close()
	v.Seq, v.State = 2, activities.Paused
	until(t, func(ctx context.Context) error { return other.Show(ctx, v) })
	if m := tops(emu.State(), ops); len(m) != 1 || !strings.Contains(all(m[0]), "*paused*") {
		t.Errorf("messages: %s", dump(m))
	}
}

func TestRateLimitIsHonoured(t *testing.T) {
	emu, th, _ := voice(t, quick)
	until(t, func(ctx context.Context) error { return th.Show(ctx, running("4f2c09a1d3", 1)) })
	inject(t, emu, slackemu.Fault{Kind: slackemu.FaultRateLimited, Method: "chat.update", Count: 1, RetryAfter: 1})
	begun := time.Now()
	until(t, func(ctx context.Context) error { return th.Show(ctx, ended("4f2c09a1d3", 2)) })
	if took := time.Since(begun); took < time.Second {
		t.Errorf("tried again after %v in spite of Retry-After: 1", took)
	}
	calls := 0
	for _, c := range emu.State().Calls {
		if c.Method == "chat.update" {
			calls++
		}
	}
	if calls != 2 {
		t.Errorf("%d updates, want the refused one and one more", calls)
	}
}

func TestProgressIsCoalesced(t *testing.T) {
	emu, th, _ := voice(t, Pace{UpdatesPerMinute: 6000, PostGap: time.Millisecond, MessageGap: 200 * time.Millisecond, Settle: time.Millisecond})
	for seq := range 200 {
		if err := th.Show(t.Context(), running("4f2c09a1d3", seq+1)); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if err := emu.Wait(ctx, func(s slackemu.State) bool {
		m := tops(s, ops)
		return len(m) == 1 && strings.Contains(all(m[0]), "200/1000")
	}); err != nil {
		t.Fatalf("the latest progress was not shown: %s", dump(tops(emu.State(), ops)))
	}
	if n := len(tops(emu.State(), ops)[0].History); n > 10 {
		t.Errorf("%d appearances for 200 views", n)
	}
}

// TestManyRunsShareOneBudget has more runs than Slack takes updates from.
func TestManyRunsShareOneBudget(t *testing.T) {
	emu, th, _ := voice(t, Pace{UpdatesPerMinute: 60, Reserve: 20, PostGap: time.Millisecond, MessageGap: time.Millisecond, Settle: time.Millisecond})
	var all sync.WaitGroup
	for run := range 10 {
		all.Go(func() {
			for seq := range 40 {
				_ = th.Show(t.Context(), running(fmt.Sprintf("run%07d", run), seq+1))
			}
		})
	}
	all.Wait()
	updates := 0
	for _, c := range emu.State().Calls {
		if c.Method == "chat.update" {
			updates++
		}
	}
	// The bucket holds 60, of which progress leaves 20; it refills by one a second.
	if updates > 50 {
		t.Errorf("%d updates went out for progress", updates)
	}
	if err := th.Show(t.Context(), ended("run0000003", 99)); err != nil {
		t.Errorf("a final state found no room: %v", err)
	}
}

func TestMessageThatCannotBeEdited(t *testing.T) {
	for _, kind := range []slackemu.FaultKind{slackemu.FaultEditWindow, slackemu.FaultDelete} {
		t.Run(string(kind), func(t *testing.T) {
			emu, th, _ := voice(t, quick)
			until(t, func(ctx context.Context) error { return th.Show(ctx, running("4f2c09a1d3", 1)) })
			old := tops(emu.State(), ops)[0].TS
			inject(t, emu, slackemu.Fault{Kind: kind, Channel: ops, TS: old})
			until(t, func(ctx context.Context) error { return th.Show(ctx, ended("4f2c09a1d3", 2)) })
			m := tops(emu.State(), ops)
			if last := m[len(m)-1]; last.TS == old || !strings.Contains(dump(last), "*done*") {
				t.Errorf("messages: %s", dump(m))
			}
		})
	}
}

func TestDeletedParent(t *testing.T) {
	emu, th, _ := voice(t, quick)
	v := running("4f2c09a1d3", 1)
	until(t, func(ctx context.Context) error { return th.Show(ctx, v) })
	inject(t, emu, slackemu.Fault{Kind: slackemu.FaultDelete, Channel: ops, TS: tops(emu.State(), ops)[0].TS})
	until(t, func(ctx context.Context) error { return th.Reply(ctx, v, activities.Notice{Key: "s", Kind: "summary"}) })
	m := tops(emu.State(), ops)
	if len(m) != 1 || len(replies(emu.State(), m[0].TS)) != 1 {
		t.Errorf("messages: %s", dump(emu.State().Messages))
	}
}

func TestRefusedBlocksFallBackToText(t *testing.T) {
	emu, th, _ := voice(t, quick)
	inject(t, emu, slackemu.Fault{Kind: slackemu.FaultBlocks, Blocks: []string{"context"}})
	until(t, func(ctx context.Context) error { return th.Show(ctx, running("4f2c09a1d3", 1)) })
	m := tops(emu.State(), ops)
	if len(m) != 1 || !slices.Contains(buttons(m[0]), actionCancel) {
		t.Errorf("messages: %s", dump(m))
	}
	until(t, func(ctx context.Context) error { return th.Show(ctx, ended("4f2c09a1d3", 2)) })
	if m := tops(emu.State(), ops); !strings.Contains(m[0].Text, "done, kept") {
		t.Errorf("messages: %s", dump(m))
	}
}
