// Command fabricd is a whole site in one process: the workflow engine on a
// SQLite file, the hands that log in to hosts, and the Slack side.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"go.temporal.io/sdk/client"
	"go.uber.org/zap"
	"golang.org/x/term"

	"github.com/fabricbot/fabricbot/embedded"
	"github.com/fabricbot/fabricbot/internal/chatside"
	"github.com/fabricbot/fabricbot/internal/engine"
	"github.com/fabricbot/fabricbot/internal/site"
	"github.com/fabricbot/fabricbot/internal/workside"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "fabricd:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("fabricd", flag.ExitOnError)
	config := flags.String("config", "", "configuration file; default FABRICBOT_CONFIG")
	noSlack := flags.Bool("no-slack", false, "serve the terminal only")
	health := flags.String("health", "", "loopback address that answers /healthz, such as 127.0.0.1:8081")
	verbose := flags.Bool("v", false, "log more")
	if err := flags.Parse(args); err != nil {
		return err
	}
	s, err := site.Open(*config, site.Level(*verbose))
	if err != nil {
		return err
	}
	temporal, stopEngine, err := startEngine(ctx, s)
	if err != nil {
		return err
	}
	defer stopEngine()
	work, err := workside.Start(ctx, s, temporal)
	if err != nil {
		return err
	}
	defer work.Stop()
	if *noSlack {
		s.Log.Info("fabricd serves "+s.Config.Cluster.Name, zap.String("slack", "off"))
		<-ctx.Done()
		return nil
	}
	chat, err := chatside.Start(ctx, s, temporal, work.Archive)
	if err != nil {
		return err
	}
	s.Log.Info("fabricd serves " + s.Config.Cluster.Name)
	err = chatside.Attend(ctx, chat, *health)
	if ctx.Err() != nil {
		err = nil
	}
	return errors.Join(err, chat.Stop())
}

// startEngine embeds the engine, or connects to the cluster that the
// configuration names.
func startEngine(ctx context.Context, s *site.Site) (client.Client, func(), error) {
	t := s.Config.Temporal
	if t.Address != "" {
		c, err := s.Dial(ctx)
		if err != nil {
			return nil, nil, err
		}
		return c, c.Close, nil
	}
	server, err := embedded.Start(ctx, embedded.Options{DataDir: t.Embedded.DataDir, UIPort: t.Embedded.UIPort, Namespace: t.Namespace, Log: s.Log})
	if err != nil {
		return nil, nil, err
	}
	options := server.ClientOptions()
	options.Logger = engine.Logger(s.Log)
	c, err := client.Dial(options)
	if err != nil {
		server.Stop()
		return nil, nil, fmt.Errorf("connecting to the embedded engine: %w", err)
	}
	if link := server.UISignIn(); link != "" && term.IsTerminal(int(os.Stderr.Fd())) {
		// The link is a secret: to a person's own terminal only, past the log.
		fmt.Fprintln(os.Stderr, "The engine's page, for looking only:", link)
	}
	s.Log.Info("workflow engine", zap.String("address", server.Address()), zap.String("ui", server.UIAddress()))
	return c, func() { c.Close(); server.Stop() }, nil
}
