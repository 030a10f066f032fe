// Command fabricworker is the hands of a site: it runs workflows and logs in to
// hosts. It holds the SSH keys and no Slack token.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/fabricbot/fabricbot/internal/site"
	"github.com/fabricbot/fabricbot/internal/workside"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "fabricworker:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("fabricworker", flag.ExitOnError)
	config := flags.String("config", "", "configuration file; default FABRICBOT_CONFIG")
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
	side, err := workside.Start(ctx, s, temporal)
	if err != nil {
		return err
	}
	s.Log.Info("fabricworker serves " + s.Config.Cluster.Name)
	<-ctx.Done()
	side.Stop()
	return nil
}
