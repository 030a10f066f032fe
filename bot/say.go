package bot

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/fabricbot/fabricbot/activities"
	"github.com/fabricbot/fabricbot/templates"
)

// trusted is mrkdwn of our own making.
type trusted string

// say builds one sentence of mrkdwn: our own words as written, everything
// filled in escaped unless it is trusted.
func say(format string, args ...any) trusted {
	for i, a := range args {
		switch a := a.(type) {
		case trusted:
			args[i] = string(a)
		case int, int64, float64:
		default:
			args[i] = templates.Slack.Escape(a)
		}
	}
	return trusted(fmt.Sprintf(format, args...))
}

// plainWord matches a first word that is none of a machine's: those have
// digits, dashes or dots, and keep their letters.
var plainWord = regexp.MustCompile(`^[a-z]+ `)

// capital begins a sentence.
func capital(s string) string {
	if !plainWord.MatchString(s) {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// code sets a word that was typed or that a machine gave.
func code(v any) trusted { return trusted(templates.Slack.Code(v)) }

// who mentions a person.
func who(p activities.Person) trusted { return trusted(templates.Slack.Mention(p.ID, p.Name)) }

// short is the part of a run's id that people read and type.
func short(run string) string {
	if len(run) > 8 {
		return run[:8]
	}
	return run
}

// moment is a date in the reader's own time zone.
func moment(t time.Time) trusted { return trusted(templates.Slack.Date(t)) }
