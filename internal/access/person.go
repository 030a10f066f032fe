package access

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/fabricbot/fabricbot/fabric"
)

// Person is the canonical id of somebody: "TEAM:USER" with the ids of Slack, or "local:UID@HOST" for a user of a machine who
// types commands there. The empty Person is nobody and may do nothing.
type Person string

var (
	// https://docs.slack.dev/reference/objects/, read 2026-08: team ids begin with T, ids of an Enterprise organisation with E;
	// user ids begin with U or W, user groups with S, channels with C, G or D.
	teamID    = regexp.MustCompile(`^[TE][A-Z0-9]{2,20}$`)
	userID    = regexp.MustCompile(`^[UW][A-Z0-9]{2,20}$`)
	groupID   = regexp.MustCompile(`^S[A-Z0-9]{2,20}$`)
	channelID = regexp.MustCompile(`^[CGD][A-Z0-9]{2,20}$`)
	localID   = regexp.MustCompile(`^local:[0-9]{1,10}@(.+)$`)
)

// SlackPerson is the person with this user id in this team.
func SlackPerson(team, user string) (Person, error) {
	if !teamID.MatchString(team) || !userID.MatchString(user) {
		return "", fmt.Errorf("person with team id %.40q and user id %.40q: not ids of Slack", team, user)
	}
	return Person(team + ":" + user), nil
}

// LocalPerson is the user uid of a machine.
func LocalPerson(uid int, host string) (Person, error) {
	return ParsePerson(fmt.Sprintf("local:%d@%s", uid, host))
}

// ParsePerson reads either form of id.
func ParsePerson(id string) (Person, error) {
	if m := localID.FindStringSubmatch(id); m != nil {
		if err := fabric.CheckHostName(m[1]); err != nil {
			return "", fmt.Errorf("person %.80q: %w", id, err)
		}
		return Person(id), nil
	}
	team, user, _ := strings.Cut(id, ":")
	if person, err := SlackPerson(team, user); err == nil {
		return person, nil
	}
	return "", fmt.Errorf("person %.80q: ids look like T0TEAM:U0USER or local:1000@admin1", id)
}

// Local says whether the person is a user of a machine rather than of Slack.
func (p Person) Local() bool { return strings.HasPrefix(string(p), "local:") }

// Team and User are the two Slack ids; both are empty for a local person.
func (p Person) Team() string { team, _ := p.slackIDs(); return team }

// User is the Slack user id.
func (p Person) User() string { _, user := p.slackIDs(); return user }

func (p Person) slackIDs() (team, user string) {
	if p.Local() {
		return "", ""
	}
	team, user, _ = strings.Cut(string(p), ":")
	return team, user
}

func (p Person) String() string { return string(p) }
