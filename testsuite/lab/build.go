package lab

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"
)

func (l *Lab) plan() (Topology, error) {
	if l.opts.FabricFile == "" {
		return FatTree(l.opts.Hosts)
	}
	f, err := os.Open(l.opts.FabricFile)
	if err != nil {
		return Topology{}, err
	}
	defer f.Close()
	return ReadNet(f)
}

// newFabric makes the simulator that was asked for.
func (l *Lab) newFabric() (Fabric, error) {
	name := fmt.Sprintf("fabriclab%d", l.instance)
	switch l.opts.Simulator {
	case "", SimulatorOwn:
		return newSimFabric(l.topo, name), nil
	case SimulatorStock:
		if _, err := os.Stat(umad2sim); err != nil {
			return nil, fmt.Errorf("the simulator ibsim needs Debian package ibsim-utils: %w", err)
		}
		return newIbsim(l.topo, name, filepath.Join(l.Dir, "log"), l.thread.start, l.log), nil
	}
	return nil, fmt.Errorf("no simulator %q; there are %s and %s", l.opts.Simulator, SimulatorOwn, SimulatorStock)
}

// takeInstance finds a number no other lab on the machine uses. The name is in
// the abstract namespace, so it is free again when its owner is dead.
func (l *Lab) takeInstance() error {
	for i := range maxInstances {
		g, err := net.Listen("unix", fmt.Sprintf("@fabriclab-instance-%d", i))
		if err == nil {
			l.instance, l.guard = i, g
			return nil
		}
	}
	return fmt.Errorf("all %d instances are taken on this machine; stop one with fabriclab down", maxInstances)
}

// reachable are the hosts of the fabric that are more than an adapter: the
// first ones of the plan.
func (l *Lab) reachable() []Node {
	if n := l.opts.Reachable; n > 0 && n < len(l.topo.Hosts) {
		return l.topo.Hosts[:n]
	}
	return l.topo.Hosts
}

func (l *Lab) makeHosts() error {
	ports, err := l.fabric.Ports()
	if err != nil {
		return err
	}
	guids := map[string]uint64{}
	for _, p := range ports {
		if p.Port == 1 {
			guids[p.Node] = p.GUID
		}
	}
	key, err := newKey("fabriclab")
	if err != nil {
		return err
	}
	l.authorizedKey = key.public
	if err := os.WriteFile(filepath.Join(l.Dir, "ssh/id_ed25519"), []byte(key.private), 0o600); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(l.Dir, "ssh/id_ed25519.pub"), []byte(key.public), 0o644); err != nil {
		return err
	}
	sms := l.pickSMs()
	nodes := l.reachable()
	for i, n := range nodes {
		ip := func(k int) string { return fmt.Sprintf("127.%d.%d.%d", 77+2*l.instance+k, i/250, i%250+1) }
		if n.GUID == 0 {
			n.GUID = guids[n.Name] - 1
		}
		h := &Host{
			Name: n.Name, Address: ip(1), Port: 22, Leaf: n.Leaf, Rack: rackOf(n.Leaf, l.topo), Role: roleCompute,
			Daemon: daemonOpenSSH, Shell: "/bin/sh", NodeGUID: n.GUID, PortGUID: guids[n.Name],
			node: n, state: filepath.Join(l.Dir, "hosts", n.Name), backend: ip(0), backendPort: 22,
		}
		if k, ok := sms[i]; ok {
			h.Role, h.smPriority = roleSM, 14-k
		}
		if left := len(nodes) - i; !l.opts.PlainHosts && len(nodes) > 3 {
			switch left {
			case 2:
				h.Shell = "/bin/bash"
			case 1:
				h.Daemon, h.Shell = daemonDropbear, "/bin/tcsh"
			}
		}
		if h.key, err = newKey("root@" + n.Name); err != nil {
			return err
		}
		h.proxy = newProxy(net.JoinHostPort(h.Address, "22"), net.JoinHostPort(h.backend, "22"))
		l.Hosts = append(l.Hosts, h)
	}
	if err := l.writeKnownHosts(); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(l.Dir, "inventory.yaml"), []byte(l.inventory()), 0o644); err != nil {
		return err
	}
	return l.thread.do(func() error {
		for _, h := range l.Hosts {
			if err := l.writeHost(h); err != nil {
				return err
			}
		}
		return nil
	})
}

// pickSMs puts the two subnet managers on the first host and on the first one
// under another leaf, so that one leaf's death leaves one of them. The value
// is how much less than the highest priority it gets.
func (l *Lab) pickSMs() map[int]int {
	sms := map[int]int{0: 0}
	nodes := l.reachable()
	second := min(1, len(nodes)-1)
	for i, n := range nodes {
		if n.Leaf != nodes[0].Leaf {
			second = i
			break
		}
	}
	if second != 0 {
		sms[second] = 1
	}
	return sms
}

// bootAll starts the hosts a few at a time and opens the way to each.
func (l *Lab) bootAll(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	seats := make(chan struct{}, 4)
	errs := make([]error, len(l.Hosts))
	var wg sync.WaitGroup
	for i, h := range l.Hosts {
		wg.Add(1)
		go func() {
			defer wg.Done()
			seats <- struct{}{}
			defer func() { <-seats }()
			if errs[i] = l.boot(ctx, h); errs[i] == nil {
				errs[i] = h.proxy.start()
			}
		}()
	}
	wg.Wait()
	return errors.Join(errs...)
}

// waitMaster waits until an SM has configured every host's port.
func (l *Lab) waitMaster(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for {
		ports, err := l.fabric.Ports()
		if err != nil {
			return err
		}
		active := 0
		for _, p := range ports {
			if h, err := l.Host(p.Node); err == nil && h != nil && p.Port == 1 && p.State == "Active" {
				active++
			}
		}
		if active == len(l.Hosts) {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for the subnet manager: %d of %d ports active: %w", active, len(l.Hosts), ctx.Err())
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// followPorts keeps /sys/class/infiniband of every host as the fabric is.
func (l *Lab) followPorts() {
	if _, own := l.fabric.(hostPlugger); own {
		return
	}
	for {
		select {
		case <-l.ctx.Done():
			return
		case <-time.After(time.Second):
		}
		if err := l.refreshSysfs(); err != nil && l.ctx.Err() == nil {
			l.log("%v", err)
		}
	}
}

func (l *Lab) refreshSysfs() error {
	if _, own := l.fabric.(hostPlugger); own {
		return nil // that simulator keeps them itself
	}
	ports, err := l.fabric.Ports()
	if err != nil {
		return err
	}
	return l.thread.do(func() error {
		var errs []error
		for _, p := range ports {
			if h, err := l.Host(p.Node); err == nil && p.Port == 1 {
				errs = append(errs, writeSysfs(filepath.Join(h.state, "ib"), h.node, l.fabric.Device(), p))
			}
		}
		return errors.Join(errs...)
	})
}
