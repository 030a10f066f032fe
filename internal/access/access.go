package access

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/fabricbot/fabricbot/op"
)

// Groups reads the members of a Slack user group, as user ids of the site's own team. It may cache for minutes, but a
// membership it cannot read must be an error.
type Groups interface {
	Members(ctx context.Context, groupID string) ([]string, error)
}

// Act is what somebody wants to do with an operation.
type Act uint8

const (
	// Start asks for a run.
	Start Act = iota
	// Approve says yes, or no, to the plan of a run.
	Approve
	// Steer cancels, pauses, resumes or retries a run.
	Steer
)

// Action is what is to be decided about.
type Action struct {
	Act       Act
	Operation string   // its name, such as "sm restart"
	Class     op.Class // as the operation's own declaration says
	Channel   string   // the id of the Slack channel in which it was said, empty for a terminal
	// Requester is who asked for the run that is to be approved or steered.
	Requester Person
	Reason    string
}

// Decision is the answer. Only Allowed decides; the zero value denies.
type Decision struct {
	Allowed bool
	// Reason is a sentence for the person and the record.
	Reason string
}

// Need is whose approval an operation needs: Count different people, at least 1, of those named in one way or another.
type Need struct {
	Count  int
	Users  []Person
	Groups []string // Slack user groups whose members may
	Team   bool     // every user of the site's own team may

	who []string // as the policy has it
}

// Access decides by one policy for one Slack team. It is safe for concurrent use.
type Access struct {
	policy Policy
	team   string
	groups Groups
}

// New checks the policy. team is the Slack team whose users the policy's ids mean; without it no Slack user has any right.
// groups may be nil where there is no Slack; then no user group has a member.
func New(policy Policy, team string, groups Groups) (*Access, error) {
	if err := CheckTeam(team); err != nil {
		return nil, fmt.Errorf("slack.team_id: %w", err)
	}
	if err := errors.Join(policy.Problems(nil)...); err != nil {
		return nil, err
	}
	return &Access{policy: policy, team: team, groups: groups}, nil
}

// CheckTeam refuses what is not the id of a Slack team; empty stands for none.
func CheckTeam(team string) error {
	if team != "" && !teamID.MatchString(team) {
		return fmt.Errorf("%.40q is not a team id such as T024BE7LD", team)
	}
	return nil
}

// Decide answers whether who may do what.
func (a *Access) Decide(ctx context.Context, who Person, what Action) Decision {
	if person, err := ParsePerson(string(who)); err != nil || person != who {
		return deny("it is not known who asks")
	}
	if !who.Local() && (a.team == "" || who.Team() != a.team) {
		return deny("%s belongs to another Slack team; this bot serves only its own", who)
	}
	if what.Operation == "" {
		return deny("no operation was named")
	}
	switch what.Act {
	case Start:
		return a.decideStart(ctx, who, what)
	case Approve:
		return a.decideApprove(ctx, who, what)
	case Steer:
		return a.decideSteer(ctx, who, what)
	}
	return deny("what is to be done with %s is not known", what.Operation)
}

// Approval returns whose approval operations of this name and class need; ok is false where the policy names no approver, and
// then an operation that changes anything cannot be run. Operations that only look need none and return ok with Count 0.
func (a *Access) Approval(operation string, class op.Class) (need Need, ok bool) {
	if !class.NeedsPlan() {
		return Need{}, true
	}
	for _, approvers := range a.policy.Approvers {
		if matches(approvers.Operations, operation) {
			return a.need(approvers), true
		}
	}
	return Need{}, false
}

func (a *Access) need(approvers Approvers) Need {
	need := Need{Count: max(1, approvers.Count), who: approvers.Who}
	for _, id := range approvers.Who {
		switch {
		case id == everyone:
			need.Team = true
		case groupID.MatchString(id):
			need.Groups = append(need.Groups, id)
		case userID.MatchString(id):
			need.Users = append(need.Users, Person(a.team+":"+id))
		default:
			need.Users = append(need.Users, Person(id))
		}
	}
	return need
}

func (a *Access) decideStart(ctx context.Context, who Person, what Action) Decision {
	var unread []string
	for i, rule := range a.policy.Rules {
		if !matches(rule.Operations, what.Operation) || !rule.covers(what.Class) {
			continue
		}
		if len(rule.Channels) > 0 && !slices.Contains(rule.Channels, what.Channel) {
			continue
		}
		member, err := a.includes(ctx, rule.Who, who)
		if err != nil {
			// A later rule may still name the person; the answer says what could not be read if none does.
			unread = append(unread, err.Error())
			continue
		}
		if member {
			return Decision{Allowed: true, Reason: fmt.Sprintf("access rule %d allows %s (%s) to %s", i+1, what.Operation, what.Class, who)}
		}
	}
	if unread != nil {
		return deny("no rule could be found that allows %s to %s: %s", what.Operation, who, strings.Join(unread, "; "))
	}
	return deny("no rule allows %s (%s) to %s%s%s", what.Operation, what.Class, who, in(what.Channel), a.instead(who, what))
}

// instead says whom the rules do allow it, and how a local person becomes one of them.
func (a *Access) instead(who Person, what Action) string {
	var may []string
	for _, rule := range a.policy.Rules {
		if !matches(rule.Operations, what.Operation) || !rule.covers(what.Class) {
			continue
		}
		where := ""
		if len(rule.Channels) > 0 && !slices.Contains(rule.Channels, what.Channel) {
			where = " in channel " + strings.Join(rule.Channels, " or channel ")
		}
		for _, id := range rule.Who {
			// In the forms that the chat makes mentions of.
			switch {
			case userID.MatchString(id):
				id = a.team + ":" + id
			case groupID.MatchString(id):
				id = "user group " + id
			}
			may = append(may, id+where)
		}
	}
	slices.Sort(may)
	said := "; nobody may"
	if may = slices.Compact(may); len(may) > 0 {
		said = "; allowed to " + strings.Join(may, ", ")
	}
	if _, linked := a.human(who); !linked {
		said += "; for this terminal's user, name " + string(who) + " (`fabricctl whoami`) in a rule under access.rules, or link it under access.people"
	}
	return said
}

func (a *Access) decideApprove(ctx context.Context, who Person, what Action) Decision {
	if _, err := ParsePerson(string(what.Requester)); err != nil {
		return deny("it is not known who asked for %s, so nobody can be told apart from them", what.Operation)
	}
	own, known := a.same(who, what.Requester)
	if own {
		return deny("%s asked for %s; somebody else must approve it", who, what.Operation)
	}
	if !known {
		return deny("it is not known whether %s and %s are different people; link the local id under access.people", who, what.Requester)
	}
	need, ok := a.Approval(what.Operation, what.Class)
	if !ok {
		return deny("nobody is named who may approve %s; add it under access.approvers", what.Operation)
	}
	member, err := a.includes(ctx, need.who, who)
	if err != nil {
		return deny("whether %s may approve %s is not known: %s", who, what.Operation, err)
	}
	if !member {
		return deny("%s is not among those who may approve %s", who, what.Operation)
	}
	return Decision{Allowed: true, Reason: fmt.Sprintf("%s is an approver of %s and did not ask for it", who, what.Operation)}
}

// decideSteer lets those steer a run who asked for it, who could have asked for it here, or who may approve it: stopping must
// never wait for a missing person.
func (a *Access) decideSteer(ctx context.Context, who Person, what Action) Decision {
	if own, _ := a.same(who, what.Requester); own {
		return Decision{Allowed: true, Reason: fmt.Sprintf("%s asked for this run of %s", who, what.Operation)}
	}
	started := a.decideStart(ctx, who, what)
	if started.Allowed {
		return started
	}
	if need, ok := a.Approval(what.Operation, what.Class); ok {
		if member, err := a.includes(ctx, need.who, who); err == nil && member {
			return Decision{Allowed: true, Reason: fmt.Sprintf("%s is an approver of %s", who, what.Operation)}
		}
	}
	return started
}

func (r Rule) covers(class op.Class) bool {
	if len(r.Classes) == 0 {
		return class == op.ReadOnly
	}
	return slices.Contains(r.Classes, class)
}

// same says whether two ids are one human, and whether that is known: one human may have a Slack id and any number of local
// ones, so a local id can only be told apart from others where the policy links it.
func (a *Access) same(x, y Person) (same, known bool) {
	humanX, linkedX := a.human(x)
	humanY, linkedY := a.human(y)
	if x == y || humanX == humanY {
		return true, true
	}
	return false, linkedX && linkedY
}

// human returns the Slack user id behind a person where there is one.
func (a *Access) human(p Person) (id string, linked bool) {
	if !p.Local() {
		return p.User(), true
	}
	for _, identity := range a.policy.People {
		if slices.Contains(identity.Local, string(p)) {
			return identity.Slack, true
		}
	}
	return string(p), false
}

// includes says whether the list of ids means the person. Groups are asked last and only for ids of Slack: a local person has
// the rights of a group only through the Slack id they are linked to.
func (a *Access) includes(ctx context.Context, ids []string, who Person) (bool, error) {
	user, linked := a.human(who)
	if slices.Contains(ids, string(who)) || linked && (slices.Contains(ids, user) || slices.Contains(ids, everyone)) {
		return true, nil
	}
	if !linked {
		return false, nil
	}
	var unread error
	for _, id := range ids {
		if !groupID.MatchString(id) {
			continue
		}
		if a.groups == nil {
			return false, fmt.Errorf("the members of user group %s cannot be read here", id)
		}
		members, err := a.groups.Members(ctx, id)
		if err != nil {
			unread = fmt.Errorf("reading the members of user group %s: %w", id, err)
			continue
		}
		if slices.Contains(members, user) {
			return true, nil
		}
	}
	return false, unread
}

func deny(format string, args ...any) Decision {
	return Decision{Reason: fmt.Sprintf(format, args...)}
}

func in(channel string) string {
	if channel == "" {
		return " from a terminal"
	}
	return " in channel " + channel
}
