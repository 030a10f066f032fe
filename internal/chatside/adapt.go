package chatside

import (
	"context"
	"errors"

	"github.com/fabricbot/fabricbot/activities"
	"github.com/fabricbot/fabricbot/bot"
	"github.com/fabricbot/fabricbot/internal/access"
	"github.com/fabricbot/fabricbot/internal/runs"
	"github.com/fabricbot/fabricbot/op"
)

// rules puts the site's access policy to the bot's question.
type rules struct{ access *access.Access }

// Decide allows an order or says why not.
func (r *rules) Decide(ctx context.Context, by activities.Person, place activities.Place, e op.Entry) error {
	d := r.access.Decide(ctx, access.Person(by.ID), access.Action{Act: access.Start, Operation: e.Name, Class: e.Class, Channel: place.Channel})
	if !d.Allowed {
		return errors.New(d.Reason)
	}
	return nil
}

// Steer allows cancelling, pausing or resuming a run or says why not.
func (r *rules) Steer(ctx context.Context, by activities.Person, place activities.Place, v activities.View) error {
	var class op.Class
	if err := class.UnmarshalText([]byte(v.Class)); err != nil {
		return err
	}
	d := r.access.Decide(ctx, access.Person(by.ID), access.Action{
		Act: access.Steer, Operation: v.Op, Class: class, Channel: place.Channel, Requester: access.Person(v.By.ID),
	})
	if !d.Allowed {
		return errors.New(d.Reason)
	}
	return nil
}

// runsOf is the client of runs with the bot's own reply type.
type runsOf struct{ *runs.Client }

// Control carries out a control word.
func (r runsOf) Control(ctx context.Context, by activities.Person, place activities.Place, operation string, input any) (bot.Reply, error) {
	reply, err := r.Client.Control(ctx, by, place, operation, input)
	return bot.Reply{Text: reply.Text, View: reply.View, Views: reply.Views}, err
}
