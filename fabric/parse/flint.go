package parse

import (
	"io"
	"regexp"
	"slices"
	"strings"
)

// FlintReport is what flint or mstflint prints for query, verify, burn and the
// ROM commands, alone or one after the other in a session. A burn's outcome
// is Succeeded only when every step that was begun ended in OK and a step
// that ends a burn is among them.
type FlintReport struct {
	Trouble
	Verdict
	Marks
	// *FlintQuery holds the query when nothing but queries was run.
	*FlintQuery
	Device string `json:"device,omitempty"`
	// FWFrom is the version on flash before the burn, FWTo the image's.
	FWFrom string `json:"fw_from,omitempty"`
	FWTo   string `json:"fw_to,omitempty"`
	// Downgrade, SameVersion and OtherBranch are flint's notes on the two.
	Downgrade   bool `json:"downgrade,omitempty"`
	SameVersion bool `json:"same_version,omitempty"`
	OtherBranch bool `json:"other_branch,omitempty"`
	// PSIDFrom and PSIDTo are those of a confirmed change of PSID; the next
	// three those of a refused one.
	PSIDFrom   string `json:"psid_from,omitempty"`
	PSIDTo     string `json:"psid_to,omitempty"`
	PSIDFlash  string `json:"psid_flash,omitempty"`
	PSIDImage  string `json:"psid_image,omitempty"`
	PSIDLocked string `json:"psid_locked,omitempty"`
	// StepsOK are the steps that ended in OK, Step the one that did not and
	// PercentReached how far it came; both empty when all ended.
	StepsOK        []string `json:"steps_ok,omitempty"`
	Step           string   `json:"step,omitempty"`
	PercentReached *int     `json:"percent_reached"`
	Verified       bool     `json:"verified,omitempty"`
	// NextStep is the line in which flint says how to load the new firmware.
	NextStep string `json:"next_step,omitempty"`
	// ExtraError is a failure of a layer below flint, in its own words.
	ExtraError string `json:"extra_error,omitempty"`
	// Query and ImageQuery hold the queries of a session that did more.
	Query      *FlintQuery   `json:"query,omitempty"`
	ImageQuery *FlintQuery   `json:"image_query,omitempty"`
	Queries    []*FlintQuery `json:"queries,omitempty"`
	skipped    bool
	burn       bool        // the last command line echoed asks for a burn
	ofImage    bool        // the last command line echoed names an image and no device
	query      *FlintQuery // the one that the next line may continue
}

// Flint reads the output of flint and mstflint.
func Flint(r io.Reader) (*FlintReport, error) {
	s := newLines(r)
	rep := &FlintReport{}
	known := false
	for line, ok := s.text(); ok; line, ok = s.text() {
		if rep.line(line) {
			known = true
			continue
		}
		rep.complained(line)
	}
	rep.judge()
	return rep, rep.ended(s, known)
}

var _ = tool(Flint, "flint", "mstflint")

// flintStep is "Writing Boot image component -  45%" and "Restoring signature - OK".
var flintStep = regexp.MustCompile(`^(.*?)\s+-\s+(OK|Done|FAILED|Failed|\d{1,3}%)$`)

// flintPSID finds the PSIDs that an error names in brackets.
var flintPSID = regexp.MustCompile(`(?i)(\blocked )?\bPSID\b[^()]*\(([^() ]{1,32})\)`)

func (rep *FlintReport) line(line string) bool {
	text := strings.TrimSpace(rewritten(line))
	if args, ok := invoked(text, "flint", "mstflint"); ok {
		device := option(args, "-d", "-device", "--device")
		if device != "" {
			rep.Device = device
		}
		rep.ofImage = device == "" && option(args, "-i", "-image", "--image") != ""
		rep.burn = slices.Contains(args, "b") || slices.Contains(args, "burn")
		rep.query = nil
		return true
	}
	switch {
	case rep.take(&rep.Trouble, text):
		rep.explain()
	case strings.HasPrefix(text, "FATAL"):
		rep.ExtraError = text
		rep.keep(text)
	case strings.HasPrefix(text, "-I-"):
		rep.remark(text)
	default:
		return rep.version(text) || rep.progress(text) || rep.answer(text)
	}
	return true
}

// answer reads a line of a query, which begins with its image type.
func (rep *FlintReport) answer(text string) bool {
	key, value, ok := keyValue(text)
	// grep may have taken the first line.
	if key == "Image type" || (key == "FW Version" || key == "PSID") && ok && rep.query == nil {
		rep.query = &FlintQuery{ROMs: []FirmwareROM{}, ofImage: rep.ofImage}
		rep.Queries = append(rep.Queries, rep.query)
	}
	switch {
	case rep.query == nil:
		return false
	case ok:
		return rep.query.field(key, value)
	default:
		return rep.query.rom(text)
	}
}

func (rep *FlintReport) remark(text string) {
	switch {
	case strings.Contains(text, "load new FW"), strings.Contains(text, "reboot machine"):
		rep.NextStep = text
	case strings.Contains(text, "verification succeeded"), strings.Contains(text, "Image is bootable"):
		rep.Verified = true
	}
}

// version reads the lines with which a burn begins.
func (rep *FlintReport) version(text string) bool {
	if v, ok := after(text, "Current FW version on flash:"); ok {
		rep.FWFrom, rep.query = v, nil
		return true
	}
	if v, ok := after(text, "New FW version:"); ok {
		rep.FWTo = v
		return true
	}
	switch {
	case strings.Contains(text, "FW version is older than"):
		rep.Downgrade = true
	case strings.Contains(text, "FW version is the same as"):
		rep.SameVersion = true
	case strings.Contains(text, "FW version is on a different branch"):
		rep.OtherBranch = true
	case strings.Contains(text, "Skipping burn because firmware versions match"):
		rep.skipped = true
	case strings.Contains(text, "replace current PSID on flash"), strings.Contains(text, "Minor PSID change detected"):
		if i := strings.LastIndex(text, `): "`); i >= 0 { // Note: … (minor: "a" -> "b"): "from" -> "to".
			text = text[i:]
		}
		if q := strings.Split(text, `"`); len(q) >= 4 {
			rep.PSIDFrom, rep.PSIDTo = q[1], q[3]
		}
	default:
		return false
	}
	return true
}

func (rep *FlintReport) progress(text string) bool {
	m := flintStep.FindStringSubmatch(text)
	if m == nil || m[1] == "" || len(m[1]) > 80 {
		return false
	}
	if m[1][0] == '/' {
		return true // a section of flint verify: /0x00000500-0x0000053f (0x000040)/ (TOOLS_AREA) - OK
	}
	switch name, state := m[1], m[2]; {
	case state == "OK", state == "Done":
		if !slices.Contains(rep.StepsOK, name) && len(rep.StepsOK) < mostMessages {
			rep.StepsOK = append(rep.StepsOK, name)
		}
		rep.Step, rep.PercentReached = "", nil
	case strings.HasSuffix(state, "%"):
		n, _ := smallNumber(strings.TrimSuffix(state, "%"))
		rep.Step, rep.PercentReached = name, &n
	default:
		rep.Step = name
		rep.failed(&rep.Trouble, text)
	}
	return true
}

// explain takes the names out of an error.
func (rep *FlintReport) explain() {
	if rest, ok := strings.CutPrefix(rep.Error, "Cannot open Device: "); ok {
		rep.Device, _, _ = strings.Cut(rest, ". ")
		rep.Device = strings.TrimSuffix(rep.Device, ".")
	}
	for i, m := range flintPSID.FindAllStringSubmatch(rep.Error, 2) {
		switch {
		case i == 0:
			rep.PSIDFlash = m[2]
		case m[1] != "":
			rep.PSIDLocked = m[2]
		default:
			rep.PSIDImage = m[2]
		}
	}
}
