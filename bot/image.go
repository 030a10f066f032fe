package bot

import (
	"context"
	"strings"

	"github.com/slack-go/slack"

	"github.com/fabricbot/fabricbot/activities"
	"github.com/fabricbot/fabricbot/templates"
)

// imagesMost bounds the pictures in one message; all are in the thread.
const imagesMost = 2

// pictured puts the pictures of a run that are uploaded into its message, so
// that nobody has to open the thread to see them. Slack shows PNG, not SVG.
func (t *Thread) pictured(v activities.View, m message) (message, error) {
	var images []slack.Block
	for _, f := range v.Files {
		if !strings.HasSuffix(f.Name, ".png") || len(images) == imagesMost {
			continue
		}
		rec, err := t.store.get(fileKey(v.Run, f.Name))
		if err != nil {
			return m, err
		}
		// A file that was found again is known by its message only.
		if !strings.HasPrefix(rec.TS, "F") {
			continue
		}
		images = append(images, &slack.ImageBlock{
			Type: slack.MBTImage, SlackFile: &slack.SlackFileObject{ID: rec.TS},
			AltText: fitPlain(templates.Plain.Escape(f.Alt+" "), limitAltText),
			Title:   plain(templates.Plain.Escape(f.Title), limitImageTitle),
		})
	}
	if len(images) == 0 || len(m.Blocks) == 0 {
		return m, nil
	}
	// The last block is the line of small print.
	last := len(m.Blocks) - 1
	m.Blocks = append(append(append([]slack.Block(nil), m.Blocks[:last]...), images...), m.Blocks[last])
	return m.fit(), nil
}

func (m message) hasImage() bool { return len(m.withoutImages().Blocks) < len(m.Blocks) }

func (m message) withoutImages() message {
	out := message{Text: m.Text}
	for _, b := range m.Blocks {
		if b.BlockType() != slack.MBTImage {
			out.Blocks = append(out.Blocks, b)
		}
	}
	return out
}

// forms are the shapes in which a message is offered to Slack, the best first.
func (m message) forms() []message {
	if m.hasImage() {
		return []message{m, m.withoutImages(), m.plainer(), m.bare()}
	}
	return []message{m, m.plainer(), m.bare()}
}

// imageTries bounds how often a message is offered again while Slack is still
// at work on an upload, which it answers with invalid_blocks.
const imageTries = 5

// patiently makes a call again while m's pictures are not ready.
func (t *Thread) patiently(ctx context.Context, m message, call func(context.Context) error) error {
	err := call(ctx)
	for try := 1; try < imageTries && m.hasImage() && slackCode(err) == "invalid_blocks"; try++ {
		if e := t.clock.Sleep(ctx, t.budget.pace.MessageGap); e != nil {
			return e
		}
		err = call(ctx)
	}
	return err
}
