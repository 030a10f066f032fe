package lab

import (
	"context"
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
	Reachable  int    // how many of the fabric's hosts get an SSH server; 0 means all
	Dir        string // where inventory, keys and state go; created; required
	PlainHosts bool   // no odd login shells and no Dropbear on the last two hosts
	User       string // user of the inventory, "root" (default) or "ops"
	Simulator  string // SimulatorOwn (default) or SimulatorStock
	Companions []Companion
	Log        func(format string, args ...any) // nil means silence
}

// The simulators a lab can be built on.
const (
	SimulatorOwn   = "fabricsim"
	SimulatorStock = "ibsim" // Debian package ibsim-utils
)

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
		"gcc": "gcc", "linux-libc-dev": "/usr/include/rdma/ib_user_mad.h", "infiniband-diags": "ibstat", "openssh-server": "/usr/sbin/sshd",
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
	if _, err := ask(opts.Dir, "status"); err == nil {
		return nil, fmt.Errorf("starting lab: one already runs in %s; stop it with fabriclab down -dir %s", opts.Dir, opts.Dir)
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
	if l.fabric, err = l.newFabric(); err != nil {
		return err
	}
	l.log("starting a simulated fabric")
	if err := l.fabric.Start(ctx); err != nil {
		return err
	}
	if l.smTemplate, err = smTemplate(filepath.Join(l.Dir, "log")); err != nil {
		return err
	}
	l.log("making hosts")
	if err := l.makeHosts(); err != nil {
		return err
	}
	if err := l.openControl(); err != nil {
		return err
	}
	if err := l.writeState(); err != nil {
		return err
	}
	l.log("booting %d hosts: sshd, and a subnet manager on those of role %s", len(l.Hosts), roleSM)
	if err := l.bootAll(ctx); err != nil {
		return err
	}
	l.log("waiting for a subnet manager to become master")
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
