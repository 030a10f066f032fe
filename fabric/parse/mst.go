package parse

import (
	"io"
	"regexp"
	"slices"
	"strings"
)

// MSTReport is what mst prints for start, stop, status and status -v.
type MSTReport struct {
	Trouble
	Verdict
	Marks
	// MSTPCI and MSTPCIConf are the results of loading the two modules,
	// Success or "Failure: 1"; empty where that was not tried.
	MSTPCI           string   `json:"mst_pci,omitempty"`
	MSTPCIConf       string   `json:"mst_pciconf,omitempty"`
	RejectedModules  []string `json:"rejected_modules,omitempty"`
	Summary          string   `json:"summary,omitempty"`
	MSTPCILoaded     *bool    `json:"mst_pci_loaded,omitempty"`
	MSTPCIConfLoaded *bool    `json:"mst_pciconf_loaded,omitempty"`
	// NodeCount counts the access nodes of the plain status, CardCount the PCI
	// devices behind them: older cards have two nodes each, others a node for
	// each of their functions.
	NodeCount   *int        `json:"node_count,omitempty"`
	CardCount   *int        `json:"card_count,omitempty"`
	Nodes       []string    `json:"nodes,omitempty"`
	BDFs        []string    `json:"bdfs,omitempty"`
	DeviceCount *int        `json:"device_count,omitempty"`
	Devices     []MSTDevice `json:"devices,omitempty"`
	Message     string      `json:"message,omitempty"`
	started     bool
	stopped     bool
	created     bool
	cables      string
	listing     string // what the section lists: nodes or a table
}

// MSTDevice is a row of status -v; nil is a column that the row lacks.
type MSTDevice struct {
	Type string   `json:"type"`
	Rev  string   `json:"rev"` // hexadecimal
	MST  string   `json:"mst"`
	PCI  *string  `json:"pci"`
	RDMA *string  `json:"rdma"`
	Net  []string `json:"net"`
	NUMA *string  `json:"numa"` // -1 where the platform does not tell
}

// MST reads the output of mst.
func MST(r io.Reader) (*MSTReport, error) {
	s := newLines(r)
	rep := &MSTReport{}
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

var _ = tool(MST, "mst", "mst status", "mst status -v", "mst start")

var (
	mstLoad   = regexp.MustCompile(`^(?:Loading|Unloading) MST PCI (configuration )?module(?: \(unused\))?\s*-?\s*(.*)$`)
	mstInsert = regexp.MustCompile(`could not insert '([\w-]+)': (.+)$`)
	mstBDF    = regexp.MustCompile(`domain:bus:dev\.fn=([0-9a-fA-F]{4,8}:[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\.[0-7])`)
	mstName   = regexp.MustCompile(`^(?:/dev/mst/)?(mt\d+_\w[\w.]*|mtusb-\d+|netir\w*)$`)
	mstRow    = regexp.MustCompile(`^(\w[\w-]*)\(rev:([0-9a-fA-F]+)\)$`)
)

func (rep *MSTReport) line(text string) bool {
	if text == "." {
		return rep.listing != "" // filler between rows
	}
	switch {
	case rep.take(&rep.Trouble, text):
	case strings.HasPrefix(text, "Starting MST"):
		rep.started = true
	case strings.HasPrefix(text, "Stopping MST"):
		rep.stopped = true
	case strings.HasPrefix(text, "Create devices"):
		rep.created = true
	case strings.HasPrefix(text, "MST modules:"):
	case strings.HasPrefix(text, "MST PCI module"), strings.HasPrefix(text, "MST PCI configuration module"):
		loaded := !strings.Contains(text, "not loaded")
		if strings.Contains(text, "configuration") {
			rep.MSTPCIConfLoaded = &loaded
		} else {
			rep.MSTPCILoaded = &loaded
		}
	case strings.HasPrefix(text, "DEVICE_TYPE"):
		rep.listing = "table"
	case strings.HasSuffix(strings.ToLower(text), "devices:") && len(text) < 40: // MST, PCI, In-band, Cable, Remote
		rep.listing = "nodes"
	case strings.HasPrefix(text, "Added ") && strings.Contains(text, "cable devices"):
		rep.cables = text
	case strings.HasPrefix(text, "No devices were found"), strings.HasPrefix(text, "No MST devices"):
		rep.Message = text
	case mstLoad.MatchString(text):
		rep.load(text)
	case rep.insertion(text):
	case strings.HasSuffix(text, "driver not found"):
		rep.Summary = text
	default:
		return rep.device(text)
	}
	return true
}

// load reads "Loading MST PCI module - Success", behind which modprobe's own
// complaint may stand on the same line and the result on the next.
func (rep *MSTReport) load(text string) {
	m := mstLoad.FindStringSubmatch(text)
	if strings.HasPrefix(text, "Unloading") {
		return
	}
	rep.insertion(text)
	result := m[2]
	if strings.Contains(result, "modprobe") {
		result = "Failure"
	}
	if m[1] != "" {
		rep.MSTPCIConf = result
	} else {
		rep.MSTPCI = result
	}
	if strings.HasPrefix(result, "Fail") && rep.Error == "" {
		rep.failed(&rep.Trouble, "module not loaded")
	}
}

// insertion reads modprobe's reasons.
func (rep *MSTReport) insertion(text string) bool {
	if m := mstInsert.FindStringSubmatch(text); m != nil {
		if len(rep.RejectedModules) < mostMessages {
			rep.RejectedModules = append(rep.RejectedModules, m[1])
		}
		rep.failed(&rep.Trouble, m[2])
		rep.keep(text)
		return true
	}
	if _, why, ok := strings.Cut(text, "modprobe: FATAL: "); ok {
		rep.failed(&rep.Trouble, why)
		rep.keep(text)
		return true
	}
	return strings.HasPrefix(text, "- Failure")
}

// device reads a node, the line that continues it, or a row of the table.
func (rep *MSTReport) device(text string) bool {
	words := strings.Fields(text)
	if len(words) == 0 {
		return false
	}
	if m := mstRow.FindStringSubmatch(words[0]); m != nil {
		rep.row(m[1], m[2], words[1:])
		return true
	}
	if mstName.MatchString(words[0]) && (rep.listing != "" || strings.HasPrefix(text, "/dev/mst/")) {
		rep.Nodes = append(rep.Nodes, words[0])
		if m := mstBDF.FindStringSubmatch(text); m != nil {
			rep.bdf(m[1])
		}
		return true
	}
	if m := mstBDF.FindStringSubmatch(text); m != nil {
		rep.bdf(m[1])
		return true
	}
	return rep.listing != "" && (strings.HasPrefix(text, "Chip revision") || strings.Trim(text, "-") == "")
}

func (rep *MSTReport) bdf(bdf string) {
	if len(rep.BDFs) < mostMessages && !slices.Contains(rep.BDFs, bdf) {
		rep.BDFs = append(rep.BDFs, bdf)
	}
}

// row tells the columns apart by their form, since any but the first may be
// empty.
func (rep *MSTReport) row(kind, rev string, words []string) {
	d := MSTDevice{Type: kind, Rev: rev, Net: []string{}}
	for i, w := range words {
		switch {
		case i == 0 && (strings.Contains(w, "mst") || mstName.MatchString(w) || w == "NA"):
			d.MST = w
		case d.PCI == nil && isBDF(w):
			d.PCI = &w
		case strings.HasPrefix(w, "net-"):
			d.Net = append(d.Net, strings.FieldsFunc(w, func(c rune) bool { return c == ',' })...)
		case i == len(words)-1 && i > 0 && (w == "-1" || isNumber(w)):
			d.NUMA = &w
		case d.RDMA == nil && len(d.Net) == 0 && i > 0:
			d.RDMA = &w
		}
	}
	rep.Devices = append(rep.Devices, d)
}

func isNumber(s string) bool {
	_, ok := smallNumber(s)
	return ok
}

func (rep *MSTReport) judge() {
	nodes, devices := len(rep.Nodes), len(rep.Devices)
	seen := map[string]bool{}
	for _, bdf := range rep.BDFs {
		card, _, _ := strings.Cut(bdf, ".")
		seen[card] = true
	}
	cards := len(seen)
	if nodes > 0 {
		rep.NodeCount = &nodes
		if cards > 0 {
			rep.CardCount = &cards
		}
	}
	if rep.listing == "table" || rep.Message != "" {
		rep.DeviceCount = &devices
	}
	switch {
	case slices.ContainsFunc(rep.Errors, func(e string) bool {
		return strings.Contains(e, "Key was rejected") || strings.Contains(e, "Required key not")
	}):
		rep.is(Failed, "module_signature_rejected")
	case rep.Error != "" && (rep.started || len(rep.RejectedModules) > 0):
		rep.is(Failed, "module_load_failed")
	case rep.Error != "" && strings.Contains(strings.ToLower(rep.Error), "root"):
		rep.is(Failed, "not_root")
	case rep.Error != "" && len(rep.Errors) == 0:
		rep.is(Failed, "not_run")
	case rep.Error != "":
		rep.is(Failed, "error")
	case devices > 0:
		rep.is(Succeeded, "status_v")
	case nodes > 0:
		rep.is(Succeeded, "status")
	case rep.Message != "":
		rep.is(Informed, "no_devices")
	case rep.started && rep.created:
		rep.is(Succeeded, "started")
	case rep.cables != "":
		rep.Message = rep.cables
		rep.is(Succeeded, "cables_added")
	case rep.stopped:
		rep.is(Succeeded, "stopped")
	default:
		rep.is(Truncated, "")
	}
	rep.Incomplete = rep.Outcome == Truncated
}
