package templates

import (
	"fmt"
	"regexp"
	"strings"
	"time"
)

// Dialect is how words are marked up.
type Dialect string

// The dialects.
const (
	// Slack is Slack's mrkdwn.
	Slack Dialect = "slack"
	// Plain is text for a terminal.
	Plain Dialect = "plain"
)

// slackID matches ids of users (U, W) and user groups (S); anything else is
// printed as text, never as a mention.
var (
	slackUser  = regexp.MustCompile(`^[UW][A-Z0-9]{2,30}$`)
	slackGroup = regexp.MustCompile(`^S[A-Z0-9]{2,30}$`)
)

// bold stresses a word.
func (d Dialect) bold(v any) markup {
	s := strings.ReplaceAll(string(d.esc(v)), "*", "\u2217")
	if d != Slack || s == "" {
		return markup(s)
	}
	return markup("*" + s + "*")
}

// strike crosses a word out.
func (d Dialect) strike(v any) markup {
	s := strings.ReplaceAll(string(d.esc(v)), "~", "\u223c")
	if d != Slack || s == "" {
		return markup(s)
	}
	return markup("~" + s + "~")
}

// code sets names and values of machines.
func (d Dialect) code(v any) markup {
	s := string(d.esc(v))
	if d != Slack || s == "" {
		return markup(s)
	}
	return markup("`" + s + "`")
}

// pre sets several lines as a machine printed them.
func (d Dialect) pre(v any) markup {
	s := strings.Trim(clean(fmt.Sprint(v)), "\n")
	s = d.entities(strings.ReplaceAll(s, "\t", "        "))
	if d == Slack {
		s = strings.ReplaceAll(s, "`", "\u02cb")
	}
	if d != Slack {
		return markup("  " + strings.ReplaceAll(s, "\n", "\n  "))
	}
	return markup("```\n" + s + "\n```")
}

// mention names a person by id ("TEAM:USER", or a bare user id); name is shown
// where the id is not one of Slack's.
func (d Dialect) mention(id, name any) markup {
	whole, shown := fmt.Sprint(id), oneLine(fmt.Sprint(name))
	user := whole[strings.LastIndexByte(whole, ':')+1:]
	if d == Slack && slackUser.MatchString(user) && !strings.HasPrefix(whole, "local:") {
		return markup("<@" + user + ">")
	}
	if shown == "" {
		shown = user
		if strings.HasPrefix(whole, "local:") {
			shown = whole
		}
	}
	return d.esc(shown)
}

// group names a Slack user group by id.
func (d Dialect) group(id any) markup {
	s := fmt.Sprint(id)
	if s == "team" {
		return "anybody else in the team"
	}
	if d == Slack && slackGroup.MatchString(s) {
		return markup("<!subteam^" + s + ">")
	}
	return d.esc(s)
}

// date gives a moment in the reader's own time zone; zero prints nothing.
func (d Dialect) date(t time.Time) markup {
	if t.IsZero() {
		return ""
	}
	plain := t.UTC().Format("2006-01-02 15:04 MST")
	if d != Slack {
		return markup(plain)
	}
	return markup(fmt.Sprintf("<!date^%d^{date_short_pretty} {time}|%s>", t.Unix(), plain))
}

// clock is date with seconds, for "last refreshed".
func (d Dialect) clock(t time.Time) markup {
	if t.IsZero() {
		return ""
	}
	plain := t.UTC().Format("15:04:05 MST")
	if d != Slack {
		return markup(plain)
	}
	return markup(fmt.Sprintf("<!date^%d^{time_secs}|%s>", t.Unix(), plain))
}

// Escape makes text of others fit for the dialect, on one line.
func (d Dialect) Escape(v any) string { return string(d.esc(v)) }

// Said makes a sentence of the program itself fit for the dialect; names of
// commands in it stand between backticks. Text of others in it stays text.
func (d Dialect) Said(v any) string { return string(d.said(v)) }

// Code sets a name or value of a machine.
func (d Dialect) Code(v any) string { return string(d.code(v)) }

// Pre sets several lines as they are.
func (d Dialect) Pre(v any) string { return string(d.pre(v)) }

// Mention names a person; see the template function of that name.
func (d Dialect) Mention(id, name string) string { return string(d.mention(id, name)) }

// Date gives a moment in the reader's time zone.
func (d Dialect) Date(t time.Time) string { return string(d.date(t)) }
