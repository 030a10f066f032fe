package parse

import (
	"strconv"
	"strings"
)

// PCILink is LnkCap or LnkSta: gigatransfers per second and lanes. The notes
// are lspci's judgement in brackets, "ok" or "downgraded"; newer versions
// print only the latter.
type PCILink struct {
	SpeedGTs  float64 `json:"speed_gts"`
	Width     int     `json:"width"`
	SpeedNote string  `json:"speed_note,omitempty"`
	WidthNote string  `json:"width_note,omitempty"`
}

// detail takes an indented line of the verbose listing and reports whether it
// knew it.
func (f *PCIFunction) detail(line string) bool {
	key, value, ok := keyValue(line)
	if !ok {
		return false
	}
	switch key {
	case "Subsystem":
		f.Subsystem = value
	case "Kernel driver in use":
		f.Driver = value
	case "Kernel modules":
		f.Modules = strings.FieldsFunc(value, func(r rune) bool { return r == ',' || r == ' ' })
	case "NUMA node":
		n, err := strconv.Atoi(value)
		if err != nil {
			return false
		}
		f.NUMANode = &n
	case "LnkCap":
		f.Cap = pciLink(value)
	case "LnkSta":
		f.Sta = pciLink(value)
	case "[PN] Part number":
		f.PartNumber = value
	case "[EC] Engineering changes":
		f.EC = value
	case "[SN] Serial number":
		f.Serial = value
	case "Capabilities":
		if value == "<access denied>" {
			f.AccessDenied = true
		}
	case "Control", "Status", "Latency", "Interrupt", "DevCap", "DevCtl", "DevSta", "LnkCtl", "Region 0", "Physical Slot":
	default:
		return false
	}
	return true
}

// close judges the function once all its lines are read.
func (f *PCIFunction) close() {
	if f.Cap == nil && f.Sta == nil {
		return
	}
	complete := f.Cap != nil && f.Sta != nil
	f.Complete = &complete
	if f.Sta == nil {
		return
	}
	down := f.Sta.SpeedNote == "downgraded" || f.Sta.WidthNote == "downgraded"
	if f.Cap != nil && (f.Sta.SpeedGTs < f.Cap.SpeedGTs || f.Sta.Width < f.Cap.Width) {
		down = true
	}
	f.Downgraded = &down
}

// pciLink reads "Port #0, Speed 16GT/s (ok), Width x16 (downgraded), …"; nil
// unless speed and width are both there.
func pciLink(text string) *PCILink {
	var l PCILink
	for _, part := range strings.Split(text, ",") {
		note, _ := between(part, "(", ")")
		if speed, ok := after(strings.TrimSpace(part), "Speed "); ok {
			number, _, _ := strings.Cut(speed, "GT/s")
			v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
			if err != nil || !(v > 0 && v <= 1e4) {
				return nil
			}
			l.SpeedGTs, l.SpeedNote = v, note
		}
		if width, ok := after(strings.TrimSpace(part), "Width x"); ok {
			number, _, _ := strings.Cut(width, " ")
			n, ok := smallNumber(number)
			if !ok {
				return nil
			}
			l.Width, l.WidthNote = n, note
		}
	}
	if l.SpeedGTs == 0 || l.Width == 0 {
		return nil
	}
	return &l
}
