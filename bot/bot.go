package bot

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/slack-go/slack"
	"go.uber.org/zap"

	"github.com/fabricbot/fabricbot/activities"
	"github.com/fabricbot/fabricbot/op"
)

// Runs starts, shows and steers runs. Refusals come back as errors whose text
// is shown to the person; an [op.UsageError] is shown with its example.
type Runs interface {
	// Start starts the run, or finds the one that the same request started
	// before, and returns its first view.
	Start(ctx context.Context, r activities.Request) (activities.View, error)
	// Control carries out a control word other than approve, deny and help.
	Control(ctx context.Context, by activities.Person, place activities.Place, operation string, input any) (Reply, error)
	// Decide puts an approver's word to a run.
	Decide(ctx context.Context, run string, d activities.Decision) error
	// View is what a run shows now; run may be the beginning of an id.
	View(ctx context.Context, run string) (activities.View, error)
}

// Reply answers a control word; it is data and escaped here.
type Reply struct {
	// Text is one or more plain lines.
	Text string
	// View is a run to show in full.
	View *activities.View
	// Views are runs to list.
	Views []activities.View
}

// Access says who may give which order where. A nil error allows; the text of
// any other is shown to the person alone.
type Access interface {
	Decide(ctx context.Context, by activities.Person, place activities.Place, e op.Entry) error
	// Steer says whether a person may cancel, pause or resume the run; whoever
	// asked for a run can always stop it.
	Steer(ctx context.Context, by activities.Person, place activities.Place, v activities.View) error
}

// Options are what a Bot needs. All fields without a stated default are
// required.
type Options struct {
	API    *slack.Client
	Index  *op.Index
	Runs   Runs
	Access Access
	Thread *Thread
	// Draw is the renderer that Thread uses.
	Draw Renderer
	// RunID makes a run's id of the key of the request that causes it.
	RunID func(key string) string
	// Team is the workspace served; the tokens must belong to it. Empty means
	// the workspace of the tokens.
	Team string
	// Channels are ids of the channels listened to; none means nowhere.
	Channels []string
	// Command is the slash command; default /fabric.
	Command string
	// Workers is how many commands are worked on at once; default 8. As many
	// buttons and forms are worked on beside them.
	Workers int
	Clock   Clock       // default the wall clock
	Log     *zap.Logger // default none
	// ProbeEvery is how often Slack is asked whether it is there; default one
	// minute. Health is lost after three of them.
	ProbeEvery time.Duration
	// GiveUp is how long socket mode may be without a connection before Run
	// returns, so that a supervisor starts afresh; default 15 minutes.
	GiveUp time.Duration
}

// Bot listens to Slack.
type Bot struct {
	o        Options
	log      *zap.Logger
	me       slack.AuthTestResponse
	channels map[string]bool
	seen     seen
	crew     *crew // commands and mentions
	clicks   *crew // buttons and forms, which must not wait behind commands
	users    kept[*slack.User]
	places   kept[*slack.Channel]
	groups   kept[[]string]
	health   pulse
}

// queueLength is how many acknowledged requests may wait for a worker.
const queueLength = 256

// New checks the options. Nothing is sent yet.
func New(o Options) (*Bot, error) {
	switch {
	case o.API == nil, o.Index == nil, o.Runs == nil, o.Access == nil, o.Thread == nil, o.RunID == nil, o.Draw.Words == nil:
		return nil, errors.New("the bot lacks one of its parts: API, Index, Runs, Access, Thread, RunID, Draw.Words")
	}
	if o.Clock == nil {
		o.Clock = wallClock{}
	}
	if o.Log == nil {
		o.Log = zap.NewNop()
	}
	if o.Command == "" {
		o.Command = "/fabric"
	}
	if o.Workers <= 0 {
		o.Workers = 8
	}
	if o.ProbeEvery <= 0 {
		o.ProbeEvery = time.Minute
	}
	if o.GiveUp <= 0 {
		o.GiveUp = 15 * time.Minute
	}
	b := &Bot{o: o, log: o.Log, channels: map[string]bool{}, crew: newCrew(queueLength, o.Log), clicks: newCrew(queueLength, o.Log)}
	for _, c := range o.Channels {
		b.channels[c] = true
	}
	return b, nil
}

// Preflight asks Slack who the bot is. It must succeed before anything is
// listened to.
func (b *Bot) Preflight(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	me, err := b.o.API.AuthTestContext(ctx)
	if err != nil {
		if auth, ok := authError(err); ok {
			return auth
		}
		return fmt.Errorf("asking slack who the bot is: %w", err)
	}
	if b.o.Team != "" && me.TeamID != b.o.Team {
		return fmt.Errorf("the bot token belongs to workspace %s, but slack.team_id says %s", me.TeamID, b.o.Team)
	}
	b.me = *me
	b.health.ok(b.o.Clock.Now())
	b.log.Info("slack knows the bot", zap.String("team", me.TeamID), zap.String("bot", me.UserID), zap.Int("channels", len(b.channels)))
	return nil
}

// person is the identity of a user of our workspace.
func (b *Bot) person(user, name string) activities.Person {
	return activities.Person{ID: b.me.TeamID + ":" + user, Name: name}
}

// userOf is the Slack user id of a person id, empty for anybody else.
func (b *Bot) userOf(id string) string {
	if team, user, ok := strings.Cut(id, ":"); ok && team == b.me.TeamID {
		return user
	}
	return ""
}
