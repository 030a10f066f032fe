package bot

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/fabricbot/fabricbot/activities"
	"github.com/fabricbot/fabricbot/op"
	"github.com/fabricbot/fabricbot/testsuite/slackemu"
)

// waiting starts a run that waits at its gate and gives its message's id.
func (h *house) waiting(hosts int) (ts string) {
	h.t.Helper()
	h.runs.hosts = hosts
	h.slash(anna, "sm restart")
	h.until("the gate", func(s slackemu.State) bool {
		m := tops(s, ops)
		return len(m) == 1 && len(replies(s, m[0].TS)) == 1
	})
	h.runs.wait()
	return tops(h.slack.State(), ops)[0].TS
}

func (h *house) click(user, ts, action string) slackemu.ActResult {
	h.t.Helper()
	r, err := h.slack.Click(user, ops, ts, action)
	if err != nil {
		h.t.Fatal(err)
	}
	if r.Outcome != slackemu.Acked {
		h.t.Fatalf("the click was not acknowledged: %s", r.Outcome)
	}
	return r
}

func (h *house) message() slackemu.Message { return tops(h.slack.State(), ops)[0] }

func (h *house) decisions() []activities.Decision {
	h.runs.mu.Lock()
	defer h.runs.mu.Unlock()
	return slices.Clone(h.runs.decided)
}

func TestApproval(t *testing.T) {
	h := open(t)
	ts := h.waiting(2)
	m := h.message()
	if got := buttons(m); !slices.Equal(got, []string{actionApprove, actionDeny, actionCancel}) {
		t.Errorf("buttons %v", got)
	}
	for _, want := range []string{"*Plan*", "*2 hosts*: sm1, sm2", "Effect: no new paths", "<!subteam^" + approver + ">", "expires <!date^"} {
		if !strings.Contains(all(m), want) {
			t.Errorf("the card lacks %q", want)
		}
	}
	notice := replies(h.slack.State(), ts)[0]
	if !strings.Contains(all(notice), "<!subteam^"+approver+">") {
		t.Errorf("the request mentions nobody: %s", all(notice))
	}
	r := h.click(ben, ts, actionApprove)
	if text := dump(r.Confirm); !strings.Contains(text, "sm1, sm2") || !strings.Contains(text, "No new paths") || !strings.Contains(text, "asked for by operator-a.") {
		t.Errorf("the confirmation does not repeat target and effect: %s", text)
	}
	h.until("the buttons to go", func(s slackemu.State) bool { return strings.Contains(all(tops(s, ops)[0]), "*Approved* by <@"+ben+">") })
	h.runs.wait()
	if got := buttons(h.message()); !slices.Equal(got, []string{actionCancel}) {
		t.Errorf("buttons after the decision: %v", got)
	}
	recording := false
	for _, v := range h.message().History {
		recording = recording || strings.Contains(dump(v.Blocks), "recording the decision of <@"+ben+">")
	}
	if !recording {
		t.Error("the buttons did not go before the run answered")
	}
	d := h.decisions()
	if len(d) != 1 || d[0].By.ID != team+":"+ben || d[0].Via != approver || !d[0].Yes || len(d[0].Hash) != 64 || d[0].Gate != "g1" {
		t.Errorf("decisions %+v", d)
	}
}

func TestWhoMayNotApprove(t *testing.T) {
	h := open(t)
	ts := h.waiting(1)
	h.click(anna, ts, actionApprove)
	h.told(anna, "somebody else has to approve it")
	h.click(viewer, ts, actionApprove)
	h.told(viewer, "not among those who may decide")
	h.slash(viewer, "approve "+h.only())
	h.until("a second refusal", func(s slackemu.State) bool {
		n := 0
		for _, m := range s.Ephemerals {
			if m.Ephemeral == viewer && strings.Contains(all(m), "not among those") {
				n++
			}
		}
		return n == 2
	})
	if d := h.decisions(); len(d) != 0 {
		t.Errorf("decisions %+v", d)
	}
	if got := buttons(h.message()); len(got) != 3 {
		t.Errorf("the run does not wait any more: buttons %v", got)
	}
}

func (h *house) only() string { v, _ := h.runs.only(); return v.Run }

func TestGroupThatCannotBeReadDenies(t *testing.T) {
	h := open(t)
	ts := h.waiting(1)
	if err := h.slack.Inject(slackemu.Fault{Kind: slackemu.FaultError, Method: "usergroups.users.list", Code: "internal_error"}); err != nil {
		t.Fatal(err)
	}
	h.click(ben, ts, actionApprove)
	h.told(ben, "does not say now who may approve")
	h.click(ben, ts, actionApprove)
	h.eventually("the approval", func() bool { return len(h.decisions()) == 1 })
}

func TestSecondClickIsHarmless(t *testing.T) {
	h := open(t)
	ts := h.waiting(1)
	h.click(ben, ts, actionApprove)
	h.eventually("the decision", func() bool { return len(h.decisions()) == 1 })
	// The message of a slow client still shows the old buttons.
	v, _ := h.runs.View(t.Context(), h.only())
	err := h.bot.pressed(t.Context(), clickOf(ben, ts, actionApprove), private{}, actionApprove, pressed{Run: v.Run, Gate: "g1", Hash: v.Plan.Hash}, nil)
	if err == nil || !strings.Contains(err.Error(), "already approved by <@"+ben+">") {
		t.Errorf("second click: %v", err)
	}
	if d := h.decisions(); len(d) != 1 {
		t.Errorf("decided %d times", len(d))
	}
}

func TestRefusedDecisionGivesTheButtonsBack(t *testing.T) {
	h := open(t)
	ts := h.waiting(1)
	h.runs.refuse = errors.New("the plan has changed since <that> message")
	h.click(ben, ts, actionApprove)
	h.told(ben, "The plan has changed since &lt;that&gt; message")
	h.until("the buttons", func(s slackemu.State) bool { return len(buttons(tops(s, ops)[0])) == 3 })
}

func TestDenyAsksForTheReason(t *testing.T) {
	h := open(t)
	ts := h.waiting(1)
	h.click(ben, ts, actionDeny)
	h.until("the form", func(s slackemu.State) bool { return len(s.Views) == 1 })
	view := h.slack.Views(ben)[0]
	r, err := h.slack.Submit(view.ID, ben, map[string]any{inputAction: "not during the <!channel> review"})
	if err != nil || !r.Closed {
		t.Fatalf("%+v, %v", r, err)
	}
	h.until("the denial", func(s slackemu.State) bool {
		return strings.Contains(all(tops(s, ops)[0]), "*Denied* by <@"+ben+">") && strings.Contains(all(tops(s, ops)[0]), "&lt;!channel&gt; review")
	})
	h.runs.wait()
	if got := buttons(h.message()); len(got) != 0 {
		t.Errorf("a denied run has buttons %v", got)
	}
	if d := h.decisions(); len(d) != 1 || d[0].Yes || d[0].Reason == "" {
		t.Errorf("decisions %+v", d)
	}
}

func TestOutsiderSeesRefusalInTheForm(t *testing.T) {
	h := open(t)
	ts := h.waiting(1)
	h.click(viewer, ts, actionDeny)
	h.until("the refusal", func(s slackemu.State) bool {
		return len(s.Views) == 1 && strings.Contains(dump(s.Views[0].Blocks), "not among those who may decide")
	})
	if v := h.slack.Views(viewer)[0]; v.Submit != nil {
		t.Error("the form can still be sent")
	}
}

func TestLargePlanIsTyped(t *testing.T) {
	h := open(t)
	ts := h.waiting(5)
	if got := buttons(h.message()); !slices.Equal(got, []string{actionApproveTyped, actionDeny, actionCancel}) {
		t.Fatalf("buttons %v", got)
	}
	h.click(ben, ts, actionApproveTyped)
	h.until("the form", func(s slackemu.State) bool { return len(s.Views) == 1 && s.Views[0].CallbackID == formApprove })
	view := h.slack.Views(ben)[0]
	for range 2 { // the same mistake twice is told twice
		r, err := h.slack.Submit(view.ID, ben, map[string]any{inputAction: "4"})
		if err != nil || r.Closed || r.Errors[inputBlock] == "" {
			t.Fatalf("%+v, %v", r, err)
		}
	}
	if r, err := h.slack.Submit(view.ID, ben, map[string]any{inputAction: "5"}); err != nil || !r.Closed {
		t.Fatalf("%+v, %v", r, err)
	}
	h.eventually("the decision", func() bool { return len(h.decisions()) == 1 })
	h.slash(ben, "approve "+h.only())
	h.told(ben, "already approved by")
}

func TestWordsCannotReplaceTyping(t *testing.T) {
	h := open(t)
	h.waiting(5)
	h.slash(ben, "approve "+h.only())
	h.told(ben, "confirmed in a form")
	h.slash(ben, "deny "+h.only()+" too many at once")
	h.eventually("the denial", func() bool { d := h.decisions(); return len(d) == 1 && d[0].Reason == "too many at once" })
}

func TestCancelByButton(t *testing.T) {
	h := open(t)
	ts := h.waiting(1)
	r := h.click(anna, ts, actionCancel)
	if r.Confirm == nil {
		t.Error("cancelling asks no question")
	}
	h.eventually("the order", func() bool {
		h.runs.mu.Lock()
		defer h.runs.mu.Unlock()
		return len(h.runs.control) == 1 && strings.HasPrefix(h.runs.control[0], "runs cancel {"+h.runs.started[0].Run)
	})
}

func TestOnesOwnRunCanAlwaysBeStopped(t *testing.T) {
	h := open(t)
	ts := h.waiting(1)
	h.allow(func(activities.Person, activities.Place, op.Entry) error { return errors.New("no rule allows it") })
	h.click(viewer, ts, actionCancel)
	h.told(viewer, "No rule allows it")
	h.slash(viewer, "runs pause "+h.only())
	h.click(anna, ts, actionCancel)
	h.told(anna, "Done &amp; dusted")
	h.slash(anna, "runs pause "+h.only())
	h.eventually("both orders", func() bool {
		h.runs.mu.Lock()
		defer h.runs.mu.Unlock()
		return len(h.runs.control) == 2
	})
}
