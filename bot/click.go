package bot

import (
	"context"
	"fmt"

	"github.com/slack-go/slack"
	"go.uber.org/zap"

	"github.com/fabricbot/fabricbot/activities"
)

// click carries out a pressed button. Who may do so is judged on every press:
// buttons are visible to everybody.
func (b *Bot) click(ctx context.Context, cb slack.InteractionCallback) {
	p := private{user: cb.User.ID, channel: cb.Channel.ID, responseURL: cb.ResponseURL, clicked: true}
	if len(cb.ActionCallback.BlockActions) == 0 {
		return
	}
	a := cb.ActionCallback.BlockActions[0]
	press, err := parsePressed(a.Value)
	if err != nil {
		b.log.Warn("a foreign button was pressed", zap.String("requester", cb.User.ID))
		return
	}
	// A form lives on a trigger that dies within three seconds: it is opened
	// before anything is asked, and says so if the person may not fill it in.
	var form *slack.ViewResponse
	switch a.ActionID {
	case actionDeny:
		form, err = b.o.API.OpenViewContext(ctx, cb.TriggerID, denyForm(press, cb.Channel.ID))
	case actionApproveTyped:
		form, err = b.o.API.OpenViewContext(ctx, cb.TriggerID, waitForm("Approve"))
	}
	if err != nil {
		b.complain(ctx, p, fmt.Errorf("opening the form: %w; press the button again", err))
		return
	}
	if err := b.pressed(ctx, cb, p, a.ActionID, press, form); err != nil {
		if form != nil {
			if _, e := b.o.API.UpdateViewContext(ctx, refusedForm(err), "", "", form.ID); e == nil {
				return
			}
		}
		b.complain(ctx, p, err)
	}
}

func (b *Bot) pressed(ctx context.Context, cb slack.InteractionCallback, p private, action string, press pressed, form *slack.ViewResponse) error {
	if err := b.admitClick(ctx, cb); err != nil {
		return err
	}
	by, place := b.person(cb.User.ID, cb.User.Name), activities.Place{Team: b.me.TeamID, Channel: cb.Channel.ID}
	v, err := b.o.Runs.View(ctx, press.Run)
	if err != nil {
		return err
	}
	switch action {
	case actionCancel:
		return b.steer(ctx, p, by, place, "runs cancel", v)
	case actionResume:
		return b.steer(ctx, p, by, place, "runs resume", v)
	case actionApprove, actionApproveTyped, actionDeny:
	default:
		return refuse("This button is of an older version of the bot.")
	}
	d, err := b.judge(ctx, v, press, by, action != actionDeny)
	if err != nil {
		// A button of another gate or of an ended run is stale: show the truth.
		if v.State != activities.Waiting || v.Gate != nil && v.Gate.ID != press.Gate {
			b.refresh(ctx, v)
		}
		return err
	}
	switch {
	case action == actionDeny:
		return nil // the form is open; its answer is the decision
	case action == actionApproveTyped:
		if _, err := b.o.API.UpdateViewContext(ctx, typeForm(press, cb.Channel.ID, v), "", "", form.ID); err != nil {
			return fmt.Errorf("showing the form: %w; press the button again", err)
		}
		return nil
	case b.o.Draw.mustType(v):
		return refuse("The plan of run %s has grown so large that it is approved in a form. Use the new button.", code(short(v.Run)))
	}
	return b.decide(ctx, v, d)
}

// admitClick refuses people and places that commands refuse.
func (b *Bot) admitClick(ctx context.Context, cb slack.InteractionCallback) error {
	team := cb.User.TeamID
	if team == "" {
		team = cb.Team.ID
	}
	if err := b.admitPerson(ctx, team, cb.User.ID); err != nil {
		return err
	}
	if cb.Channel.ID == "" {
		return nil // a form; its channel was judged when it was opened
	}
	return b.admitPlace(ctx, cb.Channel.ID, cb.User.ID, false)
}

// steer is a control word given by a button.
func (b *Bot) steer(ctx context.Context, p private, by activities.Person, place activities.Place, name string, v activities.View) error {
	e, ok := b.o.Index.Lookup(name)
	if !ok {
		return fmt.Errorf("%s is not in the catalog", name)
	}
	input, err := e.Parse([]string{v.Run})
	if err != nil {
		return err
	}
	if err := b.o.Access.Steer(ctx, by, place, v); err != nil {
		return err
	}
	reply, err := b.o.Runs.Control(ctx, by, place, name, input)
	if err == nil {
		b.tell(ctx, p, b.answer(name, reply))
	}
	return err
}
