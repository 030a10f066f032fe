package bot

import (
	"context"
	"errors"

	"github.com/slack-go/slack"
	"go.uber.org/zap"
)

// private is where one person reads an answer that nobody else sees.
type private struct {
	user, channel string
	thread        string
	// responseURL works without the bot being in the channel, five times
	// within half an hour.
	responseURL string
	// clicked says that responseURL belongs to a message: an answer there may
	// take that message's place, so it is the second choice.
	clicked bool
}

// tell answers privately. An answer that cannot be given is logged: there is
// nobody else to tell.
func (b *Bot) tell(ctx context.Context, p private, m message) {
	m = m.fit()
	type way = func(context.Context, private, message) error
	ways := []way{b.tellByURL, b.tellByPost}
	if p.clicked || p.responseURL == "" {
		ways = []way{b.tellByPost, b.tellByURL}
	}
	for _, way := range ways {
		err := way(ctx, p, m)
		if err == nil {
			return
		}
		b.log.Warn("one way to answer privately failed", zap.String("requester", p.user), zap.Error(err))
	}
}

func (b *Bot) tellByURL(ctx context.Context, p private, m message) error {
	if p.responseURL == "" {
		return errors.New("there is no address to answer to")
	}
	_, _, err := b.o.API.PostMessageContext(ctx, p.channel, append(m.options(), slack.MsgOptionResponseURL(p.responseURL, slack.ResponseTypeEphemeral))...)
	return err
}

func (b *Bot) tellByPost(ctx context.Context, p private, m message) error {
	options := m.options()
	if p.thread != "" {
		options = append(options, slack.MsgOptionTS(p.thread))
	}
	_, err := b.o.API.PostEphemeralContext(ctx, p.channel, p.user, options...)
	return err
}
