package fabricsim

import (
	"fmt"
	"time"

	"github.com/fabricbot/fabricbot/testsuite/fabricsim/mad"
)

// onPort runs fn on a port with the fabric held.
func (f *Fabric) onPort(node string, port int, fn func(p *Port) error) error {
	f.lock()
	defer f.unlock()
	p, err := f.findPort(node, port)
	if err != nil {
		return err
	}
	return fn(p)
}

// onCable runs fn on the cable in a port.
func (f *Fabric) onCable(node string, port int, fn func(p *Port, c *cable) error) error {
	return f.onPort(node, port, func(p *Port) error {
		if p.cable == nil {
			return fmt.Errorf("no cable in %v", p)
		}
		return fn(p, p.cable)
	})
}

// Pull takes the cable out of a port.
func (f *Fabric) Pull(node string, port int) error {
	return f.onCable(node, port, func(p *Port, c *cable) error {
		c.pulled = true
		f.linkDown(p, p.info.LinkDownDefault)
		return nil
	})
}

// Reseat puts the cable back into a port.
func (f *Fabric) Reseat(node string, port int) error {
	return f.onCable(node, port, func(p *Port, c *cable) error {
		c.pulled = false
		f.train(c)
		return nil
	})
}

// flapping is a link that goes down and up by itself.
type flapping struct {
	timer *time.Timer
	half  time.Duration
	down  bool
}

// Flap lets a link go down and up once in every period until Steady.
func (f *Fabric) Flap(node string, port int, period time.Duration) error {
	if period < 10*time.Millisecond {
		return fmt.Errorf("letting %s[%d] flap every %v: at least 10 ms", node, port, period)
	}
	return f.onCable(node, port, func(p *Port, c *cable) error {
		if f.flaps[p] != nil {
			return fmt.Errorf("%v flaps already", p)
		}
		fl := &flapping{half: period / 2}
		f.flaps[p] = fl
		fl.timer = time.AfterFunc(0, func() { f.swing(p, c, fl) })
		return nil
	})
}

func (f *Fabric) swing(p *Port, c *cable, fl *flapping) {
	f.locked(func() {
		if f.closed || f.flaps[p] != fl {
			return
		}
		fl.down = !fl.down
		if c.pulled = fl.down; fl.down {
			f.linkDown(p, p.info.LinkDownDefault)
		} else {
			f.train(c)
		}
		fl.timer.Reset(fl.half)
	})
}

// Steady ends flapping with the link up.
func (f *Fabric) Steady(node string, port int) error {
	return f.onCable(node, port, func(p *Port, c *cable) error {
		if fl := f.flaps[p]; fl != nil {
			fl.timer.Stop()
			delete(f.flaps, p)
		}
		c.pulled = false
		f.train(c)
		return nil
	})
}

// Degrade lets the cable in a port carry at most this width and speed, as a
// worn one does; the link trains again. Zero means no limit.
func (f *Fabric) Degrade(node string, port int, width mad.Width, speed mad.Speed) error {
	return f.onCable(node, port, func(p *Port, c *cable) error {
		c.widths, c.speeds = 0, 0
		if width != 0 {
			c.widths = mad.NewWidthSet(width)
		}
		if speed != mad.SpeedUnknown {
			c.speeds = mad.NewSpeedSet(speed)
		}
		f.retrain(p)
		return nil
	})
}

// Build sets what a port is made for, e.g. an NDR switch among HDR ones; the
// link trains again.
func (f *Fabric) Build(node string, port int, width mad.Width, speed mad.Speed) error {
	return f.onPort(node, port, func(p *Port) error {
		p.support(speed, width)
		f.retrain(p)
		return nil
	})
}

// SetCounter gives a counter of a port a value. counter is the
// specification's name, "SymbolErrorCounter". A port whose local link
// integrity or buffer overrun errors begin says so in a trap (IBTA 14.2.5.1,
// traps 129 and 130).
func (f *Fabric) SetCounter(node string, port int, counter string, value uint64) error {
	return f.counter(node, port, counter, func(p *Port, c mad.Counter) {
		trap := map[mad.Counter]uint16{mad.LocalLinkIntegrityErrors: mad.TrapIntegrity, mad.ExcessiveBufferOverrunErrors: mad.TrapOverrun}[c]
		if from := p.node.manager(p); trap != 0 && value > p.counters.extended[c] {
			f.trap(from, mad.NewThresholdNotice(trap, p.node.info.Type, from.info.LID, p.num))
		}
		p.counters.set(c, value)
	})
}

// Grow lets a counter of one side of a link run up; 0 per second stops it.
func (f *Fabric) Grow(node string, port int, counter string, perSecond float64) error {
	return f.counter(node, port, counter, func(p *Port, c mad.Counter) { p.counters.grow(c, perSecond, time.Now()) })
}

func (f *Fabric) counter(node string, port int, counter string, fn func(*Port, mad.Counter)) error {
	c, ok := mad.ParseCounter(counter)
	if !ok {
		return fmt.Errorf("no counter %q; write it like SymbolErrorCounter or PortRcvErrors", counter)
	}
	return f.onPort(node, port, func(p *Port) error {
		fn(p, c)
		p.changed()
		return nil
	})
}

// SetReading stores a value that the fabric itself does not use: what a tool
// that asks the adapter or the cable would read, "temperature_c" or
// "raw_ber". Plugged hosts find it in readings/DEVICE/PORT.
func (f *Fabric) SetReading(node string, port int, name string, value float64) error {
	return f.onPort(node, port, func(p *Port) error {
		key := p.String()
		if f.values[key] == nil {
			f.values[key] = map[string]float64{}
		}
		f.values[key][name] = value
		p.changed()
		return nil
	})
}

// Readings returns what SetReading stored for a port.
func (f *Fabric) Readings(node string, port int) (map[string]float64, error) {
	all := map[string]float64{}
	err := f.onPort(node, port, func(p *Port) error {
		for k, v := range f.values[p.String()] {
			all[k] = v
		}
		return nil
	})
	return all, err
}
