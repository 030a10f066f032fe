package bot

import (
	"context"
	"slices"
	"strings"

	"go.uber.org/zap"

	"github.com/fabricbot/fabricbot/activities"
)

// judge checks, before the run does so again, whether a person may decide what
// a button or a word stands for, and makes the decision. The refusals are for
// that person alone.
func (b *Bot) judge(ctx context.Context, v activities.View, p pressed, by activities.Person, yes bool) (activities.Decision, error) {
	g := v.Gate
	switch {
	case yes && by.ID == v.By.ID:
		return activities.Decision{}, refuse("You asked for run %s yourself; somebody else has to approve it.", code(short(v.Run)))
	case g == nil || v.State != activities.Waiting:
		return activities.Decision{}, refuse("Run %s does not wait for approval any more: it is %s%s.", code(short(v.Run)), v.State, lastDecision(v))
	case p.Gate != "" && p.Gate != g.ID, p.Hash != "" && !strings.HasPrefix(g.Hash, p.Hash):
		return activities.Decision{}, refuse("The plan of run %s has changed since that message. Look at the current one and decide again.", code(short(v.Run)))
	}
	for _, d := range v.Decided {
		if d.By.ID == by.ID && d.Gate == g.ID && d.Yes == yes {
			return activities.Decision{}, refuse("Your decision on run %s was already recorded; nothing more to do.", code(short(v.Run)))
		}
	}
	d := activities.Decision{By: by, Gate: g.ID, Hash: g.Hash, Yes: yes, At: b.o.Clock.Now()}
	if by.ID == v.By.ID || slices.Contains(g.Policy.Users, by.ID) {
		return d, nil // a requester who says no withdraws
	}
	via, err := b.groupOf(ctx, g.Policy.Groups, by)
	if err != nil {
		b.log.Warn("a group's members could not be read", zap.Error(err))
		return d, refuse("Slack does not say now who may approve this, so nothing was recorded. Try again in a minute.")
	}
	if via == "" {
		return d, refuse("You are not among those who may decide about %s.", v.Op)
	}
	d.Via = via
	return d, nil
}

// groupOf is the first of the groups that the person is in. A group that
// cannot be read is an error unless another one gives the right.
func (b *Bot) groupOf(ctx context.Context, groups []string, by activities.Person) (string, error) {
	user := b.userOf(by.ID)
	if user == "" {
		return "", nil
	}
	var unread error
	for _, g := range groups {
		if g == activities.TeamGroup {
			return g, nil
		}
		members, err := b.Members(ctx, g)
		if err != nil {
			unread = err
			continue
		}
		if slices.Contains(members, user) {
			return g, nil
		}
	}
	return "", unread
}

func lastDecision(v activities.View) trusted {
	if len(v.Decided) == 0 {
		return ""
	}
	d := v.Decided[len(v.Decided)-1]
	verb := "denied"
	if d.Yes {
		verb = "approved"
	}
	return say(", already %s by %s at %s", verb, who(d.By), moment(d.At))
}

// decide takes the buttons away, puts the decision to the run, and gives the
// buttons back if the run refuses.
func (b *Bot) decide(ctx context.Context, v activities.View, d activities.Decision) error {
	if err := b.o.Thread.Recording(ctx, v, d.By); err != nil {
		// The decision counts whether or not the message can show it.
		b.log.Warn("the buttons could not be taken away", zap.String("workflow_id", v.Run), zap.Error(err))
	}
	if err := b.o.Runs.Decide(ctx, v.Run, d); err != nil {
		b.refresh(ctx, v)
		return err
	}
	b.log.Info("decision recorded", zap.String("workflow_id", v.Run), zap.String("approver", d.By.ID), zap.Bool("yes", d.Yes))
	return nil
}

// refresh makes the message equal to what the run says now.
func (b *Bot) refresh(ctx context.Context, v activities.View) {
	if now, err := b.o.Runs.View(ctx, v.Run); err == nil {
		v = now
	}
	if err := b.o.Thread.NotRecorded(ctx, v); err != nil {
		b.log.Warn("the message could not be refreshed", zap.String("workflow_id", v.Run), zap.Error(err))
	}
}
