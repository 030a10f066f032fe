package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/fabricbot/fabricbot/testsuite/stage"
)

// guide plays scenes and prints what people see.
type guide struct {
	s   *stage.Stage
	out io.Writer
}

// tour plays every operation that works.
func (g *guide) tour(ctx context.Context) error {
	scenes := []struct {
		title string
		play  func(context.Context) error
	}{
		{"A first backup of the topology", g.backup},
		{"Who manages the subnet", g.status},
		{"What is in the hosts", g.inspect},
		{"A picture of the fabric", g.draw},
		{"A cable is pulled", g.pulled},
		{"Mistakes are answered privately", g.mistakes},
		{"A dangerous operation waits for somebody else", g.restart},
		{"fabricd is killed in the middle of a run", g.killed},
		{"What was done", g.list},
	}
	for i, scene := range scenes {
		fmt.Fprintf(g.out, "━━ %d. %s\n\n", i+1, scene.title)
		bounded, cancel := context.WithTimeout(ctx, 5*time.Minute)
		err := scene.play(bounded)
		cancel()
		if err != nil {
			return fmt.Errorf("scene %d, %s: %w", i+1, strings.ToLower(scene.title), err)
		}
		fmt.Fprintln(g.out)
	}
	fmt.Fprintln(g.out, "Every scene ended as it should.")
	return nil
}

// say prints what somebody types or does, hear what the bot shows.
func (g *guide) say(who, what string) { fmt.Fprintf(g.out, "%s> %s\n", who, what) }

func (g *guide) hear(text string) {
	for line := range strings.Lines(strings.TrimSpace(text)) {
		fmt.Fprintf(g.out, "    │ %s\n", strings.TrimRight(line, "\n"))
	}
}

// perform runs an operation to its end and demands the state and the words.
func (g *guide) perform(ctx context.Context, command, state string, words ...string) (stage.Run, error) {
	g.say("operator-a", "/fabric "+command)
	r, err := g.s.Start(ctx, stage.UserA, command)
	if err != nil {
		return r, err
	}
	return g.ended(ctx, r, state, words...)
}

func (g *guide) ended(ctx context.Context, r stage.Run, state string, words ...string) (stage.Run, error) {
	r, got, err := g.s.AwaitEnd(ctx, r.ID)
	if err != nil {
		return r, err
	}
	text := g.s.Plain(r.Message)
	g.hear(text)
	if got != state {
		return r, fmt.Errorf("it ended %q instead of %q", got, state)
	}
	for _, w := range words {
		if !strings.Contains(text, w) {
			return r, fmt.Errorf("the message lacks %q", w)
		}
	}
	return r, nil
}

func (g *guide) backup(ctx context.Context) error {
	_, err := g.perform(ctx, "topology backup", "done", "switches", "stored")
	return err
}

func (g *guide) status(ctx context.Context) error {
	_, err := g.perform(ctx, "sm status", "done", "is master, 1 standby")
	return err
}

func (g *guide) inspect(ctx context.Context) error {
	_, err := g.perform(ctx, "host inspect -hosts node[001-004]", "done", "4 hosts")
	return err
}

func (g *guide) draw(ctx context.Context) error {
	r, err := g.perform(ctx, "topology draw", "done", "hosts on")
	if err != nil {
		return err
	}
	deadline := time.Now().Add(20 * time.Second)
	for {
		names := map[string]bool{}
		for _, f := range g.s.Slack.Files() {
			names[f.Name] = true
		}
		if names["topology.png"] && names["topology.svg"] {
			fmt.Fprintf(g.out, "    │ (in the thread: topology.png and topology.svg)\n")
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("run %s has no picture in its thread", r.ID)
		}
		time.Sleep(100 * time.Millisecond)
	}
}

func (g *guide) pulled(ctx context.Context) error {
	g.say("somebody", "pulls the cable of node007")
	if _, err := g.s.Lab.Fault(ctx, "cable-pull", "node007[1]"); err != nil {
		return err
	}
	defer func() { _, _ = g.s.Lab.Heal(ctx, "cable-pull", "node007[1]") }()
	_, err := g.perform(ctx, "topology diff", "done", "node007")
	return err
}

func (g *guide) mistakes(ctx context.Context) error {
	for _, m := range []struct{ user, name, channel, text, want string }{
		{stage.UserA, "operator-a", stage.Channel, "topolgy backup", "topology backup"},
		{stage.UserA, "operator-a", stage.Channel, "host inspect", "is missing"},
		{stage.UserA, "operator-a", stage.Channel, "host inspect -hosts node[009-001]", "node[009-001]"},
		{stage.UserA, "operator-a", stage.Channel, "host inspect -hosts node17", "did you mean node007?"},
		{stage.Viewer, "viewer", stage.Channel, "sm restart", "sm restart"},
	} {
		g.say(m.name, "/fabric "+m.text)
		answer, err := g.s.Type(ctx, m.user, m.channel, m.text)
		if err != nil {
			return err
		}
		g.hear("(only " + m.name + " sees this) " + answer)
		if !strings.Contains(answer, m.want) {
			return fmt.Errorf("the answer lacks %q: %s", m.want, answer)
		}
	}
	return nil
}

// starts counts the starts of every subnet manager so far.
func (g *guide) starts() (map[string]int, error) {
	counts := map[string]int{}
	for _, h := range g.s.Lab.Hosts {
		n, err := g.s.Lab.SMStarts(h.Name)
		if err != nil {
			return nil, err
		}
		if n > 0 {
			counts[h.Name] = n
		}
	}
	return counts, nil
}

func (g *guide) approved(ctx context.Context, command string) (stage.Run, error) {
	g.say("operator-a", "/fabric "+command)
	r, err := g.s.Start(ctx, stage.UserA, command)
	if err != nil {
		return r, err
	}
	if r, err = g.s.Await(ctx, r.ID, `"action_id":"`+stage.Approve); err != nil {
		return r, err
	}
	g.hear(g.s.Plain(r.Message))
	return r, nil
}

func (g *guide) restart(ctx context.Context) error {
	before, err := g.starts()
	if err != nil {
		return err
	}
	r, err := g.approved(ctx, "sm restart")
	if err != nil {
		return err
	}
	g.say("operator-a", "presses Approve")
	private, err := g.s.Press(ctx, r, stage.UserA, stage.Approve)
	if err != nil {
		return err
	}
	if private == "" {
		return errors.New("the requester's own click got no private answer")
	}
	all := g.s.Slack.Ephemerals(stage.UserA)
	g.hear("(only operator-a sees this) " + g.s.Plain(all[len(all)-1]))
	g.say("operator-b", "presses Approve")
	if _, err := g.s.Press(ctx, r, stage.UserB, stage.Approve); err != nil {
		return err
	}
	if _, err := g.ended(ctx, r, "done", "without a master", "LIDs unchanged"); err != nil {
		return err
	}
	return g.once(before)
}

// once demands that every subnet manager was started exactly once more.
func (g *guide) once(before map[string]int) error {
	after, err := g.starts()
	if err != nil {
		return err
	}
	for host, n := range after {
		if n != before[host]+1 {
			return fmt.Errorf("the subnet manager of %s was started %d times", host, n-before[host])
		}
		fmt.Fprintf(g.out, "    (the subnet manager of %s was started once)\n", host)
	}
	return nil
}

func (g *guide) killed(ctx context.Context) error {
	before, err := g.starts()
	if err != nil {
		return err
	}
	r, err := g.approved(ctx, "sm restart")
	if err != nil {
		return err
	}
	g.say("operator-b", "presses Approve")
	if _, err := g.s.Press(ctx, r, stage.UserB, stage.Approve); err != nil {
		return err
	}
	if r, err = g.s.Await(ctx, r.ID, "restart the standby"); err != nil {
		return err
	}
	g.say("somebody", "kill -9 fabricd")
	g.s.Kill()
	time.Sleep(2 * time.Second)
	g.say("systemd", "starts fabricd again")
	if err := g.s.StartDaemon(ctx); err != nil {
		return err
	}
	if _, err := g.ended(ctx, r, "done", "LIDs unchanged"); err != nil {
		return err
	}
	return g.once(before)
}

func (g *guide) list(ctx context.Context) error {
	g.say("operator-a", "/fabric runs list")
	answer, err := g.s.Type(ctx, stage.UserA, stage.Channel, "runs list")
	g.hear("(only operator-a sees this) " + answer)
	return err
}
