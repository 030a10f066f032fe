package lab

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Where a generated adapter sits in a host, as lspci and sysfs agree on.
const (
	boardID     = "MT_0000000223"
	partNumber  = "MCX653105A-HDAT"
	sysfsFWVers = "20.43.1014"
)

// pciSlot is where the i-th adapter of a host sits.
func pciSlot(i int) string { return fmt.Sprintf("0000:%02x:00.0", 0x81+0x10*i) }

// writeSysfs writes or refreshes the adapter's directory under
// /sys/class/infiniband, with the port's state as the fabric has it. Files are
// rewritten in place, because hosts have the directory bound.
func writeSysfs(dir string, n Node, device string, p PortState) error {
	base := filepath.Join(dir, "infiniband", device)
	port := filepath.Join(base, "ports", "1")
	state, phys := sysfsState(p)
	gid := func(hi, lo uint64) string {
		w := fmt.Sprintf("%016x%016x", hi, lo)
		var parts []string
		for i := 0; i < 32; i += 4 {
			parts = append(parts, w[i:i+4])
		}
		return strings.Join(parts, ":")
	}
	guid := func(g uint64) string { return gid(0, g)[20:] }
	files := map[string]string{
		base + "/node_guid":      guid(n.GUID),
		base + "/sys_image_guid": guid(n.GUID),
		base + "/node_desc":      n.Name + " HCA-1",
		base + "/node_type":      "1: CA",
		base + "/fw_ver":         sysfsFWVers,
		base + "/hw_rev":         "0",
		base + "/hca_type":       "MT4123",
		base + "/board_id":       boardID,
		port + "/state":          state,
		port + "/phys_state":     phys,
		port + "/link_layer":     "InfiniBand",
		port + "/lid":            fmt.Sprintf("0x%x", p.LID),
		port + "/sm_lid":         fmt.Sprintf("0x%x", p.SMLID),
		port + "/lid_mask_count": fmt.Sprint(p.LMC),
		port + "/sm_sl":          "0",
		port + "/rate":           sysfsRate(p),
		port + "/gids/0":         gid(0xfe80000000000000, portGUID(n)),
		port + "/pkeys/0":        "0xffff",
	}
	return writeFiles(files)
}

// writeSlot writes what sysfs says of the PCI slot the adapter sits in.
func writeSlot(dir, device, slot string) error {
	base := filepath.Join(dir, "infiniband", device)
	return writeFiles(map[string]string{
		base + "/device/vendor":             "0x15b3",
		base + "/device/device":             "0x101b",
		base + "/device/slot":               slot,
		base + "/device/part":               partNumber,
		base + "/device/numa_node":          "0",
		base + "/device/local_cpulist":      "0-1",
		base + "/device/current_link_speed": "16.0 GT/s PCIe",
		base + "/device/max_link_speed":     "16.0 GT/s PCIe",
		base + "/device/current_link_width": "16",
		base + "/device/max_link_width":     "16",
	})
}

// writeFiles writes the files that do not hold their text yet.
func writeFiles(files map[string]string) error {
	var errs []error
	for path, text := range files {
		if old, err := os.ReadFile(path); err == nil && string(old) == text+"\n" {
			continue
		}
		errs = append(errs, os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text+"\n"), 0o444))
	}
	return errors.Join(errs...)
}

// portGUID is the GUID of an adapter's only port: ibsim counts it up from the
// node's.
func portGUID(n Node) uint64 { return n.GUID + 1 }

// sysfsState translates to the kernel's words (drivers/infiniband/core/sysfs.c
// prints number, colon, name).
func sysfsState(p PortState) (state, phys string) {
	states := []string{"NOP", "DOWN", "INIT", "ARMED", "ACTIVE"}
	i := slices.Index(states, strings.ToUpper(p.State))
	if i < 0 {
		i = 1
	}
	phys = "2: Polling"
	if p.Phys == "LinkUp" {
		phys = "5: LinkUp"
	}
	return fmt.Sprintf("%d: %s", i, states[i]), phys
}

func sysfsRate(p PortState) string {
	if p.Phys != "LinkUp" {
		return "10 Gb/sec (4X SDR)"
	}
	switch p.Speed {
	case "100G", "100.0G":
		return "400 Gb/sec (4X NDR)"
	case "50G", "50.0G", "53.125G":
		return "200 Gb/sec (4X HDR)"
	case "25G", "25.0G", "25.78125G":
		return "100 Gb/sec (4X EDR)"
	case "14G", "14.0625G":
		return "56 Gb/sec (4X FDR)"
	case "10.0G", "10G":
		return "40 Gb/sec (4X QDR)"
	}
	return "10 Gb/sec (4X SDR)"
}

// pciDump is the configuration space of a host's adapters as `lspci -xxx` prints it
// and `lspci -F` reads it: header, and a PCI Express capability with a link of
// 16 GT/s x16 that is also trained so (PCI Express Base Specification, 7.5.3).
func pciDump(n Node) string {
	c := make([]byte, 256)
	put := func(at int, b ...byte) { copy(c[at:], b) }
	put(0x00, 0xb3, 0x15, 0x1b, 0x10) // vendor, device: ConnectX-6
	put(0x04, 0x06, 0x04, 0x10, 0x00) // command; status: capability list
	put(0x08, 0x00, 0x00, 0x07, 0x02) // class: InfiniBand controller
	put(0x2c, 0xb3, 0x15, 0x08, 0x00) // subsystem
	put(0x34, 0x60)                   // first capability
	put(0x60, 0x10, 0x00, 0x02, 0x00) // PCI Express endpoint, version 2
	put(0x6c, 0x04, 0x01, 0x40, 0x00) // link capabilities: 16 GT/s, x16
	put(0x72, 0x04, 0x01)             // link status: 16 GT/s, x16
	var b strings.Builder
	for k := range 1 + len(n.More) {
		fmt.Fprintf(&b, "%s Infiniband controller: Mellanox Technologies MT28908 Family [ConnectX-6]\n", pciSlot(k))
		for i := 0; i < len(c); i += 16 {
			fmt.Fprintf(&b, "%02x:", i)
			for _, v := range c[i : i+16] {
				fmt.Fprintf(&b, " %02x", v)
			}
			b.WriteByte('\n')
		}
		b.WriteByte('\n')
	}
	return b.String()
}
