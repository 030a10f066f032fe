// Command fabricbot is the Slack half of a site: commands in, messages out. It
// holds the Slack tokens and cannot log in to hosts.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/fabricbot/fabricbot/internal/chatside"
	"github.com/fabricbot/fabricbot/internal/site"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "fabricbot:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("fabricbot", flag.ExitOnError)
	config := flags.String("config", "", "configuration file; default FABRICBOT_CONFIG")
	health := flags.String("health", "", "loopback address that answers /healthz, such as 127.0.0.1:8081")
	verbose := flags.Bool("v", false, "log more")
	if err := flags.Parse(args); err != nil {
		return err
	}
	s, err := site.Open(*config, site.Level(*verbose))
	if err != nil {
		return err
	}
	temporal, err := s.Dial(ctx)
	if err != nil {
		return err
	}
	defer temporal.Close()
	archive, err := s.OpenArchive(ctx)
	if err != nil {
		return err
	}
	side, err := chatside.Start(ctx, s, temporal, archive)
	if err != nil {
		return err
	}
	s.Log.Info("fabricbot serves " + s.Config.Cluster.Name)
	return errors.Join(ignoreEnd(ctx, chatside.Attend(ctx, side, *health)), side.Stop())
}

// ignoreEnd drops the error that an ordered end brings.
func ignoreEnd(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}
