package fabricsim

import (
	"bufio"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"github.com/fabricbot/fabricbot/testsuite/fabricsim/mad"
)

// What a net file leaves out is made up so that it looks like a fabric of the
// HDR generation. The company id is NVIDIA's in the IEEE list.
const (
	madeUpGUID   = 0xb8599f0310000000
	vendorID     = 0x02c9
	deviceCA     = 0x101b // ConnectX-6
	deviceSwitch = 0xd2f0 // Quantum
)

var (
	attrLine = regexp.MustCompile(`^(vendid|devid|sysimgguid|switchguid|caguid|hcaguid|rtguid)s?=0x([0-9a-fA-F]{1,16})`)
	nodeLine = regexp.MustCompile(`^(Switch|Ca|Hca|Rt|Router)\s+(\d+)\s+"([^"]+)"(?:.*?#\s*"([^"]*)")?`)
	portLine = regexp.MustCompile(`^\[(\d+)\](?:\(([0-9a-fA-F]{1,16})\))?\s+"([^"]+)"(?:\[(\d+)\])?(?:.*\s(\d+[xX][A-Za-z0-9]+)\s*$)?`)
	idGUID   = regexp.MustCompile(`^[SHR]-([0-9a-fA-F]{16})$`)
)

// ReadPlan reads the text that ibnetdiscover prints, so that a site can load
// its own fabric, or the shorter form of the same without GUIDs and comments.
// A cable that only one end names is laid; one that leads to a node the text
// does not describe is left out.
func ReadPlan(r io.Reader) (*Plan, error) {
	p := &planReader{attrs: map[string]uint64{}, laid: map[CableEnd]CableEnd{}, nodes: map[string]int{}}
	sc := bufio.NewScanner(r)
	sc.Buffer(nil, 1<<20)
	for line := 1; sc.Scan(); line++ {
		if err := p.line(strings.TrimRight(sc.Text(), "\r")); err != nil {
			return nil, fmt.Errorf("reading net file: line %d: %w", line, err)
		}
	}
	if err := sc.Err(); err != nil {
		return nil, fmt.Errorf("reading net file: %w", err)
	}
	kept := p.plan.Cables[:0]
	for _, c := range p.plan.Cables {
		if _, known := p.nodes[c.B.Node]; known {
			kept = append(kept, c)
		}
	}
	p.plan.Cables = kept
	if len(p.plan.Nodes) == 0 {
		return nil, fmt.Errorf("reading net file: no node in it")
	}
	return &p.plan, nil
}

type planReader struct {
	plan  Plan
	attrs map[string]uint64 // what came before the node it belongs to
	nodes map[string]int
	laid  map[CableEnd]CableEnd
}

func (p *planReader) line(text string) error {
	if m := attrLine.FindStringSubmatch(text); m != nil {
		v, err := strconv.ParseUint(m[2], 16, 64)
		p.attrs[m[1]] = v
		return err
	}
	if m := nodeLine.FindStringSubmatch(text); m != nil {
		return p.node(m[1], m[2], m[3], m[4])
	}
	if m := portLine.FindStringSubmatch(text); m != nil {
		return p.port(m)
	}
	return nil
}

func (p *planReader) node(kind, ports, id, desc string) error {
	if _, twice := p.nodes[id]; twice {
		return fmt.Errorf("a second node %q", id)
	}
	n := PlanNode{ID: id, Description: desc, Kind: KindCA, VendorID: vendorID, DeviceID: deviceCA, PortGUIDs: map[int]uint64{}}
	switch kind {
	case "Switch":
		n.Kind, n.DeviceID = KindSwitch, deviceSwitch
	case "Rt", "Router":
		n.Kind = KindRouter
	}
	var err error
	if n.Ports, err = strconv.Atoi(ports); err != nil || n.Ports < 1 || n.Ports > 254 {
		return fmt.Errorf("node %q has %s ports; 1 to 254 are possible", id, ports)
	}
	if n.Description == "" {
		n.Description = id
	}
	for _, name := range []string{"switchguid", "caguid", "hcaguid", "rtguid"} {
		if g := p.attrs[name]; g != 0 {
			n.GUID = g
		}
	}
	if m := idGUID.FindStringSubmatch(id); n.GUID == 0 && m != nil {
		n.GUID, _ = strconv.ParseUint(m[1], 16, 64)
	}
	if n.GUID == 0 {
		n.GUID = madeUpGUID + uint64(len(p.plan.Nodes))<<8
	}
	n.SystemGUID = n.GUID
	if g := p.attrs["sysimgguid"]; g != 0 {
		n.SystemGUID = g
	}
	if v := p.attrs["vendid"]; v != 0 {
		n.VendorID = uint32(v) & 0xffffff
	}
	if v := p.attrs["devid"]; v != 0 {
		n.DeviceID = uint16(v)
	}
	clear(p.attrs)
	p.nodes[id] = len(p.plan.Nodes)
	p.plan.Nodes = append(p.plan.Nodes, n)
	return nil
}

// port reads one line of a port: number, GUID, node and port at the other end,
// width and speed.
func (p *planReader) port(m []string) error {
	if len(p.plan.Nodes) == 0 {
		return fmt.Errorf("a port before any node")
	}
	n := &p.plan.Nodes[len(p.plan.Nodes)-1]
	here, there := CableEnd{Node: n.ID}, CableEnd{Node: m[3], Port: 1}
	var err error
	if here.Port, err = strconv.Atoi(m[1]); err != nil || here.Port < 1 || here.Port > n.Ports {
		return fmt.Errorf("port [%s] of %q, which has ports 1 to %d", m[1], n.ID, n.Ports)
	}
	if m[4] != "" {
		if there.Port, err = strconv.Atoi(m[4]); err != nil {
			return err
		}
	}
	if m[2] != "" && n.Kind != KindSwitch {
		if n.PortGUIDs[here.Port], err = strconv.ParseUint(m[2], 16, 64); err != nil {
			return err
		}
	}
	if p.laid[there] == here {
		return nil // the other end's line of the same cable
	}
	p.laid[here] = there
	c := Cable{A: here, B: there}
	if m[5] != "" {
		if c.Width, c.Speed, err = mad.ParseLink(m[5]); err != nil {
			c.Width, c.Speed = 0, mad.SpeedUnknown
		}
	}
	p.plan.Cables = append(p.plan.Cables, c)
	return nil
}
