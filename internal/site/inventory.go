package site

import (
	"github.com/fabricbot/fabricbot/activities"
	"github.com/fabricbot/fabricbot/internal/inventory"
)

// Inventory is the inventory as acts and expressions ask it, always the newest
// one loaded.
type Inventory struct{ live *inventory.Live }

// Host says whether a host of this name exists.
func (i Inventory) Host(name string) bool { return i.live.Current().Host(name) }

// Names returns all hosts in order.
func (i Inventory) Names() []string { return i.live.Current().Names() }

// Group returns the hosts of a group.
func (i Inventory) Group(name string) ([]string, bool) { return i.live.Current().Group(name) }

// Groups returns the names of all groups.
func (i Inventory) Groups() []string { return i.live.Current().Groups() }

// Endpoint is the way to a host.
func (i Inventory) Endpoint(name string) (inventory.Endpoint, error) {
	return i.live.Current().Endpoint(name)
}

// Reload reads the file again; an error keeps what was loaded.
func (i Inventory) Reload() (changed bool, err error) { return i.live.Reload() }

// Info is what acts need to know about a host.
func (i Inventory) Info(name string) (activities.HostInfo, bool) {
	h, ok := i.live.Current().Get(name)
	return activities.HostInfo{Name: h.Name, Site: h.Site, Rack: h.Rack, Leaf: h.Leaf, Role: h.Role, Maintenance: h.Maintenance}, ok
}
