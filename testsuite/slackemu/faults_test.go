package slackemu

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/slack-go/slack"
)

func inject(t *testing.T, s *Server, f Fault) {
	t.Helper()
	if err := s.Inject(f); err != nil {
		t.Fatal(err)
	}
}

func say(api *slack.Client) error {
	_, _, err := api.PostMessage("C07FABOPS", slack.MsgOptionText("x", false))
	return err
}

func TestRateLimitedByFault(t *testing.T) {
	s := start(t, quick())
	api := client(s)
	inject(t, s, Fault{Kind: FaultRateLimited, Method: "chat.postMessage", RetryAfter: 7})
	var limited *slack.RateLimitedError
	if err := say(api); !errors.As(err, &limited) || limited.RetryAfter != 7*time.Second {
		t.Errorf("429: %v", err)
	}
	inject(t, s, Fault{Kind: FaultQuota, Method: "chat.postMessage"})
	var status slack.StatusCodeError
	if err := say(api); !errors.As(err, &status) || status.Code != http.StatusTooManyRequests {
		t.Errorf("429 without Retry-After: %v", err)
	}
	if err := say(api); err != nil {
		t.Errorf("the faults were used up, yet: %v", err)
	}
}

func TestRealRateLimits(t *testing.T) {
	o := quick()
	o.RealRateLimits = true
	s := start(t, o)
	api := client(s)
	_, ts, err := api.PostMessage("C07FABOPS", slack.MsgOptionText("x", false))
	if err != nil {
		t.Fatal(err)
	}
	update := func() error {
		_, _, _, err := api.UpdateMessage("C07FABOPS", ts, slack.MsgOptionText("y", false))
		return err
	}
	for i := range 50 {
		if err := update(); err != nil {
			t.Fatalf("update %d of 50: %v", i+1, err)
		}
	}
	var limited *slack.RateLimitedError
	if err := update(); !errors.As(err, &limited) || limited.RetryAfter < time.Second || limited.RetryAfter > 2*time.Second {
		t.Errorf("51st update of the minute: %v", err)
	}
	s.Advance(limited.RetryAfter)
	if err := update(); err != nil {
		t.Errorf("after Retry-After: %v", err)
	}
	for i := range 5 { // the bucket is full again
		if err := say(api); err != nil {
			t.Fatalf("burst post %d: %v", i+1, err)
		}
	}
	if err := say(api); !errors.As(err, &limited) {
		t.Errorf("sixth post in a row to one channel: %v", err)
	}
	if _, _, err := api.PostMessage("C07SHARED", slack.MsgOptionText("x", false)); err != nil {
		t.Errorf("another channel has its own bucket: %v", err)
	}
	for i := range 20 {
		if _, err := api.GetUserGroupMembers("S07APPROVE"); err != nil {
			t.Fatalf("group read %d of 20: %v", i+1, err)
		}
	}
	if _, err := api.GetUserGroupMembers("S07APPROVE"); !errors.As(err, &limited) {
		t.Errorf("21st group read: %v", err)
	}
}

func TestOutages(t *testing.T) {
	s := start(t, quick())
	api := client(s)
	t.Run("status", func(t *testing.T) {
		inject(t, s, Fault{Kind: FaultStatus, Count: 2})
		var status slack.StatusCodeError
		for range 2 {
			if err := say(api); !errors.As(err, &status) || status.Code != http.StatusServiceUnavailable {
				t.Errorf("outage: %v", err)
			}
		}
		if err := say(api); err != nil {
			t.Errorf("after the outage: %v", err)
		}
	})
	t.Run("refused_connection", func(t *testing.T) {
		inject(t, s, Fault{Kind: FaultRefuse, Duration: 300 * time.Millisecond})
		fresh := client(s) // a kept connection would break with EOF instead
		if err := say(fresh); err == nil || !strings.Contains(err.Error(), "refused") {
			t.Errorf("outage: %v", err)
		}
		deadline := time.Now().Add(8 * time.Second)
		for say(api) != nil {
			if time.Now().After(deadline) {
				t.Fatal("the API never came back")
			}
			time.Sleep(20 * time.Millisecond)
		}
	})
	t.Run("answer_lost_after_the_deed", func(t *testing.T) {
		before := len(s.Messages("fabric-ops"))
		inject(t, s, Fault{Kind: FaultLoseAnswer, Method: "chat.postMessage"})
		if err := say(api); err == nil {
			t.Error("an answer came")
		}
		if n := len(s.Messages("fabric-ops")); n != before+1 {
			t.Errorf("%d new messages", n-before)
		}
	})
	t.Run("chosen_error", func(t *testing.T) {
		inject(t, s, Fault{Kind: FaultError, Method: "chat.postMessage", Code: "restricted_action"})
		if err := say(api); code(err) != "restricted_action" {
			t.Error(err)
		}
	})
	t.Run("unknown_kind", func(t *testing.T) {
		if s.Inject(Fault{Kind: "gremlins"}) == nil || s.Inject(Fault{Kind: FaultError}) == nil {
			t.Error("accepted")
		}
	})
}

func TestMessageFaults(t *testing.T) {
	s := start(t, quick())
	api := client(s)
	_, ts, err := api.PostMessage("C07FABOPS", slack.MsgOptionText("x", false))
	if err != nil {
		t.Fatal(err)
	}
	update := func() string {
		_, _, _, err := api.UpdateMessage("C07FABOPS", ts, slack.MsgOptionText("y", false))
		return code(err)
	}
	inject(t, s, Fault{Kind: FaultEditWindow, Channel: "fabric-ops", TS: ts})
	if got := update(); got != "edit_window_closed" {
		t.Errorf("edit window: %q", got)
	}
	s.ClearFaults()
	if got := update(); got != "" {
		t.Errorf("cleared: %q", got)
	}
	inject(t, s, Fault{Kind: FaultDelete, Channel: "fabric-ops", TS: ts})
	if got := update(); got != "message_not_found" {
		t.Errorf("deleted: %q", got)
	}
	inject(t, s, Fault{Kind: FaultBlocks, Blocks: []string{"table"}})
	table := slack.NewTableBlock("t").AddRow(slack.TableRawTextCell{Type: "raw_text", Text: "x"})
	_, _, err = api.PostMessage("C07FABOPS", slack.MsgOptionText("x", false), slack.MsgOptionBlocks(table))
	if !strings.HasPrefix(code(err), "invalid_blocks") {
		t.Errorf("table not rolled out: %v", err)
	}
}

func TestDeliveryFaults(t *testing.T) {
	slash := func(t *testing.T, s *Server, text string) SlashResult {
		t.Helper()
		got, err := s.Slash("operator-a", "fabric-ops", "/fabric "+text)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	t.Run("lost_ack", func(t *testing.T) {
		s := start(t, quick())
		connect(t, s)
		inject(t, s, Fault{Kind: FaultDropAck})
		if got := slash(t, s, "x"); got.Outcome != TimedOut {
			t.Errorf("outcome %s", got.Outcome)
		}
		if got := slash(t, s, "y"); got.Outcome != Acked {
			t.Errorf("next outcome %s", got.Outcome)
		}
	})
	t.Run("lost_ack_of_an_event_is_retried", func(t *testing.T) {
		s := start(t, quick())
		b := connect(t, s)
		inject(t, s, Fault{Kind: FaultDropAck, Count: 2})
		if _, err := s.Say("operator-a", "fabric-ops", "", "@fabricbot hi"); err != nil {
			t.Fatal(err)
		}
		wait(t, s, func(st State) bool { n := len(st.Deliveries); return n == 3 && st.Deliveries[2].Outcome == Acked })
		list := s.Deliveries()
		for i, d := range list {
			if d.Attempt != i || d.Key != list[0].Key || (i > 0 && d.EnvelopeID == list[i-1].EnvelopeID) {
				t.Errorf("attempt %d: %+v", i, d)
			}
		}
		for i := range 3 {
			if r := (<-b.seen).Request; r.RetryAttempt != i || (i > 0) != (r.RetryReason == "timeout") {
				t.Errorf("request %d: attempt %d reason %q", i, r.RetryAttempt, r.RetryReason)
			}
		}
	})
	t.Run("retries_end", func(t *testing.T) {
		s := start(t, quick())
		connect(t, s)
		inject(t, s, Fault{Kind: FaultDropAck, Count: 9})
		if err := s.OpenHome("viewer"); err != nil {
			t.Fatal(err)
		}
		wait(t, s, func(st State) bool { n := len(st.Deliveries); return n == 4 && st.Deliveries[3].Outcome == TimedOut })
	})
	t.Run("duplicate", func(t *testing.T) {
		s := start(t, quick())
		b := connect(t, s)
		inject(t, s, Fault{Kind: FaultDuplicate})
		slash(t, s, "x")
		first, second := (<-b.seen), (<-b.seen)
		if first.Request.EnvelopeID == second.Request.EnvelopeID ||
			first.Data.(slack.SlashCommand).TriggerID != second.Data.(slack.SlashCommand).TriggerID {
			t.Error("a duplicate has a new envelope and the same trigger")
		}
		wait(t, s, func(st State) bool { return len(st.Ephemerals) == 2 })
	})
	t.Run("delay", func(t *testing.T) {
		s := start(t, quick())
		connect(t, s)
		inject(t, s, Fault{Kind: FaultDelay, Count: 1, Duration: time.Second})
		done := make(chan SlashResult)
		go func() { got, _ := s.Slash("operator-a", "fabric-ops", "/fabric late"); done <- got }()
		slash(t, s, "late or not")
		if got := <-done; got.Outcome != Acked {
			t.Errorf("outcome %s", got.Outcome)
		}
	})
	t.Run("reorder", func(t *testing.T) {
		s := start(t, quick())
		b := connect(t, s)
		inject(t, s, Fault{Kind: FaultReorder, Count: 2})
		for _, text := range []string{"one", "two"} {
			if _, err := s.Say("operator-a", "fabric-ops", "", "@fabricbot "+text); err != nil {
				t.Fatal(err)
			}
			waitHeld(t, s)
		}
		<-b.seen
		<-b.seen
		list := s.Deliveries()
		if len(list) != 2 || list[0].Outcome == NoConnection {
			t.Errorf("deliveries %+v", list)
		}
	})
	t.Run("half_open", func(t *testing.T) {
		s := start(t, quick())
		connect(t, s)
		inject(t, s, Fault{Kind: FaultHalfOpen, Duration: time.Minute})
		if got := slash(t, s, "x"); got.Outcome != TimedOut {
			t.Errorf("outcome %s", got.Outcome)
		}
		s.ClearFaults()
		if got := slash(t, s, "x"); got.Outcome != Acked {
			t.Errorf("healed: %s", got.Outcome)
		}
	})
	t.Run("events_wait_for_a_connection", func(t *testing.T) {
		s := start(t, quick())
		s.opts.Timing.EventRetry = [3]time.Duration{time.Millisecond, time.Second, time.Second}
		if err := s.OpenHome("viewer"); err != nil {
			t.Fatal(err)
		}
		wait(t, s, func(st State) bool { return len(st.Deliveries) == 2 })
		connect(t, s)
		wait(t, s, func(st State) bool { return len(st.Homes) == 1 })
	})
}

// waitHeld waits until a delivery is held for reordering or was released.
func waitHeld(t *testing.T, s *Server) {
	t.Helper()
	for range 200 {
		s.mu.Lock()
		ok := len(s.faults.held) > 0 || s.faults.holdTarget == 0
		s.mu.Unlock()
		if ok {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Fatal("the delivery was not held")
}
