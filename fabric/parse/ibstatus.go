package parse

import (
	"io"
	"strconv"
	"strings"

	"github.com/fabricbot/fabricbot/fabric"
)

// IBStatusReport is what ibstatus prints: sysfs's own words per port.
type IBStatusReport struct {
	Trouble
	NumPorts    int          `json:"num_ports"`
	PortsActive int          `json:"ports_active"`
	Ports       []StatusPort `json:"ports"`
}

// StatusPort is one port. The texts are sysfs's; the fields behind them are
// read from those texts and absent where they cannot be.
type StatusPort struct {
	Device     string            `json:"device"`
	Port       int               `json:"port"`
	DefaultGID string            `json:"default_gid"`
	BaseLID    string            `json:"base_lid"`
	SMLID      string            `json:"sm_lid"`
	State      string            `json:"state"`
	PhysState  string            `json:"phys_state"`
	Rate       string            `json:"rate"`
	LinkLayer  string            `json:"link_layer"`
	BaseLIDDec fabric.LID        `json:"base_lid_dec"`
	SMLIDDec   fabric.LID        `json:"sm_lid_dec"`
	RateGbps   fabric.GbitPerSec `json:"rate_gbps"`
	Width      fabric.Width      `json:"width,omitempty"`
	Speed      fabric.Speed      `json:"speed,omitempty"`
}

// IBStatus reads the output of ibstatus.
func IBStatus(r io.Reader) (*IBStatusReport, error) {
	s := newLines(r)
	rep := &IBStatusReport{Ports: []StatusPort{}}
	var p *StatusPort
	for line, ok := s.text(); ok; line, ok = s.text() {
		if rest, ok := after(line, "Infiniband device '"); ok {
			name, rest, _ := strings.Cut(rest, "'")
			num, _ := between(rest, " port ", " ")
			n, _ := strconv.Atoi(num)
			rep.Ports = append(rep.Ports, StatusPort{Device: name, Port: n})
			p = &rep.Ports[len(rep.Ports)-1]
			continue
		}
		if rep.complained(line) {
			continue
		}
		if key, value, ok := keyValue(line); ok && p != nil {
			p.set(key, value)
		}
	}
	rep.NumPorts = len(rep.Ports)
	for _, p := range rep.Ports {
		if st, _ := fabric.ParsePortState(p.State); st == fabric.PortActive {
			rep.PortsActive++
		}
		if p.State == "" || p.PhysState == "" || p.Rate == "" {
			rep.Incomplete = true
		}
	}
	return rep, rep.ended(s, rep.NumPorts > 0)
}

var _ = tool(IBStatus, "ibstatus")

func (p *StatusPort) set(key, value string) {
	switch key {
	case "default gid":
		p.DefaultGID = value
	case "base lid":
		p.BaseLID = value
		p.BaseLIDDec, _ = fabric.ParseLID(value)
	case "sm lid":
		p.SMLID = value
		p.SMLIDDec, _ = fabric.ParseLID(value)
	case "state":
		p.State = value
	case "phys state":
		p.PhysState = value
	case "rate":
		p.Rate = value
		p.Width, p.Speed, _ = fabric.ParseLinkRate(value)
		number, _, _ := strings.Cut(value, " ")
		rate, err := strconv.ParseFloat(number, 64)
		if err == nil && rate >= 0 && rate < 1e6 {
			p.RateGbps = fabric.GbitPerSec(rate)
		}
	case "link_layer":
		p.LinkLayer = value
	}
}
