package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/fabricbot/fabricbot/hostexec"
	"github.com/fabricbot/fabricbot/hostexec/sshexec"
	"github.com/fabricbot/fabricbot/testsuite/bench/farm"
	"github.com/fabricbot/fabricbot/testsuite/bench/figure"
)

// The fan-out that design and figures speak of.
const (
	fanHosts  = 128
	fanAtOnce = 64
)

// Names of the contenders, as they stand in the figures.
const (
	byFabricctl = "fabricctl"
	byPool      = "pool"
	byWarmPool  = "warm pool"
	byBare      = "bare ssh sessions"
	byPdsh      = "pdsh"
	byPdshSame  = "pdsh with curve25519"
	byClush     = "clush"
	byAnsible   = "ansible with ControlPersist"
)

// fanOut lets all contenders run hostname on all hosts, in turns.
func (b *bench) fanOut(ctx context.Context) error {
	if why := farm.Missing(); why != "" {
		b.sheet.Skip("fan-out", why)
		return nil
	}
	f, err := farm.Start(ctx, filepath.Join(b.dir, "farm"), fanHosts)
	if err != nil {
		return err
	}
	defer f.Close()
	contenders, closeAll, err := b.fanContenders(ctx, f)
	defer closeAll()
	if err != nil {
		return err
	}
	taken, err := figure.Rounds(ctx, b.rounds, contenders, f.Settle)
	if err != nil {
		return err
	}
	b.fanFigures(taken)
	return nil
}

func (b *bench) fanContenders(ctx context.Context, f *farm.Farm) (all []figure.Contender, closeAll func(), err error) {
	var closers []func()
	closeAll = func() {
		for _, c := range closers {
			c()
		}
	}
	config, err := b.fanConfig(f)
	if err != nil {
		return nil, closeAll, err
	}
	fabricctl := filepath.Join(b.bin, "fabricctl")
	all = append(all, figure.Contender{Name: byFabricctl, Run: func(ctx context.Context) (figure.Sample, error) {
		out, s, err := execute(ctx, nil, fabricctl, "-config", config, "host", "run", "-hosts", hostRange(f.Hosts), "-json", "--", "hostname")
		if err == nil {
			err = groupedAll(out, f.Hosts)
		}
		return s, err
	}})
	all = append(all, figure.Contender{Name: byPool, Run: func(ctx context.Context) (figure.Sample, error) {
		p, err := fanPool(f)
		if err != nil {
			return figure.Sample{}, err
		}
		defer p.Close()
		return everywhere(ctx, p, f)
	}})
	warm, err := fanPool(f)
	if err != nil {
		return nil, closeAll, err
	}
	closers = append(closers, warm.Close)
	if _, err := everywhere(ctx, warm, f); err != nil {
		return nil, closeAll, err
	}
	all = append(all, figure.Contender{Name: byWarmPool, Run: func(ctx context.Context) (figure.Sample, error) { return everywhere(ctx, warm, f) }})
	bare, err := openBare(f)
	closers = append(closers, bare.close)
	if err != nil {
		return nil, closeAll, err
	}
	all = append(all, figure.Contender{Name: byBare, Run: bare.run})
	all = append(all, b.parallelShells(f)...)
	if a := b.ansible(ctx, f); a != nil {
		closers = append(closers, a.close)
		all = append(all, figure.Contender{Name: byAnsible, Run: a.run})
	}
	f.Keep()
	return all, closeAll, nil
}

// parallelShells are pdsh and clush, where they are installed.
func (b *bench) parallelShells(f *farm.Farm) (all []figure.Contender) {
	names := strings.Join(f.Names(), ",")
	pdsh := func(options string) func(context.Context) (figure.Sample, error) {
		return func(ctx context.Context) (figure.Sample, error) {
			out, s, err := execute(ctx, []string{"PDSH_SSH_ARGS_APPEND=-F " + f.Config + options},
				"pdsh", "-R", "ssh", "-f", strconv.Itoa(fanAtOnce), "-l", farm.User, "-w", names, "hostname")
			if err == nil {
				err = answeredAll(out, ": ", f.Names())
			}
			return s, err
		}
	}
	clush := func(ctx context.Context) (figure.Sample, error) {
		out, s, err := execute(ctx, nil, "clush", "-f", strconv.Itoa(fanAtOnce), "-l", farm.User, "-o", "-F "+f.Config, "-w", names, "hostname")
		if err == nil {
			err = answeredAll(out, ": ", f.Names())
		}
		return s, err
	}
	for _, c := range []figure.Contender{
		{Name: byPdsh, Run: pdsh("")}, {Name: byPdshSame, Run: pdsh(" -oKexAlgorithms=curve25519-sha256")}, {Name: byClush, Run: clush},
	} {
		program, _, _ := strings.Cut(c.Name, " ")
		if _, err := exec.LookPath(program); err != nil {
			b.sheet.Skip("fan-out against "+c.Name, program+" is not installed")
			continue
		}
		all = append(all, c)
	}
	return all
}

func fanPool(f *farm.Farm) (*sshexec.Pool, error) {
	where := map[string]sshexec.Endpoint{}
	for i, name := range f.Names() {
		where[name] = sshexec.Endpoint{Address: f.IP(i), Port: f.Port, User: farm.User}
	}
	return sshexec.New(sshexec.Options{
		Resolve:    func(host string) (sshexec.Endpoint, error) { return where[host], nil },
		KnownHosts: []string{f.KnownHosts}, Keys: []string{f.Key}, Overall: fanAtOnce, ConnectTimeout: time.Minute, StartTimeout: time.Minute,
	})
}

// everywhere runs hostname on every host through the pool.
func everywhere(ctx context.Context, p *sshexec.Pool, f *farm.Farm) (figure.Sample, error) {
	names := f.Names()
	errs := make([]error, len(names))
	var all sync.WaitGroup
	begin := time.Now()
	for i, host := range names {
		all.Go(func() {
			r, err := p.Look(ctx, host, hostexec.Command{Argv: []string{"hostname"}})
			if err == nil && (r.Exit != 0 || len(r.Stdout) == 0) {
				err = fmt.Errorf("hostname on %s: exit %d, %d bytes", host, r.Exit, len(r.Stdout))
			}
			errs[i] = err
		})
	}
	all.Wait()
	s := figure.Sample{Wall: time.Since(begin)}
	for _, err := range errs {
		if err != nil {
			return s, err
		}
	}
	return s, nil
}

// answeredAll checks that every host's name begins a line that goes on with
// something after the separator.
func answeredAll(out []byte, separator string, names []string) error {
	seen := map[string]bool{}
	for line := range strings.Lines(string(out)) {
		if name, rest, ok := strings.Cut(strings.TrimSpace(line), separator); ok && rest != "" {
			seen[name] = true
		}
	}
	for _, n := range names {
		if !seen[n] {
			return fmt.Errorf("%s gave no answer; %d of %d did", n, len(seen), len(names))
		}
	}
	return nil
}

// groupedAll checks fabricctl's groups.
func groupedAll(out []byte, want int) error {
	var groups []struct {
		Outcome, Stdout string
		Hosts           []string
	}
	if err := json.Unmarshal(out, &groups); err != nil {
		return fmt.Errorf("reading fabricctl's answer: %w", err)
	}
	n := 0
	for _, g := range groups {
		if g.Outcome == hostexec.OK.String() && g.Stdout != "" {
			n += len(g.Hosts)
		}
	}
	if n != want {
		return fmt.Errorf("%d of %d hosts answered", n, want)
	}
	return nil
}
