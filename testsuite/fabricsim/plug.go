package fabricsim

import (
	"errors"
	"fmt"
	"math"
	"net"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"
)

// Adapter says which node of the fabric is in a host and how the host sees it.
type Adapter struct {
	Node     string // name of the node
	Device   string // name of the device, "mlx5_0"; empty: mlx5_ and its place
	Firmware string // empty: one that fits the device
	Board    string // board id, "MT_0000000223"; empty: one that fits
}

// Plug is a host's connection to the fabric: its device files and its part of
// sysfs, in one directory:
//
//	dev/umad0, dev/issm0, …     for /dev/infiniband
//	infiniband/mlx5_0/…         for /sys/class/infiniband
//	infiniband_mad/umad0/…      for /sys/class/infiniband_mad
//
// The tree is up to date whenever a program learns of a change: it is written
// before the subnet manager that made the change has its answer.
type Plug struct {
	fabric    *Fabric
	dir       string
	adapters  []Adapter
	devices   []*device
	listeners []*net.UnixListener
	stop      chan struct{}
	once      sync.Once

	// Under the fabric's lock.
	dirty     bool
	clients   map[uint64]*client
	nextToken uint64
	version   uint64

	mu      sync.Mutex
	written map[string]string
	newest  uint64
}

// Plug makes a host of the directory, which has to exist.
func (f *Fabric) Plug(dir string, adapters ...Adapter) (*Plug, error) {
	p := &Plug{fabric: f, dir: dir, stop: make(chan struct{}), clients: map[uint64]*client{}, written: map[string]string{}}
	if err := p.open(adapters); err != nil {
		return nil, errors.Join(fmt.Errorf("plugging a host into the fabric: %w", err), p.Close())
	}
	go p.follow()
	return p, nil
}

func (p *Plug) open(adapters []Adapter) error {
	f := p.fabric
	var tree map[string]string
	var version uint64
	var err error
	f.locked(func() {
		for i, a := range adapters {
			var n *Node
			if n, err = f.find(a.Node); err != nil {
				return
			}
			if n.isSwitch() {
				err = fmt.Errorf("%s is a switch, no adapter", n.Name)
				return
			}
			p.adapters = append(p.adapters, a.withDefaults(i, n))
			for _, port := range n.ports[1:] {
				if port.device != nil {
					err = fmt.Errorf("%s is in another host already", n.Name)
					return
				}
				port.device = &device{plug: p, port: port}
				p.devices = append(p.devices, port.device)
			}
		}
		f.plugs = append(f.plugs, p)
		tree, version = p.render()
	})
	if err != nil {
		return err
	}
	if err := p.write(tree, version); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(p.dir, "dev"), 0o755); err != nil {
		return err
	}
	for i, d := range p.devices {
		for _, name := range []string{"umad", "issm"} {
			if err := p.listen(d, filepath.Join(p.dir, "dev", fmt.Sprintf("%s%d", name, i))); err != nil {
				return err
			}
		}
	}
	return nil
}

// listen makes one device file. Its directory is opened first, because the
// name of a socket may have 107 bytes only.
func (p *Plug) listen(d *device, path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer dir.Close()
	name := fmt.Sprintf("/proc/self/fd/%d/%s", dir.Fd(), filepath.Base(path))
	ln, err := net.ListenUnix("unix", &net.UnixAddr{Name: name, Net: "unix"})
	if err != nil {
		return fmt.Errorf("making device file %s: %w", path, err)
	}
	ln.SetUnlinkOnClose(false)
	if err := os.Chmod(path, 0o600); err != nil { // udev: root only
		return errors.Join(err, ln.Close())
	}
	p.listeners = append(p.listeners, ln)
	go func() {
		for {
			conn, err := ln.AcceptUnix()
			if err != nil {
				return
			}
			go d.serve(conn)
		}
	}()
	return nil
}

// Close takes the host's adapters out of its hands: open devices are cut, the
// files stay and lead nowhere.
func (p *Plug) Close() error {
	var clients []*client
	p.once.Do(func() {
		close(p.stop)
		for _, ln := range p.listeners {
			ln.Close()
		}
		p.fabric.locked(func() {
			for _, c := range p.clients {
				clients = append(clients, c)
			}
			for _, d := range p.devices {
				if d.sm != nil {
					clients = append(clients, d.sm)
				}
				d.port.device = nil
			}
			kept := p.fabric.plugs[:0]
			for _, o := range p.fabric.plugs {
				if o != p {
					kept = append(kept, o)
				}
			}
			p.fabric.plugs = kept
		})
		for _, c := range clients {
			c.conn.Close()
		}
		p.mu.Lock() // whoever still writes the tree ends first, and nobody begins
		p.newest = math.MaxUint64
		p.mu.Unlock()
	})
	return nil
}

// admit gives an opened umad its token.
func (p *Plug) admit(c *client) uint64 {
	p.nextToken++
	p.clients[p.nextToken] = c
	return p.nextToken
}

func (p *Plug) dismiss(c *client) { delete(p.clients, c.token) }

// changeAgent registers or unregisters an agent of one of the plug's clients.
func (p *Plug) changeAgent(d *device, r request) (value uint64, errno syscall.Errno) {
	errno = p.patiently(func() syscall.Errno {
		c := p.clients[r.token]
		if c == nil || c.device != d || r.op == opUnregister && (r.id >= maxAgents || c.agents[r.id] == nil) {
			return syscall.EINVAL
		}
		if r.op == opUnregister {
			d.unregister(c.agents[r.id])
			return 0
		}
		id, errno := d.register(c, r)
		value = uint64(id)
		return errno
	})
	return value, errno
}

// patiently tries again for a moment: a program that was killed an instant ago
// may not have been noticed yet, while on a real host its files are closed
// before anyone learns of its death.
func (p *Plug) patiently(try func() syscall.Errno) (errno syscall.Errno) {
	for range 50 {
		p.fabric.locked(func() { errno = try() })
		if errno == 0 {
			return 0
		}
		select {
		case <-p.stop:
			return errno
		case <-time.After(5 * time.Millisecond):
		}
	}
	return errno
}
