package fabricsim

import (
	"time"

	"github.com/fabricbot/fabricbot/testsuite/fabricsim/mad"
)

// counterSet is a port's counters as its registers hold them: the classic ones
// stop at their limits, the extended ones do not, and each set is cleared for
// itself.
type counterSet struct {
	classic, extended mad.Counters
	rates             []growth
}

// growth lets a counter run up by itself.
type growth struct {
	counter   mad.Counter
	perSecond float64
	since     time.Time
	carry     float64
}

func (c *counterSet) add(which mad.Counter, n uint64) {
	c.extended[which] = mad.Add(c.extended[which], n)
	if limit := which.Limit(); limit > 0 {
		c.classic[which] = min(mad.Add(c.classic[which], n), limit)
	}
}

// settle adds what the rates have brought since the last look.
func (c *counterSet) settle(now time.Time) {
	for i := range c.rates {
		g := &c.rates[i]
		g.carry += g.perSecond * now.Sub(g.since).Seconds()
		g.since = now
		whole := uint64(g.carry)
		g.carry -= float64(whole)
		c.add(g.counter, whole)
	}
}

// grow sets the rate of a counter; 0 stops it.
func (c *counterSet) grow(which mad.Counter, perSecond float64, now time.Time) {
	c.settle(now)
	rates := c.rates[:0]
	for _, g := range c.rates {
		if g.counter != which {
			rates = append(rates, g)
		}
	}
	c.rates = rates
	if perSecond > 0 {
		c.rates = append(c.rates, growth{counter: which, perSecond: perSecond, since: now})
	}
}

// set gives a counter a value in both sets.
func (c *counterSet) set(which mad.Counter, v uint64) {
	c.extended[which], c.classic[which] = v, min(v, which.Limit())
}

func (c *counterSet) reset() { *c = counterSet{rates: c.rates} }
