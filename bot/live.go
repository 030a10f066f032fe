package bot

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/slack-go/slack"

	"github.com/fabricbot/fabricbot/activities"
	"github.com/fabricbot/fabricbot/op"
	"github.com/fabricbot/fabricbot/templates"
)

// Actions of the live message's buttons. They stay the same over all updates.
const (
	actionApprove      = "approve"
	actionApproveTyped = "approve-typed"
	actionDeny         = "deny"
	actionCancel       = "cancel"
	actionResume       = "resume"
)

// Renderer draws runs for Slack.
type Renderer struct {
	// Words are the templates.
	Words *templates.Set
	// Typed gives a result its type back (workflows.Entry.Result); results
	// stay decoded JSON objects where it is nil or fails.
	Typed func(op string, result activities.Data) (any, error)
	// TypedAbove is the number of hosts above which the approval of a dangerous
	// operation must be typed instead of clicked.
	TypedAbove int
}

// live draws a run's message. by is set while a decision of that person is
// being recorded: the buttons are already gone then.
func (r Renderer) live(v activities.View, by *activities.Person) (message, error) {
	w := r.words(v)
	m := message{Text: fitText(w.get("text"), maxNotification)}
	m.add(w.get("title"), limitSection)
	switch {
	case v.State.Final():
		// At most six blocks and nothing to press.
		m.add(w.get("end"), maxResult)
		m.add(w.get("findings"), maxFindings)
		m.add(w.get("outcome"), maxSteps)
		m.add(w.get("decisions"), maxSteps)
	case v.State == activities.Waiting && v.Gate != nil:
		m.add(w.get("plan"), maxPlan)
		m.add(lines(w.get("gate"), w.get("decisions")), maxPlan)
		if by != nil {
			m.add(string(say("⏳ recording the decision of %s …", who(*by))), limitSection)
		} else {
			m.Blocks = append(m.Blocks, r.gateButtons(v))
		}
	default:
		m.add(lines(w.get("line"), w.get("progress")), limitSection)
		m.add(w.get("decisions"), maxSteps)
		m.add(w.get("steps"), maxSteps)
		m.Blocks = append(m.Blocks, runButtons(v))
	}
	m.Blocks = append(m.Blocks, note(w.get("words")+" · "+w.get("refreshed")))
	return m.fit(), w.err
}

// notice draws a new message for the run's thread.
func (r Renderer) notice(v activities.View, kind string) (message, error) {
	block, ok := map[string]string{"ask": "ask", "decided": "decided", "failed": "failed-notice", "summary": "summary"}[kind]
	if !ok {
		return message{}, fmt.Errorf("drawing a notice of run %s: unknown kind %q", v.Run, kind)
	}
	w := r.words(v)
	text := w.get(block)
	m := message{Text: fitText(firstLine(text), maxNotification*2)}
	m.add(text, limitSection)
	return m.fit(), w.err
}

func (r Renderer) gateButtons(v activities.View) *slack.ActionBlock {
	value := pressed{Run: v.Run, Gate: v.Gate.ID, Hash: v.Gate.Hash}.value()
	var yes *slack.ButtonBlockElement
	if r.mustType(v) {
		yes = button(actionApproveTyped, value, approveLabel(v), slack.StylePrimary)
	} else {
		yes = button(actionApprove, value, approveLabel(v), slack.StylePrimary)
		yes.Confirm = confirm("Approve "+v.Op+"?", effect(v), "Approve")
	}
	stop := button(actionCancel, value, "Cancel run", "")
	stop.Confirm = confirm("Cancel "+v.Op+"?", "Nothing has been changed yet.", "Cancel run")
	return slack.NewActionBlock("", yes, button(actionDeny, value, "Deny "+v.Op, slack.StyleDanger), stop)
}

func runButtons(v activities.View) *slack.ActionBlock {
	value := pressed{Run: v.Run}.value()
	stop := button(actionCancel, value, "Cancel run", "")
	stop.Confirm = confirm("Cancel "+v.Op+"?", "The run stops at its next safe point; a step that has begun is finished first.", "Cancel run")
	if v.State == activities.Paused {
		return slack.NewActionBlock("", button(actionResume, value, "Resume run", slack.StylePrimary), stop)
	}
	return slack.NewActionBlock("", stop)
}

func approveLabel(v activities.View) string {
	label := "Approve " + v.Op
	if v.Plan != nil {
		if n := len(v.Plan.Hosts()); n > 1 {
			label += fmt.Sprintf(" on %d", n)
		}
	}
	return fitPlain(label, 30)
}

// effect repeats target and consequence for the confirmation, and whose plan
// it is. The last sentence is never cut.
func effect(v activities.View) string {
	if v.Plan == nil {
		return v.Words
	}
	hosts := v.Plan.Hosts()
	s := fmt.Sprintf("%s. On %s", strings.TrimSuffix(capital(templates.Plain.Escape(v.Plan.Summary)), "."), strings.Join(hosts[:min(4, len(hosts))], ", "))
	if len(hosts) > 4 {
		s += fmt.Sprintf(" and %d more", len(hosts)-4)
	}
	if len(v.Plan.Effects) > 0 {
		s += ". " + strings.TrimSuffix(capital(v.Plan.Effects[0]), ".")
	}
	by := fmt.Sprintf(" Plan %s, asked for by %s.", short(v.Plan.Hash), templates.Plain.Mention(v.By.ID, fitPlain(v.By.Name, 60)))
	return fitPlain(templates.Plain.Escape(s)+".", limitConfirmText-count(by)) + by
}

// mustType reports whether one click is too little for this plan.
func (r Renderer) mustType(v activities.View) bool {
	return v.Class == op.Dangerous.String() && v.Plan != nil && r.TypedAbove > 0 && len(v.Plan.Hosts()) > r.TypedAbove
}

// drawn renders blocks of one view and keeps the first error.
type drawn struct {
	r    Renderer
	slug string
	data templates.Data
	err  error
}

func (r Renderer) words(v activities.View) *drawn {
	return &drawn{r: r, slug: strings.ReplaceAll(v.Op, " ", "-"), data: templates.Data{View: v, Result: r.result(v)}}
}

func (d *drawn) get(block string) string {
	s, err := d.r.Words.Render(templates.Slack, d.slug, block, d.data)
	if err != nil && d.err == nil {
		d.err = err
	}
	return s
}

func (r Renderer) result(v activities.View) any {
	if len(v.Result) == 0 {
		return nil
	}
	if r.Typed != nil {
		if typed, err := r.Typed(v.Op, v.Result); err == nil {
			return typed
		}
	}
	// A result of another version is still an object with a summary.
	dec := json.NewDecoder(bytes.NewReader(v.Result))
	dec.UseNumber()
	var object map[string]any
	if err := dec.Decode(&object); err != nil {
		return nil
	}
	return object
}

func lines(parts ...string) string {
	var kept []string
	for _, p := range parts {
		if p != "" {
			kept = append(kept, p)
		}
	}
	return strings.Join(kept, "\n")
}

func firstLine(s string) string {
	first, _, _ := strings.Cut(s, "\n")
	return first
}
