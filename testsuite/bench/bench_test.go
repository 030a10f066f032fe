package main

import (
	"context"
	"io"
	"strings"
	"testing"

	"github.com/fabricbot/fabricbot/testsuite/slackemu"
)

func TestAnswersAreCounted(t *testing.T) {
	names := []string{"node001", "node002"}
	for _, c := range []struct{ name, out, separator, wrong string }{
		{"all", "node002: vm\nnode001: vm\n", ": ", ""},
		{"one_missing", "node001: vm\n", ": ", "node002 gave no answer; 1 of 2"},
		{"empty_answer", "node001: vm\nnode002: \n", ": ", "node002"},
		{"ansible", "node001 | CHANGED | rc=0 | (stdout) vm\nnode002 | CHANGED | rc=0 | (stdout) vm\n", " | CHANGED | rc=0 | ", ""},
		{"ansible_unreachable", "node001 | CHANGED | rc=0 | (stdout) vm\nnode002 | UNREACHABLE!: no\n", " | CHANGED | rc=0 | ", "node002"},
	} {
		err := answeredAll([]byte(c.out), c.separator, names)
		if got := err != nil; got != (c.wrong != "") || got && !strings.Contains(err.Error(), c.wrong) {
			t.Errorf("%s: %v, want %q", c.name, err, c.wrong)
		}
	}
	good := `[{"outcome":"ok","stdout":"vm\n","hosts":["node001"]},{"outcome":"ok","stdout":"x\n","hosts":["node002"]}]`
	if err := groupedAll([]byte(good), 2); err != nil {
		t.Error(err)
	}
	for _, bad := range []string{`[{"outcome":"ok","stdout":"vm\n","hosts":["node001"]},{"outcome":"unreachable","hosts":["node002"]}]`, `nonsense`} {
		if groupedAll([]byte(bad), 2) == nil {
			t.Errorf("%s was taken for two answers", bad)
		}
	}
}

func TestRunsAreReadFromMessages(t *testing.T) {
	say := func(thread, text string) slackemu.Message {
		return slackemu.Message{BotID: "B1", TS: "1.0", ThreadTS: thread, Version: slackemu.Version{Text: text}}
	}
	all := []slackemu.Message{say("0.5", "x: done"), say("", "host inspect on bench: running (run 1)"), {TS: "2.0", Version: slackemu.Version{Text: "hello: done"}}}
	if n, m, s := tops(all), alive(all), ended(all); n != 1 || m != 1 || s != "" {
		t.Errorf("%d messages, %d alive, ended %q", n, m, s)
	}
	all = append(all, say("", "host inspect on bench: done, 1 hosts"))
	if n, m, s := tops(all), alive(all), ended(all); n != 2 || m != 1 || s != "done" {
		t.Errorf("%d messages, %d alive, ended %q", n, m, s)
	}
}

func TestSlowRunsDiffer(t *testing.T) {
	seen := map[string]bool{}
	for i := range chatAlive {
		seen[neighbours(i)] = true
	}
	if len(seen) != chatAlive {
		t.Errorf("%d different sets of hosts, want %d", len(seen), chatAlive)
	}
}

func TestWrongArgumentsStartNothing(t *testing.T) {
	for _, args := range [][]string{{"-only", "speed"}, {"-rounds", "0"}, {"-nonsense"}} {
		var out strings.Builder
		if err := run(context.Background(), args, &out, io.Discard); err == nil || out.Len() > 0 {
			t.Errorf("%v: error %v, printed %q", args, err, out.String())
		}
	}
}
