package bot

import (
	"context"
	"fmt"

	"github.com/slack-go/slack"
	"go.uber.org/zap"

	"github.com/fabricbot/fabricbot/activities"
	"github.com/fabricbot/fabricbot/workflows"
)

// homeMost bounds the runs asked for; each list shows fewer.
const (
	homeMost = 40
	homeList = 8
)

// home draws the Home tab of a person who opened it: what waits for their
// approval, what runs, what ended last. It has no buttons: decisions belong on
// the run's message, where everybody sees them.
func (b *Bot) home(ctx context.Context, team, user string) {
	blocks, err := b.homeBlocks(ctx, team, user)
	if err != nil {
		blocks = []slack.Block{section(string(reason(err)))}
	}
	_, err = b.o.API.PublishViewContext(ctx, slack.PublishViewContextRequest{
		UserID: user, View: slack.HomeTabViewRequest{Type: slack.VTHomeTab, Blocks: slack.Blocks{BlockSet: blocks}},
	})
	if err != nil {
		b.log.Warn("a home tab could not be drawn", zap.String("requester", user), zap.Error(err))
	}
}

func (b *Bot) homeBlocks(ctx context.Context, team, user string) ([]slack.Block, error) {
	if err := b.admitPerson(ctx, team, user); err != nil {
		return nil, err
	}
	by, place := b.person(user, ""), activities.Place{Team: b.me.TeamID}
	e, _ := b.o.Index.Lookup("runs list")
	if err := b.o.Access.Decide(ctx, by, place, e); err != nil {
		return nil, err
	}
	reply, err := b.o.Runs.Control(ctx, by, place, e.Name, workflows.ListInput{State: "all", Most: homeMost})
	if err != nil {
		return nil, err
	}
	var mine, going, ended []activities.View
	for _, v := range reply.Views {
		switch {
		case v.State.Final():
			ended = append(ended, v)
		case b.waitsFor(ctx, v, by):
			mine = append(mine, v)
		default:
			going = append(going, v)
		}
	}
	blocks := []slack.Block{}
	for _, part := range []struct {
		title string
		views []activities.View
		empty string
	}{
		{"Waiting for your decision", mine, "Nothing."},
		{"Going on", going, "Nothing."},
		{"Ended last", ended, "Nothing yet."},
	} {
		text := part.empty
		if len(part.views) > 0 {
			text = b.o.Draw.rows(part.views[:min(homeList, len(part.views))])
			if more := len(part.views) - homeList; more > 0 {
				text += fmt.Sprintf("\n… and %d more", more)
			}
		}
		blocks = append(blocks, section("*"+part.title+"*\n"+text))
	}
	for _, v := range mine[:min(homeList, len(mine))] {
		if link := b.o.Thread.Link(ctx, v.Run); link != "" {
			blocks = append(blocks, note(string(say("Decide on run %s: %s", code(short(v.Run)), trusted(link)))))
		}
	}
	return append(blocks, note(string(say("As of %s · %s lists what I can do", moment(b.o.Clock.Now()), code(b.o.Command+" help"))))), nil
}

// waitsFor reports whether a person is the one whose decision a run needs.
func (b *Bot) waitsFor(ctx context.Context, v activities.View, by activities.Person) bool {
	if v.State != activities.Waiting {
		return false
	}
	_, err := b.judge(ctx, v, pressed{Run: v.Run}, by, true)
	return err == nil
}
