package lab

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// DefaultDir is where a lab keeps its files unless told otherwise.
const DefaultDir = "/run/fabriclab"

// errUsage marks a mistake of the person at the terminal.
var errUsage = errors.New("usage")

// Program is the command line around labs.
type Program struct {
	Stdout, Stderr io.Writer
	// Companions makes the services that `up -slack ADDRESS` starts beside
	// the lab. Nil when none are linked in; the flag is then refused.
	Companions func(slackAddress string) []Companion
}

// Run does what args say and returns the exit status: 0 done, 1 failed, 2 usage.
func (p Program) Run(ctx context.Context, args []string) int {
	err := p.dispatch(ctx, args)
	switch {
	case err == nil:
		return 0
	case errors.Is(err, flag.ErrHelp):
		return 0
	case errors.Is(err, errUsage):
		fmt.Fprintf(p.Stderr, "fabriclab: %v\n", err)
		return 2
	}
	fmt.Fprintf(p.Stderr, "fabriclab: %v\n", err)
	return 1
}

const usageText = `fabriclab builds a lab: a simulated InfiniBand fabric, two real subnet
managers, and hosts that are reached with real SSH.

  fabriclab up [-hosts N] [-fabric FILE] [-dir DIR] [-detach] [-slack ADDRESS]
  fabriclab down [-dir DIR]
  fabriclab status [-dir DIR] [-json]
  fabriclab fault [-dir DIR] WORD ARGUMENTS…
  fabriclab heal [-dir DIR] WORD ARGUMENTS…

Faults:
`

func (p Program) dispatch(ctx context.Context, args []string) error {
	if len(args) == 0 || args[0] == "help" || args[0] == "-h" || args[0] == "-help" || args[0] == "--help" {
		fmt.Fprint(p.Stdout, usageText+FaultUsage())
		return nil
	}
	fs := flag.NewFlagSet("fabriclab "+args[0], flag.ContinueOnError)
	fs.SetOutput(p.Stderr)
	dir := fs.String("dir", DefaultDir, "`directory` of the lab's files")
	var o Options
	var detach, asJSON bool
	var slack string
	switch args[0] {
	case "up":
		fs.IntVar(&o.Hosts, "hosts", 16, "`number` of hosts of a generated fat tree")
		fs.StringVar(&o.FabricFile, "fabric", "", "ibsim or ibnetdiscover `file` instead of a generated fabric")
		fs.IntVar(&o.Reachable, "reachable", 0, "`number` of hosts with an SSH server; the others are on the fabric only (0: all)")
		odd := fs.Bool("odd", true, "odd shells and Dropbear on the last two hosts")
		fs.StringVar(&o.User, "user", "root", "`user` of the inventory: root or ops")
		fs.StringVar(&o.Simulator, "simulator", SimulatorOwn, "fabricsim, or ibsim for the packaged `simulator`")
		fs.BoolVar(&detach, "detach", false, "return when the lab is up and leave it running")
		fs.StringVar(&slack, "slack", "", "`address` on which the Slack emulator listens")
		if err := p.parse(fs, args[1:]); err != nil {
			return err
		}
		o.PlainHosts = !*odd
	case "status":
		fs.BoolVar(&asJSON, "json", false, "print JSON")
		fallthrough
	case "down", "fault", "heal":
		if err := p.parse(fs, args[1:]); err != nil {
			return err
		}
	default:
		return fmt.Errorf("%w: no command %q; fabriclab help lists them", errUsage, args[0])
	}
	full, err := filepath.Abs(*dir)
	if err != nil {
		return err
	}
	o.Dir = full
	switch args[0] {
	case "up":
		if detach {
			return p.detach(ctx, full, args[1:])
		}
		return p.up(ctx, o, slack)
	case "down":
		if err := Down(full); err != nil {
			return err
		}
		fmt.Fprintf(p.Stdout, "the lab is down; its logs stay in %s\n", filepath.Join(full, "log"))
		return nil
	case "status":
		return p.status(full, asJSON)
	}
	a, err := ask(full, append([]string{args[0]}, fs.Args()...)...)
	if err == nil {
		fmt.Fprintln(p.Stdout, a.Text)
	}
	return err
}

func (p Program) parse(fs *flag.FlagSet, args []string) error {
	err := fs.Parse(args)
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		return fmt.Errorf("%w: %v", errUsage, err)
	}
	return err
}

func (p Program) up(ctx context.Context, o Options, slack string) error {
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	if slack != "" {
		if p.Companions == nil {
			return fmt.Errorf("%w: this build has no Slack emulator; leave -slack out", errUsage)
		}
		o.Companions = p.Companions(slack)
	}
	o.Log = func(format string, args ...any) { fmt.Fprintf(p.Stderr, "fabriclab: "+format+"\n", args...) }
	began := time.Now()
	l, err := Start(ctx, o)
	if err != nil {
		return err
	}
	s := l.state()
	fmt.Fprintf(p.Stdout, "lab of %d hosts up after %.1f s\n  inventory   %s\n  key         %s\n  known hosts %s\n  state       %s\n",
		len(s.Hosts), time.Since(began).Seconds(), s.Inventory, s.Key, s.KnownHosts, filepath.Join(s.Dir, "lab.json"))
	for _, name := range sortedKeys(s.Addresses) {
		fmt.Fprintf(p.Stdout, "  %-11s %s\n", name, s.Addresses[name])
	}
	fmt.Fprintf(p.Stdout, "try: ssh -F none -i %s -o UserKnownHostsFile=%s %s@%s ibstat\n", s.Key, s.KnownHosts, l.opts.User, s.Hosts[0].Address)
	select {
	case <-ctx.Done():
	case <-l.Done():
	}
	return l.Stop()
}

// detach starts the program once more without the flag, in a session of its
// own, and waits until that one is up or dead.
func (p Program) detach(ctx context.Context, dir string, args []string) error {
	if _, err := ask(dir, "status"); err == nil {
		return fmt.Errorf("a lab already runs in %s; stop it with fabriclab down -dir %s", dir, dir)
	}
	var rest []string
	for _, a := range args {
		if strings.TrimLeft(a, "-") != "detach" && strings.TrimLeft(a, "-") != "detach=true" {
			rest = append(rest, a)
		}
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(dir, "log"), 0o755); err != nil {
		return err
	}
	log, err := os.Create(filepath.Join(dir, "log", "fabriclab.log"))
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := exec.Command(self, append([]string{"up"}, rest...)...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("starting the lab: %w", err)
	}
	ended := make(chan struct{})
	go func() { cmd.Wait(); close(ended) }()
	for {
		text, err := os.ReadFile(log.Name())
		if err == nil && strings.Contains(string(text), "\ntry: ssh ") {
			fmt.Fprint(p.Stdout, string(text))
			return nil
		}
		select {
		case <-ended:
			text, _ := os.ReadFile(log.Name())
			return fmt.Errorf("the lab did not come up:\n%s", text)
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
}

func (p Program) status(dir string, asJSON bool) error {
	a, err := ask(dir, "status")
	if err != nil {
		return err
	}
	if asJSON {
		enc := json.NewEncoder(p.Stdout)
		enc.SetIndent("", "  ")
		return enc.Encode(a.Status)
	}
	fmt.Fprintf(p.Stdout, "lab in %s, process %d, up since %s\n", a.Status.Dir, a.Status.PID, a.Status.Started.Format(time.DateTime))
	for _, h := range a.Status.Hosts {
		up := "up"
		if !h.Up {
			up = "down"
		}
		fmt.Fprintf(p.Stdout, "%-10s %-14s %-5s %-8s %-9s %-10s %s\n", h.Name, h.Address, up, h.Role, h.Leaf, h.Daemon, h.Shell)
	}
	return nil
}
