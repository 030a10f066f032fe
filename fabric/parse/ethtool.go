package parse

import (
	"io"
	"strings"
)

// EthtoolDriver is what ethtool -i prints about a network interface. PSID is
// nil where the driver does not append it to the firmware's version.
type EthtoolDriver struct {
	Trouble
	Verdict
	Interface string  `json:"interface,omitempty"`
	Driver    string  `json:"driver,omitempty"`
	Version   string  `json:"version,omitempty"`
	Firmware  string  `json:"firmware,omitempty"`
	PSID      *string `json:"psid"`
	ROM       string  `json:"expansion_rom_version,omitempty"`
	Bus       string  `json:"bus,omitempty"`
	// Supports maps statistics, test, eeprom-access, … to yes or no.
	Supports map[string]string `json:"supports,omitempty"`
}

// EthtoolInfo reads the output of ethtool -i.
func EthtoolInfo(r io.Reader) (*EthtoolDriver, error) {
	s := newLines(r)
	rep := &EthtoolDriver{}
	known := false
	for line, ok := s.text(); ok; line, ok = s.text() {
		text := strings.TrimSpace(line)
		if args, ok := invoked(text, "ethtool"); ok {
			rep.Interface = option(args, "-i", "--driver")
			continue
		}
		if rep.field(text) {
			known = true
			continue
		}
		if strings.HasPrefix(text, "Cannot get driver information") || strings.HasPrefix(text, "netlink error:") {
			rep.Error = lastReason(text)
			rep.keep(text)
			continue
		}
		rep.complained(line)
	}
	switch {
	case rep.Error != "" && strings.Contains(rep.Error, "No such device"):
		rep.is(Failed, "no_device")
	case rep.Error != "":
		rep.is(Failed, "error")
	case rep.Driver != "" && rep.Bus != "", known && rep.Driver == "": // whole, or what grep left
		rep.is(Succeeded, "driver_info")
	default:
		rep.is(Truncated, "driver_info")
	}
	rep.Incomplete = rep.Outcome == Truncated
	return rep, rep.ended(s, known)
}

var _ = tool(EthtoolInfo, "ethtool_i", "ethtool -i")

func (rep *EthtoolDriver) field(text string) bool {
	key, value, ok := keyValue(text)
	if !ok {
		return false
	}
	switch key {
	case "driver":
		rep.Driver = value
	case "version":
		rep.Version = value
	case "firmware-version":
		rep.Firmware = value
		if version, rest, ok := strings.Cut(value, " ("); ok { // 20.38.1002 (MT_0000000123)
			psid := strings.TrimSuffix(rest, ")")
			rep.Firmware, rep.PSID = version, &psid
		}
	case "expansion-rom-version":
		rep.ROM = value
	case "bus-info":
		rep.Bus = value
	default:
		name, ok := strings.CutPrefix(key, "supports-")
		if !ok {
			return false
		}
		put(&rep.Supports, name, value)
	}
	return true
}
