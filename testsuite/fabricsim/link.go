package fabricsim

import (
	"github.com/fabricbot/fabricbot/testsuite/fabricsim/mad"
)

// cable joins two ports. What it can carry may be less than what the ports
// can: a worn cable trains to fewer lanes or a lower speed.
type cable struct {
	a, b   *Port
	pulled bool
	speeds mad.SpeedSet // zero: all
	widths mad.WidthSet // zero: all
}

func (c *cable) other(p *Port) *Port {
	if c.a == p {
		return c.b
	}
	return c.a
}

func connect(a, b *Port) *cable {
	c := &cable{a: a, b: b}
	a.cable, b.cable = c, c
	return c
}

// speeds a port would train with.
func (p *Port) enabledSpeeds() mad.SpeedSet {
	ext := p.info.SpeedExtEnabled
	if ext == speedExtDisabled {
		ext = 0
	}
	return mad.SpeedSetOf(p.info.SpeedEnabled, p.mlnx.SpeedEnabled, ext)
}

// willing ports look for a partner: powered, and neither disabled nor asleep.
func (p *Port) willing() bool {
	return !p.node.off && p.info.Phys != mad.PhysDisabled && p.info.Phys != mad.PhysSleep
}

// train lets the two ends of a cable find each other (IBTA 7.2 and volume 2,
// link training): the best width and speed both have enabled. The link then
// waits in Initialize for a subnet manager.
func (f *Fabric) train(c *cable) {
	if c == nil || c.pulled || !c.a.willing() || !c.b.willing() || c.a.info.State != mad.PortDown {
		return
	}
	speeds := c.a.enabledSpeeds() & c.b.enabledSpeeds()
	widths := mad.WidthSet(c.a.info.WidthEnabled & c.b.info.WidthEnabled)
	if c.speeds != 0 {
		speeds &= c.speeds
	}
	if c.widths != 0 {
		widths &= c.widths
	}
	_, width := widths.Best()
	if speeds == 0 || width == 0 {
		return // they never agree and keep polling
	}
	best := mad.SpeedSet(1) << speeds.Best()
	for _, p := range []*Port{c.a, c.b} {
		p.info.WidthActive = uint8(width)
		p.info.SpeedActive, p.info.SpeedExtActive, p.mlnx.SpeedActive = best.Legacy(), best.Extended(), best.Mlnx()
		if best.Legacy() == 0 {
			p.info.SpeedActive = qdr // the field keeps 10 Gb/s when another one says more
		}
		p.info.State, p.info.Phys = mad.PortInit, mad.PhysLinkUp
		f.linkChanged(p)
	}
}

// linkDown takes a link down from one end, which rests in phys; the other end
// goes to its default.
func (f *Fabric) linkDown(p *Port, phys uint8) {
	f.portDown(p, phys)
	if q := p.peer(); q != nil && q.info.State != mad.PortDown {
		f.portDown(q, q.info.LinkDownDefault)
	}
}

func (f *Fabric) portDown(p *Port, phys uint8) {
	was := p.info.State
	p.info.Phys = phys
	p.info.State = mad.PortDown
	p.info.WidthActive, p.info.SpeedActive, p.info.SpeedExtActive, p.mlnx.SpeedActive = 2, 1, 0, 0
	if was == mad.PortDown {
		p.changed()
		return
	}
	p.counters.add(mad.LinkDowned, 1)
	f.linkChanged(p)
}

// retrain takes a link down and lets it come up again.
func (f *Fabric) retrain(p *Port) {
	f.linkDown(p, mad.PhysPolling)
	f.train(p.cable)
}

// linkChanged is what a node does when a port went down or came up: a switch
// sets PortStateChange (IBTA 14.2.5.4) and tells its master.
func (f *Fabric) linkChanged(p *Port) {
	p.changed()
	if p.node.isSwitch() && !p.node.off {
		p.node.sw.info.PortStateChange = true
		f.trap(p.node.ports[0], mad.NewLinkNotice(p.node.ports[0].info.LID))
	}
}
