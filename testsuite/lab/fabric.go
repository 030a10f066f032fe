package lab

import "context"

// Fabric is the simulated InfiniBand network under the hosts. The lab needs no
// more of it than this, so that another simulator can take the place of the
// stock one by implementing it in one file.
type Fabric interface {
	// Start brings the simulator up; it dies with the calling process.
	Start(ctx context.Context) error
	// Stop ends the simulator and waits until it is gone.
	Stop() error
	// ToolEnv is the environment in which a process on host reaches the
	// fabric through the host's own adapter. sm tells a subnet manager
	// from a tool.
	ToolEnv(host string, sm bool) []string
	// Device is the name under which tools on a host see their adapter.
	Device() string
	// Unlink takes the cable out of a port, Relink puts it back.
	Unlink(node string, port int) error
	Relink(node string, port int) error
	// SetCounter sets one counter of one port, e.g.
	// "PortCounters.SymbolErrorCounter".
	SetCounter(node string, port int, counter string, value uint64) error
	// Ports reads the state of every port as the simulator has it.
	Ports() ([]PortState, error)
}

// hostPlugger is a Fabric that gives a host its device files and its part of
// sysfs itself and keeps them up to date: in dir it makes dev, infiniband and
// infiniband_mad. It is called on the lab's thread.
type hostPlugger interface {
	PlugHost(host, dir string) error
}

// PortState is what a port's own registers say.
type PortState struct {
	Node  string // name as in the topology, "leaf01"
	Port  int
	GUID  uint64 // port GUID
	LID   int    // 0 before an SM gave one; base LID
	SMLID int
	LMC   int
	State string // "Down", "Init", "Armed", "Active"
	Phys  string // "LinkUp", "Polling", …
	Width string // "4x"
	Speed string // "HDR", "10.0G"
}
