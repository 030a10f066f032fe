package inventory

import "github.com/fabricbot/fabricbot/internal/strictyaml"

// File is the form of the inventory on disk.
type File struct {
	// Defaults holds for every host that does not say otherwise; only port, user, jump, site and role are taken from it.
	Defaults Host   `yaml:"defaults,omitempty"`
	Hosts    []Host `yaml:"hosts"`
	// Groups are lists of host expressions by name; they may name other groups.
	Groups map[string][]string `yaml:"groups,omitempty"`
}

// Host is one host, or many alike: a name such as node[001-064] stands for all of them, and an address or a scheduler name with
// as many members is dealt out in the same order.
type Host struct {
	Name        string   `yaml:"name,omitempty"`
	Address     string   `yaml:"address,omitempty"`     // host name or IP address; default the name
	Port        uint16   `yaml:"port,omitempty"`        // of sshd; default 22
	User        string   `yaml:"user,omitempty"`        // default as the configuration says
	Jump        []string `yaml:"jump,omitempty"`        // hops on the way, first one first: hosts of the inventory or [user@]host[:port]
	Site        string   `yaml:"site,omitempty"`        // these three are failure domains
	Rack        string   `yaml:"rack,omitempty"`        //
	Leaf        string   `yaml:"leaf,omitempty"`        // leaf switch it hangs on
	Role        string   `yaml:"role,omitempty"`        // compute, storage, sm, login or what the site calls it
	Scheduler   string   `yaml:"scheduler,omitempty"`   // name of the node in the job scheduler; default the name
	Maintenance bool     `yaml:"maintenance,omitempty"` // out of service on purpose: its absence is no finding
	Devices     []Device `yaml:"devices,omitempty"`     // what is expected in it
}

// Device is an expected adapter. What is left out is not checked.
type Device struct {
	Name         string `yaml:"name,omitempty"`          // RDMA device, such as mlx5_0
	PCI          string `yaml:"pci,omitempty"`           // address, such as 0000:3b:00.0
	PSID         string `yaml:"psid,omitempty"`          // such as MT_0000000223
	PartNumber   string `yaml:"part_number,omitempty"`   // such as MCX653105A-HDAT
	Firmware     string `yaml:"firmware,omitempty"`      // such as 20.43.2026
	Ports        int    `yaml:"ports,omitempty"`         // how many
	RateGbPerSec int    `yaml:"rate_gb_per_s,omitempty"` // of each port, in Gbit/s
}

// YAML writes the file for people to go on with.
func (f File) YAML() ([]byte, error) { return strictyaml.Marshal(f) }
