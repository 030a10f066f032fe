package bot

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/slack-go/slack"
	"go.uber.org/zap"
)

// kept caches answers of Slack for a while. Errors are never kept.
type kept[V any] struct {
	mu     sync.Mutex
	values map[string]keptValue[V]
}

type keptValue[V any] struct {
	v     V
	until time.Time
}

func (k *kept[V]) get(key string, now time.Time, ttl time.Duration, ask func() (V, error)) (V, error) {
	k.mu.Lock()
	if e, ok := k.values[key]; ok && now.Before(e.until) {
		k.mu.Unlock()
		return e.v, nil
	}
	k.mu.Unlock()
	v, err := ask()
	if err != nil {
		return v, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.values == nil || len(k.values) > 10000 {
		k.values = map[string]keptValue[V]{}
	}
	k.values[key] = keptValue[V]{v, now.Add(ttl)}
	return v, nil
}

// peek is what is known without asking.
func (k *kept[V]) peek(key string, now time.Time) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	e, ok := k.values[key]
	return ok && now.Before(e.until)
}

// How long what Slack says about people and channels is believed.
const (
	userFor    = 5 * time.Minute
	channelFor = time.Minute
	membersFor = 3 * time.Minute
)

// refusal is a sentence for the person; it is mrkdwn of ours.
type refusal struct{ text trusted }

func (r *refusal) Error() string { return string(r.text) }

func refuse(format string, args ...any) error { return &refusal{say(format, args...)} }

// admitPerson refuses everybody who is not a person of our own workspace. What
// cannot be read is refused as well.
func (b *Bot) admitPerson(ctx context.Context, team, user string) error {
	if team == "" || team != b.me.TeamID {
		return refuse("This bot serves its own workspace only.")
	}
	if user == "" {
		return refuse("Slack does not say who is asking.")
	}
	u, err := b.users.get(user, b.o.Clock.Now(), userFor, func() (*slack.User, error) { return b.o.API.GetUserInfoContext(ctx, user) })
	if err != nil {
		b.log.Warn("a person could not be looked up", zap.String("requester", user), zap.Error(err))
		return refuse("Slack does not say now who you are, so nothing was started. Try again in a minute.")
	}
	switch {
	case u.Deleted || u.IsBot || u.IsWorkflowBot:
		return refuse("Only people can use this bot.")
	case u.TeamID != b.me.TeamID || u.IsStranger:
		return refuse("This bot serves people of its own workspace only.")
	}
	return nil
}

// admitPlace refuses channels that are not listed, that reach outside of the
// workspace, or in which the bot could not speak. speak says whether a run
// will have to.
func (b *Bot) admitPlace(ctx context.Context, channel, user string, speak bool) error {
	if !b.channels[channel] {
		return refuse("This bot does not listen in this channel. An operator can add %s to %s.", code(channel), code("slack.channels"))
	}
	c, err := b.places.get(channel, b.o.Clock.Now(), channelFor, func() (*slack.Channel, error) {
		c, err := b.o.API.GetConversationInfoContext(ctx, &slack.GetConversationInfoInput{ChannelID: channel})
		if err == nil && !c.IsMember && !c.IsIM {
			// Not kept: an invitation must count at once.
			return c, errNotMember
		}
		return c, err
	})
	invite := refuse("I am not in this channel, so nobody would see what happens. Invite me with %s and say it again; nothing was started.", code("/invite @"+b.me.User))
	switch {
	case errors.Is(err, errNotMember):
	case slackCode(err) == "channel_not_found":
		return invite // a private channel without us looks like none
	case err != nil:
		b.log.Warn("a channel could not be looked up", zap.Error(err))
		return refuse("Slack does not say now who can read this channel, so nothing was started. Try again in a minute.")
	}
	switch {
	case c.IsExtShared || c.IsPendingExtShared || c.IsOrgShared || c.IsShared || c.IsGlobalShared:
		return refuse("People outside of this workspace can read this channel, so this bot does not work in it.")
	case c.IsArchived:
		return refuse("This channel is archived.")
	case c.IsIM && c.User != user:
		return refuse("This conversation is not with me.")
	case speak && !c.IsIM && !c.IsMember:
		return invite
	}
	return nil
}

var errNotMember = errors.New("not a member")

// Members reads who is in a user group; at most [membersFor] old.
func (b *Bot) Members(ctx context.Context, group string) ([]string, error) {
	members, err := b.groups.get(group, b.o.Clock.Now(), membersFor, func() ([]string, error) {
		return b.o.API.GetUserGroupMembersContext(ctx, group)
	})
	if err != nil {
		return nil, fmt.Errorf("reading the members of user group %s: %w", group, err)
	}
	return members, nil
}
