package bot

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/slack-go/slack"
)

// findPages bounds a search: ten pages of a hundred messages.
const (
	findPages = 10
	findPage  = 100
)

// find looks for one of our own messages in a channel, or in a thread, since
// a moment; the answer is empty if there is none.
func (t *Thread) find(ctx context.Context, channel, thread string, since time.Time, gone []string, is func(slack.Message) bool) (string, error) {
	act := "looking for a message of ours in channel " + channel
	// Slack's clock and ours may differ.
	oldest := fmt.Sprintf("%d.000000", since.Add(-time.Minute).Unix())
	cursor := ""
	for range findPages {
		var messages []slack.Message
		err := t.budget.do(ctx, methodFind, channel, true, func(ctx context.Context) (err error) {
			if thread != "" {
				messages, _, cursor, err = t.api.GetConversationRepliesContext(ctx, &slack.GetConversationRepliesParameters{
					ChannelID: channel, Timestamp: thread, Cursor: cursor, Limit: findPage, Oldest: oldest, IncludeAllMetadata: true,
				})
				return err
			}
			answer, err := t.api.GetConversationHistoryContext(ctx, &slack.GetConversationHistoryParameters{
				ChannelID: channel, Cursor: cursor, Limit: findPage, Oldest: oldest, IncludeAllMetadata: true,
			})
			if err == nil {
				messages, cursor = answer.Messages, answer.ResponseMetaData.NextCursor
			}
			return err
		})
		if err != nil {
			return "", told(act, err)
		}
		for _, m := range messages {
			if is(m) && !slices.Contains(gone, m.Timestamp) {
				return m.Timestamp, nil
			}
		}
		if cursor == "" {
			return "", nil
		}
	}
	return "", nil
}
