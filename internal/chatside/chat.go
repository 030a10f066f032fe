package chatside

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"

	"github.com/fabricbot/fabricbot/activities"
	"github.com/fabricbot/fabricbot/bot"
	"github.com/fabricbot/fabricbot/internal/config"
	"github.com/fabricbot/fabricbot/internal/runs"
	"github.com/fabricbot/fabricbot/internal/site"
	"github.com/fabricbot/fabricbot/templates"
	"github.com/fabricbot/fabricbot/workflows"
)

// Side is the talking half of a site.
type Side struct {
	site   *site.Site
	bot    *bot.Bot
	thread *bot.Thread
	store  *bot.Store
	worker worker.Worker
}

// Start connects to Slack, checks who the bot is there and begins to serve the
// chat queue. Listening begins with Run.
func Start(ctx context.Context, s *site.Site, temporal client.Client, blobs bot.Blobs) (*Side, error) {
	c := s.Config.Slack
	tokens := bot.Tokens{APIURL: c.APIURL}
	var err error
	if tokens.Bot, err = s.Secret("slack.bot_token", c.BotToken); err != nil {
		return nil, err
	}
	if c.Mode != "http" {
		if tokens.App, err = s.Secret("slack.app_token", c.AppToken); err != nil {
			return nil, err
		}
	}
	api, err := bot.Connect(tokens)
	if err != nil {
		return nil, err
	}
	words, err := templates.New()
	if err != nil {
		return nil, err
	}
	index, err := workflows.Index()
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(s.Config.DataDir, 0o700); err != nil {
		return nil, fmt.Errorf("making data_dir: %w", err)
	}
	side := &Side{site: s}
	if side.store, err = bot.OpenStore(filepath.Join(s.Config.DataDir, "chat.db")); err != nil {
		return nil, err
	}
	draw := bot.Renderer{Words: words, Typed: typed, TypedAbove: s.Config.Limits.ConfirmAbove}
	side.thread = bot.NewThread(bot.ThreadOptions{API: api, Store: side.store, Draw: draw, Blobs: blobs, Log: s.Log})
	rules := &rules{}
	side.bot, err = bot.New(bot.Options{
		API: api, Index: index, Access: rules, Thread: side.thread, Draw: draw, RunID: runs.ID, Team: c.TeamID, Channels: channels(c),
		Runs: runsOf{&runs.Client{Temporal: temporal, Inventory: s.Inventory, Cluster: s.Config.Cluster.Name, Redact: s.Redact.String}}, Log: s.Log,
	})
	if err == nil {
		rules.access, err = s.Access(side.bot)
	}
	if err == nil {
		err = side.bot.Preflight(ctx)
	}
	if err == nil {
		side.worker = worker.New(temporal, workflows.QueueChat, worker.Options{WorkerStopTimeout: 10 * time.Second})
		side.worker.RegisterActivity(&activities.Chat{Voice: side.thread})
		err = side.worker.Start()
	}
	if err != nil {
		return nil, errors.Join(err, side.store.Close())
	}
	return side, nil
}

// Run listens until the context ends or Slack turns the bot away.
func (s *Side) Run(ctx context.Context) error {
	c := s.site.Config.Slack
	if c.Mode != "http" {
		return s.bot.Run(ctx)
	}
	secret, err := s.site.Secret("slack.signing_secret", c.SigningSecret)
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", c.Listen)
	if err != nil {
		return fmt.Errorf("listening for Slack: %w", err)
	}
	return s.bot.Serve(ctx, l, secret)
}

// Attend listens to Slack, and answers health checks at the address if one is
// given, until the context or one of the two ends.
func Attend(ctx context.Context, s *Side, health string) error {
	if health == "" {
		return s.Run(ctx)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ended := make(chan error, 2)
	go func() { ended <- site.ServeHealth(ctx, health, s.Health) }()
	go func() { ended <- s.Run(ctx) }()
	err := <-ended
	cancel()
	return errors.Join(err, <-ended)
}

// Health reports whether Slack has answered lately.
func (s *Side) Health() (bool, string) { return s.bot.Health() }

// Stop lets running messages finish and closes the store.
func (s *Side) Stop() error {
	s.worker.Stop()
	s.thread.Close()
	return s.store.Close()
}

func typed(operation string, result activities.Data) (any, error) {
	e, ok := workflows.Lookup(operation)
	if !ok {
		return nil, fmt.Errorf("unknown operation %q", operation)
	}
	return e.Result(result)
}

func channels(c config.Slack) []string {
	ids := make([]string, 0, len(c.Channels))
	for id := range c.Channels {
		ids = append(ids, id)
	}
	return ids
}
