package bot

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/slack-go/slack"

	"github.com/fabricbot/fabricbot/activities"
)

// eventType marks our messages for ourselves; see [Thread.find].
const eventType = "fabricbot_run"

// post says a run's first message, or finds the one that a crashed process
// posted and could not write down. On return rec has a TS; its Hash is empty
// if the message shows m already.
func (t *Thread) post(ctx context.Context, v activities.View, rec *said, m message) error {
	key := liveKey(v.Run)
	ts, err := t.reconcile(ctx, key, rec, v, "", "live")
	if err != nil {
		return err
	}
	if ts != "" {
		// Whatever it shows, it is brought up to date like any other.
		rec.TS, rec.Hash = ts, "unknown"
		return t.store.put(key, *rec)
	}
	rec.Channel, rec.Hash = v.Place.Channel, ""
	return t.say(ctx, key, rec, m, "", v.Run, "live")
}

// reconcile looks for a message that may have been posted without being
// written down: by an earlier process, or by a call that had no answer. It
// writes the intent of posting down before it returns.
func (t *Thread) reconcile(ctx context.Context, key string, rec *said, v activities.View, thread, what string) (ts string, err error) {
	now := t.clock.Now()
	if since := since(*rec, v, now); !since.IsZero() {
		if wait := t.budget.pace.Settle - now.Sub(rec.Unsure); !rec.Unsure.IsZero() && wait > 0 {
			if err := t.clock.Sleep(ctx, wait); err != nil {
				return "", err
			}
		}
		if ts, err = t.find(ctx, v.Place.Channel, thread, since, rec.Gone, func(m slack.Message) bool { return ours(m, v.Run, what) }); err != nil || ts != "" {
			rec.Channel = v.Place.Channel
			return ts, err
		}
	}
	rec.Channel, rec.Unsure = v.Place.Channel, now
	if rec.Intent.IsZero() {
		rec.Intent = now
	}
	return "", t.store.put(key, *rec)
}

// freshFor is the age up to which a run that nothing is known of is taken for
// new; an older one may have spoken through a store that is lost.
const freshFor = time.Minute

// since is the moment from which something may have been said already; zero
// means that it cannot have been.
func since(rec said, v activities.View, now time.Time) time.Time {
	if rec.Intent.IsZero() && now.Sub(v.Started) > freshFor {
		return v.Started
	}
	return rec.Intent
}

func ours(m slack.Message, run, what string) bool {
	if m.Metadata.EventType != eventType {
		return false
	}
	return m.Metadata.EventPayload["run"] == run && m.Metadata.EventPayload["key"] == what
}

// say posts m and writes its id down.
func (t *Thread) say(ctx context.Context, key string, rec *said, m message, thread, run, what string) error {
	act := fmt.Sprintf("posting run %s to channel %s", short(run), rec.Channel)
	for _, m := range m.forms() {
		options := append(m.options(), slack.MsgOptionMetadata(slack.SlackMetadata{
			EventType: eventType, EventPayload: map[string]any{"run": run, "key": what},
		}))
		if thread != "" {
			options = append(options, slack.MsgOptionTS(thread))
		}
		var channel, ts string
		var posted slack.Message
		err := t.budget.do(ctx, methodPost, rec.Channel, true, func(ctx context.Context) (err error) {
			channel, ts, posted, err = t.api.PostMessageWithResponseContext(ctx, rec.Channel, options...)
			return err
		})
		if tooMuch(err) {
			continue
		}
		if err != nil {
			if slackCode(err) != "" {
				rec.Unsure = rec.Unsure.Add(-t.budget.pace.Settle) // Slack said no, so nothing can appear late
			}
			_ = t.store.put(key, *rec)
			return told(act, err)
		}
		rec.Channel, rec.TS = channel, ts
		if thread != "" && posted.ThreadTimestamp != thread {
			return t.stray(ctx, key, rec)
		}
		return t.store.put(key, *rec)
	}
	return fmt.Errorf("%s: slack refuses every form of it", act)
}

// tooMuch reports that Slack did not like the message's form.
func tooMuch(err error) bool {
	return slices.Contains([]string{"invalid_blocks", "invalid_blocks_format", "msg_too_long", "msg_blocks_too_long", "block_mismatch"}, slackCode(err))
}

// stray takes back a reply that Slack posted outside of its thread because the
// thread's message is gone.
func (t *Thread) stray(ctx context.Context, key string, rec *said) error {
	err := t.budget.do(ctx, methodDelete, rec.Channel, true, func(ctx context.Context) error {
		_, _, err := t.api.DeleteMessageContext(ctx, rec.Channel, rec.TS)
		return err
	})
	rec.Gone, rec.TS = append(rec.Gone, rec.TS), ""
	if err != nil {
		return told("taking back a reply outside of its thread", err)
	}
	if err := t.store.put(key, *rec); err != nil {
		return err
	}
	return errNoParent
}

// update edits the run's message; one that can no longer be edited is replaced
// by a new one.
func (t *Thread) update(ctx context.Context, v activities.View, rec *said, m message, urgent bool) error {
	act := fmt.Sprintf("updating run %s in channel %s", short(v.Run), rec.Channel)
	for _, m := range m.forms() {
		err := t.patiently(ctx, m, func(ctx context.Context) error {
			return t.budget.do(ctx, methodUpdate, rec.Channel, urgent, func(ctx context.Context) error {
				_, _, _, err := t.api.UpdateMessageContext(ctx, rec.Channel, rec.TS, m.options()...)
				return err
			})
		})
		switch code := slackCode(err); {
		case err == nil:
			return nil
		case tooMuch(err):
			continue
		case code == "message_not_found" || code == "edit_window_closed" || code == "cant_update_message":
			rec.Gone, rec.TS, rec.Hash = append(rec.Gone, rec.TS), "", ""
			if err := t.store.put(liveKey(v.Run), *rec); err != nil {
				return err
			}
			if err := t.post(ctx, v, rec, m); err != nil || rec.Hash == "" {
				return err
			}
			return t.update(ctx, v, rec, m, urgent) // an older one of ours was found
		}
		return told(act, err)
	}
	return fmt.Errorf("%s: slack refuses every form of it", act)
}
