package slackemu

import (
	"testing"
	"time"

	"github.com/slack-go/slack"
)

// trigger makes a trigger as a click would, without a bot in between.
func (s *Server) testTrigger(view string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.newTrigger("U07OPERA", view)
}

func TestTriggerRules(t *testing.T) {
	s := start(t, quick())
	api := client(s)
	id := s.testTrigger("")
	if _, err := api.OpenView(id, askReason()); err != nil {
		t.Fatal(code(err))
	}
	if _, err := api.OpenView(id, askReason()); code(err) != "exchanged_trigger_id" {
		t.Errorf("second use: %v", err)
	}
	late := s.testTrigger("")
	s.Advance(3*time.Second + time.Millisecond)
	if _, err := api.OpenView(late, askReason()); code(err) != "expired_trigger_id" {
		t.Errorf("after 3 s: %v", err)
	}
	if err := s.Inject(Fault{Kind: FaultTrigger}); err != nil {
		t.Fatal(err)
	}
	if _, err := api.OpenView(s.testTrigger(""), askReason()); code(err) != "expired_trigger_id" {
		t.Errorf("fault: %v", err)
	}
}

func TestStackOfThree(t *testing.T) {
	s := start(t, quick())
	api := client(s)
	first, err := api.OpenView(s.testTrigger(""), askReason())
	if err != nil {
		t.Fatal(code(err))
	}
	for range 2 {
		if _, err := api.PushView(s.testTrigger(first.ID), askReason()); err != nil {
			t.Fatal(code(err))
		}
	}
	if _, err := api.PushView(s.testTrigger(first.ID), askReason()); code(err) != "push_limit_reached" {
		t.Errorf("fourth view: %v", err)
	}
	stack := s.Views("operator-a")
	if len(stack) != 3 || stack[2].PreviousViewID != stack[1].ID || stack[2].RootViewID != first.ID {
		t.Errorf("stack = %+v", stack)
	}
	if err := s.CloseView(stack[2].ID, "operator-a"); err != nil || len(s.Views("operator-a")) != 2 {
		t.Errorf("close: %v", err)
	}
	if _, err := api.OpenView(s.testTrigger(""), askReason()); err != nil || len(s.Views("operator-a")) != 1 {
		t.Errorf("opening replaces the stack: %v", err)
	}
}

func TestViewUpdate(t *testing.T) {
	s := start(t, quick())
	api := client(s)
	req := askReason()
	req.ExternalID = "mine"
	v, err := api.OpenView(s.testTrigger(""), req)
	if err != nil {
		t.Fatal(code(err))
	}
	if _, err := api.UpdateView(askReason(), "mine", v.Hash, ""); err != nil {
		t.Fatal(code(err))
	}
	if _, err := api.UpdateView(askReason(), "", v.Hash, v.ID); code(err) != "hash_conflict" {
		t.Errorf("old hash: %v", err)
	}
	if _, err := api.PushView(s.testTrigger(v.ID), req); err != nil {
		t.Errorf("the id is free again: %s", code(err))
	}
	if _, err := api.PushView(s.testTrigger(v.ID), req); code(err) != "duplicate_external_id" {
		t.Errorf("same external id: %v", err)
	}
}

func TestHomeTab(t *testing.T) {
	home := slack.PublishViewContextRequest{UserID: "U07OPERA", View: slack.HomeTabViewRequest{
		Type: slack.VTHomeTab, Blocks: slack.Blocks{BlockSet: approveBlocks()},
	}}
	o := quick()
	s := start(t, o)
	b := connect(t, s)
	v, err := b.api.PublishViewContext(t.Context(), home)
	if err != nil {
		t.Fatal(code(err))
	}
	got, err := s.Act(Act{User: "operator-a", ViewID: v.ID, ActionID: "other"})
	if err == nil {
		t.Errorf("acted on an element which does not exist: %+v", got)
	}
	if _, err := s.Act(Act{User: "operator-a", ViewID: v.ID, ActionID: "approve"}); err != nil {
		t.Fatal(err)
	}
	c := (<-b.seen).Data.(slack.InteractionCallback)
	if c.Container.Type != "view" || c.View.ID != v.ID || c.ActionCallback.BlockActions[0].Value != "run1" {
		t.Errorf("payload = %+v", c)
	}
	old := "1.old"
	home.Hash = &old
	if _, err := b.api.PublishViewContext(t.Context(), home); code(err) != "hash_conflict" {
		t.Errorf("old hash: %v", err)
	}
	o.NoHomeTab = true
	home.Hash = nil
	if _, err := client(start(t, o)).PublishViewContext(t.Context(), home); code(err) != "not_enabled" {
		t.Errorf("home tab off: %v", err)
	}
}

// TestInputsOfEveryKind fills one modal with all inputs and reads them with
// the client's own types.
func TestInputsOfEveryKind(t *testing.T) {
	s := start(t, quick())
	b := connect(t, s)
	opts := []*slack.OptionBlockObject{
		slack.NewOptionBlockObject("a", plainText("A"), nil), slack.NewOptionBlockObject("b", plainText("B"), nil),
	}
	in := func(id string, e slack.BlockElement) slack.Block {
		return slack.NewInputBlock(id, plainText(id), nil, e)
	}
	view := askReason()
	view.Blocks = slack.Blocks{BlockSet: []slack.Block{
		in("select", slack.NewOptionsSelectBlockElement(slack.OptTypeStatic, nil, "x", opts...)),
		in("checks", slack.NewCheckboxGroupsBlockElement("x", opts...)),
		in("radio", slack.NewRadioButtonsBlockElement("x", opts...)),
		in("user", slack.NewOptionsSelectBlockElement(slack.OptTypeUser, nil, "x")),
		in("date", slack.NewDatePickerBlockElement("x")),
		in("number", &slack.NumberInputBlockElement{Type: slack.METNumber, ActionID: "x", MinValue: "1", MaxValue: "9"}),
		in("text", &slack.PlainTextInputBlockElement{Type: slack.METPlainTextInput, ActionID: "x", InitialValue: "kept"}),
	}}
	v, err := b.api.OpenView(s.testTrigger(""), view)
	if err != nil {
		t.Fatal(code(err))
	}
	values := map[string]any{"select": "b", "checks": []any{"a", "b"}, "radio": "a", "user": "U07VIEWER", "date": "2026-09-01", "number": "12"}
	got, err := s.Submit(v.ID, "operator-a", values)
	if err != nil || got.Errors["number"] == "" || len(got.Errors) != 1 {
		t.Fatalf("number out of range: %+v, %v", got, err)
	}
	values["number"] = "7"
	if got, err = s.Submit(v.ID, "operator-a", values); err != nil || !got.Closed {
		t.Fatalf("submit: %+v, %v", got, err)
	}
	st := (<-b.seen).Data.(slack.InteractionCallback).View.State.Values
	if st["select"]["x"].SelectedOption.Value != "b" || len(st["checks"]["x"].SelectedOptions) != 2 ||
		st["radio"]["x"].SelectedOption.Value != "a" || st["user"]["x"].SelectedUser != "U07VIEWER" ||
		st["date"]["x"].SelectedDate != "2026-09-01" || st["number"]["x"].Value != "7" || st["text"]["x"].Value != "kept" {
		t.Errorf("values = %+v", st)
	}
}
