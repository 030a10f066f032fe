package terminal

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/user"

	"go.temporal.io/sdk/client"
	"go.uber.org/zap/zapcore"

	"github.com/fabricbot/fabricbot/activities"
	"github.com/fabricbot/fabricbot/internal/access"
	"github.com/fabricbot/fabricbot/internal/runs"
	"github.com/fabricbot/fabricbot/internal/site"
	"github.com/fabricbot/fabricbot/op"
	"github.com/fabricbot/fabricbot/workflows"
)

// online is a command that is connected to the engine.
type online struct {
	*command
	site  *site.Site
	rules *access.Access
	runs  *runs.Client
	me    activities.Person
}

// site opens the site; a terminal shows only what a person must see.
func (c *command) site() (*site.Site, error) {
	level := zapcore.ErrorLevel
	if c.verbose {
		level = zapcore.DebugLevel
	}
	return site.Open(c.config, level)
}

// operate connects, checks rights and does what was asked.
func (c *command) operate(ctx context.Context, e op.Entry, words string, input any) int {
	s, err := c.site()
	if err != nil {
		return c.fail(err)
	}
	rules, err := s.Access(nil)
	if err != nil {
		return c.fail(err)
	}
	me, err := whoAmI()
	if err != nil {
		return c.fail(err)
	}
	temporal, err := s.Dial(ctx)
	if err != nil {
		return c.fail(err)
	}
	defer temporal.Close()
	o := &online{command: c, site: s, rules: rules, me: me, runs: newRuns(s, temporal)}
	switch {
	case e.Class != op.Control:
		return o.start(ctx, e, words, input)
	case e.Name == "approve", e.Name == "deny":
		return o.decide(ctx, e, input.(workflows.RunInput))
	}
	return o.control(ctx, e, input)
}

func newRuns(s *site.Site, temporal client.Client) *runs.Client {
	return &runs.Client{Temporal: temporal, Inventory: s.Inventory, Cluster: s.Config.Cluster.Name, Redact: s.Redact.String}
}

// whoAmI is the person at this terminal.
func whoAmI() (activities.Person, error) {
	host, err := os.Hostname()
	if err != nil {
		return activities.Person{}, err
	}
	p, err := access.LocalPerson(os.Getuid(), host)
	name := string(p)
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	return activities.Person{ID: string(p), Name: name}, err
}

// place is where a run of this terminal speaks: the channel that was named, or
// for a run that needs somebody's approval the site's only one.
func (o *online) place(e op.Entry) activities.Place {
	p := activities.Place{Team: o.site.Config.Slack.TeamID, Channel: o.channel}
	if p.Channel != "" || !e.Class.NeedsPlan() {
		return p
	}
	channels := o.site.Config.Slack.Channels
	if len(channels) != 1 {
		fmt.Fprintln(o.Err, "approvers are not asked in Slack; -channel ID before the words lets the run speak in a channel")
		return p
	}
	for id := range channels {
		p.Channel = id
	}
	return p
}

func (o *online) allowed(ctx context.Context, what access.Action) error {
	d := o.rules.Decide(ctx, access.Person(o.me.ID), what)
	if d.Allowed {
		return nil
	}
	return errors.New(d.Reason)
}

func (o *online) start(ctx context.Context, e op.Entry, words string, input any) int {
	if err := o.allowed(ctx, access.Action{Act: access.Start, Operation: e.Name, Class: e.Class}); err != nil {
		fmt.Fprintln(o.Err, "fabricctl:", err)
		return ExitDenied
	}
	var random [16]byte
	if _, err := rand.Read(random[:]); err != nil {
		return o.fail(err)
	}
	req, err := o.runs.Request(hex.EncodeToString(random[:]), e.Name, words, input, o.me, o.place(e), runs.Now())
	if err != nil {
		return o.fail(err)
	}
	v, err := o.runs.Start(ctx, req)
	if err != nil {
		return o.fail(err)
	}
	if v.State == activities.Duplicate {
		fmt.Fprintf(o.Err, "the same command is already running as run %s; following it\n", v.Of)
		req.Run = v.Of
	}
	return o.follow(ctx, req.Run)
}

func (o *online) decide(ctx context.Context, e op.Entry, in workflows.RunInput) int {
	v, err := o.runs.View(ctx, in.Run)
	if err != nil {
		return o.fail(err)
	}
	if err := o.allowed(ctx, access.Action{Act: access.Approve, Operation: v.Op, Class: op.Dangerous, Requester: access.Person(v.By.ID), Reason: in.Reason}); err != nil {
		fmt.Fprintln(o.Err, "fabricctl:", err)
		return ExitDenied
	}
	if err := o.confirm(e, v); err != nil {
		return o.fail(err)
	}
	if err := o.runs.Decide(ctx, v.Run, activities.Decision{By: o.me, Yes: e.Name == "approve", Reason: in.Reason}); err != nil {
		fmt.Fprintln(o.Err, "fabricctl:", err)
		return ExitDenied
	}
	fmt.Fprintf(o.Out, "run %s: %s recorded\n", v.Run, map[bool]string{true: "approval", false: "denial"}[e.Name == "approve"])
	return ExitOK
}

// confirm asks for the number of hosts before a large plan is approved, as
// Slack does.
func (o *online) confirm(e op.Entry, v activities.View) error {
	if e.Name != "approve" || v.Plan == nil || v.Gate == nil || len(v.Plan.Hosts()) <= o.site.Config.Limits.ConfirmAbove {
		return nil
	}
	n := len(v.Plan.Hosts())
	o.plan(o.Err, v)
	fmt.Fprintf(o.Err, "This changes %d hosts. Type that number to approve: ", n)
	var typed int
	if _, err := fmt.Fscanln(o.In, &typed); err != nil || typed != n {
		return errors.New("the number of hosts was not typed; nothing is approved")
	}
	return nil
}

func (o *online) control(ctx context.Context, e op.Entry, input any) int {
	what := access.Action{Act: access.Start, Operation: e.Name, Class: e.Class}
	if in, ok := input.(workflows.RunInput); ok && e.Name != "runs show" {
		v, err := o.runs.View(ctx, in.Run)
		if err != nil {
			return o.fail(err)
		}
		if what, err = steering(v); err != nil {
			return o.fail(err)
		}
	}
	if err := o.allowed(ctx, what); err != nil {
		fmt.Fprintln(o.Err, "fabricctl:", err)
		return ExitDenied
	}
	reply, err := o.runs.Control(ctx, o.me, activities.Place{}, e.Name, input)
	if err != nil {
		return o.fail(err)
	}
	if o.json {
		return o.print(reply)
	}
	return o.reply(reply)
}

// steering is what is asked of the site's rules before a run is steered: the
// right follows the class of the run, not that of the word that steers it.
func steering(v activities.View) (access.Action, error) {
	a := access.Action{Act: access.Steer, Operation: v.Op, Requester: access.Person(v.By.ID)}
	return a, a.Class.UnmarshalText([]byte(v.Class))
}
