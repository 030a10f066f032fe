package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/fabricbot/fabricbot/testsuite/bench/figure"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// bench is one run.
type bench struct {
	sheet  *figure.Sheet
	log    io.Writer
	dir    string // for everything that is written
	bin    string // the programs under test
	rounds int
}

// group is a set of figures that share what they need.
type group struct {
	name string
	run  func(*bench, context.Context) error
}

var groups = []group{
	{"fanout", (*bench).fanOut},
	{"topology", (*bench).topology},
	{"chat", (*bench).chat},
	{"sweep", (*bench).sweep},
}

// errMissed is a figure outside its limit.
var errMissed = errors.New("figures outside their limits")

func run(ctx context.Context, args []string, out, log io.Writer) (err error) {
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(log)
	only := flags.String("only", "", "groups to run, separated by commas: "+strings.Join(names(), ", "))
	rounds := flags.Int("rounds", 5, "turns of each contender; the median counts")
	if err := flags.Parse(args); err != nil {
		return err
	}
	chosen, err := choose(*only)
	if err != nil {
		return err
	}
	if *rounds < 1 {
		return fmt.Errorf("-rounds %d: at least one is needed", *rounds)
	}
	dir, err := os.MkdirTemp("", "fabricbench")
	if err != nil {
		return fmt.Errorf("making a folder for the run: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	// The login user of the endpoints reads its keys below it.
	if err := os.Chmod(dir, 0o755); err != nil {
		return fmt.Errorf("opening the folder of the run: %w", err)
	}
	b := &bench{sheet: figure.NewSheet(out), log: log, dir: dir, bin: filepath.Join(dir, "bin"), rounds: *rounds}
	if err := b.build(ctx, ".", "./cmd/fabricctl"); err != nil {
		return err
	}
	for _, g := range chosen {
		if err := g.run(b, ctx); err != nil {
			return fmt.Errorf("%s: %w", g.name, err)
		}
	}
	if failed := b.sheet.Failed(); len(failed) > 0 {
		return errors.Join(fmt.Errorf("%w: %s", errMissed, strings.Join(failed, "; ")), b.sheet.Err())
	}
	return b.sheet.Err()
}

func names() (out []string) {
	for _, g := range groups {
		out = append(out, g.name)
	}
	return out
}

func choose(only string) ([]group, error) {
	if only == "" {
		return groups, nil
	}
	var chosen []group
	for word := range strings.SplitSeq(only, ",") {
		i := slices.IndexFunc(groups, func(g group) bool { return g.name == strings.TrimSpace(word) })
		if i < 0 {
			return nil, fmt.Errorf("no group %q; there are %s", word, strings.Join(names(), ", "))
		}
		chosen = append(chosen, groups[i])
	}
	return chosen, nil
}

// build makes a program of the module in folder module, from the sources that
// are being measured.
func (b *bench) build(ctx context.Context, module, pkg string) error {
	if err := os.MkdirAll(b.bin, 0o755); err != nil {
		return fmt.Errorf("making a folder for programs: %w", err)
	}
	cmd := exec.CommandContext(ctx, "go", "build", "-C", module, "-o", b.bin+"/", pkg)
	ownGroup(cmd)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("building %s: %w: %s", pkg, err, tail(out, 800))
	}
	return nil
}
