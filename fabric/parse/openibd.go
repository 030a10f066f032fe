package parse

import (
	"io"
	"regexp"
	"slices"
	"strings"
)

// OpenIBDReport is what /etc/init.d/openibd prints for status, start, stop
// and restart. A restart is done when its last step, loading, is OK.
type OpenIBDReport struct {
	Trouble
	Verdict
	// Steps maps each step to OK or FAILED.
	Steps           map[string]string `json:"steps,omitempty"`
	OKSteps         []string          `json:"ok_steps,omitempty"`
	FailedModules   []string          `json:"failed_modules,omitempty"`
	FailedLineCount int               `json:"failed_line_count"`
	// Users hold the devices open and keep the modules from being unloaded.
	Users []DeviceUser `json:"users,omitempty"`
	// The lists of status, nil where the text does not have them.
	Configured      []string `json:"configured,omitempty"`
	ConfiguredIPoIB []string `json:"configured_ipoib,omitempty"`
	ConfiguredEN    []string `json:"configured_en,omitempty"`
	ActiveIPoIB     []string `json:"active_ipoib,omitempty"`
	Active          []string `json:"active,omitempty"`
	Modules         []string `json:"modules,omitempty"`
	loaded          *bool
	list            *[]string
	restart         bool // the command line echoed says so
	class           string
}

// DeviceUser is a process with an open device.
type DeviceUser struct {
	Process string `json:"process"`
	PID     string `json:"pid"`
	User    string `json:"user,omitempty"`
	Device  string `json:"device"`
}

// OpenIBD reads the output of openibd.
func OpenIBD(r io.Reader) (*OpenIBDReport, error) {
	s := newLines(r)
	rep := &OpenIBDReport{}
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

var _ = tool(OpenIBD, "openibd")

var (
	initStep    = regexp.MustCompile(`^(.+?):?\s*\[\s*(OK|FAILED|WARNING|PASSED)\s*\]$`)
	initModule  = regexp.MustCompile(`^(?:Failed loading kernel module|Unloading|Failed to unload) ([\w-]+)$`)
	deviceUser  = regexp.MustCompile(`^(\S+?)\((\d+)\) user (\S+) is using device (\S+)$`)
	moduleInUse = regexp.MustCompile(`Module (\w+) is in use(?: by:? (.+))?`)
	foreignMod  = regexp.MustCompile(`[Mm]odule (\w+) belongs? to a kernel which is not a part of`)
)

func (rep *OpenIBDReport) line(text string) bool {
	if args, ok := invoked(text, "openibd", "service", "systemctl"); ok {
		rep.restart = slices.Contains(args, "restart") || slices.Contains(args, "force-restart")
		return true
	}
	if m := initStep.FindStringSubmatch(text); m != nil {
		rep.step(m[1], m[2])
		return true
	}
	if m := deviceUser.FindStringSubmatch(text); m != nil {
		if len(rep.Users) < mostMessages {
			rep.Users = append(rep.Users, DeviceUser{m[1], m[2], m[3], m[4]})
		}
		return true
	}
	if m := moduleInUse.FindStringSubmatch(text); m != nil {
		for _, by := range strings.Fields(m[2]) {
			if len(rep.Users) < mostMessages {
				rep.Users = append(rep.Users, DeviceUser{Process: by, Device: m[1]})
			}
		}
		rep.fail("in_use", text)
		return true
	}
	if m := foreignMod.FindStringSubmatch(text); m != nil {
		rep.FailedModules = appendNew(rep.FailedModules, m[1])
		rep.fail("foreign_module", text)
		return true
	}
	return rep.sentence(text) || rep.listed(text)
}

func (rep *OpenIBDReport) fail(class, text string) {
	rep.keep(text)
	if rep.class == "" {
		rep.class = class
	}
	rep.Error = text
}

func appendNew(list []string, s string) []string {
	if slices.Contains(list, s) || len(list) >= mostMessages {
		return list
	}
	return append(list, s)
}

func (rep *OpenIBDReport) step(name, state string) {
	rep.list = nil
	if rep.Steps == nil {
		rep.Steps = map[string]string{}
	}
	if len(rep.Steps) < mostLabels {
		rep.Steps[name] = state
	}
	if state != "FAILED" {
		rep.OKSteps = appendNew(rep.OKSteps, name)
		return
	}
	rep.FailedLineCount++
	if m := initModule.FindStringSubmatch(name); m != nil {
		rep.FailedModules = appendNew(rep.FailedModules, m[1])
	}
	if rep.Error == "" {
		rep.Error = name + ": FAILED"
	}
}

// sentence reads the lines that are no list.
func (rep *OpenIBDReport) sentence(text string) bool {
	yes, no := true, false
	switch {
	case strings.HasPrefix(text, "HCA driver loaded"):
		rep.loaded = &yes
	case strings.HasPrefix(text, "HCA driver is not loaded"), strings.HasPrefix(text, "HCA driver not loaded"):
		rep.loaded = &no
	case strings.HasPrefix(text, "Please stop "):
		if rep.class == "" {
			rep.class = "in_use"
		}
		if rep.Error == "" {
			rep.Error = text
		}
	case strings.HasPrefix(text, "Error: Cannot unload"), strings.HasPrefix(text, "Cannot unload"):
		rep.fail("in_use", text)
	case strings.HasPrefix(text, "Error:"), strings.HasPrefix(text, "rmmod: ERROR:"), strings.HasPrefix(text, "modprobe: ERROR:"), strings.HasPrefix(text, "modprobe: FATAL:"):
		rep.fail("", text)
	case strings.HasPrefix(text, "Once the above issue"), strings.HasPrefix(text, "Please run /usr/sbin/sysinfo-snapshot.py"):
	default:
		return false
	}
	return true
}

// listed reads the sections of status. Their entries stand one a line or all
// on one, blank lines among them mean nothing.
func (rep *OpenIBDReport) listed(text string) bool {
	sections := map[string]*[]string{
		"Configured devices:": &rep.Configured, "Configured IPoIB devices:": &rep.ConfiguredIPoIB, "Configured Mellanox EN devices:": &rep.ConfiguredEN,
		"Configured MLX4_EN devices:": &rep.ConfiguredEN, "Currently active IPoIB devices:": &rep.ActiveIPoIB, "Currently active Mellanox devices:": &rep.Active,
		"Currently active devices:": &rep.Active, "Currently active MLX4_EN devices:": &rep.Active, "The following OFED modules are loaded:": &rep.Modules,
	}
	if to, ok := sections[text]; ok {
		rep.list = to
		if *to == nil {
			*to = []string{}
		}
		return true
	}
	if rep.list == nil || text == "" {
		return false
	}
	words := strings.Fields(text)
	for _, w := range words {
		if strings.ContainsAny(w, ":$#()[]") || len(w) > 63 {
			rep.list = nil
			return false
		}
	}
	*rep.list = append(*rep.list, words...)
	return true
}

// judge: what failed outranks what was loaded, and unloading alone is a stop.
func (rep *OpenIBDReport) judge() {
	did := func(what string) (ok, failed bool) {
		for name, state := range rep.Steps {
			if strings.HasPrefix(name, what) {
				ok, failed = ok || state == "OK", failed || state == "FAILED"
			}
		}
		return ok, failed
	}
	loaded, loadFailed := did("Loading")
	unloaded, unloadFailed := did("Unloading")
	switch {
	case rep.class != "":
		rep.is(Failed, rep.class)
	case loadFailed, len(rep.FailedModules) > 0 && !unloadFailed:
		rep.is(Failed, "load_failed")
	case unloadFailed:
		rep.is(Failed, "unload_failed")
	case rep.Error != "":
		rep.is(Failed, "error")
	case loaded && unloaded:
		rep.is(Succeeded, "restarted")
	case loaded:
		rep.is(Succeeded, "started")
	case unloaded && rep.restart:
		rep.is(Truncated, "restarting")
	case unloaded:
		rep.is(Succeeded, "stopped")
	case rep.loaded != nil && *rep.loaded:
		rep.is(Succeeded, "loaded")
	case rep.loaded != nil:
		rep.is(Informed, "not_loaded")
	default:
		rep.is(Truncated, "")
	}
	rep.Incomplete = rep.Outcome == Truncated
}
