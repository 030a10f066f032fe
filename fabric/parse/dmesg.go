package parse

import (
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/fabricbot/fabricbot/fabric"
)

// DmesgReport is what the kernel log says about mlx4 and mlx5 adapters. The
// single-valued fields at the end are those of the last line that had them;
// where several adapters speak, PerDevice keeps them apart.
type DmesgReport struct {
	Trouble
	Lines             int                       `json:"lines"`
	MLXLines          int                       `json:"mlx_lines"`
	Devices           []string                  `json:"devices"`
	CablePlugged      int                       `json:"cable_plugged"`
	CableUnplugged    int                       `json:"cable_unplugged"`
	InsufficientPower int                       `json:"insufficient_power"`
	LinkUp            int                       `json:"link_up"`
	LinkDown          int                       `json:"link_down"`
	AccessRegFailed   int                       `json:"access_reg_failed,omitempty"`
	Driver            string                    `json:"driver,omitempty"`
	Version           string                    `json:"version,omitempty"`
	PerDevice         map[string]*KernelAdapter `json:"per_device,omitempty"`
	*KernelAdapter
}

// KernelAdapter is what the driver said about one adapter. PCIe rates are
// what the slot gives and what the card could use.
type KernelAdapter struct {
	Firmware      string            `json:"firmware,omitempty"`
	PCIeAvailable fabric.GbitPerSec `json:"pcie_available_gbps,omitempty"`
	PCIeLimitedBy *PCIeLimit        `json:"pcie_limited_by,omitempty"`
	PCIeCapable   fabric.GbitPerSec `json:"pcie_capable_gbps,omitempty"`
	SlotPower     int               `json:"slot_power_w,omitempty"`
}

// PCIeLimit is the link that slows a card down: At is its upstream port.
type PCIeLimit struct {
	SpeedGTs float64 `json:"speed_gts"`
	Width    int     `json:"width"`
	At       string  `json:"at"`
}

// Dmesg reads the kernel log in any of dmesg's time formats, or journalctl's.
// Any text is a kernel log, so only an unreadable one is an error.
func Dmesg(r io.Reader) (*DmesgReport, error) {
	s := newLines(r)
	rep := &DmesgReport{Devices: []string{}, PerDevice: map[string]*KernelAdapter{}}
	for line, ok := s.text(); ok; line, ok = s.text() {
		if strings.TrimSpace(line) == "" || strings.TrimSpace(line) == "..." {
			continue
		}
		rep.Lines++
		switch {
		case strings.Contains(line, "mlx5_core"), strings.Contains(line, "mlx4_core"), strings.Contains(line, "mlx4_en"):
			rep.adapterLine(line)
		case strings.Contains(line, "dmesg: read kernel buffer failed"):
			rep.Error = lastReason(line)
		}
	}
	slices.Sort(rep.Devices)
	if len(rep.PerDevice) == 1 {
		for _, a := range rep.PerDevice {
			rep.KernelAdapter = a
		}
	}
	return rep, rep.ended(s, rep.Lines > 0 || s.n == 0)
}

var _ = tool(Dmesg, "dmesg")

func (rep *DmesgReport) adapterLine(line string) {
	rep.MLXLines++
	if _, rest, ok := strings.Cut(line, "Mellanox ConnectX core driver v"); ok {
		rep.Driver = "mlx4"
		rep.Version, _, _ = strings.Cut(rest, " ")
	}
	device := rep.device(line)
	switch {
	case strings.Contains(line, "Cable plugged"):
		rep.CablePlugged++
	case strings.Contains(line, "Cable unplugged"):
		rep.CableUnplugged++
	case strings.Contains(line, "ACCESS_REG") && strings.Contains(line, "failed"):
		rep.AccessRegFailed++
	case strings.Contains(line, "Detected insufficient power"):
		rep.InsufficientPower++
		if watts, ok := between(line, "slot (", "W)"); ok && device != nil {
			device.SlotPower, _ = smallNumber(watts)
		}
	case strings.HasSuffix(line, "Link up"):
		rep.LinkUp++
	case strings.HasSuffix(line, "Link down"):
		rep.LinkDown++
	}
	if device == nil {
		return
	}
	if _, version, ok := strings.Cut(line, "firmware version: "); ok {
		device.Firmware = version
	}
	if before, after, ok := strings.Cut(line, " Gb/s available PCIe bandwidth"); ok {
		device.bandwidth(before[strings.LastIndexByte(before, ' ')+1:], after)
	}
}

// device finds the PCI address behind the driver's name and counts it.
func (rep *DmesgReport) device(line string) *KernelAdapter {
	for _, w := range strings.Fields(line) {
		w = strings.TrimSuffix(w, ":")
		if strings.Count(w, ":") != 2 || !isBDF(w) {
			continue
		}
		if rep.PerDevice[w] == nil {
			rep.PerDevice[w] = &KernelAdapter{}
			rep.Devices = append(rep.Devices, w)
		}
		return rep.PerDevice[w]
	}
	return nil
}

// bandwidth reads the kernel's PCIe verdict (pcie_print_link_status):
//
//	8.000 Gb/s available PCIe bandwidth, limited by 2.5 GT/s PCIe x4 link at 0000:00:1b.4 (capable of 252.048 Gb/s with …)
//	504.112 Gb/s available PCIe bandwidth (32.0 GT/s PCIe x16 link)
func (a *KernelAdapter) bandwidth(available, rest string) {
	a.PCIeAvailable, _ = gbit(available)
	if capable, ok := between(rest, "capable of ", " Gb/s"); ok {
		a.PCIeCapable, _ = gbit(capable)
	}
	limit, ok := between(rest, "limited by ", " (")
	if !ok {
		return
	}
	w := strings.Fields(limit) // 2.5 GT/s PCIe x4 link at 0000:00:1b.4
	if len(w) < 7 {
		return
	}
	speed, ok1 := gbit(w[0])
	width, ok2 := smallNumber(strings.TrimPrefix(w[3], "x"))
	if ok1 && ok2 {
		a.PCIeLimitedBy = &PCIeLimit{float64(speed), width, w[6]}
	}
}

func gbit(s string) (fabric.GbitPerSec, bool) {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || v < 0 || v > 1e6 || v != v {
		return 0, false
	}
	return fabric.GbitPerSec(v), true
}
