package demo

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/fabricbot/fabricbot/testsuite/stage"
)

// DefaultPage is where the Slack emulator's page is shown.
const DefaultPage = "127.0.0.1:8065"

// Main runs the demo and returns the exit status.
func Main(ctx context.Context, args []string, out, errs io.Writer) int {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, args, out); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(errs, "fabriclab demo:", err)
		return 1
	}
	return 0
}

func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("fabriclab demo", flag.ContinueOnError)
	tour := flags.Bool("tour", false, "play every operation and end")
	hosts := flags.Int("hosts", 16, "hosts of the lab")
	page := flags.String("slack", DefaultPage, "address of the Slack emulator's page")
	ui := flags.Int("ui", 8233, "port of the workflow engine's page, 0 for none")
	dir := flags.String("dir", "", "folder; a new one under /run without")
	if err := flags.Parse(args); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	if *dir == "" {
		if *dir, err = os.MkdirTemp("/run", "fabricbot-demo-"); err != nil {
			return err
		}
		defer os.RemoveAll(*dir)
	}
	if *tour {
		*page, *ui = "127.0.0.1:0", 0
	}
	begun := time.Now()
	fmt.Fprintf(out, "Building a lab of %d hosts, a Slack emulator and fabricd …\n", *hosts)
	s, err := stage.Up(ctx, stage.Options{
		Hosts: *hosts, Dir: *dir, Fabricd: filepath.Join(filepath.Dir(self), "fabricd"), SlackListen: *page, UIPort: *ui,
		Log: func(format string, a ...any) { fmt.Fprintf(out, "  "+format+"\n", a...) },
	})
	if err != nil {
		return err
	}
	defer func() { _ = s.Down() }()
	fmt.Fprintf(out, "Up after %.1f s.\n\n", time.Since(begun).Seconds())
	g := &guide{s: s, out: out}
	if *tour {
		return g.tour(ctx)
	}
	return g.greet(ctx)
}

// greet runs the first two operations and stays until it is ended.
func (g *guide) greet(ctx context.Context) error {
	if err := g.backup(ctx); err != nil {
		return err
	}
	if err := g.status(ctx); err != nil {
		return err
	}
	fmt.Fprintf(g.out, `
The channel is at     %s
                      choose who you are on the left and type /fabric help
The same words here   FABRICBOT_CONFIG=%s bin/fabricctl sm status
Break something       bin/fabriclab fault -dir %s cable-pull 'leaf01[1]'
Log of fabricd        %s

Ctrl-C ends everything.
`, g.s.Slack.URL(), g.s.Config(), g.s.Lab.Dir, g.s.DaemonLog())
	select {
	case <-ctx.Done():
		return nil
	case <-g.s.Ended():
		return fmt.Errorf("fabricd has ended; see %s", g.s.DaemonLog())
	}
}
