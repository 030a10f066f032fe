package fabricsim

import (
	"time"

	"github.com/fabricbot/fabricbot/testsuite/fabricsim/mad"
)

// answerSMP turns a Get or Set that arrived at a port into its response. It
// returns false when the node has to stay silent, which is what a wrong M_Key
// earns (IBTA 14.2.4).
func (f *Fabric) answerSMP(in *Port, m mad.MAD) bool {
	if !f.keyFits(in.node.manager(in), m) {
		return false
	}
	set := m.Method() == mad.MethodSet
	status := f.attribute(in, m, set)
	m.SetMethod(mad.MethodGetResp)
	m.SetStatus(status)
	return true
}

// keyFits checks the M_Key of an SMP against the port's (IBTA 14.2.4.1): a Get
// passes a wrong key unless the protect bits are 2 or 3.
func (f *Fabric) keyFits(p *Port, m mad.MAD) bool {
	i := &p.info
	if i.MKey == 0 || m.MKey() == i.MKey {
		p.mkeyAt = time.Time{}
		return true
	}
	if i.MKeyLease > 0 && !p.mkeyAt.IsZero() && time.Since(p.mkeyAt) > time.Duration(i.MKeyLease)*time.Second {
		i.MKeyProtect = 0 // the lease ran out (IBTA 14.2.4.2)
	}
	if m.Method() == mad.MethodGet && i.MKeyProtect < 2 {
		return true
	}
	if i.MKeyViolations < 0xffff {
		i.MKeyViolations++
	}
	if p.mkeyAt.IsZero() {
		p.mkeyAt = time.Now()
	}
	return false
}

// attribute reads or writes one attribute and leaves the result in the SMP.
func (f *Fabric) attribute(in *Port, m mad.MAD, set bool) uint16 {
	n, data, mod := in.node, m.SMPData(), m.Mod()
	if set {
		switch m.Attr() {
		case mad.AttrNodeInfo:
			return mad.StatusUnsupportedAttr
		case mad.AttrNodeDescription:
			var d mad.NodeDescription
			d.Decode(data)
			n.desc = d.Text
		}
	}
	switch m.Attr() {
	case mad.AttrNodeInfo:
		info := n.info
		info.LocalPort = in.num
		if !n.isSwitch() {
			info.PortGUID = in.guid
		}
		clear(data)
		info.Encode(data)
	case mad.AttrNodeDescription:
		(&mad.NodeDescription{Text: n.desc}).Encode(data)
	case mad.AttrSwitchInfo:
		if !n.isSwitch() {
			return mad.StatusUnsupportedAttr
		}
		if set {
			n.setSwitchInfo(data)
		}
		clear(data)
		n.sw.info.Encode(data)
	case mad.AttrPortInfo:
		return f.portInfo(in, m, set)
	case mad.AttrMlnxExtPortInfo:
		p := n.port(uint8(mod))
		if mod&0xff == 0 && !n.isSwitch() {
			p = in
		}
		if p == nil {
			return mad.StatusInvalidValue
		}
		if set {
			var want mad.MlnxExtPortInfo
			want.Decode(data)
			p.mlnx.StateChangeEnable = want.StateChangeEnable
			p.mlnx.SpeedEnabled = want.SpeedEnabled & p.mlnx.SpeedSupported
		}
		clear(data)
		p.mlnx.Encode(data)
	case mad.AttrLinearFDB:
		return n.linearFDB(mod, data, set)
	case mad.AttrMulticastFDB:
		return n.multicastFDB(mod, data, set)
	case mad.AttrPKeyTable, mad.AttrSLToVL, mad.AttrVLArbitration, mad.AttrGUIDInfo:
		return n.table(in, m, set)
	default:
		return mad.StatusUnsupportedAttr
	}
	return mad.StatusOK
}

// setSwitchInfo writes the components of SwitchInfo that a manager may write;
// PortStateChange is cleared by writing a one (IBTA 14.2.5.4).
func (n *Node) setSwitchInfo(data []byte) {
	var want mad.SwitchInfo
	want.Decode(data)
	i := &n.sw.info
	i.LinearFDBTop = min(want.LinearFDBTop, i.LinearFDBCap-1)
	i.DefaultPort = want.DefaultPort
	i.DefaultMulticastPrimary = want.DefaultMulticastPrimary
	i.DefaultMulticastNotPrimary = want.DefaultMulticastNotPrimary
	i.LifeTime = want.LifeTime
	i.MulticastFDBTop = want.MulticastFDBTop
	if want.PortStateChange {
		i.PortStateChange = false
	}
}

func (n *Node) linearFDB(block uint32, data []byte, set bool) uint16 {
	if !n.isSwitch() {
		return mad.StatusUnsupportedAttr
	}
	at := int(block) * 64
	if block >= linearFDBCap/64 {
		return mad.StatusInvalidValue
	}
	s := n.sw
	if set {
		for len(s.lft) < at+64 {
			s.lft = append(s.lft, mad.NoPort)
		}
		copy(s.lft[at:], data)
		return mad.StatusOK
	}
	for i := range data {
		data[i] = mad.NoPort
	}
	if at < len(s.lft) {
		copy(data, s.lft[at:])
	}
	return mad.StatusOK
}

func (n *Node) multicastFDB(mod uint32, data []byte, set bool) uint16 {
	if !n.isSwitch() {
		return mad.StatusUnsupportedAttr
	}
	block, group := mod&0x1ff, mod>>28
	if block > maxMFTBlock || int(group)*16 > int(n.info.NumPorts) {
		return mad.StatusInvalidValue
	}
	key := block | group<<28
	b := n.sw.mft[key]
	if set {
		if b == nil {
			b = &mad.MulticastFDBBlock{}
			n.sw.mft[key] = b
		}
		b.Decode(data)
		return mad.StatusOK
	}
	if b == nil {
		b = &mad.MulticastFDBBlock{}
	}
	b.Encode(data)
	return mad.StatusOK
}
