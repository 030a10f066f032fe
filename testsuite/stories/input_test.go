package stories

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/fabricbot/fabricbot/testsuite/stage"
)

func mistakesAreToldAndChangeNothing(t *testing.T) {
	s := open(t)
	before := s.starts()
	s.quiet(func() {
		for _, m := range []struct {
			name, command string
			want          []string
		}{
			{"unknown_operation", "sm reboot", []string{"Unknown operation", "sm restart"}},
			{"unknown_noun", "teapot brew", []string{"Unknown operation", "help"}},
			{"no_target", "host inspect", []string{"-hosts", "is missing"}},
			{"empty_target", `host inspect -hosts ""`, []string{"-hosts"}},
			{"empty_optional_target", `sm restart -hosts ""`, []string{"-hosts", "empty"}},
			{"unmatched_target", "host inspect -hosts node001,!node001", []string{"-hosts", "no host"}},
			{"unknown_group", "host inspect -hosts @rack77", []string{"@rack77"}},
			{"unknown_host", "host inspect -hosts node17", []string{"unknown host node17", "did you mean"}},
			{"backward_range", "host inspect -hosts node[009-001]", []string{"runs backwards"}},
			{"endless_range", "host inspect -hosts node[1-99999999999]", []string{"-hosts"}},
			{"open_bracket", "host inspect -hosts node[001-", []string{"-hosts"}},
			{"open_quote", `host inspect -hosts "node001`, []string{"quote"}},
			{"unknown_word", "sm status -frmo node001", []string{"-frmo", "-from"}},
			{"shell", "host inspect -hosts node001;reboot", []string{"-hosts"}},
			{"no_such_snapshot_word", "runs list -most 0", []string{"-most"}},
		} {
			answer, err := s.Type(s.ctx, stage.UserA, stage.Channel, m.command)
			if err != nil {
				s.Errorf("%s: %v", m.name, err)
				continue
			}
			s.Logf("%s: %s", m.command, answer)
			s.has(m.name+": the answer", answer, m.want...)
		}
	})
	s.started(before, 0, 0)
}

// tool replaces a fabric tool of a host by a script for the rest of the story.
func (s *story) tool(host, name, script string) {
	s.Helper()
	s.must(s.replace(host, name, script))
	s.Cleanup(func() {
		if _, err := s.on(host, "mv", "/usr/sbin/"+name+".right", "/usr/sbin/"+name); err != nil {
			s.Error(err)
		}
	})
}

func (s *story) replace(host, name, script string) error {
	_, err := s.on(host, "sh", "-c", `cp -p "$1" "$1.right" && printf '#!/bin/sh\n%s\n' "$2" >"$1.wrong" && chmod 755 "$1.wrong" && mv "$1.wrong" "$1"`, "sh", "/usr/sbin/"+name, script)
	return err
}

func garbageOutput(t *testing.T) {
	s := open(t)
	commits := s.commits()
	s.tool("node003", "ibnetdiscover", "head -c 65536 /dev/urandom")
	s.whole("topology backup -from node003", "failed", "ibnetdiscover from node003", "found no fabric", "octets that are no text")
	s.tool("node004", "ibstat", "head -c 65536 /dev/urandom")
	s.whole("host inspect -hosts node[003-004]", "done", "node004", "ibstat said nothing that can be read", "octets that are no text")
	if n := s.commits() - commits; n != 0 {
		s.Errorf("garbage made %d commits", n)
	}
}

func hundredMegabytesOfOutput(t *testing.T) {
	s := open(t)
	commits := s.commits()
	s.tool("node003", "ibnetdiscover", "head -c 100000000 /dev/zero | tr '\\000' x; echo")
	s.whole("topology backup -from node003", "failed", "ibnetdiscover from node003", "found no fabric")
	s.tool("node004", "ibstat", "yes \"CA 'mlx5_0'\" | head -c 100000000")
	s.whole("host inspect -hosts node[003-004]", "partly failed", "node004", "printed more than 4 MB")
	if n := s.commits() - commits; n != 0 {
		s.Errorf("an endless output made %d commits", n)
	}
	peak := s.peakMiB()
	s.Logf("fabricd used at most %d MiB", peak)
	if peak > 900 {
		s.Errorf("fabricd used %d MiB", peak)
	}
	s.whole("sm status", "done", "is master")
}

// peakMiB is the most memory that the present fabricd ever had.
func (s *story) peakMiB() int {
	s.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	s.must(err)
	for _, f := range files {
		line, _ := os.ReadFile(f)
		if !strings.HasPrefix(string(line), fabricd+"\x00") {
			continue
		}
		status, _ := os.ReadFile(filepath.Join(filepath.Dir(f), "status"))
		for l := range strings.Lines(string(status)) {
			if words := strings.Fields(l); len(words) > 1 && words[0] == "VmHWM:" {
				kib, err := strconv.Atoi(words[1])
				s.must(err)
				return kib >> 10
			}
		}
	}
	s.Fatalf("no process of %s", fabricd)
	return 0
}
