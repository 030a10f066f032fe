package parse

import (
	"io"
	"regexp"
	"strings"
)

// MLXFWResetReport is what mlxfwreset or mstfwreset prints for query, status
// and reset. A reset is done only where the tool says that the firmware was
// loaded; at level 4 the machine goes down instead and the sent command is
// the last word.
type MLXFWResetReport struct {
	Trouble
	Verdict
	Marks
	Device     string `json:"device,omitempty"`
	DeviceType string `json:"device_type,omitempty"`
	PSID       string `json:"psid,omitempty"`
	// Level is the reset level that was chosen, nil for a query.
	Level     *int   `json:"level,omitempty"`
	LevelText string `json:"level_text,omitempty"`
	// Steps maps each step to Done, Failed or Skipped; empty where the text
	// ends behind the step's name.
	Steps map[string]string `json:"steps,omitempty"`
	// Final is the closing line, nil where there is none.
	Final *string `json:"final"`
	// Levels, Types and Syncs are the answers to a query.
	Levels []ResetChoice `json:"levels,omitempty"`
	Types  []ResetChoice `json:"types,omitempty"`
	Syncs  []ResetChoice `json:"syncs,omitempty"`
	// Pending and Running are the firmware versions that status names.
	Pending string `json:"pending_fw_version,omitempty"`
	Running string `json:"running_fw_version,omitempty"`
	choices *[]ResetChoice
	last    string // the last step begun
	asksFor bool   // the next "3: text" line is the chosen level
}

// ResetChoice is one level, type or synchronisation of a query.
type ResetChoice struct {
	Number    int    `json:"number"`
	Text      string `json:"text"`
	Supported bool   `json:"supported"`
	Default   bool   `json:"default,omitempty"`
}

// MLXFWReset reads the output of mlxfwreset.
func MLXFWReset(r io.Reader) (*MLXFWResetReport, error) {
	s := newLines(r)
	rep := &MLXFWResetReport{}
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

var _ = tool(MLXFWReset, "mlxfwreset", "mstfwreset")

var (
	resetStep     = regexp.MustCompile(`^-I- (.+?)\s*-\s?(Done|Failed|Skipped)?$`)
	resetLevel    = regexp.MustCompile(`^(\d): (.+)$`)
	resetChoice   = regexp.MustCompile(`^(\d+): (.+?)\s*-(Supported|Not [Ss]upported)\s*(\(default\))?$`)
	resetDevice   = regexp.MustCompile(`[Rr]eset level for device, (\S+?)(?: is)?:$`)
	resetRejected = regexp.MustCompile(`^Device (\S+)(?: with PSID (\S+))? is not supported`)
)

func (rep *MLXFWResetReport) line(text string) bool {
	if args, ok := invoked(text, "mlxfwreset", "mstfwreset"); ok {
		if d := option(args, "-d", "--device"); d != "" {
			rep.Device = d
		}
		return true
	}
	switch {
	case rep.take(&rep.Trouble, text):
		if m := resetRejected.FindStringSubmatch(rep.Error); m != nil {
			rep.DeviceType, rep.PSID = m[1], m[2]
		}
	case strings.HasPrefix(text, "-I-"):
		rep.step(text)
	case text == "Done", text == "Failed", text == "Skipped": // after a wait, on a line of its own
		if rep.last == "" {
			return false
		}
		rep.Steps[rep.last] = text
	case resetDevice.MatchString(text):
		rep.Device, rep.asksFor = resetDevice.FindStringSubmatch(text)[1], true
	case rep.asksFor && resetLevel.MatchString(text):
		m := resetLevel.FindStringSubmatch(text)
		rep.Level, rep.LevelText, rep.asksFor = optionalInt(m[1]), m[2], false
	default:
		return rep.answer(text)
	}
	return true
}

func (rep *MLXFWResetReport) step(text string) {
	m := resetStep.FindStringSubmatch(text)
	if m == nil {
		if strings.Contains(text, "successfully") || strings.Contains(text, "success") {
			rep.Final = &text
		}
		return
	}
	if rep.Steps == nil {
		rep.Steps = map[string]string{}
	}
	rep.last = m[1]
	rep.Steps[m[1]] = m[2]
}

// answer reads the lists of a query and the lines of status.
func (rep *MLXFWResetReport) answer(text string) bool {
	switch {
	case strings.HasPrefix(text, "Reset-levels"):
		rep.choices = &rep.Levels
	case strings.HasPrefix(text, "Reset-types"):
		rep.choices = &rep.Types
	case strings.HasPrefix(text, "Reset-sync"):
		rep.choices = &rep.Syncs
	case strings.HasPrefix(text, "Status for device:"):
		rep.Device = strings.TrimSpace(strings.TrimPrefix(text, "Status for device:"))
	case strings.HasPrefix(text, "Pending FW version"):
		_, rep.Pending, _ = keyValue(text)
	case strings.HasPrefix(text, "Running FW version"):
		_, rep.Running, _ = keyValue(text)
	default:
		m := resetChoice.FindStringSubmatch(text)
		if m == nil || rep.choices == nil {
			return false
		}
		n, _ := smallNumber(m[1])
		*rep.choices = append(*rep.choices, ResetChoice{n, m[2], m[3] == "Supported", m[4] != ""})
	}
	return true
}

var resetClasses = []struct{ class, words string }{
	{"unsupported_device", "is not supported by this tool"},
	{"unsupported_device", "is not supported for device"},
	{"not_root", "only root"},
	{"virtual_machine", "virtual machines"},
	{"in_use", "please stop"},
	{"in_use", "opensm"},
	{"level_not_supported", "not supported"},
	{"driver_not_stopped", "stop driver"},
	{"driver_not_started", "start driver"},
	{"cannot_open_device", "open device"},
	{"cannot_open_device", "can't find device"},
}

func (rep *MLXFWResetReport) judge() {
	failedStep := ""
	for name, state := range rep.Steps {
		if state == "Failed" && (failedStep == "" || name < failedStep) {
			failedStep = name
		}
	}
	if failedStep != "" && rep.Error == "" {
		rep.failed(&rep.Trouble, failedStep+" failed")
	}
	switch {
	case rep.Error != "":
		rep.is(Failed, rep.reason())
	case rep.declined():
		rep.is(Failed, "aborted_by_user")
	case rep.unanswered && rep.Steps == nil:
		rep.is(Truncated, "waiting_for_answer")
	case rep.Final != nil:
		rep.is(Succeeded, "reset_done")
	case rep.Steps["Sending reboot command to machine"] == "Done":
		rep.is(Succeeded, "reboot_sent")
	case rep.Steps != nil || rep.Level != nil:
		rep.is(Truncated, "resetting")
	case rep.Pending != "" || rep.Running != "":
		rep.is(Succeeded, "status")
	case len(rep.Levels) > 0:
		rep.is(Succeeded, "query")
	default:
		rep.is(Truncated, "")
	}
	rep.Incomplete = rep.Outcome == Truncated
}

func (rep *MLXFWResetReport) reason() string {
	text := strings.ToLower(rep.Error)
	for _, c := range resetClasses {
		if strings.Contains(text, c.words) {
			return c.class
		}
	}
	if len(rep.Errors) == 0 {
		return "not_run"
	}
	return "reset_failed"
}
