package lab

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// Options say what lab to build.
type Options struct {
	Hosts      int    // 0 means 16; ignored with FabricFile
	FabricFile string // ibsim or ibnetdiscover file; empty means a fat tree
	Dir        string // where inventory, keys and state go; created; required
	PlainHosts bool   // no odd login shells and no Dropbear on the last two hosts
	User       string // user of the inventory, "root" (default) or "ops"
	Companions []Companion
	Log        func(format string, args ...any) // nil means silence
}

// Companion is a service that lives and dies with the lab, such as a Slack
// emulator. Its address is recorded in lab.json under its name.
type Companion interface {
	Name() string
	Start(ctx context.Context) (address string, err error)
	Stop() error
}

// Lab is a running lab.
type Lab struct {
	Dir       string
	Hosts     []*Host
	Addresses map[string]string // of companions, by name

	opts          Options
	topo          Topology
	instance      int
	guard         net.Listener // held as long as the instance number is ours
	thread        *thread
	fabric        Fabric
	authorizedKey string
	smTemplate    string
	ctx           context.Context
	cancel        context.CancelFunc
	control       net.Listener
	started       time.Time

	faultMu sync.Mutex
	healed  map[string]string // what has to be put back, by fault
	once    sync.Once
}

// maxInstances is how many labs fit on one machine: each takes two /16 of
// loopback, 127.77 and 127.78 first.
const maxInstances = 20

// Missing names what the machine lacks for a lab: root or Debian packages.
// Empty means nothing.
func Missing() string {
	if os.Getuid() != 0 {
		return "root"
	}
	need := map[string]string{
		"dropbear-bin": "dropbear", "faketime": "/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1",
		"ibsim-utils": umad2sim, "infiniband-diags": "ibstat", "openssh-server": "/usr/sbin/sshd",
		"opensm": "/usr/sbin/opensm", "pciutils": "lspci", "sudo": "sudo", "tcsh": "tcsh",
	}
	var missing []string
	for _, pkg := range strings.Fields(packageList) {
		if _, err := exec.LookPath(need[pkg]); err != nil {
			if _, err := os.Stat(need[pkg]); err != nil {
				missing = append(missing, pkg)
			}
		}
	}
	if len(missing) > 0 {
		return "Debian packages " + strings.Join(missing, " ")
	}
	return ""
}

// Start builds a lab and returns when every host answers and an SM is master.
// The lab's processes and mounts end with the calling process at the latest.
func Start(ctx context.Context, opts Options) (*Lab, error) {
	if missing := Missing(); missing != "" {
		return nil, fmt.Errorf("starting lab: missing %s", missing)
	}
	if opts.Log == nil {
		opts.Log = func(string, ...any) {}
	}
	if opts.User == "" {
		opts.User = "root"
	}
	if opts.Hosts == 0 {
		opts.Hosts = 16
	}
	if !filepath.IsAbs(opts.Dir) {
		return nil, fmt.Errorf("starting lab: directory %q is not absolute", opts.Dir)
	}
	l := &Lab{Dir: opts.Dir, opts: opts, Addresses: map[string]string{}, healed: map[string]string{}, started: time.Now()}
	l.ctx, l.cancel = context.WithCancel(context.Background())
	if err := l.start(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("starting lab: %w", err), l.Stop())
	}
	return l, nil
}

func (l *Lab) log(format string, args ...any) { l.opts.Log(format, args...) }

func (l *Lab) start(ctx context.Context) error {
	var err error
	if l.topo, err = l.plan(); err != nil {
		return err
	}
	if err := l.takeInstance(); err != nil {
		return err
	}
	for _, d := range []string{"", "ssh", "log", "witness", "hosts"} {
		if err := os.MkdirAll(filepath.Join(l.Dir, d), 0o755); err != nil {
			return err
		}
	}
	if err := os.WriteFile(l.witnessFile(), nil, 0o644); err != nil {
		return err
	}
	// The hosts' files live in memory: an overlay's upper layer may not lie
	// inside its lower one, and memory is gone with the lab.
	if l.thread, err = newThread(filepath.Join(l.Dir, "hosts"), 4<<30); err != nil {
		return err
	}
	l.fabric = newIbsim(l.topo, fmt.Sprintf("fabriclab%d", l.instance), filepath.Join(l.Dir, "log"), l.thread.start, l.log)
	if err := l.fabric.Start(ctx); err != nil {
		return err
	}
	if l.smTemplate, err = smTemplate(filepath.Join(l.Dir, "log")); err != nil {
		return err
	}
	if err := l.makeHosts(); err != nil {
		return err
	}
	if err := l.openControl(); err != nil {
		return err
	}
	if err := l.writeState(); err != nil {
		return err
	}
	if err := l.bootAll(ctx); err != nil {
		return err
	}
	if err := l.waitMaster(ctx); err != nil {
		return err
	}
	if err := l.refreshSysfs(); err != nil {
		return err
	}
	go l.followPorts()
	for _, c := range l.opts.Companions {
		addr, err := c.Start(ctx)
		if err != nil {
			return fmt.Errorf("starting %s: %w", c.Name(), err)
		}
		l.Addresses[c.Name()] = addr
	}
	return l.writeState()
}

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
	for i, n := range l.topo.Hosts {
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
		if left := len(l.topo.Hosts) - i; !l.opts.PlainHosts && len(l.topo.Hosts) > 3 {
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
	second := min(1, len(l.topo.Hosts)-1)
	for i, n := range l.topo.Hosts {
		if n.Leaf != l.topo.Hosts[0].Leaf {
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

// Host finds a host by name.
func (l *Lab) Host(name string) (*Host, error) {
	for _, h := range l.Hosts {
		if h.Name == name {
			return h, nil
		}
	}
	return nil, fmt.Errorf("no host %q in the lab; it has %s to %s", name, l.Hosts[0].Name, l.Hosts[len(l.Hosts)-1].Name)
}

// Stop ends the lab and removes what it wrote except logs. It is safe to call
// more than once.
func (l *Lab) Stop() error {
	var errs []error
	l.once.Do(func() {
		l.cancel()
		for i := len(l.opts.Companions) - 1; i >= 0; i-- {
			if _, ok := l.Addresses[l.opts.Companions[i].Name()]; ok {
				errs = append(errs, l.opts.Companions[i].Stop())
			}
		}
		if l.control != nil {
			l.control.Close()
		}
		var wg sync.WaitGroup
		for _, h := range l.Hosts {
			wg.Add(1)
			go func() { defer wg.Done(); h.proxy.stop(); h.halt() }()
		}
		wg.Wait()
		if l.fabric != nil {
			errs = append(errs, l.fabric.Stop())
		}
		if l.thread != nil {
			l.thread.end()
		}
		errs = append(errs, removeFiles(l.Dir))
		if l.guard != nil {
			l.guard.Close()
		}
	})
	return errors.Join(errs...)
}

// removeFiles deletes what a lab wrote into its directory, logs excepted.
func removeFiles(dir string) error {
	var errs []error
	for _, p := range []string{"lab.json", "control.sock", "inventory.yaml", "ssh/id_ed25519", "ssh/id_ed25519.pub", "ssh/known_hosts", "ssh", "witness/opensm-starts", "witness", "hosts"} {
		if err := os.Remove(filepath.Join(dir, p)); err != nil && !errors.Is(err, os.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

func (l *Lab) witnessFile() string { return filepath.Join(l.Dir, "witness", "opensm-starts") }

// SMStarts counts the starts of subnet managers: all, or those on one host.
// Each start is written to disk before the start script returns.
func (l *Lab) SMStarts(host string) (int, error) {
	text, err := os.ReadFile(l.witnessFile())
	if err != nil {
		return 0, fmt.Errorf("counting SM starts: %w", err)
	}
	n := 0
	for _, line := range strings.Split(string(text), "\n") {
		f := strings.Fields(line)
		if len(f) == 3 && (host == "" || f[0] == host) {
			n++
		}
	}
	return n, nil
}

// state is the content of lab.json.
type state struct {
	PID        int               `json:"pid"`
	Started    time.Time         `json:"started"`
	Instance   int               `json:"instance"`
	Dir        string            `json:"dir"`
	Control    string            `json:"control"`
	Inventory  string            `json:"inventory"`
	Key        string            `json:"key"`
	KnownHosts string            `json:"known_hosts"`
	Witness    string            `json:"witness"`
	Addresses  map[string]string `json:"addresses,omitempty"`
	Hosts      []hostState       `json:"hosts"`
}

type hostState struct {
	Name     string `json:"name"`
	Address  string `json:"address"`
	Port     int    `json:"port"`
	Role     string `json:"role"`
	Leaf     string `json:"leaf"`
	Daemon   string `json:"daemon"`
	Shell    string `json:"shell"`
	PortGUID string `json:"port_guid"`
	Up       bool   `json:"up"`
}

func (l *Lab) state() state {
	in := func(p string) string { return filepath.Join(l.Dir, p) }
	s := state{
		PID: os.Getpid(), Started: l.started, Instance: l.instance, Dir: l.Dir, Control: in("control.sock"),
		Inventory: in("inventory.yaml"), Key: in("ssh/id_ed25519"), KnownHosts: in("ssh/known_hosts"), Witness: l.witnessFile(), Addresses: l.Addresses,
	}
	for _, h := range l.Hosts {
		s.Hosts = append(s.Hosts, hostState{h.Name, h.Address, h.Port, h.Role, h.Leaf, h.Daemon, h.Shell, fmt.Sprintf("0x%016x", h.PortGUID), h.Up()})
	}
	return s
}

func (l *Lab) writeState() error {
	text, err := json.MarshalIndent(l.state(), "", "  ")
	if err != nil {
		return err
	}
	tmp := filepath.Join(l.Dir, "lab.json.new")
	if err := os.WriteFile(tmp, append(text, '\n'), 0o644); err != nil {
		return fmt.Errorf("writing lab.json: %w", err)
	}
	return os.Rename(tmp, filepath.Join(l.Dir, "lab.json"))
}
