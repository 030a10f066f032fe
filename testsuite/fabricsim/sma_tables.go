package fabricsim

import "github.com/fabricbot/fabricbot/testsuite/fabricsim/mad"

func (p *Port) own() *portTables {
	if p.tables == nil {
		p.tables = &portTables{
			pkeys: map[uint16]*mad.PKeyBlock{}, sl2vl: map[uint16]*mad.SLToVL{},
			vlarb: map[uint16]*mad.VLArbBlock{}, guids: map[uint32]*mad.GUIDBlock{},
		}
	}
	return p.tables
}

// table answers for the tables that a port has: partitions, service levels,
// arbitration, GUIDs.
func (n *Node) table(in *Port, m mad.MAD, set bool) uint16 {
	mod, data := m.Mod(), m.SMPData()
	switch m.Attr() {
	case mad.AttrPKeyTable:
		return n.partitionTable(in, uint16(mod>>16), uint16(mod), data, set)
	case mad.AttrSLToVL:
		p := in
		if n.isSwitch() {
			p = n.port(uint8(mod))
		}
		if p == nil {
			return mad.StatusInvalidValue
		}
		return access(&mad.SLToVL{0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7}, p, uint16(mod>>8&0xff), data, set,
			func(t *portTables) map[uint16]*mad.SLToVL { return t.sl2vl })
	case mad.AttrVLArbitration:
		p := in
		if n.isSwitch() {
			p = n.port(uint8(mod))
		}
		part := uint16(mod >> 16)
		if p == nil || part < 1 || part > 4 {
			return mad.StatusInvalidValue
		}
		return access(&mad.VLArbBlock{}, p, part, data, set,
			func(t *portTables) map[uint16]*mad.VLArbBlock { return t.vlarb })
	}
	p := n.manager(in)
	if n.isSwitch() || mod >= guidCap/8 {
		return mad.StatusInvalidValue
	}
	status := access(&mad.GUIDBlock{p.guid}, p, mod, data, set,
		func(t *portTables) map[uint32]*mad.GUIDBlock { return t.guids })
	if set {
		p.tables.guids[mod][0] = p.guid // the port's own stays
		p.tables.guids[mod].Encode(data)
	}
	return status
}

func (n *Node) partitionTable(in *Port, num, block uint16, data []byte, set bool) uint16 {
	p, keys := in, partitionsCA
	if n.isSwitch() {
		p = n.port(uint8(num))
		keys = partitionsSW
	}
	if p == nil || int(block)*32 >= keys {
		return mad.StatusInvalidValue
	}
	fresh := mad.PKeyBlock{}
	if block == 0 {
		fresh = mad.NewPKeyBlock(defaultPKey)
	}
	status := access(&fresh, p, block, data, set, func(t *portTables) map[uint16]*mad.PKeyBlock { return t.pkeys })
	if set {
		p.changed()
	}
	return status
}

// access reads or writes one block of a table. Until it is first written, a
// block is fresh and takes no memory.
func access[K comparable, T any, A interface {
	*T
	mad.Attribute
}](fresh A, p *Port, key K, data []byte, set bool, table func(*portTables) map[K]A) uint16 {
	var block A
	if p.tables != nil {
		block = table(p.tables)[key]
	}
	if block == nil {
		block = fresh
		if set {
			table(p.own())[key] = block
		}
	}
	if set {
		block.Decode(data)
	}
	clear(data)
	block.Encode(data)
	return mad.StatusOK
}
