package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/fabricbot/fabricbot/hostexec/hosttest"
	"github.com/fabricbot/fabricbot/testsuite/bench/figure"
	"github.com/fabricbot/fabricbot/testsuite/slackemu"
)

// The chat figures: how many commands, over how many runs that stay alive, at
// which pace. Slack takes about one message a second in a channel, so a
// quicker pace would measure its limit (docs.slack.dev/apis/web-api/rate-limits).
const (
	chatCommands = 100
	chatAlive    = 50
	chatPace     = 1100 * time.Millisecond
	ackMost      = 0.1 // s, of the 3 s that Slack gives
	firstMost    = 1.0 // s
	messageWait  = time.Minute
	memoryMost   = 600 // MB
	// slowAnswer and aliveHosts keep a run going for longer than the measuring
	// takes: a host asks at most four at once, so the runs wait for each other.
	slowAnswer = 25 * time.Second
	aliveHosts = 20
)

// fakeHosts are in-process SSH servers: what is measured is the way of a
// command, not what it does on hosts.
type fakeHosts struct {
	fast, slow *hosttest.Fleet
	lines      []hostLine
	login      sshFiles
}

func (h *fakeHosts) close() {
	for _, f := range []*hosttest.Fleet{h.fast, h.slow} {
		if f != nil {
			f.Close()
		}
	}
}

func (b *bench) startFakes(fast, slow int) (*fakeHosts, error) {
	h := &fakeHosts{login: sshFiles{user: "root"}}
	for _, kind := range []struct {
		name  string
		n     int
		opt   hosttest.Options
		fleet **hosttest.Fleet
	}{{"fast", fast, hosttest.Options{}, &h.fast}, {"slow", slow, hosttest.Options{}, &h.slow}} {
		dir := filepath.Join(b.dir, kind.name)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return h, fmt.Errorf("making a folder for fake hosts: %w", err)
		}
		f, err := hosttest.Start(dir, kind.n, kind.opt)
		if err != nil {
			return h, err
		}
		*kind.fleet = f
		for i, host := range f.Hosts {
			if f == h.slow {
				host.Handle(func(hosttest.Call) (hosttest.Transcript, bool) { return hosttest.Transcript{Delay: slowAnswer}, true })
			}
			h.lines = append(h.lines, hostLine{fmt.Sprintf("%s%04d", kind.name, i+1), "127.0.0.1", host.Port})
		}
		h.login.keys = append(h.login.keys, f.KeyFile)
		h.login.knownHosts = append(h.login.knownHosts, f.KnownHosts)
	}
	return h, nil
}

// chat measures how soon a command is answered, alone and beside other runs.
func (b *bench) chat(ctx context.Context) error {
	hosts, err := b.startFakes(chatCommands, chatAlive)
	defer hosts.close()
	if err != nil {
		return err
	}
	s, err := b.startSite(ctx, hosts.lines, hosts.login)
	if err != nil {
		return err
	}
	defer s.close()
	if err := b.commands(ctx, s, ""); err != nil {
		return err
	}
	for i := range chatAlive {
		if _, _, err := s.command(ctx, "/fabric host inspect -hosts "+neighbours(i)); err != nil {
			return err
		}
	}
	if err := b.commands(ctx, s, fmt.Sprintf(", %d runs alive", chatAlive)); err != nil {
		return err
	}
	if n := alive(s.slack.Messages(channel)); n < chatAlive {
		return fmt.Errorf("only %d of %d runs were alive to the end", n, chatAlive)
	}
	peak, err := s.peakMB()
	if err != nil {
		return err
	}
	b.sheet.Put(figure.AtMost("memory of fabricd after the commands", peak, "MB", memoryMost, 1))
	return nil
}

// commands sends one command after the other, each for another host.
func (b *bench) commands(ctx context.Context, s *site, beside string) error {
	var acks, firsts []float64
	for i := range chatCommands {
		ack, first, err := s.command(ctx, fmt.Sprintf("/fabric host inspect -hosts fast%04d", i+1))
		if err != nil {
			return err
		}
		acks, firsts = append(acks, ack.Seconds()), append(firsts, first.Seconds())
	}
	for _, f := range []figure.Figure{
		figure.AtMost("command to acknowledgement, p99"+beside, figure.Quantile(acks, 0.99), "s", ackMost, len(acks)),
		figure.AtMost("command to first channel message, p99"+beside, figure.Quantile(firsts, 0.99), "s", firstMost, len(firsts)),
	} {
		middle := acks
		if strings.Contains(f.Name, "message") {
			middle = firsts
		}
		f.Note = fmt.Sprintf("median %.3g s", figure.Median(middle))
		b.sheet.Put(f)
	}
	return nil
}

// command types a slash command and waits for the run's message; it returns
// no sooner than the pace allows another.
func (s *site) command(ctx context.Context, text string) (ack, first time.Duration, err error) {
	before := tops(s.slack.Messages(channel))
	begin := time.Now()
	r, err := s.slack.Slash(operator, channel, text)
	ack = time.Since(begin)
	if err == nil && r.Outcome != slackemu.Acked {
		err = fmt.Errorf("it was not acknowledged: %v", r.Outcome)
	}
	if err != nil {
		return ack, 0, fmt.Errorf("sending %q: %w", text, err)
	}
	waiting, cancel := context.WithTimeout(ctx, messageWait)
	defer cancel()
	err = s.until(waiting, func() bool { return tops(s.slack.Messages(channel)) > before })
	first = time.Since(begin)
	if err != nil {
		return ack, first, fmt.Errorf("waiting for the message of %q: %w; fabricd said: %s", text, err, s.said.tail(600))
	}
	select {
	case <-time.After(chatPace - first):
	case <-ctx.Done():
		return ack, first, ctx.Err()
	}
	return ack, first, nil
}

// until looks every 2 ms, which bounds the error of what it times.
func (s *site) until(ctx context.Context, ok func() bool) error {
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		case <-s.gone:
			return fmt.Errorf("fabricd has ended")
		}
	}
	return nil
}

// tops counts the bot's messages that are no replies in a thread.
func tops(all []slackemu.Message) (n int) {
	for _, m := range all {
		if m.BotID != "" && m.Ephemeral == "" && (m.ThreadTS == "" || m.ThreadTS == m.TS) {
			n++
		}
	}
	return n
}

// neighbours names the slow hosts from the i-th on, so that every run has
// other ones; two runs over the same hosts would be joined.
func neighbours(i int) string {
	names := make([]string, aliveHosts)
	for k := range names {
		names[k] = fmt.Sprintf("slow%04d", (i+k)%chatAlive+1)
	}
	return strings.Join(names, ",")
}

// alive counts the messages of runs that have not ended.
func alive(all []slackemu.Message) (n int) {
	for _, m := range all {
		if tops([]slackemu.Message{m}) == 1 && strings.Contains(m.Text, "running") {
			n++
		}
	}
	return n
}
