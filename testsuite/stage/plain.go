package stage

import (
	"encoding/json"
	"regexp"
	"strings"

	"github.com/fabricbot/fabricbot/testsuite/slackemu"
)

var (
	mention = regexp.MustCompile(`<@([A-Z0-9]+)>|<!subteam\^([A-Z0-9]+)>`)
	dates   = regexp.MustCompile(`<!date\^[0-9]+\^[^|>]*\|([^>]*)>`)
	accents = strings.NewReplacer("*", "", "`", "", "&lt;", "<", "&gt;", ">", "&amp;", "&")
)

// Plain gives a message's words line by line, without markup, the buttons in
// brackets.
func (s *Stage) Plain(m slackemu.Message) string {
	b, err := json.Marshal(m.Version)
	if err != nil {
		return m.Text
	}
	var v struct {
		Text   string            `json:"text"`
		Blocks []json.RawMessage `json:"blocks"`
	}
	if json.Unmarshal(b, &v) != nil || len(v.Blocks) == 0 {
		return s.words(m.Text)
	}
	var lines []string
	for _, raw := range v.Blocks {
		var block struct {
			Type     string            `json:"type"`
			Text     text              `json:"text"`
			Fields   []text            `json:"fields"`
			Elements []json.RawMessage `json:"elements"`
		}
		if json.Unmarshal(raw, &block) != nil {
			continue
		}
		parts := []string{block.Text.Text}
		for _, f := range block.Fields {
			parts = append(parts, f.Text)
		}
		for _, e := range block.Elements {
			parts = append(parts, element(e))
		}
		if line := strings.TrimSpace(strings.Join(parts, " ")); line != "" {
			lines = append(lines, s.words(line))
		}
	}
	return strings.Join(lines, "\n")
}

type text struct {
	Text string `json:"text"`
}

func element(raw json.RawMessage) string {
	var plain struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	if json.Unmarshal(raw, &plain) == nil {
		return plain.Text
	}
	var button struct {
		Text text `json:"text"`
	}
	if json.Unmarshal(raw, &button) == nil && button.Text.Text != "" {
		return "[" + button.Text.Text + "]"
	}
	return ""
}

func (s *Stage) words(t string) string {
	t = dates.ReplaceAllString(t, "$1")
	t = mention.ReplaceAllStringFunc(t, func(m string) string {
		id := strings.Trim(m, "<@!>")
		if _, group, ok := strings.Cut(id, "^"); ok {
			id = group
		}
		st := s.Slack.State()
		for _, u := range st.Users {
			if u.ID == id {
				return "@" + u.Display
			}
		}
		for _, g := range st.Groups {
			if g.ID == id {
				return "@" + g.Handle
			}
		}
		return "@" + id
	})
	return accents.Replace(t)
}
