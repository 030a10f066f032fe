package bot

import (
	"context"
	"time"

	"github.com/slack-go/slack"

	"github.com/fabricbot/fabricbot/activities"
)

// judgeWithin bounds what is asked before a form is acknowledged; Slack waits
// three seconds.
const judgeWithin = 2200 * time.Millisecond

// submit judges a form that was sent. It returns what is to be acknowledged
// (nil closes the form) and the work that follows the acknowledgement.
func (b *Bot) submit(ctx context.Context, cb slack.InteractionCallback) (answer *slack.ViewSubmissionResponse, then func(context.Context)) {
	press, channel, err := parseCarried(cb.View.PrivateMetadata)
	if err != nil || cb.View.CallbackID != formDeny && cb.View.CallbackID != formApprove {
		return nil, nil
	}
	yes := cb.View.CallbackID == formApprove
	quick, cancel := context.WithTimeout(ctx, judgeWithin)
	defer cancel()
	wrong := func(text string) *slack.ViewSubmissionResponse {
		b.seen.forget(clickKey(cb)) // the same form may be sent again
		return slack.NewErrorsViewSubmissionResponse(map[string]string{inputBlock: fitPlain(text, 300)})
	}
	if err := b.admitClick(quick, cb); err != nil {
		f := refusedForm(err)
		return slack.NewUpdateViewSubmissionResponse(&f), nil
	}
	by := b.person(cb.User.ID, cb.User.Name)
	v, err := b.o.Runs.View(quick, press.Run)
	if err != nil {
		return wrong("The run does not answer now; send the form again."), nil
	}
	d, err := b.judge(quick, v, press, by, yes)
	if err != nil {
		f := refusedForm(err)
		return slack.NewUpdateViewSubmissionResponse(&f), nil
	}
	words := typed(cb.View)
	if yes {
		if !meant(v, words) {
			return wrong("That is not the number of hosts in the plan."), nil
		}
	} else {
		if words == "" {
			return wrong("Say why."), nil
		}
		d.Reason = fitPlain(words, maxReason)
	}
	return nil, func(ctx context.Context) { b.decideAfterForm(ctx, v, d, cb.User.ID, channel) }
}

func (b *Bot) decideAfterForm(ctx context.Context, v activities.View, d activities.Decision, user, channel string) {
	if err := b.decide(ctx, v, d); err != nil {
		b.complain(ctx, private{user: user, channel: channel}, err)
	}
}
