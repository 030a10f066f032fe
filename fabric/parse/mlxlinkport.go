package parse

import (
	"math"
	"strconv"
	"strings"
)

// MLXLinkPort is what mlxlink says about one port, as text: N/A stands for
// what the device or module does not have. Methods give the values to judge by.
type MLXLinkPort struct {
	Name           string `json:"name,omitempty"` // only where a script printed one
	State          string `json:"state,omitempty"`
	PhysicalState  string `json:"physical_state,omitempty"`
	Speed          string `json:"speed,omitempty"` // IB-NDR, 400G
	Width          string `json:"width,omitempty"` // 4x
	FEC            string `json:"fec,omitempty"`
	Loopback       string `json:"loopback,omitempty"`
	AutoNegotiated string `json:"auto_negotiation,omitempty"`
	EnabledSpeed   string `json:"enabled_speed,omitempty"`
	CableSpeed     string `json:"cable_speed,omitempty"`
	StatusOpcode   string `json:"status_opcode,omitempty"`
	GroupOpcode    string `json:"group_opcode,omitempty"`
	Recommendation string `json:"recommendation,omitempty"`
	FW             string `json:"fw,omitempty"`
	MFT            string `json:"mft,omitempty"`
	AmBER          string `json:"amber,omitempty"`
	// The following are the counters by short names; Counters has them all
	// under mlxlink's.
	SinceClear      string            `json:"time_since_clear_min,omitempty"`
	SymbolErrors    string            `json:"symbol_errors,omitempty"`
	SymbolBER       string            `json:"symbol_ber,omitempty"`
	EffectiveErrors string            `json:"effective_errors,omitempty"`
	EffectiveBER    string            `json:"effective_ber,omitempty"`
	RawLanes        string            `json:"raw_lanes,omitempty"`
	RawBER          string            `json:"raw_ber,omitempty"`
	LinkDown        string            `json:"link_down,omitempty"`
	LinkRecovery    string            `json:"link_recovery,omitempty"`
	Counters        map[string]string `json:"counters,omitempty"`
	Module          *MLXModule        `json:"module,omitempty"`
	// The PCIe link's speed and width, and those it is allowed.
	SpeedActive   string            `json:"speed_active,omitempty"`
	SpeedEnabled  string            `json:"speed_enabled,omitempty"`
	WidthActive   string            `json:"width_active,omitempty"`
	WidthEnabled  string            `json:"width_enabled,omitempty"`
	DegradedSpeed *bool             `json:"degraded_speed,omitempty"`
	DegradedWidth *bool             `json:"degraded_width,omitempty"`
	LaneCount     int               `json:"lane_count,omitempty"`
	Eye           map[string]string `json:"eye,omitempty"`
	Other         map[string]string `json:"other,omitempty"`
	section       string
	sections      map[string]bool
	any           bool
}

// Up reports whether the port is active: the state alone proves it, since
// LinkUp also stands before a subnet manager has been.
func (p *MLXLinkPort) Up() bool {
	return p.State == "Active" || p.State == "" && p.PhysicalState == "LinkUp"
}

// Opcode returns the status opcode of Troubleshooting Info, 0 for no issue.
func (p *MLXLinkPort) Opcode() (int, bool) {
	n, err := strconv.Atoi(p.StatusOpcode)
	return n, err == nil
}

// BER reads one of mlxlink's error ratios: "2E-9". Firmware writes 15E-255
// for a ratio too small to be measured; it is returned as 0. False for N/A.
func BER(text string) (float64, bool) {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || v < 0 || math.IsInf(v, 0) || math.IsNaN(v) {
		return 0, false
	}
	if v < 1e-250 {
		v = 0
	}
	return v, true
}

// PerLane reads numbers of lanes, "3183333,242074"; nil where one is missing.
func PerLane(text string) []uint64 {
	words := strings.Split(text, ",")
	lanes := make([]uint64, len(words))
	for i, w := range words {
		n, err := strconv.ParseUint(strings.TrimSpace(w), 10, 64)
		if err != nil {
			return nil
		}
		lanes[i] = n
	}
	return lanes
}

// field takes a label and reports whether it is one that mlxlink has.
func (p *MLXLinkPort) field(key, value string) bool {
	if (p.section == "Module Info" || p.section == "" && mlxlinkModule[key]) && p.module(key, value) {
		p.any = true
		return true
	}
	label := strings.TrimSuffix(key, " (Ext.)")
	if to, ok := p.words()[label]; ok {
		*to = value
		p.any = true
		return true
	}
	switch {
	case strings.Contains(p.section, "Counters") || mlxlinkCounters[label] != nil:
		if p.section == "" && mlxlinkCounters[label] == nil {
			return false
		}
		p.counter(label, value)
	case label == "Link Speed Active (Enabled)":
		p.SpeedActive, p.SpeedEnabled, p.DegradedSpeed = activeEnabled(value)
	case label == "Link Width Active (Enabled)":
		p.WidthActive, p.WidthEnabled, p.DegradedWidth = activeEnabled(value)
	case strings.HasPrefix(p.section, "EYE"):
		put(&p.Eye, strings.Join(strings.Fields(label), " "), value)
		if label == "Physical Grade" || label == "Initial FOM" {
			p.LaneCount = 1 + strings.Count(strings.Trim(value, ", "), ",")
		}
	case p.section != "":
		put(&p.Other, snake(label), value)
	default:
		return false
	}
	p.any = true
	return true
}

func (p *MLXLinkPort) words() map[string]*string {
	return map[string]*string{
		"State": &p.State, "Physical state": &p.PhysicalState, "Speed": &p.Speed, "Width": &p.Width, "FEC": &p.FEC, "Loopback Mode": &p.Loopback,
		"Auto Negotiation": &p.AutoNegotiated, "Enabled Link Speed": &p.EnabledSpeed, "Supported Cable Speed": &p.CableSpeed,
		"Status Opcode": &p.StatusOpcode, "Group Opcode": &p.GroupOpcode, "Recommendation": &p.Recommendation,
		"Firmware Version": &p.FW, "MFT Version": &p.MFT, "MSTFLINT Version": &p.MFT, "amBER Version": &p.AmBER,
	}
}

// mlxlinkCounters gives the short names' places.
var mlxlinkCounters = map[string]func(*MLXLinkPort) *string{
	"Time Since Last Clear [Min]":  func(p *MLXLinkPort) *string { return &p.SinceClear },
	"Symbol Errors":                func(p *MLXLinkPort) *string { return &p.SymbolErrors },
	"Symbol BER":                   func(p *MLXLinkPort) *string { return &p.SymbolBER },
	"Effective Physical Errors":    func(p *MLXLinkPort) *string { return &p.EffectiveErrors },
	"Effective Physical BER":       func(p *MLXLinkPort) *string { return &p.EffectiveBER },
	"Raw Physical Errors Per Lane": func(p *MLXLinkPort) *string { return &p.RawLanes },
	"Raw Physical BER":             func(p *MLXLinkPort) *string { return &p.RawBER },
	"Link Down Counter":            func(p *MLXLinkPort) *string { return &p.LinkDown },
	"Link Error Recovery Counter":  func(p *MLXLinkPort) *string { return &p.LinkRecovery },
}

func (p *MLXLinkPort) counter(label, value string) {
	put(&p.Counters, label, value)
	if place := mlxlinkCounters[label]; place != nil {
		*place(p) = value
	}
}

// mostLabels bounds how many labels a report may keep; mlxlink has about 300.
const mostLabels = 1000

func put(m *map[string]string, key, value string) {
	if *m == nil {
		*m = map[string]string{}
	}
	if len(*m) < mostLabels {
		(*m)[key] = value
	}
}

// activeEnabled reads "8G-Gen 3 (16G-Gen 4)": what is, what could be, and
// whether it is less.
func activeEnabled(value string) (active, enabled string, degraded *bool) {
	active, rest, ok := strings.Cut(value, "(")
	active = strings.TrimSpace(active)
	if !ok {
		return active, "", nil
	}
	enabled = strings.TrimSuffix(strings.TrimSpace(rest), ")")
	less := active != enabled
	return active, enabled, &less
}
