package fabricsim

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"github.com/fabricbot/fabricbot/testsuite/fabricsim/mad"
)

// Fabric is a running simulation. All methods may be called from several
// goroutines.
type Fabric struct {
	mu     sync.Mutex
	nodes  []*Node // in the order of the plan
	byName map[string]*Node
	agents map[uint32]*agent // by the upper half of their transaction ids
	nextTI uint32            // last upper half given out
	out    []delivery        // what unlock hands to clients
	random *rand.Rand
	values map[string]map[string]float64 // readings of ports, by "node/port"
	plugs  []*Plug
	dirty  []*Plug // whose files unlock has to write
	flaps  map[*Port]*flapping
	closed bool
}

// delivery is a datagram on its way to a client, sent when the lock is free.
type delivery struct {
	to    *client
	frame []byte
}

func newFabric() *Fabric {
	return &Fabric{
		byName: map[string]*Node{},
		agents: map[uint32]*agent{},
		random: rand.New(rand.NewPCG(1, 2)),
		values: map[string]map[string]float64{},
		flaps:  map[*Port]*flapping{},
	}
}

func (f *Fabric) lock() { f.mu.Lock() }

// unlock frees the fabric, brings the hosts' files up to date and then sends
// what was put out meanwhile, so that no file and no socket is touched under
// the lock.
func (f *Fabric) unlock() {
	out := f.out
	f.out = nil
	var writes []func() error
	for _, p := range f.dirty {
		if tree, version := p.render(); len(p.devices) > 0 {
			writes = append(writes, func() error { return p.write(tree, version) })
		}
	}
	f.dirty = f.dirty[:0]
	f.mu.Unlock()
	for _, write := range writes {
		write() // fails only for a host whose directory is gone
	}
	for _, d := range out {
		d.to.push(d.frame)
	}
}

// locked runs fn with the fabric held.
func (f *Fabric) locked(fn func()) {
	f.lock()
	defer f.unlock()
	fn()
}

// Close unplugs all hosts. A closed fabric moves no datagrams.
func (f *Fabric) Close() {
	f.lock()
	f.closed = true
	plugs := f.plugs
	for _, fl := range f.flaps {
		fl.timer.Stop()
	}
	f.unlock()
	for _, p := range plugs {
		p.Close()
	}
}

// Node types as the callers need them.
const (
	KindCA     = mad.NodeCA
	KindSwitch = mad.NodeSwitch
	KindRouter = mad.NodeRouter
)

// Node is a switch, a channel adapter or a router.
type Node struct {
	Name string // unique in the fabric

	desc     string
	info     mad.NodeInfo
	ports    []*Port // by number; a channel adapter has none at 0
	sw       *switching
	off      bool // without power
	hung     bool // powered, links up, management agent deaf
	dropRate float64
	delay    time.Duration
	burnt    []uint64 // its own GUIDs, while it shows another's
	traps    map[uint64]*pendingTrap
	nextTrap uint32
}

// switching is what only switches have.
type switching struct {
	info mad.SwitchInfo
	lft  []uint8
	mft  map[uint32]*mad.MulticastFDBBlock // by modifier
}

// Port is one port of a node; port 0 of a switch is its management port.
type Port struct {
	node   *Node
	num    uint8
	guid   uint64
	info   mad.PortInfo
	mlnx   mad.MlnxExtPortInfo
	cable  *cable
	tables *portTables
	device *device // a host's adapter, if programs may open it

	counters *counterSet
	mkeyAt   time.Time // first M_Key violation since the last good one
}

// portTables are allocated when a subnet manager first writes one: most ports
// of a large fabric keep their defaults.
type portTables struct {
	pkeys map[uint16]*mad.PKeyBlock
	sl2vl map[uint16]*mad.SLToVL
	vlarb map[uint16]*mad.VLArbBlock
	guids map[uint32]*mad.GUIDBlock
}

func (n *Node) isSwitch() bool { return n.sw != nil }

// port finds a port by number; nil when the node has none of it.
func (n *Node) port(num uint8) *Port {
	if int(num) >= len(n.ports) {
		return nil
	}
	return n.ports[num]
}

// manager is the port that holds the node's LID and M_Key for management that
// came in by port in: port 0 of a switch, the port itself elsewhere.
func (n *Node) manager(in *Port) *Port {
	if n.isSwitch() {
		return n.ports[0]
	}
	return in
}

// deaf reports whether the node's management agent answers nobody just now.
func (f *Fabric) deaf(n *Node) bool {
	return n.off || n.hung || n.dropRate > 0 && f.random.Float64() < n.dropRate
}

func (p *Port) String() string { return fmt.Sprintf("%s[%d]", p.node.Name, p.num) }

// external ports have a cable's socket; port 0 of a switch has not.
func (p *Port) external() bool { return p.num > 0 }

// peer is the other end of the cable in the port.
func (p *Port) peer() *Port {
	if p.cable == nil {
		return nil
	}
	return p.cable.other(p)
}

// changed tells the host that looks at this port to read it again.
func (p *Port) changed() {
	if p.device != nil {
		p.device.plug.refresh()
	}
}

// find resolves a node's name or unique beginning of a description.
func (f *Fabric) find(name string) (*Node, error) {
	if n := f.byName[name]; n != nil {
		return n, nil
	}
	var hits []*Node
	for _, n := range f.nodes {
		if strings.HasPrefix(n.desc, name) {
			hits = append(hits, n)
		}
	}
	switch len(hits) {
	case 1:
		return hits[0], nil
	case 0:
		return nil, fmt.Errorf("no node %q in the fabric of %d nodes", name, len(f.nodes))
	}
	return nil, fmt.Errorf("%q names %d nodes, among them %q and %q", name, len(hits), hits[0].Name, hits[1].Name)
}

// findPort resolves a cabled port by its node's name and number.
func (f *Fabric) findPort(node string, num int) (*Port, error) {
	n, err := f.find(node)
	if err != nil {
		return nil, err
	}
	if num < 1 || num >= len(n.ports) {
		return nil, fmt.Errorf("%s has ports 1 to %d, not %d", n.Name, len(n.ports)-1, num)
	}
	return n.ports[num], nil
}
