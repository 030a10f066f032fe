package parse

import (
	"io"
	"strconv"
	"strings"

	"github.com/fabricbot/fabricbot/fabric"
)

// IBVDevInfoReport is what ibv_devinfo prints; of the many limits that -v
// adds nothing is kept.
type IBVDevInfoReport struct {
	Trouble
	NumHCAs  int            `json:"num_hcas"`
	NumPorts int            `json:"num_ports"`
	States   map[string]int `json:"states"`
	HCAs     []VerbsDevice  `json:"hcas"`
	// Complete is false where a device says it has more ports than follow, or
	// its last port lacks its link layer.
	Complete       bool   `json:"complete"`
	LastIncomplete string `json:"last_hca_incomplete,omitempty"`
}

// VerbsDevice is one device. The texts are the tool's.
type VerbsDevice struct {
	Name         string      `json:"name"`
	Transport    string      `json:"transport,omitempty"`
	Firmware     string      `json:"fw_ver,omitempty"`
	NodeGUID     string      `json:"node_guid,omitempty"`
	SysImageGUID string      `json:"sys_image_guid,omitempty"`
	VendorID     string      `json:"vendor_id,omitempty"`
	PartID       *int        `json:"vendor_part_id,omitempty"`
	HWVersion    string      `json:"hw_ver,omitempty"`
	BoardID      string      `json:"board_id,omitempty"`
	PortCount    *int        `json:"phys_port_cnt,omitempty"`
	Ports        []VerbsPort `json:"ports"`
}

// VerbsPort is one port. A LID of 65535 means that no subnet manager has
// assigned one yet.
type VerbsPort struct {
	Port      int        `json:"port"`
	State     string     `json:"state"`
	MaxMTU    string     `json:"max_mtu"`
	ActiveMTU string     `json:"active_mtu"`
	SMLID     fabric.LID `json:"sm_lid"`
	LID       fabric.LID `json:"port_lid"`
	LMC       string     `json:"port_lmc"`
	LinkLayer string     `json:"link_layer"`
	GIDs      []string   `json:"gids,omitempty"`
}

// IBVDevInfo reads the output of ibv_devinfo.
func IBVDevInfo(r io.Reader) (*IBVDevInfoReport, error) {
	s := newLines(r)
	rep := &IBVDevInfoReport{States: map[string]int{}, HCAs: []VerbsDevice{}}
	for line, ok := s.text(); ok; line, ok = s.text() {
		key, value, ok := keyValue(line)
		switch {
		case !ok:
			rep.complained(line)
		case key == "hca_id":
			rep.HCAs = append(rep.HCAs, VerbsDevice{Name: value, Ports: []VerbsPort{}})
		case len(rep.HCAs) == 0:
			rep.complained(line)
		default:
			rep.HCAs[len(rep.HCAs)-1].set(key, value)
		}
	}
	rep.count()
	return rep, rep.ended(s, rep.NumHCAs > 0)
}

var _ = tool(IBVDevInfo, "ibv_devinfo", "ibv_devinfo -v")

func (rep *IBVDevInfoReport) count() {
	rep.NumHCAs, rep.Complete = len(rep.HCAs), len(rep.HCAs) > 0
	for _, h := range rep.HCAs {
		whole := h.PortCount != nil && *h.PortCount == len(h.Ports)
		for _, p := range h.Ports {
			rep.NumPorts++
			if p.State != "" {
				rep.States[p.State]++
			}
			whole = whole && p.LinkLayer != ""
		}
		if !whole {
			rep.Complete, rep.Incomplete, rep.LastIncomplete = false, true, h.Name
		}
	}
}

func (d *VerbsDevice) set(key, value string) {
	switch key {
	case "transport":
		d.Transport = value
	case "fw_ver":
		d.Firmware = value
	case "node_guid":
		d.NodeGUID = value
	case "sys_image_guid":
		d.SysImageGUID = value
	case "vendor_id":
		d.VendorID = value
	case "vendor_part_id":
		if n, ok := largeNumber(value); ok {
			d.PartID = &n
		}
	case "hw_ver":
		d.HWVersion = value
	case "board_id":
		d.BoardID = value
	case "phys_port_cnt":
		if n, ok := smallNumber(value); ok {
			d.PortCount = &n
		}
	case "port":
		if n, err := strconv.Atoi(value); err == nil {
			d.Ports = append(d.Ports, VerbsPort{Port: n})
		}
	default:
		if len(d.Ports) > 0 {
			d.Ports[len(d.Ports)-1].set(key, value)
		}
	}
}

func (p *VerbsPort) set(key, value string) {
	switch key {
	case "state":
		p.State = value
	case "max_mtu":
		p.MaxMTU = value
	case "active_mtu":
		p.ActiveMTU = value
	case "sm_lid":
		p.SMLID, _ = fabric.ParseLID(value)
	case "port_lid":
		p.LID, _ = fabric.ParseLID(value)
	case "port_lmc":
		p.LMC = value
	case "link_layer":
		p.LinkLayer = value
	default:
		if strings.HasPrefix(key, "GID[") {
			p.GIDs = append(p.GIDs, value)
		}
	}
}
