package parse

import (
	"io"
	"strings"
)

// MLXCablesReport is what mlxcables prints: the EEPROM of each cable.
type MLXCablesReport struct {
	Trouble
	Verdict
	Marks
	CableCount int         `json:"cable_count"`
	Cables     []*MLXCable `json:"cables"`
	queried    bool
}

// MLXCable is one cable end. Values are text with their units ("3 m", "40 C").
type MLXCable struct {
	Name         string `json:"name,omitempty"`
	Identifier   string `json:"identifier,omitempty"`
	Technology   string `json:"technology,omitempty"`
	Compliance   string `json:"compliance,omitempty"`
	OUI          string `json:"oui,omitempty"`
	Vendor       string `json:"vendor,omitempty"`
	SerialNumber string `json:"serial_number,omitempty"`
	PartNumber   string `json:"part_number,omitempty"`
	Revision     string `json:"revision,omitempty"`
	Temperature  string `json:"temperature,omitempty"`
	Length       string `json:"length,omitempty"`
	FWVersion    string `json:"fw_version,omitempty"`
	// Attenuation maps a frequency (2.5GHz) to copper's loss (3dB).
	Attenuation map[string]string `json:"attenuation,omitempty"`
	// Other are the labels without a field of their own.
	Other map[string]string `json:"other,omitempty"`
}

// Celsius returns the temperature; false for copper, which measures none.
func (c *MLXCable) Celsius() (float64, bool) { return firstNumber(c.Temperature) }

// MLXCables reads the output of mlxcables.
func MLXCables(r io.Reader) (*MLXCablesReport, error) {
	s := newLines(r)
	rep := &MLXCablesReport{Cables: []*MLXCable{}}
	known := false
	for line, ok := s.text(); ok; line, ok = s.text() {
		if rep.line(strings.TrimSpace(line)) {
			known = true
			continue
		}
		rep.complained(line)
	}
	rep.judge()
	return rep, rep.ended(s, known)
}

var _ = tool(MLXCables, "mlxcables")

func (rep *MLXCablesReport) line(text string) bool {
	switch {
	case strings.HasPrefix(text, "Querying Cables"):
		rep.queried = true
		return true
	case rep.take(&rep.Trouble, text):
		return true
	case strings.HasPrefix(text, "Cable #"):
		rep.Cables = append(rep.Cables, &MLXCable{})
		return true
	case strings.HasPrefix(text, "No cables"), strings.HasPrefix(text, ">>"), strings.Trim(text, "-") == "":
		return text != "" && rep.queried
	}
	key, value, ok := cutLabel(text)
	if !ok {
		return false
	}
	if len(rep.Cables) == 0 {
		if key != "Cable name" && key != "Identifier" {
			return false
		}
		rep.Cables = append(rep.Cables, &MLXCable{})
	}
	rep.Cables[len(rep.Cables)-1].field(key, value)
	return true
}

func (c *MLXCable) field(key, value string) {
	fields := map[string]*string{
		"cable name": &c.Name, "identifier": &c.Identifier, "technology": &c.Technology, "compliance": &c.Compliance, "oui": &c.OUI,
		"vendor": &c.Vendor, "vendor name": &c.Vendor, "serial number": &c.SerialNumber, "part number": &c.PartNumber, "revision": &c.Revision,
		"rev": &c.Revision, "temperature": &c.Temperature, "length": &c.Length, "fw version": &c.FWVersion,
	}
	label, unit, _ := strings.Cut(strings.ToLower(key), "[")
	if to, ok := fields[strings.TrimSpace(label)]; ok {
		*to = value
		if unit != "" && value != "N/A" {
			*to += " " + strings.TrimSuffix(key[len(label)+1:], "]")
		}
		return
	}
	if frequency := strings.TrimSpace(strings.TrimPrefix(key, "Attenuation:")); strings.HasSuffix(frequency, "GHz") {
		put(&c.Attenuation, frequency, value)
		return
	}
	put(&c.Other, snake(key), value)
}

func (rep *MLXCablesReport) judge() {
	rep.CableCount = len(rep.Cables)
	switch {
	case rep.Error != "" && len(rep.Errors) == 0:
		rep.is(Failed, "not_run")
	case rep.Error != "":
		rep.is(Failed, "error")
	case rep.CableCount > 0 && rep.Cables[rep.CableCount-1].Identifier != "":
		rep.is(Succeeded, "cable_info")
	case rep.CableCount == 0 && rep.queried:
		rep.is(Informed, "no_cables")
	default:
		rep.is(Truncated, "cable_info")
	}
	rep.Incomplete = rep.Outcome == Truncated
}
