package parse

import (
	"io"
	"regexp"
	"strings"
)

// MLXLinkReport is what mlxlink or mstlink prints about one port, as text or
// JSON. Where a script ran it for several ports, Ports keeps them apart and
// the first stands at the top level.
type MLXLinkReport struct {
	Trouble
	Verdict
	Marks
	Format string `json:"format,omitempty"` // json, or empty for text
	Device string `json:"device,omitempty"`
	*MLXLinkPort
	Ports []*MLXLinkPort `json:"ports,omitempty"`
	fresh bool           // a heading ended the last port
	name  string         // what a script printed before the next port
	title string         // the last line, if it may be a heading
}

// MLXLink reads the output of mlxlink with any of -m, -c, -e, --show_device
// and --port_type PCIE, or a part of it that grep left over.
func MLXLink(r io.Reader) (*MLXLinkReport, error) {
	s := newLines(r)
	rep := &MLXLinkReport{}
	known := false
	var document strings.Builder
	for line, ok := s.text(); ok; line, ok = s.text() {
		text := strings.TrimSpace(lostEscape.ReplaceAllString(line, ""))
		switch {
		case document.Len() > 0 || text == "{":
			if document.Len()+len(text) < 8*longestLine {
				document.WriteString(text)
				document.WriteByte('\n')
			}
		case rep.line(text):
			known = true
		default:
			rep.complained(line)
		}
	}
	if document.Len() > 0 && rep.json(document.String()) {
		known = true
	}
	rep.judge(s.open && document.Len() == 0)
	return rep, rep.ended(s, known)
}

var _ = tool(MLXLink, "mlxlink", "mstlink")

// lostEscape is a colour whose escape character a terminal or editor took
// away; mlxlink colours even what it writes into a pipe.
var lostEscape = regexp.MustCompile(`\[(?:0|[39][0-7])m`)

var mlxlinkBanner = regexp.MustCompile(`^[=#*-]{3,}\s*([A-Za-z0-9_./:-]+)\b.*$`)

// mlxlinkTitles are the headings of sections (mlxlink_commander.cpp); the
// parser needs them where grep has taken the line of dashes below.
var mlxlinkTitles = map[string]bool{
	"Operational Info": true, "Supported Info": true, "Troubleshooting Info": true, "Tool Information": true, "Module Info": true,
	"Physical Counters and BER Info": true, "Physical Counters and BER Info (PRBS)": true, "PCIe Operational (Enabled) Info": true,
	"EYE Opening Info (PCIe)": true, "EYE Opening Info": true, "Device Info": true, "FEC Capability Info": true, "Port Info": true,
	"Management PCIe Performance Counters Info": true, "Management PCIe Timers Counters Info": true, "Serdes Tuning Transmitter Info": true,
	"BER Monitor Info": true, "Test Mode Info": true, "PLR Info": true, "KR Info": true, "Rx Recovery Counters": true, "Valid PCIe Links": true,
	"Histogram of FEC Errors": true, "Network Ports Mapping": true, "Periodic Equalization Info": true,
}

func (rep *MLXLinkReport) line(text string) bool {
	if args, ok := invoked(text, "mlxlink", "mstlink"); ok {
		rep.next()
		rep.name = option(args, "-d", "--device")
		if rep.Device == "" {
			rep.Device = rep.name
		}
		return true
	}
	title := rep.title
	rep.title = ""
	switch {
	case text == "":
		return false
	case strings.Trim(text, "-") == "": // underlines a heading
		if title != "" && !mlxlinkTitles[title] {
			rep.section(title)
		}
		return rep.MLXLinkPort != nil
	case rep.take(&rep.Trouble, text):
		return true
	case mlxlinkTitles[text]:
		rep.section(text)
		return true
	}
	if m := mlxlinkBanner.FindStringSubmatch(text); m != nil {
		rep.next()
		rep.name = m[1]
		return true
	}
	key, value, ok := cutLabel(text)
	if !ok {
		rep.title = text
		return false
	}
	return rep.port(key).field(key, value)
}

// cutLabel splits "Label   : value". Labels hold no colon, values may.
func cutLabel(text string) (key, value string, ok bool) {
	key, value, ok = strings.Cut(text, " : ")
	if !ok {
		if key, ok = strings.CutSuffix(text, " :"); !ok {
			return keyValue(text)
		}
	}
	key = strings.TrimSpace(key)
	return key, strings.TrimSpace(value), ok && key != ""
}

// next ends the port that the lines so far belong to.
func (rep *MLXLinkReport) next() { rep.fresh = true }

// section begins a section, and with a section that the port has already, the
// next port: what a loop over devices prints has no other mark.
func (rep *MLXLinkReport) section(title string) {
	if p := rep.MLXLinkPort; p != nil && p.sections[title] {
		rep.next()
	}
	p := rep.port("")
	p.section = title
	if p.sections == nil {
		p.sections = map[string]bool{}
	}
	p.sections[title] = true
}

// port returns the port that a label belongs to.
func (rep *MLXLinkReport) port(label string) *MLXLinkPort {
	p := rep.MLXLinkPort
	if p == nil || rep.fresh && p.any {
		p = &MLXLinkPort{}
		rep.Ports = append(rep.Ports, p)
		rep.MLXLinkPort = p
	}
	if rep.fresh || label == "" && p.Name == "" {
		rep.fresh = false
		if rep.name != "" {
			p.Name, rep.name = rep.name, ""
		}
	}
	return p
}

// judge names what the text is about. A link that is down is told as such;
// that mlxlink could tell is its success.
func (rep *MLXLinkReport) judge(cut bool) {
	if len(rep.Ports) > 0 {
		rep.MLXLinkPort = rep.Ports[0]
	}
	kept := rep.Ports[:0]
	for _, p := range rep.Ports {
		if p.any {
			kept = append(kept, p)
		}
	}
	rep.Ports = kept
	p := rep.MLXLinkPort
	switch {
	case rep.Error != "" && (p == nil || !p.any):
		rep.is(Failed, rep.reason())
	case p == nil || !p.any:
		rep.is(Truncated, "")
	case rep.Error != "":
		rep.is(Failed, rep.reason())
	case p.SpeedActive != "":
		rep.is(Succeeded, "pcie_link")
	case p.Up():
		rep.is(Succeeded, "link_up")
	case p.State != "" || p.PhysicalState != "":
		rep.is(Succeeded, "link_down")
	case len(p.Counters) > 0:
		rep.is(Succeeded, "counters")
	case p.Module != nil:
		rep.is(Succeeded, "module_info")
	default:
		rep.is(Succeeded, "info")
	}
	if rep.Incomplete && rep.Outcome == Succeeded {
		rep.Outcome = Truncated
	}
	rep.Incomplete = rep.Incomplete || cut || rep.Outcome == Truncated
	if len(rep.Ports) < 2 && (len(rep.Ports) == 0 || rep.Ports[0].Name == "") {
		rep.Ports = nil
	}
}

func (rep *MLXLinkReport) reason() string {
	text := strings.ToLower(rep.Error)
	switch {
	case strings.Contains(text, "failed to open"), strings.Contains(text, "cannot open"), strings.Contains(text, "can't open"), strings.Contains(text, "no such device"):
		return "cannot_open_device"
	case strings.Contains(text, "not supported"):
		return "not_supported"
	case strings.Contains(text, "no plugged cable"), strings.Contains(text, "not plugged"):
		return "no_cable"
	case len(rep.Errors) == 0:
		return "not_run"
	}
	return "error"
}
