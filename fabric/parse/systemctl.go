package parse

import (
	"io"
	"regexp"
	"strings"
)

// UnitReport is what systemctl status prints about one unit. Class is the
// active state and its sub-state, for example active_exited, the healthy
// state of openibd and other units that run once.
type UnitReport struct {
	Trouble
	Verdict
	Unit        string `json:"unit,omitempty"`
	Description string `json:"description,omitempty"`
	Loaded      string `json:"loaded,omitempty"`  // loaded, not-found, masked
	Enabled     string `json:"enabled,omitempty"` // enabled, disabled, static, …
	Active      string `json:"active,omitempty"`  // with the sub-state in brackets
	Since       string `json:"since,omitempty"`
	MainPID     string `json:"main_pid,omitempty"`
	// ExitStatus is the last process's, for example status=0/SUCCESS.
	ExitStatus string `json:"exit_status,omitempty"`
	Result     string `json:"result,omitempty"` // of a failed unit: exit-code, timeout
	// Log are the journal's lines at the end.
	Log []string `json:"log,omitempty"`
}

// SystemctlStatus reads the output of systemctl status for one unit.
func SystemctlStatus(r io.Reader) (*UnitReport, error) {
	s := newLines(r)
	rep := &UnitReport{}
	known := false
	for line, ok := s.text(); ok; line, ok = s.text() {
		if rep.line(strings.TrimSpace(line)) {
			known = true
			continue
		}
		rep.complained(line)
	}
	rep.judge()
	return rep, rep.ended(s, known)
}

var _ = tool(SystemctlStatus, "systemctl_openibd", "systemctl status")

var (
	unitHead   = regexp.MustCompile(`^[●○×↻x*] (\S+\.(?:service|target|mount|timer|socket))(?: - (.*))?$`)
	unitActive = regexp.MustCompile(`^(\w[\w-]*(?: \([^)]*\))?)(?: \((Result: [\w-]+)\))?(?: since (.+?)(?:;.*)?)?$`)
	unitExit   = regexp.MustCompile(`\((?:code=[\w-]+, )?(status=\S+?|signal=\S+?)\)`)
	journal    = regexp.MustCompile(`^[A-Z][a-z]{2} \d{2} \d{2}:\d{2}:\d{2} \S+ `)
)

func (rep *UnitReport) line(text string) bool {
	if m := unitHead.FindStringSubmatch(text); m != nil {
		rep.Unit, rep.Description = m[1], m[2]
		return true
	}
	if journal.MatchString(text) && rep.Active != "" {
		if len(rep.Log) < mostMessages {
			rep.Log = append(rep.Log, text)
		}
		return true
	}
	if unit, ok := between(text, "Unit ", " could not be found"); ok {
		rep.Unit, rep.Error = unit, text
		rep.keep(text)
		return true
	}
	key, value, ok := keyValue(text)
	if !ok {
		return rep.word(text)
	}
	switch key {
	case "Loaded":
		rep.load(value)
	case "Active":
		if m := unitActive.FindStringSubmatch(value); m != nil {
			rep.Active, rep.Since = m[1], m[3]
			_, rep.Result, _ = strings.Cut(m[1]+" "+m[2], "Result: ")
			rep.Result = strings.Trim(rep.Result, " )")
		}
	case "Main PID", "Process":
		pid, _, _ := strings.Cut(value, " ")
		if key == "Main PID" {
			rep.MainPID = pid
		}
		if m := unitExit.FindStringSubmatch(value); m != nil && (key == "Main PID" || rep.ExitStatus == "") {
			rep.ExitStatus = m[1]
		}
	case "Docs", "CGroup", "Tasks", "Memory", "CPU", "Drop-In", "TriggeredBy", "Invocation", "Status":
	default:
		return false
	}
	return rep.Unit != "" || rep.Loaded != "" || rep.Active != ""
}

// word reads the answer to is-active or is-enabled.
func (rep *UnitReport) word(text string) bool {
	switch text {
	case "active", "inactive", "failed", "activating", "deactivating", "reloading":
		rep.Active = text
	case "enabled", "disabled", "static", "masked", "indirect", "generated":
		rep.Enabled = text
	default:
		return false
	}
	return true
}

// load reads "loaded (/lib/systemd/…; enabled; vendor preset: enabled)".
func (rep *UnitReport) load(value string) {
	rep.Loaded, _, _ = strings.Cut(value, " ")
	inside, ok := between(value, "(", ")")
	if !ok {
		return
	}
	if parts := strings.Split(inside, ";"); len(parts) > 1 {
		rep.Enabled = strings.TrimSpace(parts[1])
	}
}

func (rep *UnitReport) judge() {
	state, sub, _ := strings.Cut(rep.Active, " (")
	sub = strings.TrimSuffix(sub, ")")
	class := state
	if sub != "" && !strings.HasPrefix(sub, "Result") {
		class += "_" + snake(sub)
	}
	switch {
	case rep.Error != "" && rep.Active == "":
		rep.is(Failed, "not_found")
	case state == "failed":
		rep.is(Failed, "failed")
		rep.Error = strings.TrimSpace("unit failed " + rep.Result)
	case state == "active":
		rep.is(Succeeded, class)
	case state == "inactive":
		rep.is(Informed, class)
		if rep.Loaded == "not-found" {
			rep.is(Failed, "not_found")
		}
	case state != "": // activating, deactivating, reloading
		rep.is(Informed, class)
	case rep.Enabled != "":
		rep.is(Informed, rep.Enabled)
	default:
		rep.is(Truncated, "")
	}
	rep.Incomplete = rep.Outcome == Truncated
}
