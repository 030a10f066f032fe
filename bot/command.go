package bot

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"time"

	"github.com/slack-go/slack"
	"go.uber.org/zap"

	"github.com/fabricbot/fabricbot/activities"
	"github.com/fabricbot/fabricbot/op"
	"github.com/fabricbot/fabricbot/templates"
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

// slow is the time after which a person whose command has no answer yet is
// told that it arrived. An acknowledgement that said so at once would stand
// below the answer for good: Slack lets nobody take it back.
const slow = 3 * time.Second

// checking says that a command arrived.
func checking(command, text string) message {
	return message{Text: string(say("⏳ %s: still checking …", code(strings.TrimSpace(command+" "+fitPlain(text, 200)))))}
}

// command carries out what a person typed. Whatever is wrong is told to that
// person alone.
func (b *Bot) command(ctx context.Context, a ask) {
	late := time.AfterFunc(slow, func() { b.tell(ctx, a.private, checking(b.o.Command, a.text)) })
	defer late.Stop()
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
	return "⚠ " + named(capital(templates.Slack.Said(err)))
}

// Ids as rules and errors of other rooms write them.
var (
	personID  = regexp.MustCompile(`\bT[A-Z0-9]{2,20}:([UW][A-Z0-9]{2,20})\b`)
	channelID = regexp.MustCompile(`\bchannel ([CG][A-Z0-9]{2,20})\b`)
	groupID   = regexp.MustCompile(`\buser group (S[A-Z0-9]{2,20})\b`)
)

// named shows people, channels and groups by their names in a sentence that is
// escaped already. Answers to one person notify nobody who is mentioned.
func named(s string) trusted {
	s = personID.ReplaceAllString(s, "<@$1>")
	s = channelID.ReplaceAllString(s, "<#$1>")
	return trusted(groupID.ReplaceAllString(s, "<!subteam^$1>"))
}

func sentence(text trusted) message {
	return message{Text: fitText(string(text), 2900), Blocks: []slack.Block{section(string(text))}}
}

// usage shows a mistake with the accepted form and one line to copy.
func (b *Bot) usage(u *op.UsageError) message {
	text := "⚠ " + trusted(capital(templates.Slack.Said(u.What())))
	if !strings.HasSuffix(u.Reason, "?") {
		text += "."
	}
	if u.Form != "" {
		text += say("\nForm: %s", code(b.o.Command+" "+u.Form))
	}
	if u.Example != "" {
		text += say("\nFor example: %s", code(b.o.Command+" "+u.Example))
	}
	return sentence(text)
}

// order is what a person typed, understood: an operation with its input, or
// the answer to a question about the words themselves.
type order struct {
	entry  op.Entry
	input  any
	answer *message
}

// read understands a line by itself; nothing is asked of anybody. The error is
// a usage error.
func (b *Bot) read(text string) (order, error) {
	words, err := op.Split(text)
	if err != nil {
		return order{}, &op.UsageError{Reason: err.Error(), Example: "help"}
	}
	if len(words) == 0 || strings.EqualFold(words[0], "help") {
		m, err := b.help(words)
		return order{answer: &m}, err
	}
	e, rest, err := b.o.Index.Resolve(words)
	if err != nil {
		return order{}, err
	}
	input, err := e.Parse(rest)
	return order{entry: e, input: input}, err
}

// atOnce is the answer that needs nothing but the line, for a person and a
// place that are known already; nil where something has to be asked first.
func (b *Bot) atOnce(ctx context.Context, a ask) *message {
	now := b.o.Clock.Now()
	if now.Sub(a.at) > tooOld || !b.users.peek(a.user, now) || !b.places.peek(a.channel, now) {
		return nil
	}
	if b.admitPerson(ctx, a.team, a.user) != nil || b.admitPlace(ctx, a.channel, a.user, false) != nil {
		return nil
	}
	o, err := b.read(a.text)
	var usage *op.UsageError
	m := o.answer
	if errors.As(err, &usage) {
		wrong := b.usage(usage)
		m = &wrong
	}
	if m == nil || !fitsAck(*m) {
		return nil
	}
	return m
}

func (b *Bot) carryOut(ctx context.Context, a ask) error {
	if age := b.o.Clock.Now().Sub(a.at); age > tooOld {
		return refuse("That was asked %s ago and reaches me only now, so it was not carried out. Say it again if it is still wanted.", age.Round(time.Minute))
	}
	if err := b.admitPerson(ctx, a.team, a.user); err != nil {
		return err
	}
	u, readErr := b.read(a.text)
	if err := b.admitPlace(ctx, a.channel, a.user, readErr == nil && u.answer == nil && u.entry.Class != op.Control); err != nil {
		return err
	}
	switch {
	case readErr != nil:
		return readErr
	case u.answer != nil:
		b.tell(ctx, a.private, *u.answer)
		return nil
	}
	e, input := u.entry, u.input
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
