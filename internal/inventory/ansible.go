package inventory

import (
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/fabricbot/fabricbot/fabric"
)

// Imported is an inventory made from something else. Notes say what was left out and why; secrets are always left out.
type Imported struct {
	File  File
	Notes []string
}

// FromAnsible reads an Ansible inventory in YAML, if name ends in .yml or .yaml, and otherwise in the INI form. Of the variables
// it takes ansible_host, ansible_port, ansible_user, jump hosts in ansible_ssh_common_args, and site, rack, leaf and role. Hosts
// of a group named sm, opensm or the like get the role sm, unless a variable names another.
// Directories, plugins and templates in variables are not understood.
func FromAnsible(name string, text []byte) (Imported, error) {
	if len(text) > maxFile {
		return Imported{}, fmt.Errorf("reading Ansible inventory %s: %d octets, at most %d are allowed", name, len(text), maxFile)
	}
	tree := ansibleTree{groups: map[string]*ansibleGroup{}, vars: map[string]map[string]string{}}
	read := tree.readINI
	if ext := strings.ToLower(filepath.Ext(name)); ext == ".yml" || ext == ".yaml" {
		read = tree.readYAML
	}
	if err := read(text); err != nil {
		return Imported{}, fmt.Errorf("reading Ansible inventory %s: %w", name, err)
	}
	imported, err := tree.convert()
	if err != nil {
		return Imported{}, fmt.Errorf("reading Ansible inventory %s: %w", name, err)
	}
	return imported, nil
}

// managerGroup matches how people call the group of hosts that run a subnet manager.
var managerGroup = regexp.MustCompile(`^(?i)(sm|sms|opensm|opensmd|subnet[-_]?managers?)$`)

// roleSM is the role of hosts that run a subnet manager by plan.
const roleSM = "sm"

// ansibleTree is what both forms say.
type ansibleTree struct {
	groups map[string]*ansibleGroup
	vars   map[string]map[string]string // of hosts; a host without variables has an empty map
	notes  []string
}

type ansibleGroup struct {
	hosts, children []string
	vars            map[string]string
}

func (t *ansibleTree) group(name string) *ansibleGroup {
	if t.groups[name] == nil {
		t.groups[name] = &ansibleGroup{vars: map[string]string{}}
	}
	return t.groups[name]
}

// addHosts adds the hosts of a pattern with their variables to a group.
func (t *ansibleTree) addHosts(group, pattern string, vars map[string]string) error {
	names, err := expandAnsible(pattern)
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := fabric.CheckHostName(name); err != nil {
			t.notes = append(t.notes, fmt.Sprintf("left out: %s", err))
			continue
		}
		if t.vars[name] == nil {
			if len(t.vars) == fabric.MaxHosts {
				return fmt.Errorf("more than %d hosts", fabric.MaxHosts)
			}
			t.vars[name] = map[string]string{}
		}
		maps.Copy(t.vars[name], vars)
		t.group(group).hosts = append(t.group(group).hosts, name)
	}
	return nil
}

// convert applies the variables of groups, the outer ones first, and writes hosts and groups as ours.
func (t *ansibleTree) convert() (Imported, error) {
	members, depth := map[string][]string{}, map[string]int{}
	for _, name := range slices.Sorted(maps.Keys(t.groups)) {
		if err := t.measure(name, nil, members, depth); err != nil {
			return Imported{}, err
		}
	}
	order := slices.Collect(maps.Keys(t.groups))
	slices.SortFunc(order, func(a, b string) int {
		// depth counts from the innermost group, and "all" is outside of every other.
		if (a == "all") != (b == "all") {
			return map[bool]int{true: -1, false: 1}[a == "all"]
		}
		if depth[a] != depth[b] {
			return depth[b] - depth[a]
		}
		return strings.Compare(a, b)
	})
	merged := map[string]map[string]string{}
	for name := range t.vars {
		merged[name] = map[string]string{}
	}
	for _, group := range order {
		hosts := members[group]
		if group == "all" {
			hosts = slices.Collect(maps.Keys(t.vars))
		}
		for _, host := range hosts {
			maps.Copy(merged[host], t.groups[group].vars)
		}
	}
	var file File
	managers := map[string]bool{}
	for _, group := range order {
		for _, host := range members[group] {
			managers[host] = managers[host] || managerGroup.MatchString(group)
		}
	}
	seen := map[string]string{} // names in small letters and sockets, as Inventory.addHosts refuses them
	left := map[string]bool{}
	for _, name := range slices.SortedFunc(maps.Keys(t.vars), fabric.CompareHostNames) {
		maps.Copy(merged[name], t.vars[name])
		h := t.host(name, merged[name])
		if h.Role == "" && managers[name] {
			h.Role = roleSM
		}
		twin := firstOf(seen[strings.ToLower(name)], seen[h.socket()])
		if twin != "" {
			t.notes = append(t.notes, fmt.Sprintf("host %s left out: it has the name or the address of %s; one host with two names could be changed twice at once", name, twin))
			left[name] = true
			continue
		}
		seen[strings.ToLower(name)], seen[h.socket()] = name, name
		file.Hosts = append(file.Hosts, h)
	}
	for group := range members {
		members[group] = slices.DeleteFunc(members[group], func(host string) bool { return left[host] })
	}
	file.Groups = t.ownGroups(members)
	if len(file.Hosts) == 0 {
		return Imported{}, fmt.Errorf("no host found")
	}
	slices.Sort(t.notes)
	return Imported{File: file, Notes: slices.Compact(t.notes)}, nil
}

// measure works out the hosts of a group and how many groups lie inside each other below it.
func (t *ansibleTree) measure(name string, way []string, members map[string][]string, depth map[string]int) error {
	if _, done := depth[name]; done {
		return nil
	}
	if slices.Contains(way, name) {
		return fmt.Errorf("groups in a circle: %s", strings.Join(append(way, name), " holds "))
	}
	group := t.group(name)
	hosts, deepest := slices.Clone(group.hosts), 0
	for _, child := range group.children {
		if err := t.measure(child, append(slices.Clone(way), name), members, depth); err != nil {
			return err
		}
		hosts, deepest = append(hosts, members[child]...), max(deepest, depth[child]+1)
	}
	slices.Sort(hosts)
	members[name], depth[name] = slices.Compact(hosts), deepest
	return nil
}

func (t *ansibleTree) host(name string, vars map[string]string) Host {
	h := Host{Name: name}
	for _, key := range slices.Sorted(maps.Keys(vars)) {
		value := vars[key]
		if problem := t.take(&h, key, value); problem != "" {
			t.notes = append(t.notes, fmt.Sprintf("host %s: %s left out: %s", name, key, problem))
		}
	}
	if h.Address == name {
		h.Address = ""
	}
	return h
}

// take sets what one variable says and returns why it cannot. Values are never part of the answer, they may be secret.
func (t *ansibleTree) take(h *Host, key, value string) (problem string) {
	var place *string
	switch key {
	case "ansible_host", "ansible_ssh_host":
		if checkAddress(value) != nil {
			return "not an address"
		}
		h.Address = value
		return ""
	case "ansible_port", "ansible_ssh_port":
		port, err := strconv.ParseUint(value, 10, 16)
		if err != nil || port == 0 {
			return "not a port"
		}
		h.Port = uint16(port)
		return ""
	case "ansible_user", "ansible_ssh_user":
		if !userName.MatchString(value) {
			return "not a user name"
		}
		h.User = value
		return ""
	case "ansible_ssh_common_args", "ansible_ssh_extra_args":
		hops, ok := jumpOf(value)
		if !ok {
			return "only a jump host (-J or ProxyJump) can be taken over"
		}
		h.Jump = hops
		return ""
	case "site":
		place = &h.Site
	case "rack":
		place = &h.Rack
	case "leaf":
		place = &h.Leaf
	case "role":
		place = &h.Role
	default:
		if strings.HasPrefix(key, "ansible_") && (strings.Contains(key, "pass") || strings.Contains(key, "key")) {
			return "secrets and keys belong into the configuration"
		}
		return ""
	}
	if !placeName.MatchString(value) {
		return "not a name"
	}
	*place = value
	return ""
}

// jumpOf finds the hops in arguments of ssh such as "-o ProxyJump=a,b" or "-J a".
func jumpOf(args string) ([]string, bool) {
	words := strings.Fields(strings.NewReplacer(`"`, "", `'`, "", "=", " ").Replace(args))
	for i, word := range words {
		list := ""
		if (word == "-J" || strings.EqualFold(strings.TrimPrefix(word, "-o"), "ProxyJump")) && i+1 < len(words) {
			list = words[i+1]
		} else if rest, found := strings.CutPrefix(word, "-J"); found {
			list = rest
		}
		if list == "" {
			continue
		}
		hops := strings.Split(list, ",")
		for _, hop := range hops {
			if _, err := ParseHop(hop); err != nil {
				return nil, false
			}
		}
		return hops, true
	}
	return nil, false
}

// ownGroups writes the groups as lists of expressions. "all" and "ungrouped" are left out: what means everything must be asked for
// on purpose.
func (t *ansibleTree) ownGroups(members map[string][]string) map[string][]string {
	groups := map[string][]string{}
	for _, name := range slices.Sorted(maps.Keys(t.groups)) {
		switch {
		case name == "all" || name == "ungrouped":
			continue
		case len(members[name]) == 0:
			t.notes = append(t.notes, fmt.Sprintf("group %s left out: it has no hosts", name))
			continue
		case !groupName.MatchString(name):
			t.notes = append(t.notes, fmt.Sprintf("group %.80q left out: not a name here", name))
			continue
		}
		// All names were checked when they were added.
		set, err := fabric.NewHostSet(members[name]...)
		if err != nil {
			t.notes = append(t.notes, fmt.Sprintf("group %s left out: %s", name, err))
			continue
		}
		groups[name] = []string{set.String()}
	}
	return groups
}
