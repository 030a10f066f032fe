package demo

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/fabricbot/fabricbot/internal/engine"
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

func run(ctx context.Context, args []string, out io.Writer) (err error) {
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
	if *tour {
		*page, *ui = "127.0.0.1:0", 0
	}
	if err := vacant(*page, *ui); err != nil {
		return err
	}
	if *dir == "" {
		if *dir, err = os.MkdirTemp("/run", "fabricbot-demo-"); err != nil {
			return err
		}
		defer func() {
			if err == nil {
				err = os.RemoveAll(*dir)
				return
			}
			fmt.Fprintf(out, "The files stay in %s.\n", *dir)
		}()
	}
	log := &labLog{out: out}
	begun := time.Now()
	fmt.Fprintf(out, "Building a lab of %d hosts, a Slack emulator and fabricd …\n", *hosts)
	s, err := stage.Up(ctx, stage.Options{
		Hosts: *hosts, Dir: *dir, Fabricd: filepath.Join(filepath.Dir(self), "fabricd"), SlackListen: *page, UIPort: *ui,
		Log: log.line,
	})
	if err != nil {
		return err
	}
	defer func() { _ = s.Down() }()
	if err := log.move(filepath.Join(*dir, "lab.log")); err != nil {
		return err
	}
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
The channel is at     %[1]s
                      choose who you are on the left and type /fabric help
Who is there          operator-a and operator-b run everything and, being in
                      @fabric-approvers, approve what the other asked for;
                      viewer and the others look and ask for help
The same words here   export FABRICBOT_CONFIG=%[2]s
                      bin/fabricctl sm status    you count as operator-a here
Kill fabricd          kill -9 %[5]d    it is started again, and runs go on
Break something       bin/fabriclab fault -dir %[3]s cable-pull '%[7]s[1]'
Mend it               bin/fabriclab heal -dir %[3]s cable-pull '%[7]s[1]'
                      bin/fabriclab help lists what else can break
The engine's page     %[6]s
Log of fabricd        %[4]s

Ctrl-C ends everything.
`, g.s.Slack.URL(), g.s.Config(), g.s.Lab.Dir, g.s.DaemonLog(), g.s.PID(), g.enginePage(), g.s.Lab.Hosts[len(g.s.Lab.Hosts)-1].Name)
	return g.keep(ctx, g.s)
}

// enginePage is the sign-in link of the workflow engine's page.
func (g *guide) enginePage() string {
	link, err := engine.UISignIn(g.s.EngineDir())
	if err != nil {
		return err.Error()
	}
	return link
}

// vacant says which flag moves an address that another program has, before
// anything is built.
func vacant(page string, ui int) error {
	for address, flag := range map[string]string{page: "-slack ADDRESS", fmt.Sprintf("127.0.0.1:%d", ui): "-ui PORT"} {
		l, err := net.Listen("tcp", address)
		if errors.Is(err, syscall.EADDRINUSE) {
			return fmt.Errorf("%s is taken by another program; choose another with `fabriclab demo %s`", address, flag)
		}
		if err != nil {
			return err
		}
		if err := l.Close(); err != nil {
			return err
		}
	}
	return nil
}
