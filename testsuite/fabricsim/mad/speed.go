package mad

import (
	"math/bits"

	"github.com/fabricbot/fabricbot/fabric"
)

// WidthSet is a set of link widths with the bits of PortInfo (IBTA 14.2.5.6:
// 1X 1, 4X 2, 8X 4, 12X 8, 2X 16).
type WidthSet uint8

// NewWidthSet returns the widths up to max that links can have.
func NewWidthSet(max fabric.Width) WidthSet {
	var s WidthSet
	for _, w := range widthOrder {
		if w.lanes <= max {
			s |= w.bit
		}
	}
	return s
}

var widthOrder = [...]struct {
	lanes fabric.Width
	bit   WidthSet
}{{12, 8}, {8, 4}, {4, 2}, {2, 16}, {1, 1}}

// Best is the widest of the set, and its bit; zero for the empty set.
func (s WidthSet) Best() (fabric.Width, WidthSet) {
	for _, w := range widthOrder {
		if s&w.bit != 0 {
			return w.lanes, w.bit
		}
	}
	return 0, 0
}

// SpeedSet is a set of link speeds, one bit per fabric.Speed.
type SpeedSet uint16

// NewSpeedSet returns all speeds from SDR to max.
func NewSpeedSet(max fabric.Speed) SpeedSet {
	var s SpeedSet
	for sp := fabric.SDR; sp <= max; sp++ {
		s |= 1 << sp
	}
	return s
}

// Best is the fastest of the set; unknown for the empty set.
func (s SpeedSet) Best() fabric.Speed {
	if s == 0 {
		return fabric.SpeedUnknown
	}
	return fabric.Speed(bits.Len16(uint16(s)) - 1)
}

// Legacy is LinkSpeedSupported or LinkSpeedEnabled: SDR 1, DDR 2, QDR 4 (IBTA
// 14.2.5.6).
func (s SpeedSet) Legacy() uint8 { return uint8(s>>fabric.SDR) & 7 }

// Mlnx is the speed mask of MlnxExtPortInfo: FDR10 1.
func (s SpeedSet) Mlnx() uint8 { return uint8(s>>fabric.FDR10) & 1 }

// Extended is LinkSpeedExtSupported or LinkSpeedExtEnabled: FDR 1, EDR 2, HDR
// 4, NDR 8 (IBTA 14.2.5.6). XDR does not fit the field's four bits.
func (s SpeedSet) Extended() uint8 { return uint8(s>>fabric.FDR) & 15 }

// SpeedSetOf joins the three masks.
func SpeedSetOf(legacy, mlnx, extended uint8) SpeedSet {
	return SpeedSet(legacy&7)<<fabric.SDR | SpeedSet(mlnx&1)<<fabric.FDR10 | SpeedSet(extended&15)<<fabric.FDR
}
