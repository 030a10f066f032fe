package bot

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/slack-go/slack"
	"github.com/slack-go/slack/slackevents"
)

// entities undoes the escaping of text that Slack delivers.
var entities = strings.NewReplacer("&lt;", "<", "&gt;", ">", "&amp;", "&")

// linked matches addresses that Slack made into links: host names typed in a
// message arrive as <http://node01.example.org|node01.example.org>.
var linked = regexp.MustCompile(`<(?:https?|mailto):[^|>]*\|([^>]*)>`)

// typedText is what the person typed, as far as Slack lets us know.
func typedText(s string) string { return entities.Replace(linked.ReplaceAllString(s, "$1")) }

// slashAsk reads a slash command. Slack says when it was given only over
// HTTP; at is then the time of that request.
func slashAsk(c slack.SlashCommand, at time.Time) ask {
	return ask{
		key: "slash/" + c.TeamID + "/" + c.TriggerID, team: c.TeamID, user: c.UserID, name: c.UserName,
		channel: c.ChannelID, text: typedText(c.Text), at: at,
		private: private{user: c.UserID, channel: c.ChannelID, responseURL: c.ResponseURL},
	}
}

// eventOuter is what the library's parser leaves out of an event's envelope.
type eventOuter struct {
	TeamID    string `json:"team_id"`
	EventID   string `json:"event_id"`
	EventTime int64  `json:"event_time"`
}

// mentionAsk reads a mention of the bot; ok is false for anything else, for
// other bots and for edited messages.
func (b *Bot) mentionAsk(e slackevents.EventsAPIEvent, outer eventOuter) (a ask, ok bool) {
	m, isMention := e.InnerEvent.Data.(*slackevents.AppMentionEvent)
	if !isMention || m.BotID != "" || m.Edited != nil || m.User == "" {
		return ask{}, false
	}
	team := outer.TeamID
	for _, foreign := range []string{m.UserTeam, m.SourceTeam} {
		if foreign != "" && foreign != team {
			team = foreign
		}
	}
	text := strings.TrimSpace(strings.Replace(m.Text, "<@"+b.me.UserID+">", "", 1))
	thread := m.ThreadTimeStamp
	return ask{
		key: fmt.Sprintf("mention/%s/%s/%s", outer.TeamID, m.Channel, m.TimeStamp), team: team, user: m.User,
		channel: m.Channel, text: typedText(text), at: momentOf(outer.EventTime, m.TimeStamp),
		private: private{user: m.User, channel: m.Channel, thread: thread},
	}, true
}

// momentOf is when an event happened: its own time, else its message's id.
func momentOf(eventTime int64, ts string) time.Time {
	if eventTime > 0 {
		return time.Unix(eventTime, 0)
	}
	seconds, _, _ := strings.Cut(ts, ".")
	n, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return time.Time{}
	}
	return time.Unix(n, 0)
}

// clickKey identifies an interaction over redeliveries.
func clickKey(cb slack.InteractionCallback) string {
	if cb.Type == slack.InteractionTypeViewSubmission {
		return "form/" + cb.View.ID + "/" + cb.View.Hash + "/" + typed(cb.View)
	}
	if cb.TriggerID != "" {
		return "click/" + cb.TriggerID
	}
	if len(cb.ActionCallback.BlockActions) > 0 {
		a := cb.ActionCallback.BlockActions[0]
		return fmt.Sprintf("click/%s/%s/%s/%s", cb.User.ID, cb.Container.MessageTs, a.ActionID, a.ActionTs)
	}
	return ""
}

// ackBody encodes an acknowledgement; nothing to say is an empty one.
func ackBody(m *message) any {
	if m == nil {
		return nil
	}
	body := map[string]any{"response_type": slack.ResponseTypeEphemeral, "text": m.Text}
	if len(m.Blocks) > 0 {
		body["blocks"] = m.Blocks
	}
	return body
}

// fitsAck reports whether an acknowledgement fits into a frame.
func fitsAck(m message) bool {
	b, err := json.Marshal(ackBody(&m))
	return err == nil && len(b) <= limitAckBytes
}
