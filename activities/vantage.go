package activities

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fabricbot/fabricbot/fabric"
	"github.com/fabricbot/fabricbot/fabric/parse"
)

// Vantage is the port from which the fabric is looked at.
type Vantage struct {
	Host     string     `json:"host"`
	CA       string     `json:"ca"`
	Port     int        `json:"port"`
	PortGUID string     `json:"port_guid"`
	LID      fabric.LID `json:"lid"`
	SMLID    fabric.LID `json:"sm_lid"`
	// State is the port's logical state; anything but Active means that no
	// subnet manager serves it and only directed routes work.
	State fabric.PortState `json:"state"`
}

// String names the port for people.
func (v Vantage) String() string { return fmt.Sprintf("%s %s/%d", v.Host, v.CA, v.Port) }

// tool is a command line of a fabric tool that starts at this port.
func (v Vantage) tool(name string, args ...string) []string {
	return append([]string{name, "-C", v.CA, "-P", strconv.Itoa(v.Port)}, args...)
}

// VantageInput picks where to look from.
type VantageInput struct {
	// From limits the hosts; empty means any host of the inventory.
	From fabric.HostExpr `json:"from,omitempty"`
	// Not lists hosts to avoid, such as the one being restarted.
	Not []string `json:"not,omitempty"`
}

const (
	// vantageTries bounds the hosts asked before the fabric is called
	// unreachable; vantageWidth is how many are asked at once.
	vantageTries = 48
	vantageWidth = 8
	// vantageStart is the head start of a host before the next one is asked
	// too: a living one answers within it, a dead one delays no more than it.
	vantageStart = 500 * time.Millisecond
	// ibstatWithin bounds ibstat, which reads sysfs and answers in
	// milliseconds on a healthy host.
	ibstatWithin = 30 * time.Second
)

// FindVantage finds a host with an Active InfiniBand port: hosts with the
// role of a subnet manager first, then the others. When no port is Active, one
// that is at least physically up will do. Only looks.
func (h *Hosts) FindVantage(ctx context.Context, in VantageInput) (Vantage, error) {
	defer beat(ctx)()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	candidates, err := h.candidates(in)
	if err != nil {
		return Vantage{}, err
	}
	var second *Vantage
	var reasons []string
	answers := make(chan portAnswer, len(candidates))
	asked, open := 0, 0
	ask := func() {
		if asked < len(candidates) && open < vantageWidth {
			host := candidates[asked]
			asked, open = asked+1, open+1
			go func() {
				v, why := h.portOf(ctx, host)
				answers <- portAnswer{v, host + ": " + why}
			}()
		}
	}
	for ask(); open > 0; {
		select {
		case a := <-answers:
			open--
			switch {
			case a.v == nil:
				reasons = append(reasons, a.why)
			case a.v.State == fabric.PortActive:
				return *a.v, nil
			case second == nil:
				second = a.v
			}
			ask()
		case <-h.clock().After(vantageStart):
			ask()
		case <-ctx.Done():
			return Vantage{}, ctx.Err()
		}
	}
	if second != nil {
		return *second, nil
	}
	if len(reasons) > 4 {
		reasons = append(reasons[:4], fmt.Sprintf("and %d more", len(reasons)-4))
	}
	return Vantage{}, final("no host has an InfiniBand port that is up; asked %d: %s", len(candidates), strings.Join(reasons, "; "))
}

type portAnswer struct {
	v   *Vantage
	why string
}

func (h *Hosts) candidates(in VantageInput) ([]string, error) {
	names := h.Site.Names()
	if in.From != "" {
		set, err := in.From.Resolve(h.Site)
		if err != nil {
			return nil, final("%v", err)
		}
		names = set.Names()
	}
	var first, rest []string
	for _, n := range names {
		info, _ := h.Site.Info(n)
		switch {
		case slices.Contains(in.Not, n):
		case in.From == "" && info.Maintenance:
		case info.Role == RoleSM:
			first = append(first, n)
		default:
			rest = append(rest, n)
		}
	}
	all := append(first, rest...)
	if len(all) > vantageTries {
		all = all[:vantageTries]
	}
	if len(all) == 0 {
		return nil, final("the inventory has no host to look from")
	}
	return all, nil
}

// RoleSM marks hosts that run a subnet manager on purpose.
const RoleSM = "sm"

// portOf returns the best InfiniBand port of a host, or why it has none.
func (h *Hosts) portOf(ctx context.Context, host string) (*Vantage, string) {
	res, err := h.look(ctx, host, ibstatWithin, "ibstat")
	if err != nil {
		return nil, plain(err)
	}
	rep, err := parse.IBStat(bytes.NewReader(res.Stdout))
	if err != nil {
		return nil, "ibstat: " + err.Error() + " " + lastLines(res.Stderr, 1)
	}
	switch {
	case rep.NoDevices:
		return nil, "no RDMA device (driver not loaded or no card)"
	case len(rep.CAs) == 0:
		return nil, "ibstat said nothing that can be read: " + lastLines(append(res.Stderr, res.Stdout...), 1)
	}
	var best *Vantage
	for _, ca := range rep.CAs {
		for _, p := range ca.Ports {
			if p.LinkLayer == "Ethernet" || p.Physical() != fabric.PhysLinkUp {
				continue
			}
			v := &Vantage{Host: host, CA: ca.Name, Port: p.Port, PortGUID: p.PortGUID, LID: p.BaseLID, SMLID: p.SMLID, State: p.Logical()}
			if v.State == fabric.PortActive {
				return v, ""
			}
			if best == nil {
				best = v
			}
		}
	}
	if best == nil {
		return nil, "no InfiniBand port is up"
	}
	return best, ""
}
