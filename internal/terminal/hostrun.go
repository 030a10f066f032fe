package terminal

import (
	"context"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fabricbot/fabricbot/fabric"
	"github.com/fabricbot/fabricbot/hostexec"
	"github.com/fabricbot/fabricbot/internal/redact"
	"github.com/fabricbot/fabricbot/internal/workside"
)

// hostRun runs one looking command on many hosts, without the engine, and
// groups equal answers.
func (c *command) hostRun(ctx context.Context, words []string) int {
	var expr fabric.HostExpr
	var timeout time.Duration
	var sudo bool
	flags := flag.NewFlagSet("host run", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.Var(&expr, "hosts", "")
	flags.DurationVar(&timeout, "timeout", time.Minute, "")
	flags.BoolVar(&sudo, "sudo", false, "")
	flags.BoolVar(&c.json, "json", c.json, "")
	if err := flags.Parse(words); err != nil {
		return c.usage(err)
	}
	argv := flags.Args()
	if expr == "" || len(argv) == 0 {
		return c.usage(fmt.Errorf("for example: host run -hosts node[001-016] -- ibstat"))
	}
	class, err := hostexec.Classify(argv)
	if err == nil && class != hostexec.Look {
		err = fmt.Errorf("%s changes the host; host run only looks", hostexec.Display(argv))
	}
	if err != nil {
		return c.usage(err)
	}
	s, err := c.site()
	if err != nil {
		return c.fail(err)
	}
	set, err := expr.Resolve(s.Inventory)
	if err != nil {
		return c.usage(err)
	}
	pool, err := workside.NewPool(s)
	if err != nil {
		return c.fail(err)
	}
	defer pool.Close()
	results := make([]hostexec.Result, set.Len())
	var all sync.WaitGroup
	for i, host := range set.Names() {
		all.Go(func() {
			res, err := pool.Look(ctx, host, hostexec.Command{Argv: argv, Sudo: sudo, Timeout: timeout})
			if err != nil && res.Detail == "" {
				res.Detail = err.Error()
			}
			res.Host = host
			results[i] = res
		})
	}
	all.Wait()
	return c.grouped(results)
}

// grouped prints equal answers once, under the hosts that gave them, most
// hosts first.
func (c *command) grouped(results []hostexec.Result) int {
	type group struct {
		Outcome string   `json:"outcome"`
		Exit    int      `json:"exit"`
		Stdout  string   `json:"stdout"`
		Stderr  string   `json:"stderr,omitempty"`
		Detail  string   `json:"detail,omitempty"`
		Hosts   []string `json:"hosts"`
	}
	var groups []*group
	index := map[string]*group{}
	bad := 0
	for _, r := range results {
		if r.Outcome != hostexec.OK {
			bad++
		}
		detail := r.Detail
		if r.Outcome == hostexec.OK || r.Outcome == hostexec.Failed && r.Exit >= 0 {
			detail = ""
		}
		key := fmt.Sprintf("%v|%d|%s|%s|%s", r.Outcome, r.Exit, r.Stdout, r.Stderr, detail)
		g := index[key]
		if g == nil {
			g = &group{Outcome: r.Outcome.String(), Exit: r.Exit, Stdout: string(r.Stdout), Stderr: string(r.Stderr), Detail: detail}
			index[key] = g
			groups = append(groups, g)
		}
		g.Hosts = append(g.Hosts, r.Host)
	}
	slices.SortStableFunc(groups, func(a, b *group) int { return len(b.Hosts) - len(a.Hosts) })
	status := ExitOK
	switch {
	case bad == len(results):
		status = ExitFailed
	case bad > 0:
		status = ExitPartly
	}
	if c.json {
		c.print(groups)
		return status
	}
	for _, g := range groups {
		set, err := fabric.NewHostSet(g.Hosts...)
		if err != nil {
			return c.fail(err)
		}
		fmt.Fprintf(c.Out, "── %s (%d) %s", set, set.Len(), g.Outcome)
		if g.Exit > 0 {
			fmt.Fprintf(c.Out, ", exit %d", g.Exit)
		}
		fmt.Fprintln(c.Out)
		for _, text := range []string{g.Stdout, g.Stderr, g.Detail} {
			// Hosts are not trusted with the terminal of whoever asks.
			if text = strings.TrimRight(redact.Clean(text), "\n"); text != "" {
				fmt.Fprintln(c.Out, text)
			}
		}
	}
	return status
}
