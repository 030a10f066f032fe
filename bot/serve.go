package bot

import (
	"context"

	"github.com/slack-go/slack"
	"github.com/slack-go/slack/slackevents"
	"go.uber.org/zap"
)

// The three kinds of things that arrive, whichever way they came in. Each of
// these returns at once: the work is queued.

// onCommand gives what the acknowledgement of a command says, if there is
// anything to say yet, and whether it has to be queued: not if it was seen
// before or is answered.
func (b *Bot) onCommand(ctx context.Context, a ask) (answer *message, queue bool) {
	if !b.seen.first(a.key, b.o.Clock.Now()) {
		return nil, false
	}
	answer = b.atOnce(ctx, a)
	return answer, answer == nil
}

// enqueue is false if the bot is overrun.
func (b *Bot) enqueue(a ask) bool {
	return b.crew.offer(job{"command", func(ctx context.Context) { b.command(ctx, a) }})
}

// onClick queues a pressed button.
func (b *Bot) onClick(cb slack.InteractionCallback) (busy bool) {
	if cb.Type != slack.InteractionTypeBlockActions || !b.seen.first(clickKey(cb), b.o.Clock.Now()) {
		return false
	}
	return !b.clicks.offer(job{"click", func(ctx context.Context) { b.click(ctx, cb) }})
}

// onEvent queues an event of the Events API.
func (b *Bot) onEvent(e slackevents.EventsAPIEvent, outer eventOuter) {
	if o, ok := e.InnerEvent.Data.(*slackevents.AppHomeOpenedEvent); ok && o.Tab != "messages" {
		if b.seen.first("event/"+outer.EventID, b.o.Clock.Now()) {
			b.crew.offer(job{"home", func(ctx context.Context) { b.home(ctx, outer.TeamID, o.User) }})
		}
		return
	}
	a, ok := b.mentionAsk(e, outer)
	if !ok {
		return
	}
	// An incident re-sent one message under new event ids, so the message's own
	// id counts as well (slackapi/node-slack-sdk issue 2141).
	if !b.seen.first("event/"+outer.EventID, b.o.Clock.Now()) {
		return
	}
	if b.seen.first(a.key, b.o.Clock.Now()) && !b.enqueue(a) {
		b.log.Warn("a mention was not worked on", zap.String("channel", a.channel))
	}
}

// overrun tells a person that there is no worker for them.
func overrun() message {
	return message{Text: "⚠ Too much is going on at the moment, so nothing was started. Try again in a minute."}
}
