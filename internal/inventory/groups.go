package inventory

import (
	"maps"
	"slices"
	"strings"

	"github.com/fabricbot/fabricbot/fabric"
)

// groupResolver is the HostSource with which the groups of a file are worked out: a group that is asked for is worked out first.
type groupResolver struct {
	inv   *Inventory
	lists map[string][]string
	busy  map[string]bool
	way   []string
	err   error // of a group inside, which explains more than that the group is unknown
}

func (r *groupResolver) Host(name string) bool { return r.inv.Host(name) }
func (r *groupResolver) Names() []string       { return r.inv.Names() }

func (r *groupResolver) Groups() []string {
	return slices.Concat(slices.Sorted(maps.Keys(r.lists)), r.inv.Groups())
}

func (r *groupResolver) Group(name string) ([]string, bool) {
	if _, listed := r.lists[name]; listed {
		if err := r.resolve(name); err != nil {
			r.err = err
			return nil, false
		}
	}
	return r.inv.Group(name)
}

func (r *groupResolver) resolve(name string) error {
	if _, done := r.inv.groups[name]; done {
		return nil
	}
	r.way = append(r.way, name)
	defer func() { r.way = r.way[:len(r.way)-1] }()
	if r.busy[name] {
		return wrong("groups."+name, "groups in a circle: %s", strings.Join(r.way, " holds "))
	}
	r.busy[name] = true
	defer delete(r.busy, name)
	set, err := fabric.HostExpr(strings.Join(r.lists[name], ",")).Resolve(r)
	if r.err != nil {
		return r.err
	}
	if err != nil {
		return wrong("groups."+name, "%s", err)
	}
	r.inv.groups[name] = set.Names()
	return nil
}
