package bot

import (
	"context"
	"fmt"
	"strings"

	"github.com/slack-go/slack"

	"github.com/fabricbot/fabricbot/activities"
	"github.com/fabricbot/fabricbot/op"
	"github.com/fabricbot/fabricbot/templates"
	"github.com/fabricbot/fabricbot/workflows"
)

// control carries out a word that steers runs; the answer is private.
func (b *Bot) control(ctx context.Context, a ask, by activities.Person, place activities.Place, e op.Entry, input any) error {
	switch e.Name {
	case "approve", "deny":
		in, ok := input.(workflows.RunInput)
		if !ok {
			return fmt.Errorf("%s was declared with a %T", e.Name, input)
		}
		return b.decideByWord(ctx, a.private, by, in, e.Name == "approve")
	}
	reply, err := b.o.Runs.Control(ctx, by, place, e.Name, input)
	if err != nil {
		return err
	}
	b.tell(ctx, a.private, b.answer(e.Name, reply))
	if text := b.concernsAll(by, e.Name, input); text != "" {
		if err := b.o.Thread.announce(ctx, a.channel, sentence(text)); err != nil {
			return fmt.Errorf("it is done, but the channel could not be told: %w", err)
		}
	}
	return nil
}

// concernsAll is what a channel is told of a control word that changes what
// everybody may do; empty of any other.
func (b *Bot) concernsAll(by activities.Person, name string, input any) trusted {
	switch name {
	case "freeze":
		in, _ := input.(workflows.ReasonInput)
		return say("⛔ *Changes are frozen* by %s: %s\nNo change begins until %s; runs that only look go on.", who(by), in.Reason, code(b.o.Command+" unfreeze"))
	case "unfreeze":
		return say("✅ *Changes are allowed again*, says %s.", who(by))
	}
	return ""
}

// answer draws a reply for the eyes of one person.
func (b *Bot) answer(name string, r Reply) message {
	m := message{Text: fitText(string(say("%s", name)), maxNotification)}
	if text := strings.TrimSpace(r.Text); text != "" {
		var out []string
		for _, l := range strings.Split(text, "\n") {
			out = append(out, capital(templates.Slack.Said(l)))
		}
		m.Text = fitText(out[0], maxNotification)
		m.add(strings.Join(out, "\n"), limitSection)
	}
	if r.View != nil {
		whole, err := b.o.Draw.shown(*r.View)
		if err != nil {
			return sentence(say("⚠ run %s cannot be shown: %s", code(short(r.View.Run)), err))
		}
		m.Text, m.Blocks = whole.Text, append(m.Blocks, whole.Blocks...)
	}
	if r.Views != nil || r.Text == "" && r.View == nil {
		rows := b.o.Draw.rows(r.Views)
		if len(r.Views) == 0 {
			rows = "There are no such runs."
		}
		m.add(rows, limitSection)
	}
	return m
}

// shown is a run in full, without buttons: it is private and ephemeral, and a
// button on it could not be taken away.
func (r Renderer) shown(v activities.View) (message, error) {
	w := r.words(v)
	m := message{Text: fitText(w.get("text"), maxNotification)}
	m.add(w.get("title"), limitSection)
	m.add(lines(w.get("line"), w.get("progress")), limitSection)
	m.add(w.get("plan"), maxPlan)
	m.add(w.get("gate"), maxSteps)
	if v.State.Final() {
		m.add(w.get("end"), maxResult)
		m.add(w.get("findings"), maxFindings)
	}
	m.add(w.get("all-steps"), limitSection)
	m.add(w.get("open"), maxSteps)
	m.Blocks = append(m.Blocks, note(w.get("words")+" · "+w.get("refreshed")))
	return m.fit(), w.err
}

func (r Renderer) rows(views []activities.View) string {
	var rows []string
	for _, v := range views {
		rows = append(rows, r.words(v).get("row"))
	}
	return strings.Join(rows, "\n")
}

// decideByWord is approve and deny as typed words. They mean the plan that the
// run shows now.
func (b *Bot) decideByWord(ctx context.Context, p private, by activities.Person, in workflows.RunInput, yes bool) error {
	v, err := b.o.Runs.View(ctx, in.Run)
	if err != nil {
		return err
	}
	d, err := b.judge(ctx, v, pressed{Run: v.Run}, by, yes)
	if err != nil {
		return err
	}
	if yes && b.o.Draw.mustType(v) {
		return refuse("This plan is large enough that its approval is confirmed in a form. Use the button on the run's message.")
	}
	d.Reason = in.Reason
	if err := b.decide(ctx, v, d); err != nil {
		return err
	}
	b.tell(ctx, p, message{Text: "Recorded", Blocks: []slack.Block{section(string(say("Your word on run %s is recorded.", code(short(v.Run)))))}})
	return nil
}
