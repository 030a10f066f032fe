package bot

import (
	"context"
	"errors"
	"fmt"

	"github.com/slack-go/slack"

	"github.com/fabricbot/fabricbot/activities"
	"github.com/fabricbot/fabricbot/templates"
)

// errNoParent says that a run's message was deleted under its thread.
var errNoParent = errors.New("the run's message is gone")

// Reply posts one notice into the run's thread, once per key.
func (t *Thread) Reply(ctx context.Context, v activities.View, n activities.Notice) error {
	if v.Place.Channel == "" {
		return nil
	}
	done, err := t.turns.take(ctx, v.Run)
	if err != nil {
		return err
	}
	defer done()
	err = t.reply(ctx, v, n)
	if errors.Is(err, errNoParent) {
		if err = t.adopt(ctx, v); err == nil {
			err = t.reply(ctx, v, n)
		}
	}
	return err
}

func (t *Thread) reply(ctx context.Context, v activities.View, n activities.Notice) error {
	key, what := noticeKey(v.Run, n.Key), "notice:"+n.Key
	rec, err := t.store.get(key)
	if err != nil || rec.TS != "" {
		return err
	}
	m, err := t.draw.notice(v, n.Kind)
	if err != nil {
		return err
	}
	parent, err := t.parent(ctx, v)
	if err != nil {
		return err
	}
	ts, err := t.reconcile(ctx, key, &rec, v, parent.TS, what)
	if err != nil {
		return err
	}
	if ts != "" {
		rec.TS = ts
		return t.store.put(key, rec)
	}
	rec.Channel = parent.Channel
	return t.say(ctx, key, &rec, m, parent.TS, v.Run, what)
}

// parent is the run's message, posted first if need be.
func (t *Thread) parent(ctx context.Context, v activities.View) (said, error) {
	rec, err := t.store.get(liveKey(v.Run))
	if err != nil || rec.TS != "" {
		return rec, err
	}
	if err := t.show(ctx, v); err != nil {
		return rec, err
	}
	return t.store.get(liveKey(v.Run))
}

// adopt gives a run whose message was deleted a new one.
func (t *Thread) adopt(ctx context.Context, v activities.View) error {
	rec, err := t.store.get(liveKey(v.Run))
	if err != nil {
		return err
	}
	if rec.TS != "" {
		rec.Gone, rec.TS, rec.Hash = append(rec.Gone, rec.TS), "", ""
		if err := t.store.put(liveKey(v.Run), rec); err != nil {
			return err
		}
	}
	return t.show(ctx, v)
}

// Attach uploads one file of the archive into the run's thread, once per name,
// and shows a picture in the run's message as well.
func (t *Thread) Attach(ctx context.Context, v activities.View, f activities.File) error {
	if v.Place.Channel == "" || f.Bytes == 0 {
		return nil // Slack refuses empty files
	}
	done, err := t.turns.take(ctx, v.Run)
	if err != nil {
		return err
	}
	defer done()
	if err := t.attach(ctx, v, f); err != nil {
		return err
	}
	return t.show(ctx, v)
}

func (t *Thread) attach(ctx context.Context, v activities.View, f activities.File) error {
	key := fileKey(v.Run, f.Name)
	rec, err := t.store.get(key)
	if err != nil || rec.TS != "" {
		return err
	}
	parent, err := t.parent(ctx, v)
	if err != nil {
		return err
	}
	if since := since(rec, v, t.clock.Now()); !since.IsZero() {
		// An upload carries no metadata; its name within the thread tells it.
		ts, err := t.find(ctx, parent.Channel, parent.TS, since, nil, func(m slack.Message) bool { return hasFile(m, f.Name) })
		if err != nil {
			return err
		}
		if ts != "" {
			rec.TS = ts
			return t.store.put(key, rec)
		}
	}
	rec.Channel = parent.Channel
	if rec.Intent.IsZero() {
		rec.Intent = t.clock.Now()
	}
	if err := t.store.put(key, rec); err != nil {
		return err
	}
	id, err := t.upload(ctx, parent, f)
	if err != nil {
		return err
	}
	rec.TS = id
	return t.store.put(key, rec)
}

func hasFile(m slack.Message, name string) bool {
	for _, f := range m.Files {
		if f.Name == name {
			return true
		}
	}
	return false
}

func (t *Thread) upload(ctx context.Context, parent said, f activities.File) (id string, err error) {
	act := fmt.Sprintf("uploading %s to channel %s", templates.Plain.Escape(f.Name), parent.Channel)
	err = t.budget.do(ctx, methodFile, parent.Channel, true, func(ctx context.Context) error {
		content, err := t.blobs.Open(f.Blob)
		if err != nil {
			return err
		}
		defer func() { _ = content.Close() }()
		summary, err := t.api.UploadFileContext(ctx, slack.UploadFileParameters{
			Filename: f.Name, FileSize: int(f.Bytes), Reader: content, Title: templates.Plain.Escape(f.Title),
			AltTxt: fitPlain(templates.Plain.Escape(f.Alt), limitAltText), Channel: parent.Channel, ThreadTimestamp: parent.TS,
		})
		if err == nil {
			id = summary.ID
		}
		return err
	})
	return id, told(act, err)
}
