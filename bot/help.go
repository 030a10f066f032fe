package bot

import (
	"fmt"
	"strings"

	"github.com/slack-go/slack"

	"github.com/fabricbot/fabricbot/op"
	"github.com/fabricbot/fabricbot/templates"
)

// help answers "help" with all operations in groups, and "help NAME" with one
// of them in full. The error is a usage error.
func (b *Bot) help(words []string) (message, error) {
	if len(words) > 1 {
		e, rest, err := b.o.Index.Resolve(words[1:])
		if err == nil && len(rest) == 0 {
			return message{Text: "How to say " + templates.Slack.Escape(e.Name), Blocks: usageBlocks(e, b.o.Command)}, nil
		}
		if group := b.group(words[1]); len(words) == 2 && len(group) > 0 {
			return message{Text: "Help", Blocks: []slack.Block{section(b.listed(words[1], group))}}, nil
		}
		if err == nil {
			err = e.UsageError("", fmt.Sprintf("no operation is called %q", strings.Join(words[1:], " ")))
		}
		return message{}, err
	}
	m := message{Text: "What this bot can do"}
	var parts []string
	used := 0
	for _, noun := range b.nouns() {
		part := b.listed(noun, b.group(noun))
		// A few sections instead of one per group keep the answer small.
		if used+count(part) > limitSection-100 {
			m.Blocks = append(m.Blocks, section(strings.Join(parts, "\n")))
			parts, used = nil, 0
		}
		parts, used = append(parts, part), used+count(part)+1
	}
	m.Blocks = append(m.Blocks, section(strings.Join(parts, "\n")))
	m.Blocks = append(m.Blocks, note(string(say("One operation in full: %s · in a thread, mention me with the same words", code(b.o.Command+" help sm restart")))))
	return m.fit(), nil
}

// usageBlocks is the help of one operation: prose as prose, what is typed as
// code.
func usageBlocks(e op.Entry, command string) []slack.Block {
	head := say("*%s* %s\n%s", e.Name, e.Summary, code(command+" "+e.Form()))
	if e.Detail != "" {
		head += say("\n%s", strings.TrimSpace(e.Detail))
	}
	if c := e.Consequence(); c != "" {
		head += say("\n%s", c)
	}
	blocks := []slack.Block{section(string(head))}
	if len(e.Params) > 0 {
		blocks = append(blocks, section("*Parameters*\n"+templates.Slack.Pre(unindented(fitPlain(e.ParamHelp(), limitSection/2)))))
	}
	var examples []string
	for _, ex := range e.Examples {
		examples = append(examples, string(code(strings.TrimSpace(command+" "+e.Name+" "+ex))))
	}
	return append(blocks, section("*Examples*\n"+strings.Join(examples, "\n")))
}

// unindented takes the two blanks from the beginning of each line.
func unindented(s string) string {
	return strings.TrimPrefix(strings.ReplaceAll(s, "\n  ", "\n"), "  ")
}

// nouns are the groups of help in order of the index.
func (b *Bot) nouns() []string {
	var nouns []string
	for _, e := range b.o.Index.Entries() {
		if n := len(nouns); n == 0 || nouns[n-1] != e.Noun() {
			nouns = append(nouns, e.Noun())
		}
	}
	return nouns
}

func (b *Bot) group(noun string) []op.Entry {
	var group []op.Entry
	for _, e := range b.o.Index.Entries() {
		if strings.EqualFold(e.Noun(), noun) {
			group = append(group, e)
		}
	}
	return group
}

func (b *Bot) listed(noun string, group []op.Entry) string {
	var s strings.Builder
	if len(group) > 1 {
		fmt.Fprintf(&s, "%s\n", string(say("%s", trusted("*"+templates.Slack.Escape(noun)+"*"))))
	}
	for _, e := range group {
		mark := ""
		switch e.Class {
		case op.Changes:
			mark = " · plan first"
		case op.Dangerous:
			mark = " · plan and approval first"
		}
		fmt.Fprintf(&s, "%s\n", say("%s %s", code(e.Name), e.Summary)+trusted(mark))
	}
	return strings.TrimRight(s.String(), "\n")
}
