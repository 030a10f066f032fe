package parse

import (
	"io"
	"strconv"
	"strings"

	"github.com/fabricbot/fabricbot/fabric"
)

// IBStatReport is what ibstat prints, with any of its arguments. Without an
// RDMA device ibstat prints nothing and exits with 0; that becomes NoDevices
// and an Error.
type IBStatReport struct {
	Trouble
	NumCAs            int            `json:"num_cas"`
	NumPorts          int            `json:"num_ports"`
	PortsActive       int            `json:"ports_active"`
	PortsDown         int            `json:"ports_down"`
	PortsInitializing int            `json:"ports_initializing,omitempty"`
	LinkLayers        map[string]int `json:"link_layers"`
	CAs               []HCA          `json:"cas"`
	// PortGUIDs is the answer to -p, CANames that to -l.
	PortGUIDs     []fabric.GUID `json:"port_guids,omitempty"`
	CANames       []string      `json:"ca_names,omitempty"`
	NoDevices     bool          `json:"no_devices,omitempty"`
	UmadLoaded    *bool         `json:"ib_umad_loaded,omitempty"`
	MissingDevice string        `json:"missing_device,omitempty"`
}

// HCA is one channel adapter. GUIDs are the tool's text, which people redact;
// fabric.ParseGUID reads them.
type HCA struct {
	Name         string    `json:"name"`
	CAType       string    `json:"ca_type"`
	NumPorts     int       `json:"num_ports"`
	Firmware     string    `json:"fw"`
	Hardware     string    `json:"hw_version"`
	NodeGUID     string    `json:"node_guid"`
	SysImageGUID string    `json:"sys_image_guid"`
	Ports        []HCAPort `json:"ports"`
}

// HCAPort is one port of an adapter. Rate is Gbit/s as ibstat prints it,
// perhaps with " (FDR10)"; for a port that is Down it means nothing.
type HCAPort struct {
	Port      int        `json:"port"`
	State     string     `json:"state"`
	PhysState string     `json:"phys_state"`
	Rate      string     `json:"rate"`
	BaseLID   fabric.LID `json:"base_lid"`
	LMC       int        `json:"lmc"`
	SMLID     fabric.LID `json:"sm_lid"`
	CapMask   string     `json:"cap_mask"`
	PortGUID  string     `json:"port_guid"`
	LinkLayer string     `json:"link_layer"`
}

// Logical returns the state as the fabric's word for it.
func (p HCAPort) Logical() fabric.PortState { s, _ := fabric.ParsePortState(p.State); return s }

// Physical returns the physical state as the fabric's word for it.
func (p HCAPort) Physical() fabric.PhysState { s, _ := fabric.ParsePhysState(p.PhysState); return s }

// IBStat reads the output of ibstat, with any arguments but -l.
func IBStat(r io.Reader) (*IBStatReport, error) { return ibstat(r, (*IBStatReport).line) }

// IBStatNames reads the output of ibstat -l, one name on a line. Such a line
// could be any word, so elsewhere it is not taken for a name.
func IBStatNames(r io.Reader) (*IBStatReport, error) { return ibstat(r, (*IBStatReport).nameLine) }

func ibstat(r io.Reader, understand func(*IBStatReport, string) bool) (*IBStatReport, error) {
	s := newLines(r)
	rep := &IBStatReport{LinkLayers: map[string]int{}, CAs: []HCA{}}
	known := false
	for line, ok := s.text(); ok; line, ok = s.text() {
		if rep.complained(line) {
			rep.explain(line)
			continue
		}
		known = understand(rep, line) || known
	}
	rep.count()
	if s.n == 0 && s.err == nil {
		rep.NoDevices, rep.Error = true, "no RDMA device found: ibstat printed nothing"
	}
	return rep, rep.ended(s, known)
}

var (
	_ = tool(IBStat, "ibstat", "ibstat -p")
	_ = tool(IBStatNames, "ibstat -l")
)

func (rep *IBStatReport) explain(line string) {
	if strings.Contains(line, "is ib_umad module loaded?") {
		loaded := false
		rep.UmadLoaded = &loaded
	}
	if strings.Contains(line, "IB device can't be found") || strings.Contains(line, "ca_name") {
		rep.MissingDevice, _ = between(line, "'", "'")
	}
}

func (rep *IBStatReport) line(line string) bool {
	trimmed := strings.TrimSpace(line)
	if name, ok := between(trimmed, "'", "'"); ok && strings.HasPrefix(trimmed, "CA") {
		rep.CAs = append(rep.CAs, HCA{Name: name, Ports: []HCAPort{}})
		return true
	}
	if g, err := fabric.ParseGUID(trimmed); err == nil && strings.HasPrefix(trimmed, "0x") {
		rep.PortGUIDs = append(rep.PortGUIDs, g)
		return true
	}
	key, value, ok := keyValue(trimmed)
	if !ok {
		return false
	}
	if num, isPort := after(key, "Port "); isPort && value == "" {
		n, err := strconv.Atoi(num)
		if err != nil {
			return false
		}
		ca := rep.ca()
		ca.Ports = append(ca.Ports, HCAPort{Port: n})
		return true
	}
	return rep.caField(key, value) || rep.portField(key, value)
}

func (rep *IBStatReport) nameLine(line string) bool {
	if !isDeviceName(line) {
		return false
	}
	rep.CANames = append(rep.CANames, line)
	return true
}

// ca returns the adapter being read; a text whose heading was cut away by
// grep still has one without a name.
func (rep *IBStatReport) ca() *HCA {
	if len(rep.CAs) == 0 {
		rep.CAs = append(rep.CAs, HCA{Ports: []HCAPort{}})
		rep.Incomplete = true
	}
	return &rep.CAs[len(rep.CAs)-1]
}

func (rep *IBStatReport) caField(key, value string) bool {
	var to *string
	switch key {
	case "CA type":
		to = &rep.ca().CAType
	case "Firmware version":
		to = &rep.ca().Firmware
	case "Hardware version":
		to = &rep.ca().Hardware
	case "Node GUID":
		to = &rep.ca().NodeGUID
	case "System image GUID":
		to = &rep.ca().SysImageGUID
	case "Number of ports":
		n, err := strconv.Atoi(value)
		if err == nil {
			rep.ca().NumPorts = n
		}
		return err == nil
	default:
		return false
	}
	*to = value
	return true
}

func (rep *IBStatReport) portField(key, value string) bool {
	switch key {
	case "State", "Physical state", "Rate", "Base lid", "LMC", "SM lid", "Capability mask", "Port GUID", "Link layer":
	default:
		return false
	}
	ca := rep.ca()
	if len(ca.Ports) == 0 || key == "State" && ca.Ports[len(ca.Ports)-1].State != "" {
		// Lines filtered by grep have no "Port N:" heading.
		ca.Ports = append(ca.Ports, HCAPort{})
		rep.Incomplete = true
	}
	p := &ca.Ports[len(ca.Ports)-1]
	switch key {
	case "State":
		p.State = value
	case "Physical state":
		p.PhysState = value
	case "Rate":
		p.Rate = value
	case "Base lid":
		p.BaseLID, _ = fabric.ParseLID(value)
	case "LMC":
		p.LMC, _ = strconv.Atoi(value)
	case "SM lid":
		p.SMLID, _ = fabric.ParseLID(value)
	case "Capability mask":
		p.CapMask = value
	case "Port GUID":
		p.PortGUID = value
	case "Link layer":
		p.LinkLayer = value
	}
	return true
}

func (rep *IBStatReport) count() {
	rep.NumCAs = len(rep.CAs)
	for i := range rep.CAs {
		ca := &rep.CAs[i]
		if ca.NumPorts > len(ca.Ports) {
			rep.Incomplete = true
		}
		for _, p := range ca.Ports {
			rep.NumPorts++
			switch p.Logical() {
			case fabric.PortActive:
				rep.PortsActive++
			case fabric.PortDown:
				rep.PortsDown++
			case fabric.PortInitializing:
				rep.PortsInitializing++
			}
			if p.LinkLayer != "" {
				rep.LinkLayers[p.LinkLayer]++
			}
			if p.State == "" || p.PhysState == "" {
				rep.Incomplete = true
			}
		}
	}
}

// isDeviceName reports whether s could be the name of an RDMA device or a
// network interface: letters, digits, dot, dash and underline, at most 63.
func isDeviceName(s string) bool {
	if s == "" || len(s) > 63 {
		return false
	}
	for i := 0; i < len(s); i++ {
		if c := s[i]; !isWord(c) && c != '.' && c != '-' {
			return false
		}
	}
	return true
}
