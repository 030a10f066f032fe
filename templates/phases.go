package templates

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"
)

// phase is a stretch of a run: what it looked at for its plan, the approval,
// the second look, and what it did. Title is empty where a run has one only.
type phase struct {
	Title string
	// Steps are the view's own; Decided are decisions that end the wait.
	Steps, Decided []any
	// From and To bound the wait for approval.
	From, To time.Time
}

// phases cuts the steps of a view where its plan was decided upon, and the
// second look that follows from what is done after it.
func phases(view any) []phase {
	steps, decided := list(view, "Steps"), list(view, "Decided")
	if !has(view, "Plan") {
		return []phase{{Steps: steps}}
	}
	asked, given := len(steps), time.Time{}
	for _, d := range decided {
		if at, _ := member(d, "At", "at").(time.Time); at.After(given) {
			given = at
		}
	}
	switch {
	case !given.IsZero():
		asked = 0
		for asked < len(steps) && !begun(steps[asked]).After(given) {
			asked++
		}
	case len(steps) > 0:
		// Nobody was asked: the second look begins where the first step comes back.
		if i := slices.IndexFunc(steps[1:], func(s any) bool { return sameStep(s, steps[0]) }); i >= 0 {
			asked = i + 1
		}
	}
	plan, after := steps[:asked], steps[asked:]
	out := []phase{{Title: "Plan", Steps: plan}}
	if len(decided) > 0 {
		wait := phase{Title: "Approval", Decided: decided, To: given}
		if len(plan) > 0 {
			wait.From, _ = member(plan[len(plan)-1], "Ended", "ended").(time.Time)
		}
		out = append(out, wait)
	}
	again := 0
	for again < len(after) && again < len(plan) && sameStep(after[again], plan[again]) {
		again++
	}
	if again > 0 {
		out = append(out, phase{Title: "Second look before acting", Steps: after[:again]})
	}
	if again < len(after) {
		out = append(out, phase{Title: "Carried out", Steps: after[again:]})
	}
	return out
}

// acted are the steps with which a run did what its plan says; of a run without
// a plan all.
func acted(view any) []any {
	for _, p := range phases(view) {
		if p.Title == "" || p.Title == "Carried out" {
			return p.Steps
		}
	}
	return nil
}

// looking are the words with which steps begin that change nothing: a run looks
// at hosts, too, which it has not begun to change.
var looking = []string{"ask", "compare", "count", "discover", "find", "look", "read", "remember", "wait", "watch"}

// notBegun are the hosts of the plan at which no step was begun, in the plan's
// order.
func notBegun(view any) []string {
	if !has(view, "Plan") {
		return nil
	}
	at := map[string]bool{}
	for _, s := range acted(view) {
		verb, _, _ := strings.Cut(text(member(s, "Text", "text")), " ")
		if !slices.Contains(looking, verb) {
			at[text(member(s, "Host", "host"))] = true
		}
	}
	var hosts []string
	for _, c := range list(member(view, "Plan", "plan"), "Changes") {
		if h := text(member(c, "Host", "host")); h != "" && !at[h] && !slices.Contains(hosts, h) {
			hosts = append(hosts, h)
		}
	}
	return hosts
}

func begun(step any) time.Time {
	at, _ := member(step, "Begun", "begun").(time.Time)
	return at
}

func sameStep(a, b any) bool {
	return member(a, "Text", "text") == member(b, "Text", "text") && member(a, "Host", "host") == member(b, "Host", "host")
}

// has reports whether a view has a part at all.
func has(view any, field string) bool {
	v := reflect.ValueOf(member(view, field, ""))
	return v.IsValid() && (v.Kind() != reflect.Pointer || !v.IsNil())
}

func list(of any, field string) []any {
	v := reflect.ValueOf(member(of, field, ""))
	if v.Kind() != reflect.Slice {
		return nil
	}
	out := make([]any, v.Len())
	for i := range out {
		out[i] = v.Index(i).Interface()
	}
	return out
}

// endIcon is stepIcon in a run that has ended: nothing runs any more.
func endIcon(state any) string {
	if fmt.Sprint(state) == "running" {
		return "❔"
	}
	return stepIcon(state)
}
