package inventory

import (
	"fmt"
	"maps"
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/fabricbot/fabricbot/fabric"
)

// defaultPort is that of SSH (RFC 4250).
const defaultPort = 22

// Inventory is a checked file. It is never changed and safe for concurrent use.
type Inventory struct {
	hosts    []Host // in order of their names, one each, with all defaults applied
	byName   map[string]int
	groups   map[string][]string // of the file, with their hosts
	implicit map[string][]string // by kind and name, such as rack:r7
	short    map[string][]string // short form to the implicit groups it may mean
}

// Endpoint is how to reach a host: through the hops, in order, and then to Address and Port.
type Endpoint struct {
	Name    string // of the host; empty for a hop that is not in the inventory
	Address string
	Port    uint16
	User    string // empty: as the configuration says
	Jump    []Endpoint
}

// Host says whether a host of this name exists.
func (inv *Inventory) Host(name string) bool {
	_, found := inv.byName[name]
	return found
}

// Names returns all host names in order.
func (inv *Inventory) Names() []string {
	names := make([]string, len(inv.hosts))
	for i, h := range inv.hosts {
		names[i] = h.Name
	}
	return names
}

// Group returns the hosts of a group of the file, of an implicit group such as rack:r7, or of one in its short form.
func (inv *Inventory) Group(name string) ([]string, bool) {
	if members, found := inv.groups[name]; found {
		return slices.Clone(members), true
	}
	if members, found := inv.implicit[name]; found {
		return slices.Clone(members), true
	}
	if full := inv.short[name]; len(full) == 1 {
		return slices.Clone(inv.implicit[full[0]]), true
	}
	return nil, false
}

// Groups returns the names of all groups, the implicit ones included, in order.
func (inv *Inventory) Groups() []string {
	names := slices.Collect(maps.Keys(inv.groups))
	names = slices.AppendSeq(names, maps.Keys(inv.implicit))
	slices.Sort(names)
	return names
}

// Get returns what the inventory says about a host, defaults applied.
func (inv *Inventory) Get(name string) (Host, bool) {
	i, found := inv.byName[name]
	if !found {
		return Host{}, false
	}
	h := inv.hosts[i]
	h.Jump, h.Devices = slices.Clone(h.Jump), slices.Clone(h.Devices)
	return h, true
}

// Len is the number of hosts.
func (inv *Inventory) Len() int { return len(inv.hosts) }

// Endpoint says how to reach a host. Hops that are hosts of the inventory bring their own hops along.
func (inv *Inventory) Endpoint(name string) (Endpoint, error) {
	i, found := inv.byName[name]
	if !found {
		if near, ok := fabric.NearestName(name, inv.Names()); ok {
			return Endpoint{}, fmt.Errorf("host %.80q is not in the inventory, did you mean %s?", name, near)
		}
		return Endpoint{}, fmt.Errorf("host %.80q is not in the inventory", name)
	}
	h := inv.hosts[i]
	end := Endpoint{Name: h.Name, Address: h.Address, Port: h.Port, User: h.User}
	for _, hop := range h.Jump {
		if inv.Host(hop) {
			// Loading has made sure that this ends.
			through, err := inv.Endpoint(hop)
			if err != nil {
				return Endpoint{}, err
			}
			end.Jump = append(end.Jump, through.Jump...)
			through.Jump = nil
			end.Jump = append(end.Jump, through)
			continue
		}
		outside, err := ParseHop(hop)
		if err != nil {
			return Endpoint{}, fmt.Errorf("host %s: %w", name, err)
		}
		end.Jump = append(end.Jump, outside)
	}
	return end, nil
}

// ParseHop reads [user@]host[:port]; the port is 22 if none is given.
func ParseHop(hop string) (Endpoint, error) {
	end := Endpoint{Port: defaultPort}
	rest := hop
	if user, host, found := strings.Cut(hop, "@"); found {
		if !userName.MatchString(user) {
			return Endpoint{}, fmt.Errorf("jump %.80q: %.40q is not a user name", hop, user)
		}
		end.User, rest = user, host
	}
	end.Address = rest
	if host, port, err := net.SplitHostPort(rest); err == nil {
		n, err := strconv.ParseUint(port, 10, 16)
		if err != nil || n == 0 {
			return Endpoint{}, fmt.Errorf("jump %.80q: %.20q is not a port", hop, port)
		}
		end.Address, end.Port = host, uint16(n)
	}
	if err := checkAddress(end.Address); err != nil {
		return Endpoint{}, fmt.Errorf("jump %.80q: %w", hop, err)
	}
	return end, nil
}

// checkAddress takes IP addresses and host names.
func checkAddress(address string) error {
	if net.ParseIP(address) != nil {
		return nil
	}
	return fabric.CheckHostName(address)
}
