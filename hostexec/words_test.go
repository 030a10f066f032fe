package hostexec

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
)

func TestOutcomesAndStatesAreWordsInJSON(t *testing.T) {
	for _, o := range []Outcome{0, OK, Unreachable, Refused, Failed, TimedOut, Lost} {
		text, err := json.Marshal(o)
		var back Outcome
		if err != nil || json.Unmarshal(text, &back) != nil || back != o {
			t.Errorf("%v: %s, %v", o, text, err)
		}
	}
	for _, s := range []JobState{0, Running, Done, Unknown, Fenced, Busy, Absent} {
		text, err := json.Marshal(s)
		var back JobState
		if err != nil || json.Unmarshal(text, &back) != nil || back != s {
			t.Errorf("%v: %s, %v", s, text, err)
		}
	}
	var o Outcome
	if json.Unmarshal([]byte(`"fine"`), &o) == nil {
		t.Error("an unknown outcome was read")
	}
	if got := fmt.Sprint(TimedOut, " ", Outcome(99), " ", Running, " ", JobState(77)); got != "timed out outcome(99) running state(77)" {
		t.Errorf("%q", got)
	}
}

func TestErrorTellsTheStory(t *testing.T) {
	err := fmt.Errorf("inspecting: %w", &Error{Host: "node1", Act: "ibstat", Step: "login", Outcome: Refused, Detail: "192.0.2.1:22", Next: "add the key", Err: ErrQuarantined})
	if OutcomeOf(err) != Refused || !errors.Is(err, ErrQuarantined) || OutcomeOf(errors.New("x")) != 0 {
		t.Error(err)
	}
	want := "inspecting: ibstat on node1: refused at login: 192.0.2.1:22; add the key: " + ErrQuarantined.Error()
	if err.Error() != want {
		t.Errorf("got %q, want %q", err, want)
	}
	if (Result{Outcome: Failed, Exit: 2}).Err() != nil || (Result{Outcome: OK}).Err() != nil || (Result{Outcome: Lost, Exit: -1}).Err() == nil {
		t.Error("Result.Err")
	}
}

func TestArgvThatCannotBeSent(t *testing.T) {
	for _, argv := range [][]string{nil, {""}, {"-n"}, {"a b"}, {"a=b"}, {"ls", "a\x00b"}, {"ls", strings.Repeat("x", maxArgvBytes)}, {"$x"}} {
		if CheckArgv(argv) == nil {
			t.Errorf("%.40q accepted", argv)
		}
	}
	if got := Display([]string{"grep", "a b", "", "$x", "ü", "\x1b[0m"}); got != `grep "a b" "" "$x" "ü" "\x1b[0m"` {
		t.Errorf("%s", got)
	}
}

func TestLeases(t *testing.T) {
	ctx := WithLease(t.Context(), Lease{Run: "wf/1", Token: 3})
	if l, ok := LeaseFrom(ctx); !ok || l.Check() != nil {
		t.Errorf("%+v %v", l, ok)
	}
	for _, l := range []Lease{{}, {Run: "x"}, {Token: 1}, {Run: "a b", Token: 1}, {Run: "$(id)", Token: 1}, {Run: "x", Token: 1 << 63}} {
		if !errors.Is(l.Check(), ErrNeedsLease) {
			t.Errorf("%+v accepted", l)
		}
	}
}
