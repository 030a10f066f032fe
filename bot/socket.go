package bot

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"github.com/slack-go/slack"
	"github.com/slack-go/slack/slackevents"
	"github.com/slack-go/slack/socketmode"
	"go.uber.org/zap"
)

// Run listens in socket mode until ctx ends (then it returns nil) or Slack is
// lost for good: refused tokens give an [*AuthError].
func (b *Bot) Run(ctx context.Context) error {
	return b.attend(ctx, func(ctx context.Context) error {
		client := socketmode.New(b.o.API)
		b.health.connection(false, b.o.Clock.Now())
		reading := make(chan error, 1)
		go func() { reading <- b.readEvents(ctx, client) }()
		socket := make(chan error, 1)
		go func() { socket <- client.RunContext(ctx) }()
		var err error
		select {
		case err = <-reading:
		case err = <-socket:
		}
		if auth, ok := authError(err); ok {
			return auth
		}
		return err
	})
}

// rememberFor is how long the store keeps what was said after it last changed:
// far longer than any run waits.
const rememberFor = 90 * 24 * time.Hour

// attend makes sure of Slack first, then keeps workers and probe running
// beside listen. The first one to give up ends all.
func (b *Bot) attend(ctx context.Context, listen func(context.Context) error) error {
	if err := b.Preflight(ctx); err != nil {
		return err
	}
	if err := b.o.Thread.store.Forget(b.o.Clock.Now().Add(-rememberFor)); err != nil {
		b.log.Warn("old messages are still remembered", zap.Error(err))
	}
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	ended := make(chan error, 2)
	worked := make(chan struct{})
	go func() {
		defer close(worked)
		var both sync.WaitGroup
		both.Go(func() { b.crew.run(inner, b.o.Workers) })
		both.Go(func() { b.clicks.run(inner, b.o.Workers) })
		both.Wait()
	}()
	go func() { ended <- b.probe(inner) }()
	go func() { ended <- listen(inner) }()
	err := <-ended
	cancel()
	<-ended
	<-worked
	if ctx.Err() != nil && (err == nil || errors.Is(err, context.Canceled)) {
		return nil
	}
	return err
}

// ackWithin bounds the queueing of an acknowledgement.
const ackWithin = 2 * time.Second

// readEvents is the tight loop: acknowledge, queue, next. The socket is
// dropped by Slack's client when nobody reads for half a minute, so nothing
// here may wait for work.
func (b *Bot) readEvents(ctx context.Context, client *socketmode.Client) error {
	look := time.NewTicker(max(b.o.GiveUp/10, 10*time.Millisecond))
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-look.C:
			if lost := b.health.lost(b.o.Clock.Now()); lost > b.o.GiveUp {
				return errors.New("there has been no socket to slack for " + lost.Round(time.Second).String() + "; giving up so that a fresh process can try")
			}
		case e := <-client.Events:
			if err := b.onSocket(ctx, client, e); err != nil {
				return err
			}
		}
	}
}

// onSocket deals with one event of the socket; an error ends the program.
func (b *Bot) onSocket(ctx context.Context, client *socketmode.Client, e socketmode.Event) error {
	now := b.o.Clock.Now()
	switch e.Type {
	case socketmode.EventTypeConnected:
		b.health.connection(true, now)
	case socketmode.EventTypeHello:
		b.health.connection(true, now)
		b.health.ok(now)
	case socketmode.EventTypeConnecting:
		b.health.connection(false, now)
	case socketmode.EventTypeInvalidAuth:
		return &AuthError{Code: "invalid_auth"}
	case socketmode.EventTypeConnectionError:
		b.health.connection(false, now)
		if c, ok := e.Data.(*slack.ConnectionErrorEvent); ok {
			// The library tries again for ever after most of these.
			if auth, ok := authError(c.ErrorObj); ok {
				return auth
			}
			b.log.Warn("no socket to slack", zap.Int("attempt", c.Attempt), zap.Error(c.ErrorObj))
		}
	case socketmode.EventTypeErrorWriteFailed:
		b.log.Warn("an acknowledgement was lost")
	case socketmode.EventTypeErrorBadMessage:
		b.onBadMessage(ctx, client, e)
	case socketmode.EventTypeSlashCommand, socketmode.EventTypeInteractive, socketmode.EventTypeEventsAPI:
		b.health.ok(now)
		b.onRequest(ctx, client, e)
	}
	return nil
}

// onBadMessage acknowledges what the library cannot read: otherwise a person
// sees an error, and Slack sends it again.
func (b *Bot) onBadMessage(ctx context.Context, client *socketmode.Client, e socketmode.Event) {
	bad, ok := e.Data.(*socketmode.ErrorBadMessage)
	if !ok {
		return
	}
	b.log.Warn("slack sent something unknown", zap.Error(bad.Cause))
	var envelope struct {
		ID string `json:"envelope_id"`
	}
	if json.Unmarshal(bad.Message, &envelope) == nil && envelope.ID != "" {
		b.ack(ctx, client, envelope.ID, nil)
	}
}

func (b *Bot) ack(ctx context.Context, client *socketmode.Client, id string, payload any) {
	ctx, cancel := context.WithTimeout(ctx, ackWithin)
	defer cancel()
	if err := client.AckCtx(ctx, id, payload); err != nil {
		b.log.Warn("a request could not be acknowledged", zap.Error(err))
	}
}

func (b *Bot) onRequest(ctx context.Context, client *socketmode.Client, e socketmode.Event) {
	id := e.Request.EnvelopeID
	switch data := e.Data.(type) {
	case slack.SlashCommand:
		a := slashAsk(data, b.o.Clock.Now())
		answer, queue := b.onCommand(ctx, a)
		b.ack(ctx, client, id, ackBody(answer))
		if queue && !b.enqueue(a) {
			go b.tell(ctx, a.private, overrun())
		}
	case slack.InteractionCallback:
		if data.Type != slack.InteractionTypeViewSubmission {
			b.ack(ctx, client, id, nil)
			b.onClick(data)
			return
		}
		// The acknowledgement of a form is its verdict.
		if !b.seen.first(clickKey(data), b.o.Clock.Now()) {
			b.ack(ctx, client, id, nil)
			return
		}
		if !b.clicks.offer(job{"form", func(ctx context.Context) {
			answer, then := b.submit(ctx, data)
			if answer != nil {
				b.ack(ctx, client, id, answer)
			} else {
				b.ack(ctx, client, id, nil)
			}
			if then != nil {
				then(ctx)
			}
		}}) {
			b.ack(ctx, client, id, nil)
		}
	case slackevents.EventsAPIEvent:
		b.ack(ctx, client, id, nil)
		var outer eventOuter
		if err := json.Unmarshal(e.Request.Payload, &outer); err == nil {
			b.onEvent(data, outer)
		}
	}
}
