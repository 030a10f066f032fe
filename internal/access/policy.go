package access

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/fabricbot/fabricbot/fabric"
	"github.com/fabricbot/fabricbot/op"
)

// Policy is the section access of the configuration. The zero value denies everything to everybody.
//
// People are named by Slack user id (U…, W…), by Slack user group id (S…), as local:UID@HOST, or with the word "team" for every
// user of the site's own team. Operations are named exactly ("sm restart"), by noun ("sm *"), by verb ("* status") or all ("*").
type Policy struct {
	// Rules allow; the first that matches is named in the answer.
	Rules []Rule `yaml:"rules"`
	// Approvers say whose approval an operation needs; the first entry that matches the operation counts. An operation that
	// changes anything and for which none matches cannot be approved, and so not run.
	Approvers []Approvers `yaml:"approvers"`
	// People tells which ids are one human, so that nobody approves a request of their own under another name.
	People []Identity `yaml:"people"`
}

// Rule allows some people some operations.
type Rule struct {
	// Operations are patterns of names; at least one is required.
	Operations []string `yaml:"operations"`
	// Classes narrows the rule to operations of these classes: control, read-only, changes, dangerous. Empty means read-only, so
	// that the right to change anything, be it only the bot's own state as unfreeze does, is always spelled out.
	Classes []op.Class `yaml:"classes"`
	// Channels narrows the rule to these Slack channels, by id. Empty means wherever the bot listens, and terminals.
	Channels []string `yaml:"channels"`
	// Who may; at least one is required.
	Who []string `yaml:"who"`
}

// Approvers is who may approve, and how many of them must.
type Approvers struct {
	Operations []string `yaml:"operations"`
	Who        []string `yaml:"who"`
	// Count is how many different people must approve; 0, which is also the default, means 1.
	Count int `yaml:"count"`
}

// Identity is one human with several ids.
type Identity struct {
	Slack string   `yaml:"slack"` // user id
	Local []string `yaml:"local"` // local:UID@HOST
}

var patternWord = regexp.MustCompile(`^(\*|[a-z][a-z0-9-]*)$`)

// everyone is the word for every user of the site's own team.
const everyone = "team"

// Problems says everything that is wrong with the policy, naming the place in it. operations are the names of all there are; a
// pattern that means none of them is a typing mistake, or a right that nobody has. Nil leaves that out.
func (p Policy) Problems(operations []string) []error {
	var found []error
	for i, r := range p.Rules {
		place := fmt.Sprintf("access.rules[%d]", i)
		found = append(found, checkOperations(place, r.Operations, operations)...)
		found = append(found, checkWho(place+".who", r.Who)...)
		for _, channel := range r.Channels {
			if !channelID.MatchString(channel) {
				found = append(found, fmt.Errorf("%s.channels: %.40q is not a channel id such as C024BE91L; names can change hands", place, channel))
			}
		}
	}
	for i, a := range p.Approvers {
		place := fmt.Sprintf("access.approvers[%d]", i)
		found = append(found, checkOperations(place, a.Operations, operations)...)
		found = append(found, checkWho(place+".who", a.Who)...)
		if a.Count < 0 {
			found = append(found, fmt.Errorf("%s.count: %d is negative; time or nobody never approves", place, a.Count))
		}
	}
	return append(found, p.checkPeople()...)
}

func (p Policy) checkPeople() (found []error) {
	seen := map[string]bool{}
	for i, identity := range p.People {
		place := fmt.Sprintf("access.people[%d]", i)
		if !userID.MatchString(identity.Slack) {
			found = append(found, fmt.Errorf("%s.slack: %.40q is not a user id such as U024BE7LH", place, identity.Slack))
		}
		for _, id := range append([]string{identity.Slack}, identity.Local...) {
			if seen[id] {
				found = append(found, fmt.Errorf("%s: %s belongs to somebody else already", place, id))
			}
			seen[id] = true
		}
		for _, id := range identity.Local {
			if person, err := ParsePerson(id); err != nil || !person.Local() {
				found = append(found, fmt.Errorf("%s.local: %.80q is not of the form local:UID@HOST; `fabricctl whoami` prints yours", place, id))
			}
		}
	}
	return found
}

func checkOperations(place string, patterns, operations []string) (found []error) {
	if len(patterns) == 0 {
		found = append(found, fmt.Errorf(`%s.operations: none given; write ["*"] for all`, place))
	}
	for i, pattern := range patterns {
		at := fmt.Sprintf("%s.operations[%d]", place, i)
		words := strings.Split(pattern, " ")
		if len(words) > 2 || slices.ContainsFunc(words, func(word string) bool { return !patternWord.MatchString(word) }) {
			found = append(found, fmt.Errorf(`%s: %.40q is not a pattern; write "sm restart", "sm *", "* status" or "*"`, at, pattern))
			continue
		}
		means := func(operation string) bool { return matches([]string{pattern}, operation) }
		if operations != nil && !slices.ContainsFunc(operations, means) {
			found = append(found, fmt.Errorf("%s: there is no operation %q%s", at, pattern, meant(pattern, operations)))
		}
	}
	return found
}

// meant names the pattern, out of all that mean something, that is nearest to one which does not.
func meant(pattern string, operations []string) string {
	good := slices.Clone(operations)
	for _, operation := range operations {
		if noun, verb, two := strings.Cut(operation, " "); two {
			good = append(good, noun+" *", "* "+verb)
		}
	}
	if near, ok := fabric.NearestName(pattern, good); ok {
		return fmt.Sprintf(", did you mean %q?", near)
	}
	return "; `fabricctl help` lists them"
}

func checkWho(place string, who []string) (found []error) {
	if len(who) == 0 {
		found = append(found, fmt.Errorf("%s: nobody given", place))
	}
	for _, id := range who {
		if id == everyone || userID.MatchString(id) || groupID.MatchString(id) {
			continue
		}
		if person, err := ParsePerson(id); err == nil && person.Local() {
			continue
		}
		found = append(found, fmt.Errorf("%s: %.80q is no id; write a user id U…, a user group id S…, local:UID@HOST or %s", place, id, everyone))
	}
	return found
}

// matches says whether one of the patterns means the operation.
func matches(patterns []string, operation string) bool {
	noun, verb, _ := strings.Cut(operation, " ")
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		if pattern == "*" || pattern == operation {
			return true
		}
		patternNoun, patternVerb, two := strings.Cut(pattern, " ")
		return two && verb != "" && (patternNoun == "*" || patternNoun == noun) && (patternVerb == "*" || patternVerb == verb)
	})
}
