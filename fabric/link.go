package fabric

import (
	"fmt"
	"strconv"
	"strings"
)

// GbitPerSec is a data rate in 10^9 bits per second.
type GbitPerSec float64

// Width is the number of lanes of a link: 1, 2, 4, 8 or 12. The zero value
// means unknown.
type Width uint8

// ParseWidth accepts "4X", "4x" and "4".
func ParseWidth(s string) (Width, error) {
	switch strings.TrimRight(strings.TrimSpace(s), "xX") {
	case "1":
		return 1, nil
	case "2":
		return 2, nil
	case "4":
		return 4, nil
	case "8":
		return 8, nil
	case "12":
		return 12, nil
	}
	return 0, fmt.Errorf("link width %q: want 1X, 2X, 4X, 8X or 12X", s)
}

// String returns for example 4X, and ?X for an unknown width.
func (w Width) String() string {
	if w == 0 {
		return "?X"
	}
	return strconv.Itoa(int(w)) + "X"
}

// MarshalText returns the String.
func (w Width) MarshalText() ([]byte, error) { return []byte(w.String()), nil }

// UnmarshalText accepts what ParseWidth accepts, and ?X.
func (w *Width) UnmarshalText(b []byte) error {
	if string(b) == "?X" {
		*w = 0
		return nil
	}
	return unmarshal(w, b, ParseWidth)
}

// Speed is the generation of a link, which fixes the rate of one lane. The
// zero value means unknown. Speeds compare: a larger one is faster.
type Speed uint8

// The speeds in the order of their lane rates.
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
	XDR
)

// coding is the share of the signalling rate that carries data.
const (
	coding8b10b  = 8.0 / 10.0  // IBTA specification volume 2, SDR to QDR
	coding64b66b = 64.0 / 66.0 // IBTA specification volume 2, FDR10 to EDR
	// PAM4 with RS-FEC(544,514) over 256b/257b transcoding, IBTA
	// specification volume 2, HDR and later: exactly 16/17.
	codingPAM4 = 514.0 / 544.0 * 256.0 / 257.0
)

// speeds holds, per Speed, what the link generations table of the IBTA (lane
// signalling in Gbit/s, coding) and the Linux kernel (the rate of one lane in
// units of 0.1 Gbit/s, drivers/infiniband/core/sysfs.c, ib_port rate
// attribute) say.
var speeds = [...]struct {
	name       string
	lane       GbitPerSec
	coding     float64
	kernelDeci int
}{
	SpeedUnknown: {"unknown", 0, 0, 0},
	SDR:          {"SDR", 2.5, coding8b10b, 25},
	DDR:          {"DDR", 5, coding8b10b, 50},
	QDR:          {"QDR", 10, coding8b10b, 100},
	FDR10:        {"FDR10", 10.3125, coding64b66b, 100},
	FDR:          {"FDR", 14.0625, coding64b66b, 140},
	EDR:          {"EDR", 25.78125, coding64b66b, 250},
	HDR:          {"HDR", 53.125, codingPAM4, 500},
	NDR:          {"NDR", 106.25, codingPAM4, 1000},
	XDR:          {"XDR", 212.5, codingPAM4, 2000},
}

// ParseSpeed accepts the name of a generation in any case ("HDR", "(FDR10)")
// and the lane rates of libibmad and iblinkinfo ("53.125 Gbps", "5.0 Gbps",
// "10.0 Gbps (FDR10)", where the word in brackets wins).
func ParseSpeed(s string) (Speed, error) {
	text := strings.TrimSpace(s)
	if open := strings.IndexByte(text, '('); open >= 0 {
		inside, _, _ := strings.Cut(text[open+1:], ")")
		if sp, ok := speedByName(strings.TrimSpace(inside)); ok {
			return sp, nil
		}
		text = strings.TrimSpace(text[:open])
	}
	if sp, ok := speedByName(text); ok {
		return sp, nil
	}
	number := strings.TrimSpace(strings.TrimSuffix(strings.TrimSuffix(text, "Gbps"), "Gb/s"))
	if lane, err := strconv.ParseFloat(number, 64); err == nil {
		for sp := SDR; sp <= XDR; sp++ {
			if speeds[sp].lane == GbitPerSec(lane) {
				return sp, nil
			}
		}
	}
	return SpeedUnknown, fmt.Errorf("link speed %q: want SDR to XDR or the lane rate of one of them", s)
}

func speedByName(s string) (Speed, bool) {
	for sp := SDR; sp <= XDR; sp++ {
		if strings.EqualFold(s, speeds[sp].name) {
			return sp, true
		}
	}
	return SpeedUnknown, false
}

// String returns the generation, for example HDR, or unknown.
func (s Speed) String() string {
	if int(s) >= len(speeds) {
		return speeds[SpeedUnknown].name
	}
	return speeds[s].name
}

// MarshalText returns the String.
func (s Speed) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText accepts what ParseSpeed accepts, and unknown.
func (s *Speed) UnmarshalText(b []byte) error {
	if string(b) == speeds[SpeedUnknown].name {
		*s = SpeedUnknown
		return nil
	}
	return unmarshal(s, b, ParseSpeed)
}

// Lane returns the signalling rate of one lane; 0 for an unknown speed.
func (s Speed) Lane() GbitPerSec {
	if int(s) >= len(speeds) {
		return 0
	}
	return speeds[s].lane
}

// Data returns the rate that is left for data after coding on w lanes; 0 when
// either is unknown.
func (s Speed) Data(w Width) GbitPerSec {
	if int(s) >= len(speeds) {
		return 0
	}
	return GbitPerSec(float64(speeds[s].lane) * speeds[s].coding * float64(w))
}

// KernelRate returns what the kernel writes into the port's rate attribute
// and what ibstat prints after "Rate:" for w lanes. It names the class of the
// link; for SDR to FDR it is more than the data rate.
func (s Speed) KernelRate(w Width) GbitPerSec {
	if int(s) >= len(speeds) {
		return 0
	}
	return GbitPerSec(speeds[s].kernelDeci*int(w)) / 10
}

// ParseLinkRate reads width and speed printed together: "4xHDR"
// (ibnetdiscover), "4X HDR", or the kernel's "200 Gb/sec (4X HDR)". The kernel
// leaves out SDR: "10 Gb/sec (4X)" is an SDR link.
func ParseLinkRate(s string) (Width, Speed, error) {
	text := strings.TrimSpace(s)
	fromKernel := false
	if open := strings.IndexByte(text, '('); open >= 0 {
		fromKernel = true
		inside, _, _ := strings.Cut(text[open+1:], ")")
		text = strings.TrimSpace(inside)
	}
	x := strings.IndexAny(text, "xX")
	if x < 0 {
		return 0, 0, fmt.Errorf("link rate %q: want a width and a speed such as 4xHDR", s)
	}
	w, err := ParseWidth(text[:x])
	if err != nil {
		return 0, 0, fmt.Errorf("link rate %q: %w", s, err)
	}
	word := strings.TrimSpace(text[x+1:])
	if word == "" && fromKernel {
		return w, SDR, nil
	}
	sp, err := ParseSpeed(word)
	if err != nil {
		return w, 0, fmt.Errorf("link rate %q: %w", s, err)
	}
	return w, sp, nil
}
