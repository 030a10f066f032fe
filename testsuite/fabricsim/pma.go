package fabricsim

import (
	"time"

	"github.com/fabricbot/fabricbot/testsuite/fabricsim/mad"
)

// answerPerf turns a performance management request that arrived at a port
// into its response (IBTA 16.1).
func (f *Fabric) answerPerf(in *Port, m mad.MAD) {
	set := m.Method() == mad.MethodSet
	status := mad.StatusOK
	data := m.PerfData()
	switch m.Attr() {
	case mad.AttrClassPortInfo:
		c := mad.ClassPortInfo{
			BaseVersion: 1, ClassVersion: 1, RespTime: 18, CapMask2: mad.PerfCap2MoreExtended,
			CapMask: mad.PerfCapAllPorts | mad.PerfCapExtendedWidth | mad.PerfCapXmitWait,
		}
		clear(data)
		c.Encode(data)
	case mad.AttrPortCounters:
		status = portCounters(in, data, set)
	case mad.AttrPortCountersExtended:
		status = portCountersExtended(in, data, set)
	case mad.AttrPortRcvErrorDetails, mad.AttrPortXmitDiscardDetails:
		// What made the errors is not played: all reasons read zero.
		port := data[1]
		clear(data)
		data[1] = port
	default:
		status = mad.StatusUnsupportedAttr
	}
	m.SetMethod(mad.MethodGetResp)
	m.SetStatus(status)
}

// selected lists the ports that PortSelect names: one, or all external ones.
func selected(in *Port, num uint8) []*Port {
	n := in.node
	if num == mad.AllPorts {
		return n.ports[1:]
	}
	if p := n.port(num); p != nil {
		return []*Port{p}
	}
	return nil
}

// sum adds up one set of the counters of some ports.
func sum(ports []*Port, set func(*counterSet) *mad.Counters) mad.Counters {
	var total mad.Counters
	now := time.Now()
	for _, p := range ports {
		p.counters.settle(now)
		for c, v := range set(p.counters) {
			total[c] = mad.Add(total[c], v)
		}
	}
	return total
}

func portCounters(in *Port, data []byte, set bool) uint16 {
	var a mad.PortCounters
	a.Decode(data)
	ports := selected(in, a.Port)
	if ports == nil {
		return mad.StatusInvalidValue
	}
	now := sum(ports, func(c *counterSet) *mad.Counters { return &c.classic })
	if set {
		for c := range mad.NumCounters {
			if !a.Selects(c) {
				continue
			}
			now[c] = min(a.Values[c], c.Limit())
			for _, p := range ports {
				p.counters.classic[c] = now[c]
			}
		}
	}
	a.Values = now
	clear(data)
	a.Encode(data)
	return mad.StatusOK
}

func portCountersExtended(in *Port, data []byte, set bool) uint16 {
	var a mad.PortCountersExtended
	a.Decode(data)
	ports := selected(in, a.Port)
	if ports == nil {
		return mad.StatusInvalidValue
	}
	now := sum(ports, func(c *counterSet) *mad.Counters { return &c.extended })
	if set {
		for c := range mad.NumCounters {
			if !a.Selects(c) {
				continue
			}
			now[c] = a.Values[c]
			for _, p := range ports {
				p.counters.extended[c] = now[c]
			}
		}
	}
	a.Values = now
	clear(data)
	a.Encode(data)
	return mad.StatusOK
}
