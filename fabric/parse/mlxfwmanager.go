package parse

import (
	"io"
	"strings"
)

// MLXFWManagerReport is what mlxfwmanager, mstfwmanager or mlxup prints, as
// text or as XML, also inside the output of an installer.
type MLXFWManagerReport struct {
	Trouble
	Verdict
	Marks
	Format      string            `json:"format,omitempty"` // xml, or empty for text
	DeviceCount int               `json:"device_count"`
	Devices     []*FirmwareDevice `json:"devices"`
	// Requiring is how many devices the tool found to require an update.
	Requiring int `json:"requiring_update_count,omitempty"`
	// Summary is the closing line where all devices are up to date.
	Summary     string `json:"summary,omitempty"`
	RestartLine string `json:"restart_line,omitempty"`
	LogFile     string `json:"log_file,omitempty"`
	// Notes says in words where flash and running firmware differ.
	Notes string `json:"notes,omitempty"`
	// Config holds what mlxconfig printed behind, as vendors' wrappers do.
	Config   *MLXConfigReport `json:"mlxconfig,omitempty"`
	none     bool             // the update was declined
	updating *FirmwareDevice
	queried  bool // the tool's first line was seen
}

// MLXFWManager reads the output of mlxfwmanager.
func MLXFWManager(r io.Reader) (*MLXFWManagerReport, error) {
	s := newLines(r)
	rep := &MLXFWManagerReport{Devices: []*FirmwareDevice{}}
	known := false
	var document strings.Builder
	for line, ok := s.text(); ok; line, ok = s.text() {
		text := strings.TrimSpace(line)
		switch {
		case document.Len() > 0 || strings.HasPrefix(text, "<Devices") || strings.HasPrefix(text, "<?xml"):
			if document.Len() < longestLine {
				document.WriteString(text)
				document.WriteByte('\n')
			}
		case rep.line(text):
			known = true
		default:
			rep.complained(line)
		}
	}
	if document.Len() > 0 && rep.xml(document.String()) {
		known = true
	}
	rep.judge()
	return rep, rep.ended(s, known)
}

var _ = tool(MLXFWManager, "mlxfwmanager", "mstfwmanager", "mlxup")

func (rep *MLXFWManagerReport) line(text string) bool {
	if rep.configured(text) {
		return true
	}
	switch {
	case strings.HasPrefix(text, "Querying ") && strings.HasSuffix(text, "devices firmware ..."):
		rep.queried = true
	case rep.take(&rep.Trouble, text):
	case strings.HasPrefix(text, "Found ") && strings.Contains(text, "device(s) requiring firmware update"):
		rep.Requiring, _ = smallNumber(strings.Fields(text)[1])
	case strings.HasPrefix(text, "All listed device(s) firmware images are up to date"):
		rep.Summary = text
	case strings.HasPrefix(text, "No updates performed"):
		rep.none = true
	case strings.HasPrefix(text, "Restart needed"):
		rep.RestartLine = text
	case strings.HasPrefix(text, "Log File:"):
		rep.LogFile = strings.TrimSpace(strings.TrimPrefix(text, "Log File:"))
	default:
		return rep.update(text) || rep.device(text)
	}
	return true
}

// configured hands the lines of a following mlxconfig to its own parser; its
// heading differs from this tool's in one letter ("Device type:").
func (rep *MLXFWManagerReport) configured(text string) bool {
	if rep.Config == nil {
		if !strings.HasPrefix(text, "Device type:") {
			return false
		}
		rep.Config = &MLXConfigReport{}
		if n := len(rep.Devices); n > 0 && rep.Devices[n-1].empty() {
			rep.Devices = rep.Devices[:n-1]
		}
	}
	return rep.Config.line(text)
}

// device reads a device's block, which begins with "Device #1:".
func (rep *MLXFWManagerReport) device(text string) bool {
	if n, ok := deviceHeading(text); ok {
		rep.Devices = append(rep.Devices, &FirmwareDevice{Index: n, Versions: map[string][2]string{}})
		return true
	}
	if n := len(rep.Devices); n > 0 {
		return rep.Devices[n-1].line(text)
	}
	d := &FirmwareDevice{Index: 1, Versions: map[string][2]string{}}
	if strings.HasPrefix(text, "Device Type:") || strings.HasPrefix(text, "Part Number:") || strings.HasPrefix(text, "PSID:") {
		rep.Devices = append(rep.Devices, d)
		return d.line(text)
	}
	return false
}

// update reads what follows "Device #1: Updating FW ...", in the same line
// ("Device #1 (mt4123_pciconf0): Done") or the next.
func (rep *MLXFWManagerReport) update(text string) bool {
	text = rewritten(text)
	if rest, ok := strings.CutPrefix(text, "Device #"); ok {
		name, state, ok := strings.Cut(rest, ": ")
		number, _, _ := strings.Cut(name, " ")
		n, isNumber := smallNumber(number)
		if !ok || !isNumber {
			return false
		}
		rep.updating = rep.byIndex(n)
		if rep.updating == nil || strings.HasPrefix(state, "Updating FW") {
			return true
		}
		text = state
	}
	if text == "Updating FW ..." && len(rep.Devices) == 1 {
		rep.updating = rep.Devices[0]
		return true
	}
	d := rep.updating
	if d == nil {
		return false
	}
	switch {
	case text == "Done" || strings.HasSuffix(text, "% Done"):
		d.UpdateResult = "Done"
	case strings.HasPrefix(text, "Fail"), text == "Interrupted", text == "Up to date":
		d.UpdateResult = text
	case flintStep.MatchString(text):
		d.step = text
		return true
	default:
		return false
	}
	rep.updating = nil
	return true
}

func (rep *MLXFWManagerReport) byIndex(n int) *FirmwareDevice {
	if n >= 1 && n <= len(rep.Devices) && rep.Devices[n-1].Index == n {
		return rep.Devices[n-1] // as the tool numbers them, unless the text begins later
	}
	for _, d := range rep.Devices {
		if d.Index == n {
			return d
		}
	}
	return nil
}
