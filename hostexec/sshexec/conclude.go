package sshexec

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"github.com/fabricbot/fabricbot/hostexec"
)

// conclude sorts a channel that has ended into an outcome.
func (r *running) conclude() answer {
	m := r.result.marker
	select { // the marker may be unread when everything ended at once
	case m = <-r.marked:
		r.result.marker = m
	default:
	}
	told := r.ended()
	switch {
	case m.PID == 0 && told:
		return r.end(hostexec.Refused, "start", fmt.Sprintf("the login shell ended (status %d) without running our script%s", r.exit, r.instead()))
	case m.PID == 0:
		r.result.Remains = true
		return r.end(hostexec.Lost, "start", "the connection broke before the command was seen to begin"+r.instead())
	case m.Word != "go":
		return r.turnedAway(m.Word, m.Rest)
	case !told:
		r.result.Remains = true
		return r.end(hostexec.Lost, "command", "the connection broke while the command was running; it may have ended, failed, or still run")
	case r.signal != "":
		return r.end(hostexec.Failed, "command", "killed by signal "+r.signal)
	case r.exit == 0:
		return r.end(hostexec.OK, "command", "")
	}
	a := r.end(hostexec.Failed, "command", fmt.Sprintf("exit status %d", r.exit))
	if r.w.script.Sudo {
		if line, no := sudoRefusal(r.exit, a.Stdout, a.Stderr); no {
			r.result.Outcome, r.result.Step, r.result.Detail = hostexec.Refused, "sudo", line
			return r.result
		}
	}
	switch {
	case r.exit == 127 && len(a.Stdout) == 0:
		r.result.Detail = fmt.Sprintf("exit status 127: %s is not installed there", r.w.argv[0])
	case r.exit == 126 && len(a.Stdout) == 0:
		r.result.Detail = fmt.Sprintf("exit status 126: %s cannot be executed there", r.w.argv[0])
	}
	return r.result
}

// turnedAway is what the script itself refused before running the command.
func (r *running) turnedAway(word, rest string) answer {
	rest = Printable([]byte(rest), 300)
	switch word {
	case "same": // nothing to upload
		return r.end(hostexec.OK, "command", "")
	case "fenced":
		token, by, _ := strings.Cut(rest, " ")
		r.p.opt.Event(Event{Kind: "fenced", Host: r.host, Detail: rest})
		return r.end(hostexec.Refused, "lease", fmt.Sprintf("lease %d of %s is overtaken: the host has seen lease %s of %s", r.w.script.Token, r.w.script.Run, token, by))
	case "locked":
		return r.end(hostexec.Refused, "lease", "another start holds the journal lock in "+rest)
	case "noflock":
		return r.end(hostexec.Refused, "lease", "flock is missing on the host (package util-linux); it is needed for every change")
	case "nosum":
		return r.end(hostexec.Refused, "start", "sha256sum is missing on the host (package coreutils)")
	case "nostate":
		return r.end(hostexec.Refused, "lease", "the journal in "+rest+" cannot be used by the login user")
	}
	return r.end(hostexec.Refused, "start", "the script answered "+word+" "+rest)
}

// end fills in the result.
func (r *running) end(o hostexec.Outcome, step, detail string) answer {
	a := &r.result
	a.Host, a.Argv, a.Outcome, a.Step, a.Detail, a.Exit = r.host, r.w.argv, o, step, detail, -1
	if r.ended() && a.marker.Word == "go" {
		a.Exit, a.Signal = r.exit, r.signal
	}
	if step == "cancel" || o == hostexec.TimedOut || o == hostexec.Lost {
		a.Exit = -1
	}
	var cutOut, cutMsg bool
	var errOut, errMsg error
	a.Stdout, a.StdoutSpill, cutOut, errOut = r.out.finish()
	a.Stderr, a.StderrSpill, cutMsg, errMsg = r.msg.finish()
	a.Truncated = cutOut || cutMsg
	for _, err := range []error{errOut, errMsg} {
		if err != nil {
			a.Detail = strings.TrimPrefix(a.Detail+"; the rest of the output could not be written here: "+err.Error(), "; ")
		}
	}
	return *a
}

// err is the error that goes with the result; see Pool.Look.
func (r *running) err() error {
	a := r.result
	if a.Outcome == hostexec.OK || a.Outcome == hostexec.Failed && a.Step == "command" {
		return nil
	}
	e := &hostexec.Error{Host: a.Host, Act: hostexec.Display(a.Argv), Step: a.Step, Outcome: a.Outcome, Detail: a.Detail}
	switch a.Step {
	case "lease":
		if a.marker.Word == "fenced" {
			e.Err, e.Next = hostexec.ErrFenced, "this run is over; look at what the newer one does"
		}
	case "cancel":
		e.Err = context.Canceled
	case "sudo":
		e.Next = "allow the command for the login user in sudoers with NOPASSWD, see deploy/sudoers.d"
	}
	return e
}

// sudoRefusals are what sudo 1.8 to 1.9 and sudo-rs print with LC_ALL=C when
// they do not run the command (sudo's plugins/sudoers/{auth,logging}.c).
var sudoRefusals = []string{
	"a password is required", "a terminal is required", "no tty present", "authentication is required", "is not in the sudoers file",
	"is not allowed to", "may not run sudo", "you must have a tty", "sorry, you are not allowed", "account validation failure", "must be owned by uid 0",
}

func sudoRefusal(exit int, stdout, stderr []byte) (line string, refused bool) {
	if len(stdout) > 0 {
		return "", false
	}
	if exit == 127 && bytes.Contains(stderr, []byte("sudo")) && bytes.Contains(stderr, []byte("not found")) {
		return "sudo is not installed on the host", true
	}
	if exit != 1 {
		return "", false
	}
	for l := range bytes.Lines(stderr) {
		for _, s := range sudoRefusals {
			if bytes.Contains(bytes.ToLower(l), []byte(s)) {
				return Printable(bytes.TrimSpace(l), 300), true
			}
		}
	}
	return "", false
}

// Printable makes host text safe for a one-line message: control characters
// become spaces, invalid UTF-8 becomes "?", and it is cut at max bytes.
func Printable(text []byte, limit int) string {
	s := strings.ToValidUTF8(string(text), "?")
	s = strings.Map(func(c rune) rune {
		if c < ' ' || c == 0x7f || c >= 0x80 && c < 0xa0 {
			return ' '
		}
		return c
	}, s)
	s = strings.Join(strings.Fields(s), " ")
	if len(s) > limit {
		s = strings.ToValidUTF8(s[:limit], "") + "…"
	}
	return s
}
