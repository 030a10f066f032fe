package bot

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/slack-go/slack"
)

// message is what is sent: Text is the notification, the search snippet and
// what screen readers read; it never stands alone where there are blocks.
type message struct {
	Text   string
	Blocks []slack.Block
}

// hash tells whether two messages look the same.
func (m message) hash() (string, error) {
	b, err := json.Marshal(m)
	if err != nil {
		return "", fmt.Errorf("encoding a message: %w", err)
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:12]), nil
}

// options are what chat.postMessage and chat.update share. Links are never
// unfurled: a status message must not fetch anything.
func (m message) options() []slack.MsgOption {
	return []slack.MsgOption{
		slack.MsgOptionText(m.Text, false), slack.MsgOptionBlocks(m.Blocks...),
		slack.MsgOptionDisableLinkUnfurl(), slack.MsgOptionDisableMediaUnfurl(),
	}
}

// plainer is the message without anything that a workspace could refuse: the
// first block, the buttons, and the text.
func (m message) plainer() message {
	out := message{Text: m.Text, Blocks: []slack.Block{section(m.Text)}}
	for _, b := range m.Blocks {
		if b.BlockType() == slack.MBTAction {
			out.Blocks = append(out.Blocks, b)
		}
	}
	return out
}

// bare is the last resort.
func (m message) bare() message {
	return message{Text: m.Text, Blocks: []slack.Block{section(m.Text)}}
}

// fit is the last check before sending: at most 50 blocks and all text within
// bounds; later blocks go first, buttons and the first block stay.
func (m message) fit() message {
	m.Text = fitBytes(m.Text, limitTextBytes)
	total := 0
	var kept []slack.Block
	for _, b := range m.Blocks {
		n := textLength(b)
		buttons := b.BlockType() == slack.MBTAction
		if !buttons && len(kept) > 0 && total+n > limitAllBlocks || len(kept) == limitBlocks {
			continue
		}
		total += n
		kept = append(kept, b)
	}
	m.Blocks = kept
	return m
}

func textLength(b slack.Block) int {
	switch b := b.(type) {
	case *slack.SectionBlock:
		if b.Text != nil {
			return count(b.Text.Text)
		}
	case *slack.ContextBlock:
		n := 0
		for _, e := range b.ContextElements.Elements {
			if t, ok := e.(*slack.TextBlockObject); ok {
				n += count(t.Text)
			}
		}
		return n
	}
	return 0
}

// section makes a section; the text is mrkdwn that is already escaped.
func section(text string) *slack.SectionBlock {
	return slack.NewSectionBlock(mrkdwn(fitLines(text, limitSection)), nil, nil)
}

func mrkdwn(text string) *slack.TextBlockObject {
	return slack.NewTextBlockObject(slack.MarkdownType, text, false, false)
}

func plain(text string, limit int) *slack.TextBlockObject {
	return slack.NewTextBlockObject(slack.PlainTextType, fitPlain(text, limit), false, false)
}

// note makes a context line.
func note(text string) *slack.ContextBlock {
	return slack.NewContextBlock("", mrkdwn(fitText(text, limitContext)))
}

// add appends a section unless there is nothing to say.
func (m *message) add(text string, limit int) {
	if text != "" {
		m.Blocks = append(m.Blocks, section(fitLines(text, min(limit, limitSection))))
	}
}

func button(action, value, label string, style slack.Style) *slack.ButtonBlockElement {
	b := slack.NewButtonBlockElement(action, fitPlain(value, limitValue), plain(label, limitButton))
	if style != "" {
		b.Style = style
	}
	return b
}

func confirm(title, text, yes string) *slack.ConfirmationBlockObject {
	return slack.NewConfirmationBlockObject(plain(title, limitConfirmHead), plain(text, limitConfirmText),
		plain(yes, limitConfirmWord), plain("Go back", limitConfirmWord))
}
