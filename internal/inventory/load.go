package inventory

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/fabricbot/fabricbot/fabric"
	"github.com/fabricbot/fabricbot/internal/strictyaml"
)

// maxFile bounds the file, in octets: 100,000 hosts with some 300 each.
const maxFile = 32 << 20

var (
	groupName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$`)
	placeName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$`)
	userName  = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.-]{0,31}$`)
	pciName   = regexp.MustCompile(`^[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]$`)
)

// fieldError is a mistake in the value at a path of the file.
type fieldError struct{ path, reason string }

func (e *fieldError) Error() string { return e.path + ": " + e.reason }

func wrong(path, format string, args ...any) error {
	return &fieldError{path: path, reason: fmt.Sprintf(format, args...)}
}

// Load reads and checks the inventory at path. Errors name line and column.
func Load(path string) (*Inventory, error) {
	text, err := readFile(path)
	if err != nil {
		return nil, err
	}
	return parse(path, text)
}

func readFile(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("reading inventory: %w", err)
	}
	if info.Size() > maxFile {
		return nil, fmt.Errorf("inventory %s: %d octets, at most %d are allowed", path, info.Size(), maxFile)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading inventory: %w", err)
	}
	return text, nil
}

func parse(name string, text []byte) (*Inventory, error) {
	doc, err := strictyaml.Parse(name, text)
	if err != nil {
		return nil, err
	}
	var file File
	if err := doc.Decode(&file); err != nil {
		return nil, err
	}
	inv, err := New(file)
	var at *fieldError
	if errors.As(err, &at) {
		return nil, doc.Errorf(at.path, "%s", at.reason)
	}
	return inv, err
}

// New checks a file and works out its hosts and groups.
func New(file File) (*Inventory, error) {
	if err := checkDefaults(file.Defaults); err != nil {
		return nil, err
	}
	inv := &Inventory{byName: map[string]int{}, groups: map[string][]string{}, implicit: map[string][]string{}, short: map[string][]string{}}
	if err := inv.addHosts(file); err != nil {
		return nil, err
	}
	inv.addImplicit()
	if err := inv.checkJumps(); err != nil {
		return nil, err
	}
	if err := inv.addGroups(file.Groups); err != nil {
		return nil, err
	}
	return inv, nil
}

func checkDefaults(d Host) error {
	rest := d
	rest.Port, rest.User, rest.Jump, rest.Site, rest.Role = 0, "", nil, "", ""
	if rest.Name != "" || rest.Address != "" || rest.Rack != "" || rest.Leaf != "" || rest.Scheduler != "" || rest.Maintenance || rest.Devices != nil {
		return wrong("defaults", "only port, user, jump, site and role can be given for all hosts")
	}
	return nil
}

func (inv *Inventory) addHosts(file File) error {
	if len(file.Hosts) == 0 {
		return wrong("hosts", "no host is given")
	}
	folded := map[string]string{}  // names as DNS compares them
	sockets := map[string]string{} // address and port to the host there
	for i, pattern := range file.Hosts {
		place := fmt.Sprintf("hosts[%d]", i)
		hosts, err := dealOut(pattern, file.Defaults, place)
		if err != nil {
			return err
		}
		if len(inv.hosts)+len(hosts) > fabric.MaxHosts {
			return wrong(place, "more than %d hosts", fabric.MaxHosts)
		}
		for _, h := range hosts {
			if err := h.check(place); err != nil {
				return err
			}
			if other, found := folded[strings.ToLower(h.Name)]; found {
				return wrong(place+".name", "%s is there already, as %s", h.Name, other)
			}
			folded[strings.ToLower(h.Name)] = h.Name
			socket := h.socket()
			if other, found := sockets[socket]; found {
				return wrong(place, "%s has the address of %s, %s port %d; one host with two names could be changed twice at once", h.Name, other, h.Address, h.Port)
			}
			sockets[socket] = h.Name
			inv.hosts = append(inv.hosts, h)
		}
	}
	slices.SortFunc(inv.hosts, func(a, b Host) int { return fabric.CompareHostNames(a.Name, b.Name) })
	for i, h := range inv.hosts {
		inv.byName[h.Name] = i
	}
	return nil
}

// dealOut makes the hosts that one entry stands for.
func dealOut(pattern, defaults Host, place string) ([]Host, error) {
	names, err := fabric.ExpandPattern(pattern.Name)
	if err != nil {
		return nil, wrong(place+".name", "%s", err)
	}
	column := func(key, value string) ([]string, error) {
		if value == "" {
			return names, nil
		}
		values, err := fabric.ExpandPattern(value)
		if err != nil {
			return nil, wrong(place+"."+key, "%s", err)
		}
		if len(values) != len(names) {
			return nil, wrong(place+"."+key, "%s stands for %d, but the name %s stands for %d", value, len(values), pattern.Name, len(names))
		}
		return values, nil
	}
	addresses, err := column("address", pattern.Address)
	if err != nil {
		return nil, err
	}
	scheduled, err := column("scheduler", pattern.Scheduler)
	if err != nil {
		return nil, err
	}
	hosts := make([]Host, len(names))
	for i := range names {
		h := pattern
		h.Name, h.Address, h.Scheduler = names[i], addresses[i], scheduled[i]
		h.Port = firstOf(h.Port, defaults.Port, defaultPort)
		h.User = firstOf(h.User, defaults.User)
		h.Site = firstOf(h.Site, defaults.Site)
		h.Role = firstOf(h.Role, defaults.Role)
		// An empty list, unlike none, says that a host is reached without hops.
		if h.Jump == nil {
			// A host that serves as a hop for all others is not reached through itself.
			h.Jump = slices.DeleteFunc(slices.Clone(defaults.Jump), func(hop string) bool { return hop == h.Name })
		}
		hosts[i] = h
	}
	return hosts, nil
}

func firstOf[T comparable](values ...T) T {
	var zero T
	for _, v := range values {
		if v != zero {
			return v
		}
	}
	return zero
}

// socket is where a host is reached. Private networks behind different jump hosts may use the same addresses.
func (h Host) socket() string {
	return fmt.Sprintf("%s port %d through %q", strings.ToLower(firstOf(h.Address, h.Name)), firstOf(h.Port, defaultPort), h.Jump)
}

func (h Host) check(place string) error {
	if err := fabric.CheckHostName(h.Name); err != nil {
		return wrong(place+".name", "%s", err)
	}
	if err := checkAddress(h.Address); err != nil {
		return wrong(place+".address", "%s", err)
	}
	if h.User != "" && !userName.MatchString(h.User) {
		return wrong(place+".user", "%.40q is not a user name", h.User)
	}
	for _, field := range []struct{ key, value string }{
		{"site", h.Site}, {"rack", h.Rack}, {"leaf", h.Leaf}, {"role", h.Role}, {"scheduler", h.Scheduler},
	} {
		if field.value != "" && !placeName.MatchString(field.value) {
			return wrong(place+"."+field.key, "%.80q is not a name; use letters, digits, dots, underscores and hyphens, at most 63", field.value)
		}
	}
	for i, d := range h.Devices {
		if d.PCI != "" && !pciName.MatchString(d.PCI) {
			return wrong(fmt.Sprintf("%s.devices[%d].pci", place, i), "%.40q is not an address such as 0000:3b:00.0", d.PCI)
		}
		if d.Ports < 0 || d.RateGbPerSec < 0 {
			return wrong(fmt.Sprintf("%s.devices[%d]", place, i), "a number is negative")
		}
	}
	return nil
}

func (inv *Inventory) addImplicit() {
	for _, h := range inv.hosts {
		for _, field := range []struct{ kind, name string }{{"site", h.Site}, {"rack", h.Rack}, {"leaf", h.Leaf}, {"role", h.Role}} {
			if field.name == "" {
				continue
			}
			full := field.kind + ":" + field.name
			if inv.implicit[full] == nil {
				inv.short[field.name] = append(inv.short[field.name], full)
			}
			inv.implicit[full] = append(inv.implicit[full], h.Name)
		}
	}
}

// checkJumps refuses hops that cannot be read and hosts that are reached through themselves.
func (inv *Inventory) checkJumps() error {
	const visiting, done = 1, 2
	state := make(map[string]int, len(inv.hosts))
	var visit func(name string, way []string) error
	visit = func(name string, way []string) error {
		switch state[name] {
		case done:
			return nil
		case visiting:
			return wrong("hosts", "jump hosts in a circle: %s", strings.Join(append(way, name), " through "))
		}
		state[name] = visiting
		for _, hop := range inv.hosts[inv.byName[name]].Jump {
			if inv.Host(hop) {
				if err := visit(hop, append(way, name)); err != nil {
					return err
				}
			} else if _, err := ParseHop(hop); err != nil {
				return wrong("hosts", "host %s: %s", name, err)
			}
		}
		state[name] = done
		return nil
	}
	for _, h := range inv.hosts {
		if err := visit(h.Name, nil); err != nil {
			return err
		}
	}
	return nil
}

// addGroups resolves the groups, which may name each other, in the order of their names.
func (inv *Inventory) addGroups(groups map[string][]string) error {
	r := groupResolver{inv: inv, lists: groups, busy: map[string]bool{}}
	for _, name := range slices.Sorted(maps.Keys(groups)) {
		if !groupName.MatchString(name) {
			return wrong("groups", "%.80q is not a name; use letters, digits, dots, underscores and hyphens, at most 63", name)
		}
		if err := r.resolve(name); err != nil {
			return err
		}
	}
	return nil
}
