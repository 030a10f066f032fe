package fabricsim

import "github.com/fabricbot/fabricbot/testsuite/fabricsim/mad"

// Values of LinkSpeedEnabled, LinkSpeedExtEnabled and LinkWidthEnabled that
// mean "what is supported" or "nothing" (IBTA 14.2.5.6).
const (
	speedAll         = 15
	speedExtDisabled = 30
	speedExtAll      = 31
	widthAll         = 255
)

// portInfo answers Get and Set of PortInfo. The modifier names the port; an
// adapter takes 0 for the port the SMP came in by. The top bit, by which a
// manager says that it knows extended speeds, changes nothing here.
func (f *Fabric) portInfo(in *Port, m mad.MAD, set bool) uint16 {
	n := in.node
	p := n.port(uint8(m.Mod()))
	if p == nil && m.Mod()&0xff == 0 && !n.isSwitch() {
		p = in
	}
	if p == nil {
		return mad.StatusInvalidValue
	}
	status := mad.StatusOK
	data := m.SMPData()
	if set {
		var want mad.PortInfo
		want.Decode(data)
		status = f.setPortInfo(p, &want)
	}
	i := p.info
	i.LocalPort = in.num // IBTA 14.2.5.6: the port that received the SMP
	if i.MKeyProtect == 1 && m.MKey() != i.MKey {
		i.MKey = 0 // IBTA 14.2.4.1: not shown to who does not know it
	}
	i.Encode(data)
	return status
}

// setPortInfo writes what a manager may write of a port (IBTA 14.2.5.6, the
// components marked RW); zero means no change where the specification says so.
func (f *Fabric) setPortInfo(p *Port, want *mad.PortInfo) uint16 {
	i := &p.info
	status := mad.StatusOK
	if !p.external() || !p.node.isSwitch() { // ports that have an address
		i.MKey, i.MKeyProtect, i.MKeyLease = want.MKey, want.MKeyProtect, want.MKeyLease
		i.GIDPrefix, i.MasterSMLID, i.MasterSMSL = want.GIDPrefix, want.MasterSMLID, want.MasterSMSL
		if want.LID == 0 || want.LID >= firstMulticast {
			status = mad.StatusInvalidValue
		} else {
			i.LID, i.LMC = want.LID, want.LMC
		}
		i.SubnetTimeout = want.SubnetTimeout
		i.MulticastPKeyTrap = want.MulticastPKeyTrap
		if want.MKeyViolations == 0 {
			i.MKeyViolations = 0
		}
		if want.QKeyViolations == 0 {
			i.QKeyViolations = 0
		}
	}
	if want.PKeyViolations == 0 {
		i.PKeyViolations = 0
	}
	if !setMask(&i.WidthEnabled, want.WidthEnabled, i.WidthSupported, widthAll) ||
		!setMask(&i.SpeedEnabled, want.SpeedEnabled, i.SpeedSupported, speedAll) {
		status = mad.StatusInvalidValue
	}
	if want.SpeedExtEnabled == speedExtDisabled {
		i.SpeedExtEnabled = speedExtDisabled
	} else if !setMask(&i.SpeedExtEnabled, want.SpeedExtEnabled, i.SpeedExtSupported, speedExtAll) {
		status = mad.StatusInvalidValue
	}
	if want.LinkDownDefault == mad.PhysSleep || want.LinkDownDefault == mad.PhysPolling {
		i.LinkDownDefault = want.LinkDownDefault
	}
	if want.NeighborMTU != 0 && want.NeighborMTU <= i.MTUCap {
		i.NeighborMTU = want.NeighborMTU
	}
	if want.OperationalVLs != 0 && want.OperationalVLs <= i.VLCap {
		i.OperationalVLs = want.OperationalVLs
	}
	i.VLHighLimit, i.InitType = want.VLHighLimit, want.InitType
	i.VLStallCount, i.HOQLife = want.VLStallCount, want.HOQLife
	i.PartitionIn, i.PartitionOut, i.FilterRawIn, i.FilterRawOut = want.PartitionIn, want.PartitionOut, want.FilterRawIn, want.FilterRawOut
	i.LocalPhyErrors, i.OverrunErrors = want.LocalPhyErrors, want.OverrunErrors
	if s := f.setStates(p, want.State, want.Phys); s != mad.StatusOK {
		status = s
	}
	p.changed()
	return status
}

// setMask writes an enable mask: 0 leaves it, all means what is supported, and
// a mask of something unsupported is refused.
func setMask(mask *uint8, want, supported, all uint8) bool {
	switch {
	case want == 0:
	case want == all:
		*mask = supported
	case want&supported == 0:
		return false
	default:
		*mask = want & supported
	}
	return true
}

// setStates obeys the orders in PortState and PortPhysicalState (IBTA 7.2.7
// and 14.2.5.6): only Armed from Initialize and Active from Armed lead up.
func (f *Fabric) setStates(p *Port, state, phys uint8) uint16 {
	if !p.external() {
		return mad.StatusOK // the port inside a switch has no link
	}
	switch phys {
	case mad.PhysNoChange:
	case mad.PhysDisabled, mad.PhysSleep:
		if p.info.Phys != phys {
			f.linkDown(p, phys)
		}
	case mad.PhysPolling:
		p.info.Phys = mad.PhysPolling
		f.retrain(p)
	default:
		return mad.StatusInvalidValue
	}
	switch state {
	case mad.PortNoChange:
	case mad.PortDown:
		if p.info.State != mad.PortDown {
			f.linkDown(p, p.info.LinkDownDefault)
			f.train(p.cable)
		}
	case mad.PortArmed:
		if p.info.State != mad.PortInit && p.info.State != mad.PortArmed {
			return mad.StatusInvalidValue
		}
		p.info.State = mad.PortArmed
	case mad.PortActive:
		if p.info.State != mad.PortArmed && p.info.State != mad.PortActive {
			return mad.StatusInvalidValue
		}
		p.info.State = mad.PortActive
	default:
		return mad.StatusInvalidValue
	}
	return mad.StatusOK
}
