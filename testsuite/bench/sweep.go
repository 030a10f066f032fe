package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/fabricbot/fabricbot/testsuite/bench/figure"
	"github.com/fabricbot/fabricbot/testsuite/slackemu"
)

// The sweep figures.
const (
	sweepFew    = 100
	sweepMany   = 1000
	sweepMost   = 5.0 // ms a host
	sweepWithin = 5 * time.Minute
)

// sweep measures a read-only run over many hosts from the command to its final
// message: engine, frame, archive, chat and one SSH command a host.
func (b *bench) sweep(ctx context.Context) error {
	hosts, err := b.startFakes(sweepMany, 1)
	defer hosts.close()
	if err != nil {
		return err
	}
	s, err := b.startSite(ctx, hosts.lines, hosts.login)
	if err != nil {
		return err
	}
	defer s.close()
	over := func(n int) func(context.Context) (figure.Sample, error) {
		return func(ctx context.Context) (figure.Sample, error) {
			took, err := s.wholeRun(ctx, fmt.Sprintf("/fabric host inspect -hosts fast[0001-%04d]", n))
			return figure.Sample{Wall: took}, err
		}
	}
	few, many := fmt.Sprintf("%d hosts", sweepFew), fmt.Sprintf("%d hosts", sweepMany)
	contenders := []figure.Contender{{Name: few, Run: over(sweepFew)}, {Name: many, Run: over(sweepMany)}}
	if _, err := contenders[1].Run(ctx); err != nil { // opens the connections
		return err
	}
	taken, err := figure.Rounds(ctx, b.rounds, contenders, closing)
	if err != nil {
		return err
	}
	perHost := func(name string, n int) float64 { return figure.Median(figure.Walls(taken[name])) / float64(n) * 1e3 }
	whole := figure.Figure{Name: "whole run over " + few + ", command to final message", Value: figure.Median(figure.Walls(taken[few])), Unit: "s", N: b.rounds}
	b.sheet.Put(whole)
	f := figure.AtMost("whole run over "+many+", cost per host", perHost(many, sweepMany), "ms", sweepMost, b.rounds)
	f.Note = "command to final message divided by the hosts, with the test hosts' own work on the same processors"
	b.sheet.Put(f)
	peak, err := s.peakMB()
	if err != nil {
		return err
	}
	b.sheet.Put(figure.AtMost("memory of fabricd after the sweeps", peak, "MB", memoryMost, 1))
	b.sheet.Skip("whole run of hostname on 128 hosts against pdsh", "no operation of the channel asks for one hostname alone")
	b.sheet.Skip("rollout, cost per child workflow", "needs a change that is harmless on every host; the engine's own figure is in package embedded")
	return nil
}

// closing lets the run before end in the engine, which is a moment after its
// final message: the same command sooner would join it.
func closing(ctx context.Context) error {
	select {
	case <-time.After(2 * time.Second):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// wholeRun types a command and waits until the run's message says its end.
func (s *site) wholeRun(ctx context.Context, text string) (time.Duration, error) {
	before := len(s.slack.Messages(channel))
	begin := time.Now()
	r, err := s.slack.Slash(operator, channel, text)
	if err == nil && r.Outcome != slackemu.Acked {
		err = fmt.Errorf("it was not acknowledged: %v", r.Outcome)
	}
	if err != nil {
		return 0, fmt.Errorf("sending %q: %w", text, err)
	}
	waiting, cancel := context.WithTimeout(ctx, sweepWithin)
	defer cancel()
	state := ""
	err = s.until(waiting, func() bool {
		all := s.slack.Messages(channel)
		state = ended(all[min(before, len(all)):])
		return state != ""
	})
	took := time.Since(begin)
	if err == nil && state != "done" {
		err = fmt.Errorf("it ended as %q", state)
	}
	if err != nil {
		return took, fmt.Errorf("following %q: %w; fabricd said: %s", text, err, s.said.tail(600))
	}
	return took, nil
}

// ended is how the run of the first message in the channel ended, or "".
func ended(all []slackemu.Message) string {
	for _, m := range all {
		if tops([]slackemu.Message{m}) == 0 {
			continue
		}
		for _, state := range []string{"done", "failed", "partly failed", "cancelled"} {
			if strings.Contains(m.Text, ": "+state) {
				return state
			}
		}
	}
	return ""
}
