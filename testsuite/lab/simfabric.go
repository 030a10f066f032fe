package lab

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/fabricbot/fabricbot/testsuite/fabricsim"
	"github.com/fabricbot/fabricbot/testsuite/fabricsim/shim"
)

// simLibrary is where a host finds the library that its tools preload.
const simLibrary = "/usr/lib/fabriclab/umadshim.so"

// simFabric is the lab's own simulator, which runs inside the lab's process.
type simFabric struct {
	topo    Topology
	name    string // marks the lab's processes
	sim     *fabricsim.Fabric
	library string // the compiled one on the machine
	handles []int  // of the hosts' directories
}

func newSimFabric(t Topology, name string) *simFabric { return &simFabric{topo: t, name: name} }

// Device is what a kernel calls the first adapter of this family.
func (f *simFabric) Device() string { return deviceName(0) }

func deviceName(i int) string { return fmt.Sprintf("mlx5_%d", i) }

func (f *simFabric) Start(ctx context.Context) error {
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	if f.library, err = shim.Build(ctx, filepath.Join(cache, "fabriclab")); err != nil {
		return err
	}
	var text bytes.Buffer
	if err := f.topo.WriteNet(&text); err != nil {
		return err
	}
	plan, err := fabricsim.ReadPlan(&text)
	if err != nil {
		return err
	}
	names := map[string]string{}
	for _, n := range append(append([]Node(nil), f.topo.Switches...), f.topo.Hosts...) {
		names[n.ID] = n.Name
	}
	for i := range plan.Nodes {
		plan.Nodes[i].Name = names[plan.Nodes[i].ID]
	}
	f.sim, err = fabricsim.New(plan)
	return err
}

func (f *simFabric) Stop() error {
	if f.sim != nil {
		f.sim.Close()
	}
	var errs []error
	for _, fd := range f.handles {
		errs = append(errs, unix.Close(fd))
	}
	f.handles = nil
	return errors.Join(errs...)
}

// PlugHost gives a host its device files and sysfs. It runs on the lab's
// thread, the only one that sees the directory by its name; everyone else
// reaches it through an open handle.
func (f *simFabric) PlugHost(host, dir string) error {
	fd, err := unix.Open(dir, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("opening %s: %w", dir, err)
	}
	f.handles = append(f.handles, fd)
	node, _ := f.topo.node(host)
	var adapters []fabricsim.Adapter
	for i, n := range append([]Node{node}, node.More...) {
		adapters = append(adapters, fabricsim.Adapter{Node: n.Name, Device: deviceName(i), Firmware: sysfsFWVers, Board: boardID})
	}
	_, err = f.sim.Plug(fmt.Sprintf("/proc/self/fd/%d", fd), adapters...)
	return err
}

func (f *simFabric) ToolEnv(string, bool) []string {
	return []string{"LD_PRELOAD=" + simLibrary, "FABRICLAB=" + f.name}
}

func (f *simFabric) Unlink(node string, port int) error { return f.sim.Pull(node, port) }
func (f *simFabric) Relink(node string, port int) error { return f.sim.Reseat(node, port) }

func (f *simFabric) SetCounter(node string, port int, counter string, value uint64) error {
	if _, name, ok := strings.Cut(counter, "."); ok {
		counter = name // "PortCounters.SymbolErrorCounter"
	}
	return f.sim.SetCounter(node, port, counter, value)
}

func (f *simFabric) Ports() ([]PortState, error) {
	var ports []PortState
	for _, p := range f.sim.Ports() {
		ports = append(ports, PortState{
			Node: p.Node, Port: p.Port, GUID: p.GUID, LID: p.LID, SMLID: p.SMLID, LMC: p.LMC,
			State: p.State, Phys: p.Phys, Width: strings.ToLower(p.Width.String()), Speed: p.Speed.String(),
		})
	}
	return ports, nil
}
