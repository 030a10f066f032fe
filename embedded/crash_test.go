package embedded

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
)

// TestKillNine kills a server with work of every kind in it and wants all of it done after a restart: workflows that
// sleep, a timer that falls due while nothing runs, and each turn of a schedule.
func TestKillNine(t *testing.T) {
	const sleepers = 5
	dir := filepath.Join(t.TempDir(), "data")
	first, line := spawn(t, dir)
	if line != "ready" {
		t.Fatal(line)
	}
	c := dialDir(t, dir)
	ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
	defer cancel()

	for i := range sleepers {
		// From long past to long to come, as seen from the restart.
		d := time.Duration(i) * 2 * time.Second
		_, err := c.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
			ID: fmt.Sprint("sleeper-", i), TaskQueue: testQueue, TypedSearchAttributes: temporal.NewSearchAttributes(opKey.ValueSet("sleep")),
		}, "nap", fmt.Sprint("word-", i), d)
		if err != nil {
			t.Fatal(err)
		}
	}
	started := time.Now()
	_, err := c.ScheduleClient().Create(ctx, client.ScheduleOptions{
		ID:            "audit",
		Spec:          client.ScheduleSpec{Intervals: []client.ScheduleIntervalSpec{{Every: time.Second}}},
		Overlap:       2, // SCHEDULE_OVERLAP_POLICY_BUFFER_ONE: the turns missed melt into one
		CatchupWindow: time.Minute,
		Action:        &client.ScheduleWorkflowAction{ID: "audit", Workflow: "nap", TaskQueue: testQueue, Args: []any{"audited", time.Duration(0)}},
	})
	if err != nil {
		t.Fatal(err)
	}
	turns := func() int64 {
		n, err := c.CountWorkflow(ctx, &workflowservice.CountWorkflowExecutionsRequest{
			Query: `TemporalScheduledById = "audit" AND ExecutionStatus = "Completed"`})
		if err != nil {
			return 0
		}
		return n.Count
	}
	if err := repeat(ctx, "the first turn", func() error {
		if turns() == 0 {
			return errors.New("none")
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	acknowledged := make(chan string, 10_000)
	go func() {
		defer close(acknowledged)
		for i := 0; ctx.Err() == nil; i++ {
			id := fmt.Sprint("last-minute-", i)
			ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
			_, err := c.ExecuteWorkflow(ctx, client.StartWorkflowOptions{ID: id, TaskQueue: testQueue}, "nap", id, time.Duration(0))
			cancel()
			if err != nil {
				return
			}
			acknowledged <- id
		}
	}()
	time.Sleep(time.Second)
	first.kill()
	before, err := os.ReadFile(filepath.Join(dir, "meta.json"))
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(3 * time.Second) // down, with turns and timers falling due

	second, line := spawn(t, dir)
	if line != "ready" {
		t.Fatal(line)
	}
	restarted := time.Now()
	after, err := os.ReadFile(filepath.Join(dir, "meta.json"))
	if err != nil {
		t.Fatal(err)
	}
	port := func(b []byte) string {
		_, rest, _ := strings.Cut(string(b), `"frontend_port":`)
		n, _, _ := strings.Cut(rest, ",")
		return n
	}
	if port(before) == "" || port(before) != port(after) {
		t.Errorf("frontend port %q became %q", port(before), port(after))
	}
	// The same client goes on: same port, same authority.
	for i := range sleepers {
		var got string
		if err := c.GetWorkflow(ctx, fmt.Sprint("sleeper-", i), "").Get(ctx, &got); err != nil || got != fmt.Sprint("word-", i) {
			t.Errorf("sleeper %d: got %q, %v", i, got, err)
		}
	}
	n := 0
	for id := range acknowledged {
		var got string
		if err := c.GetWorkflow(ctx, id, "").Get(ctx, &got); err != nil || got != id {
			t.Errorf("%s was acknowledged and is lost: got %q, %v", id, got, err)
		}
		n++
	}
	if n < 5 {
		t.Errorf("only %d starts were acknowledged before the kill, too few to tell", n)
	}
	t.Logf("%d starts acknowledged before the kill", n)
	// A turn whose scheduled time lies before the restart, but which ran after it: caught up inside its window.
	if err := repeat(ctx, "a turn that was caught up", func() error {
		d, err := c.ScheduleClient().GetHandle(ctx, "audit").Describe(ctx)
		if err != nil {
			return err
		}
		for _, a := range d.Info.RecentActions {
			if a.ScheduleTime.After(started) && a.ScheduleTime.Before(restarted.Add(-time.Second)) && a.ActualTime.After(restarted.Add(-2*time.Second)) {
				return nil
			}
		}
		return fmt.Errorf("recent actions %+v", d.Info.RecentActions)
	}); err != nil {
		t.Error(err)
	}
	if err := c.ScheduleClient().GetHandle(ctx, "audit").Delete(ctx); err != nil {
		t.Error(err)
	}
	second.stop(t)

	// The type of a search attribute is for ever. The failed start also has to let go of all it took.
	third, line := spawn(t, dir, kindEnv+"=int")
	if !strings.HasPrefix(line, "error:") || !strings.Contains(line, "give it another name") {
		t.Errorf("start with another attribute type said %q", line)
	}
	_ = third.cmd.Wait()
	checkIntegrity(t, dir)
	checkQuietLog(t, dir)
}

func checkIntegrity(t *testing.T, dir string) {
	t.Helper()
	db, err := openStore(filepath.Join(dir, databaseFile))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var verdict string
	if err := db.QueryRow("PRAGMA integrity_check").Scan(&verdict); err != nil || verdict != "ok" {
		t.Errorf("integrity %q, %v", verdict, err)
	}
}

// checkQuietLog wants a stop to leave no trail of cancelled calls, and nothing ever to leave a stack trace.
func checkQuietLog(t *testing.T, dir string) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, logFile))
	if errors.Is(err, os.ErrNotExist) {
		return // nothing was an error
	}
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(b), "context canceled") || strings.Contains(string(b), "goroutine ") || strings.Contains(string(b), `"stacktrace"`) {
		t.Errorf("log is not quiet:\n%.4000s", b)
	}
	for line := range strings.Lines(string(b)) {
		t.Logf("engine.log: %.300s", line)
	}
}

// TestSecondServer wants the second start on a directory refused with the first one's pid, in another process as well
// as in this one.
func TestSecondServer(t *testing.T) {
	shared(t)
	_, err := Start(t.Context(), Options{DataDir: sharedDir})
	var locked *LockedError
	if !errors.As(err, &locked) || locked.PID != os.Getpid() {
		t.Errorf("got %v, want a LockedError with pid %d", err, os.Getpid())
	}
	_, line := spawn(t, sharedDir)
	if want := fmt.Sprintf("is in use by process %d (", os.Getpid()); !strings.Contains(line, want) {
		t.Errorf("child said %q, want %q", line, want)
	}
}
