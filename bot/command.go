package bot

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/slack-go/slack"
	"go.uber.org/zap"

	"github.com/fabricbot/fabricbot/activities"
	"github.com/fabricbot/fabricbot/op"
	"github.com/fabricbot/fabricbot/workflows"
)

// tooOld is the age from which a request is not carried out any more: after an
// outage nobody expects yesterday's command to run.
const tooOld = 5 * time.Minute

// ask is what a person typed, from a slash command or a mention.
type ask struct {
	// key identifies the request over redeliveries.
	key        string
	team       string
	user, name string
	channel    string
	text       string
	at         time.Time
	private    private
}

// checking is the acknowledgement; it is sent before anything is looked at.
func checking(command, text string) message {
	line := string(say("⏳ %s checking …", code(strings.TrimSpace(command+" "+fitPlain(text, 200)))))
	return message{Text: line}
}

// command carries out what a person typed. Whatever is wrong is told to that
// person alone.
func (b *Bot) command(ctx context.Context, a ask) {
	if err := b.carryOut(ctx, a); err != nil {
		b.complain(ctx, a.private, err)
	}
}

// complain tells a person why something was not done.
func (b *Bot) complain(ctx context.Context, p private, err error) {
	var usage *op.UsageError
	if errors.As(err, &usage) {
		b.tell(ctx, p, b.usage(usage))
		return
	}
	b.tell(ctx, p, sentence(reason(err)))
}

// reason is an error as a sentence for people.
func reason(err error) trusted {
	var no *refusal
	if errors.As(err, &no) {
		return no.text
	}
	return say("⚠ %s", err)
}

func sentence(text trusted) message {
	return message{Text: fitText(string(text), 2900), Blocks: []slack.Block{section(string(text))}}
}

// usage shows a mistake with the accepted form and one line to copy.
func (b *Bot) usage(u *op.UsageError) message {
	reason := u.Reason
	if u.Param != "" {
		reason = "-" + u.Param + ": " + reason
	}
	text := say("❓ %s.", reason)
	if u.Form != "" {
		text += say("\nForm: %s", code(b.o.Command+" "+u.Form))
	}
	if u.Example != "" {
		text += say("\nFor example: %s", code(b.o.Command+" "+u.Example))
	}
	return sentence(text)
}

func (b *Bot) carryOut(ctx context.Context, a ask) error {
	if age := b.o.Clock.Now().Sub(a.at); age > tooOld {
		return refuse("That was asked %s ago and reaches me only now, so it was not carried out. Say it again if it is still wanted.", age.Round(time.Minute))
	}
	if err := b.admitPerson(ctx, a.team, a.user); err != nil {
		return err
	}
	words, err := op.Split(a.text)
	if err != nil {
		return &op.UsageError{Reason: err.Error(), Example: "help"}
	}
	if len(words) == 0 || strings.EqualFold(words[0], "help") {
		if err := b.admitPlace(ctx, a.channel, a.user, false); err != nil {
			return err
		}
		return b.help(ctx, a.private, words)
	}
	e, rest, resolveErr := b.o.Index.Resolve(words)
	if err := b.admitPlace(ctx, a.channel, a.user, resolveErr == nil && e.Class != op.Control); err != nil {
		return err
	}
	if resolveErr != nil {
		return resolveErr
	}
	input, err := e.Parse(rest)
	if err != nil {
		return err
	}
	by, place := b.person(a.user, a.name), activities.Place{Team: b.me.TeamID, Channel: a.channel}
	if err := b.allowed(ctx, by, place, e, input); err != nil {
		return err
	}
	if e.Class == op.Control {
		return b.control(ctx, a, by, place, e, input)
	}
	return b.start(ctx, a, by, place, e, input)
}

// allowed asks the site's rules. A run that does not answer is steered by those
// who may give the word in general: stopping must not wait for a worker.
func (b *Bot) allowed(ctx context.Context, by activities.Person, place activities.Place, e op.Entry, input any) error {
	if in, ok := input.(workflows.RunInput); ok && steers(e.Name) {
		if v, err := b.o.Runs.View(ctx, in.Run); err == nil {
			return b.o.Access.Steer(ctx, by, place, v)
		}
	}
	return b.o.Access.Decide(ctx, by, place, e)
}

// steers reports whether a control word changes the course of one run.
func steers(name string) bool {
	return name == "runs cancel" || name == "runs pause" || name == "runs resume"
}

func (b *Bot) start(ctx context.Context, a ask, by activities.Person, place activities.Place, e op.Entry, input any) error {
	data, err := activities.Pack(input)
	if err != nil {
		return err
	}
	r := activities.Request{
		Run: b.o.RunID(a.key), Op: e.Name, Input: data, Words: strings.TrimSpace(a.text), By: by, Place: place, At: a.at,
	}
	v, err := b.o.Runs.Start(ctx, r)
	if err != nil {
		return err
	}
	b.log.Info("run asked for", zap.String("op", e.Name), zap.String("workflow_id", r.Run), zap.String("requester", by.ID), zap.String("channel", a.channel))
	switch v.State {
	case activities.Requested:
		// Nobody speaks for the run yet, so silence would be all there is.
		b.tell(ctx, a.private, sentence(say("⏳ Run %s is accepted, but no worker has taken it up yet. It begins by itself when one does; see %s.", code(short(v.Run)), code(b.o.Command+" runs show "+short(v.Run)))))
	case activities.Duplicate:
		text := say("⏭ The same command is already running as run %s; nothing was started. See it with %s.", code(short(v.Of)), code(b.o.Command+" runs show "+short(v.Of)))
		if link := b.o.Thread.Link(ctx, v.Of); link != "" {
			text += trusted("\n" + link)
		}
		b.tell(ctx, a.private, sentence(text))
	}
	return nil
}
