package fabricsim

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fabricbot/fabricbot/testsuite/fabricsim/mad"
)

// sysfsKeys is how many partition keys of a port are listed; the table itself
// has more.
const sysfsKeys = 16

// withDefaults completes an adapter as the i-th of its host.
func (a Adapter) withDefaults(i int, n *Node) Adapter {
	if a.Device == "" {
		a.Device = fmt.Sprintf("mlx5_%d", i)
	}
	// ConnectX-5, -6, -7 by PCI device id: the major firmware version names
	// the generation.
	known := map[uint16][2]string{
		0x1017: {"16.35.4030", "MT_0000000012"}, 0x101b: {"20.43.1014", "MT_0000000223"}, 0x1021: {"28.43.1014", "MT_0000000838"},
	}[n.info.DeviceID]
	if a.Firmware == "" {
		a.Firmware = known[0]
	}
	if a.Board == "" {
		a.Board = known[1]
	}
	return a
}

// render makes the host's sysfs tree as text by path. The fabric is held.
func (p *Plug) render() (map[string]string, uint64) {
	p.version++
	p.dirty = false
	t := map[string]string{"infiniband_mad/abi_version": "5"}
	umad := 0
	for _, a := range p.adapters {
		n := p.fabric.byName[a.Node]
		if n == nil {
			n, _ = p.fabric.find(a.Node)
		}
		base := "infiniband/" + a.Device + "/"
		t[base+"node_guid"] = colons(n.info.NodeGUID)
		t[base+"sys_image_guid"] = colons(n.info.SystemGUID)
		t[base+"node_desc"] = n.desc
		t[base+"node_type"] = "1: CA"
		t[base+"fw_ver"] = a.Firmware
		t[base+"hw_rev"] = "0"
		t[base+"hca_type"] = fmt.Sprintf("MT%d", n.info.DeviceID)
		t[base+"board_id"] = a.Board
		for _, port := range n.ports[1:] {
			port.render(t, fmt.Sprintf("%sports/%d/", base, port.num))
			t[fmt.Sprintf("readings/%s/%d", a.Device, port.num)] = p.fabric.readings(port)
			for _, kind := range []string{"umad", "issm"} {
				dir := fmt.Sprintf("infiniband_mad/%s%d/", kind, umad)
				t[dir+"ibdev"], t[dir+"port"] = a.Device, fmt.Sprint(port.num)
			}
			umad++
		}
	}
	return t, p.version
}

// render writes a port's attributes in the words of the kernel's
// drivers/infiniband/core/sysfs.c.
func (p *Port) render(t map[string]string, dir string) {
	i := &p.info
	states := [...]string{"NOP", "DOWN", "INIT", "ARMED", "ACTIVE"}
	phys := [...]string{"<unknown>", "Sleep", "Polling", "Disabled", "PortConfigurationTraining", "LinkUp", "LinkErrorRecovery"}
	t[dir+"state"] = fmt.Sprintf("%d: %s", i.State, states[min(int(i.State), len(states)-1)])
	t[dir+"phys_state"] = fmt.Sprintf("%d: %s", i.Phys, phys[min(int(i.Phys), len(phys)-1)])
	t[dir+"link_layer"] = "InfiniBand"
	t[dir+"lid"] = fmt.Sprintf("0x%x", i.LID)
	t[dir+"sm_lid"] = fmt.Sprintf("0x%x", i.MasterSMLID)
	t[dir+"sm_sl"] = fmt.Sprint(i.MasterSMSL)
	t[dir+"lid_mask_count"] = fmt.Sprint(i.LMC)
	t[dir+"cap_mask"] = fmt.Sprintf("0x%08x", i.CapabilityMask)
	width, speed := p.rate()
	t[dir+"rate"] = fmt.Sprintf("%g Gb/sec (%v %v)", speed.KernelRate(width), width, speed)
	t[dir+"gids/0"] = colons(i.GIDPrefix) + ":" + colons(p.guid)
	keys := mad.NewPKeyBlock(defaultPKey)
	if p.tables != nil && p.tables.pkeys[0] != nil {
		keys = *p.tables.pkeys[0]
	}
	for k, key := range keys.Keys()[:sysfsKeys] {
		t[fmt.Sprintf("%spkeys/%d", dir, k)] = fmt.Sprintf("0x%04x", key)
	}
	p.counters.settle(time.Now())
	for c, name := range sysfsCounters {
		t[dir+"counters/"+name] = fmt.Sprint(p.counters.extended[c])
	}
}

// readings writes the stored readings of a port, one a line.
func (f *Fabric) readings(p *Port) string {
	var lines []string
	for name, v := range f.values[p.String()] {
		lines = append(lines, fmt.Sprintf("%s %g", name, v))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// sysfsCounters are the kernel's names.
var sysfsCounters = map[mad.Counter]string{
	mad.SymbolErrors: "symbol_error", mad.LinkErrorRecovery: "link_error_recovery", mad.LinkDowned: "link_downed",
	mad.RcvErrors: "port_rcv_errors", mad.RcvRemotePhysicalErrors: "port_rcv_remote_physical_errors",
	mad.RcvSwitchRelayErrors: "port_rcv_switch_relay_errors", mad.XmitDiscards: "port_xmit_discards",
	mad.XmitConstraintErrors: "port_xmit_constraint_errors", mad.RcvConstraintErrors: "port_rcv_constraint_errors",
	mad.LocalLinkIntegrityErrors: "local_link_integrity_errors", mad.ExcessiveBufferOverrunErrors: "excessive_buffer_overrun_errors",
	mad.VL15Dropped: "VL15_dropped", mad.XmitData: "port_xmit_data", mad.RcvData: "port_rcv_data",
	mad.XmitPackets: "port_xmit_packets", mad.RcvPackets: "port_rcv_packets", mad.XmitWait: "port_xmit_wait",
	mad.UnicastXmitPackets: "unicast_xmit_packets", mad.UnicastRcvPackets: "unicast_rcv_packets",
	mad.MulticastXmitPackets: "multicast_xmit_packets", mad.MulticastRcvPackets: "multicast_rcv_packets",
}

// rate is the width and speed the port runs at.
func (p *Port) rate() (mad.Width, mad.Speed) {
	width, _ := mad.WidthSet(p.info.WidthActive).Best()
	speeds := mad.SpeedSetOf(p.info.SpeedActive, p.mlnx.SpeedActive, p.info.SpeedExtActive)
	return width, speeds.Best()
}

// colons writes a GUID in four groups, as sysfs does.
func colons(g uint64) string {
	return fmt.Sprintf("%04x:%04x:%04x:%04x", g>>48, g>>32&0xffff, g>>16&0xffff, g&0xffff)
}

// refresh marks the tree as out of date; unlock writes it.
func (p *Plug) refresh() {
	if !p.dirty {
		p.dirty = true
		p.fabric.dirty = append(p.fabric.dirty, p)
	}
}

// write brings the files to what was rendered, unless something newer is there
// already. A reader sees the old file or the new one, never half of one.
func (p *Plug) write(tree map[string]string, version uint64) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if version < p.newest {
		return nil
	}
	p.newest = version
	var errs []error
	for name, text := range tree {
		if old, ok := p.written[name]; ok && old == text {
			continue
		}
		path := filepath.Join(p.dir, name)
		tmp := filepath.Join(p.dir, ".new")
		if _, ok := p.written[name]; !ok {
			errs = append(errs, os.MkdirAll(filepath.Dir(path), 0o755))
		}
		if err := errors.Join(os.WriteFile(tmp, []byte(text+"\n"), 0o444), os.Rename(tmp, path)); err != nil {
			errs = append(errs, err)
			continue
		}
		p.written[name] = text
	}
	return errors.Join(errs...)
}

// follow keeps the counters in sysfs near those of the port: a real file is
// read from the adapter, this one is as old as a second.
func (p *Plug) follow() {
	for {
		select {
		case <-p.stop:
			return
		case <-time.After(time.Second):
		}
		var tree map[string]string
		var version uint64
		p.fabric.locked(func() { tree, version = p.render() })
		if p.write(tree, version) != nil {
			return // the directory is gone, and with it the host
		}
	}
}
