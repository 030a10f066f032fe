package templates

import (
	"fmt"
	"regexp"
	"strings"
	"text/template/parse"
	"unicode"
)

// markup is text that is already fit for its dialect. Only the functions of
// this package make it, so no value handed to a template can claim to be it.
type markup string

// escapeName is the function that the parse tree is rewritten to end in.
const escapeName = "esc"

// escapeTree rewrites every action that prints so that its value passes
// through esc, as html/template does, and escapes the author's own words too:
// a raw "<!channel>" cannot come from a template file either.
func escapeTree(t *parse.Tree, d Dialect) {
	if t == nil || t.Root == nil {
		return
	}
	escapeList(t, t.Root, d)
}

func escapeList(t *parse.Tree, list *parse.ListNode, d Dialect) {
	if list == nil {
		return
	}
	for _, n := range list.Nodes {
		switch n := n.(type) {
		case *parse.TextNode:
			n.Text = []byte(d.entities(string(n.Text)))
		case *parse.ActionNode:
			// An assignment prints nothing.
			if len(n.Pipe.Decl) == 0 {
				n.Pipe.Cmds = append(n.Pipe.Cmds, escapeCommand(t, n))
			}
		case *parse.IfNode:
			escapeList(t, n.List, d)
			escapeList(t, n.ElseList, d)
		case *parse.RangeNode:
			escapeList(t, n.List, d)
			escapeList(t, n.ElseList, d)
		case *parse.WithNode:
			escapeList(t, n.List, d)
			escapeList(t, n.ElseList, d)
		}
	}
}

func escapeCommand(t *parse.Tree, at *parse.ActionNode) *parse.CommandNode {
	name := parse.NewIdentifier(escapeName).SetTree(t).SetPos(at.Pos)
	return &parse.CommandNode{NodeType: parse.NodeCommand, Pos: at.Pos, Args: []parse.Node{name}}
}

// esc makes any value fit for the dialect; markup passes as it is.
func (d Dialect) esc(v any) markup {
	if m, ok := v.(markup); ok {
		return m
	}
	if v == nil {
		return ""
	}
	return markup(d.entities(d.prose(oneLine(fmt.Sprint(v)))))
}

// entities escapes the three characters that carry meaning in Slack's mrkdwn
// (docs.slack.dev/messaging/formatting-message-text); mentions and masked
// links need an unescaped "<".
func (d Dialect) entities(s string) string {
	if d != Slack {
		return s
	}
	return slackEntities.Replace(s)
}

var slackEntities = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// prose takes the backtick from text of others: an odd one would swallow the
// words after it into a code span. Pairs become quotes.
func (d Dialect) prose(s string) string {
	if d != Slack {
		return s
	}
	return strings.ReplaceAll(quoted.ReplaceAllString(s, "\u201c$1\u201d"), "`", "\u02cb")
}

// quoted matches what stands between two backticks on one line.
var quoted = regexp.MustCompile("`([^`\n]+)`")

// said is a sentence of the program itself: what it sets between backticks is
// code in Slack and stands between quotes elsewhere.
func (d Dialect) said(v any) markup {
	s := oneLine(fmt.Sprint(v))
	if d != Slack {
		return markup(quoted.ReplaceAllString(s, `"$1"`))
	}
	var out strings.Builder
	at := 0
	for _, m := range quoted.FindAllStringSubmatchIndex(s, -1) {
		out.WriteString(d.entities(d.prose(s[at:m[0]])) + string(d.code(s[m[2]:m[3]])))
		at = m[1]
	}
	return markup(out.String() + d.entities(d.prose(s[at:])))
}

// ansi matches the escape sequences that terminals act upon: CSI, OSC and the
// two-character ones (ECMA-48).
var ansi = regexp.MustCompile("\x1b(?:\\[[0-?]*[ -/]*[@-~]|\\][^\x07\x1b]*(?:\x07|\x1b\\\\)?|[@-Z\\\\-_])")

// clean takes away what a terminal or a chat client would act upon: escape
// sequences, control codes, direction overrides and invisible characters.
func clean(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if strings.ContainsRune(s, '\x1b') {
		s = ansi.ReplaceAllString(s, "")
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t' || r >= ' ' && r < 0x7f:
			return r
		case unicode.Is(unicode.Cc, r), unicode.Is(unicode.Cf, r), r == '\u2028', r == '\u2029':
			return -1
		}
		return r
	}, s)
}

// oneLine also folds line breaks, so that text of others cannot pretend to be
// a line of ours.
func oneLine(s string) string {
	return strings.TrimSpace(strings.NewReplacer("\n", " ", "\t", " ").Replace(clean(s)))
}
