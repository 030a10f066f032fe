package fabricsim

import (
	"fmt"
	"strings"

	"github.com/fabricbot/fabricbot/testsuite/fabricsim/mad"
)

// Sizes of the tables of a real switch and adapter of the HDR generation, as
// smpquery prints them.
const (
	linearFDBCap    = 49152 // LIDs 0 to 0xbfff, all unicast
	multicastFDBCap = 4096
	maxMFTBlock     = multicastFDBCap/32 - 1
	partitionsCA    = 128
	partitionsSW    = 32
	guidCap         = 8
	defaultPKey     = 0xffff
	mtu4096         = 5 // IBTA 14.2.5.6, MTUCap
	vlCap8          = 4 // VL0 to VL7
	physSubnet      = 18
	firstMulticast  = 0xc000 // IBTA 4.1.3
	qdr             = 4      // IBTA 14.2.5.6, LinkSpeedActive: 10 Gb/s
)

// New builds the fabric of a plan, every port powered and cabled and every
// link waiting for a subnet manager. A node without a Name is called by the
// first word of its description when no other node has it, else by its ID.
func New(plan *Plan) (*Fabric, error) {
	f := newFabric()
	words := map[string]int{}
	for i := range plan.Nodes {
		words[firstWord(plan.Nodes[i].Description)]++
	}
	byID := map[string]*Node{}
	for i := range plan.Nodes {
		d := &plan.Nodes[i]
		name := d.Name
		if name == "" {
			if name = firstWord(d.Description); name == "" || words[name] > 1 {
				name = d.ID
			}
		}
		n, err := newNode(name, d)
		if err != nil {
			return nil, fmt.Errorf("building the fabric: %w", err)
		}
		if byID[d.ID] != nil || f.byName[name] != nil {
			return nil, fmt.Errorf("building the fabric: two nodes %q (%s)", name, d.ID)
		}
		byID[d.ID], f.byName[name] = n, n
		f.nodes = append(f.nodes, n)
	}
	for _, c := range plan.Cables {
		if err := lay(byID, c); err != nil {
			return nil, fmt.Errorf("building the fabric: %w", err)
		}
	}
	for _, n := range f.nodes {
		for _, p := range n.ports {
			if p != nil && p.cable != nil && p.cable.a == p {
				f.train(p.cable)
			}
		}
	}
	return f, nil
}

// lay connects the two ports of a cable and makes them for its speed.
func lay(byID map[string]*Node, c Cable) error {
	var ends [2]*Port
	for i, e := range []CableEnd{c.A, c.B} {
		n := byID[e.Node]
		if n == nil {
			return fmt.Errorf("a cable of %s[%d] leads to %s[%d]: a node is missing", c.A.Node, c.A.Port, c.B.Node, c.B.Port)
		}
		if e.Port < 1 || e.Port >= len(n.ports) {
			return fmt.Errorf("a cable in port %d of %s, which has ports 1 to %d", e.Port, n.Name, len(n.ports)-1)
		}
		if ends[i] = n.ports[e.Port]; ends[i].cable != nil {
			return fmt.Errorf("two cables in %v", ends[i])
		}
		speed, width := c.Speed, c.Width
		if speed == mad.SpeedUnknown {
			speed = mad.HDR
		}
		if width == 0 {
			width = 4
		}
		ends[i].support(speed, width)
	}
	if ends[0] == ends[1] {
		return fmt.Errorf("both ends of a cable in %v", ends[0])
	}
	connect(ends[0], ends[1])
	return nil
}

// firstWord of a description, without the vendor's "MF0;…:model/U1" frame.
func firstWord(desc string) string {
	if rest, ok := strings.CutPrefix(desc, "MF0;"); ok {
		desc, _, _ = strings.Cut(rest, ":")
	}
	words := strings.Fields(desc)
	if len(words) == 0 {
		return ""
	}
	return words[0]
}

func newNode(name string, d *PlanNode) (*Node, error) {
	if d.Ports < 1 || d.Ports > 254 {
		return nil, fmt.Errorf("node %s has %d ports; 1 to 254 are possible", name, d.Ports)
	}
	n := &Node{Name: name, desc: d.Description, traps: map[uint64]*pendingTrap{}}
	n.info = mad.NodeInfo{
		BaseVersion: 1, ClassVersion: 1, Type: d.Kind, NumPorts: uint8(d.Ports), SystemGUID: d.SystemGUID, NodeGUID: d.GUID, PortGUID: d.GUID,
		PartitionCap: partitionsCA, DeviceID: d.DeviceID, VendorID: d.VendorID,
	}
	n.ports = make([]*Port, d.Ports+1)
	ports := make([]Port, len(n.ports))
	first := 1
	if d.Kind == mad.NodeSwitch {
		first = 0
		n.info.PartitionCap = partitionsSW
		n.sw = newSwitching()
	}
	for i := first; i < len(n.ports); i++ {
		p := &ports[i]
		*p = Port{node: n, num: uint8(i), guid: d.GUID, counters: &counterSet{}}
		if d.Kind != mad.NodeSwitch {
			p.guid = d.GUID + uint64(i)
			if g := d.PortGUIDs[i]; g != 0 {
				p.guid = g
			}
		}
		p.reset()
		n.ports[i] = p
	}
	return n, nil
}

func newSwitching() *switching {
	s := &switching{mft: map[uint32]*mad.MulticastFDBBlock{}}
	s.info = mad.SwitchInfo{
		LinearFDBCap: linearFDBCap, MulticastFDBCap: multicastFDBCap, LifeTime: 18, LIDsPerPort: 0,
		PartitionEnforcementCap: partitionsSW, InboundEnforcement: true, OutboundEnforcement: true,
		FilterRawInbound: true, FilterRawOutbound: true, EnhancedPort0: true, DefaultMulticastPrimary: mad.NoPort, DefaultMulticastNotPrimary: mad.NoPort,
	}
	return s
}

// reset brings a port to what it is after power on: no LID, link down.
func (p *Port) reset() {
	old := p.info
	p.tables = nil
	p.info = mad.PortInfo{
		GIDPrefix: 0xfe80000000000000, LocalPort: p.num, State: mad.PortDown, Phys: mad.PhysPolling, LinkDownDefault: mad.PhysPolling,
		MTUCap: mtu4096, NeighborMTU: mtu4096, VLCap: vlCap8, OperationalVLs: vlCap8, VLArbHighCap: 8, VLArbLowCap: 8,
		SubnetTimeout: physSubnet, RespTime: 16, LocalPhyErrors: 8, OverrunErrors: 8, MaxCreditHint: 0,
		WidthSupported: old.WidthSupported, WidthEnabled: old.WidthSupported, WidthActive: 2,
		SpeedSupported: old.SpeedSupported, SpeedEnabled: old.SpeedSupported, SpeedActive: 1,
		SpeedExtSupported: old.SpeedExtSupported, SpeedExtEnabled: old.SpeedExtSupported,
		CapabilityMask: old.CapabilityMask, CapabilityMask2: old.CapabilityMask2,
	}
	p.mlnx.SpeedEnabled, p.mlnx.SpeedActive = p.mlnx.SpeedSupported, 0
	if p.info.WidthSupported == 0 {
		p.support(mad.HDR, 4)
	}
	if p.num == 0 {
		p.info.State, p.info.Phys = mad.PortActive, mad.PhysLinkUp
		// No wire: it runs at its best, or paths to the switch would be slow.
		best := mad.SpeedSet(1) << p.enabledSpeeds().Best()
		_, width := mad.WidthSet(p.info.WidthEnabled).Best()
		p.info.WidthActive, p.info.SpeedActive, p.info.SpeedExtActive = uint8(width), qdr, best.Extended()
	}
	if p.external() && !p.node.isSwitch() {
		p.info.GUIDCap = guidCap
	}
}

// support sets what a port is built for; a link of two such ports comes up
// with the best of both.
func (p *Port) support(max mad.Speed, width mad.Width) {
	s, i := mad.NewSpeedSet(max), &p.info
	i.SpeedSupported, i.SpeedEnabled = s.Legacy(), s.Legacy()
	i.SpeedExtSupported, i.SpeedExtEnabled = s.Extended(), s.Extended()
	p.mlnx.SpeedSupported, p.mlnx.SpeedEnabled = s.Mlnx(), s.Mlnx()
	w := uint8(mad.NewWidthSet(width))
	i.WidthSupported, i.WidthEnabled = w, w
	i.CapabilityMask2 = mad.Cap2SetDescription
	if w&16 != 0 {
		i.CapabilityMask2 |= mad.Cap2Width2X
	}
	if max >= mad.HDR {
		i.CapabilityMask2 |= mad.Cap2HDR
	}
	if max >= mad.NDR {
		i.CapabilityMask2 |= mad.Cap2NDR
	}
	i.CapabilityMask = mad.CapTrap | mad.CapNotice | mad.CapAutoMigration | mad.CapSLMapping | mad.CapSystemGUID | mad.CapMask2 |
		mad.CapCommMgmt | mad.CapDRNotice | mad.CapMaskNotice | mad.CapClientReregister | mad.CapOtherChanges
	if i.SpeedExtSupported != 0 {
		i.CapabilityMask |= mad.CapExtendedSpeeds
	}
}
