package mad

import (
	"fmt"
	"math/bits"
	"strings"
)

// Width is the number of lanes of a link: 1, 2, 4, 8 or 12; 0 is unknown.
type Width uint8

// String returns for example 4X.
func (w Width) String() string { return fmt.Sprintf("%dX", uint8(w)) }

// Speed is a generation of link speeds; a larger one is faster.
type Speed uint8

// The generations that the attributes of this package can tell apart.
const (
	SpeedUnknown Speed = iota
	SDR
	DDR
	QDR
	FDR10
	FDR
	EDR
	HDR
	NDR
)

// speeds holds the name and what the kernel says of one lane, in units of 100
// Mb/s (drivers/infiniband/core/sysfs.c, the port attribute rate).
var speeds = [...]struct {
	name string
	deci int
}{
	SpeedUnknown: {name: "unknown"},
	SDR:          {name: "SDR", deci: 25},
	DDR:          {name: "DDR", deci: 50},
	QDR:          {name: "QDR", deci: 100},
	FDR10:        {name: "FDR10", deci: 100},
	FDR:          {name: "FDR", deci: 140},
	EDR:          {name: "EDR", deci: 250},
	HDR:          {name: "HDR", deci: 500},
	NDR:          {name: "NDR", deci: 1000},
}

// String returns for example HDR.
func (s Speed) String() string {
	if int(s) >= len(speeds) {
		s = SpeedUnknown
	}
	return speeds[s].name
}

// KernelRate is what the kernel calls the rate of a link in Gb/s.
func (s Speed) KernelRate(w Width) float64 {
	if int(s) >= len(speeds) {
		s = SpeedUnknown
	}
	return float64(speeds[s].deci*int(w)) / 10
}

// ParseLink reads a width and a speed written together, "4xHDR" or "1X EDR".
func ParseLink(s string) (Width, Speed, error) {
	var lanes Width
	var x byte
	var name string
	if n, err := fmt.Sscanf(s, "%d%c%s", &lanes, &x, &name); err == nil && n == 3 && (x == 'x' || x == 'X') {
		for sp := SDR; sp <= NDR; sp++ {
			if best, _ := NewWidthSet(lanes).Best(); strings.EqualFold(speeds[sp].name, name) && best == lanes && lanes > 0 {
				return lanes, sp, nil
			}
		}
	}
	return 0, 0, fmt.Errorf("link %q: want a width and a speed such as 4xHDR, SDR to NDR", s)
}

// WidthSet is a set of link widths with the bits of PortInfo (IBTA 14.2.5.6:
// 1X 1, 4X 2, 8X 4, 12X 8, 2X 16).
type WidthSet uint8

// NewWidthSet returns the widths up to max that links can have.
func NewWidthSet(max Width) WidthSet {
	var s WidthSet
	for _, w := range widthOrder {
		if w.lanes <= max {
			s |= w.bit
		}
	}
	return s
}

var widthOrder = [...]struct {
	lanes Width
	bit   WidthSet
}{{12, 8}, {8, 4}, {4, 2}, {2, 16}, {1, 1}}

// Best is the widest of the set, and its bit; zero for the empty set.
func (s WidthSet) Best() (Width, WidthSet) {
	for _, w := range widthOrder {
		if s&w.bit != 0 {
			return w.lanes, w.bit
		}
	}
	return 0, 0
}

// SpeedSet is a set of link speeds, one bit per Speed.
type SpeedSet uint16

// NewSpeedSet returns all speeds from SDR to max.
func NewSpeedSet(max Speed) SpeedSet {
	var s SpeedSet
	for sp := SDR; sp <= max; sp++ {
		s |= 1 << sp
	}
	return s
}

// Best is the fastest of the set; unknown for the empty set.
func (s SpeedSet) Best() Speed {
	if s == 0 {
		return SpeedUnknown
	}
	return Speed(bits.Len16(uint16(s)) - 1)
}

// Legacy is LinkSpeedSupported or LinkSpeedEnabled: SDR 1, DDR 2, QDR 4 (IBTA
// 14.2.5.6).
func (s SpeedSet) Legacy() uint8 { return uint8(s>>SDR) & 7 }

// Mlnx is the speed mask of MlnxExtPortInfo: FDR10 1.
func (s SpeedSet) Mlnx() uint8 { return uint8(s>>FDR10) & 1 }

// Extended is LinkSpeedExtSupported or LinkSpeedExtEnabled: FDR 1, EDR 2, HDR
// 4, NDR 8 (IBTA 14.2.5.6). The field's four bits hold no more.
func (s SpeedSet) Extended() uint8 { return uint8(s>>FDR) & 15 }

// SpeedSetOf joins the three masks.
func SpeedSetOf(legacy, mlnx, extended uint8) SpeedSet {
	return SpeedSet(legacy&7)<<SDR | SpeedSet(mlnx&1)<<FDR10 | SpeedSet(extended&15)<<FDR
}
