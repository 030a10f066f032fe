package lab

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// rackOf numbers racks as leaves are numbered: one leaf, one rack.
func rackOf(leaf string, t Topology) string {
	for i, s := range t.Switches {
		if s.Name == leaf {
			return fmt.Sprintf("rack%d", i+1)
		}
	}
	return "rack0"
}

// inventory is the list of hosts in the form the product reads. The addresses
// are those of the proxies, so that faults of the way can be made.
func (l *Lab) inventory() string {
	var b strings.Builder
	b.WriteString("hosts:\n")
	groups := map[string][]string{}
	for _, h := range l.Hosts {
		fmt.Fprintf(&b, "  - name: %s\n    address: %s\n    port: %d\n    user: %s\n    site: lab\n    rack: %s\n    leaf: %s\n    role: %s\n",
			h.Name, h.Address, h.Port, l.opts.User, h.Rack, h.Leaf, h.Role)
		groups[h.Rack] = append(groups[h.Rack], h.Name)
		groups[h.Role] = append(groups[h.Role], h.Name)
		if h.Daemon != daemonOpenSSH || h.Shell != "/bin/sh" {
			groups["odd"] = append(groups["odd"], h.Name)
		}
	}
	b.WriteString("groups:\n")
	for _, g := range sortedKeys(groups) {
		fmt.Fprintf(&b, "  %s: [%s]\n", g, strings.Join(groups[g], ", "))
	}
	return b.String()
}

func (l *Lab) writeKnownHosts() error {
	var b strings.Builder
	for _, h := range l.Hosts {
		f := strings.Fields(h.key.public)
		fmt.Fprintf(&b, "%s,%s %s %s\n", h.Address, h.Name, f[0], f[1])
	}
	return os.WriteFile(filepath.Join(l.Dir, "ssh/known_hosts"), []byte(b.String()), 0o644)
}
