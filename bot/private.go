package bot

import (
	"context"

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
}

// tell answers privately. An answer that cannot be given is logged: there is
// nobody else to tell.
func (b *Bot) tell(ctx context.Context, p private, m message) {
	m = m.fit()
	if p.responseURL != "" {
		_, _, err := b.o.API.PostMessageContext(ctx, p.channel, append(m.options(), slack.MsgOptionResponseURL(p.responseURL, slack.ResponseTypeEphemeral))...)
		if err == nil {
			return
		}
		b.log.Warn("the private answer's own address failed", zap.Error(err))
	}
	options := m.options()
	if p.thread != "" {
		options = append(options, slack.MsgOptionTS(p.thread))
	}
	if _, err := b.o.API.PostEphemeralContext(ctx, p.channel, p.user, options...); err != nil {
		b.log.Warn("a private answer could not be given", zap.String("requester", p.user), zap.Error(err))
	}
}

// tellf answers with one sentence; see [say] for escaping.
func (b *Bot) tellf(ctx context.Context, p private, format string, args ...any) {
	text := string(say(format, args...))
	b.tell(ctx, p, message{Text: fitText(text, 2900), Blocks: []slack.Block{section(text)}})
}
