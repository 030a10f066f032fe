package parse

import (
	"io"
	"slices"
	"strconv"
	"strings"
)

// TemperatureReport is what mget_temp prints: the ASIC's temperature, without
// a unit.
type TemperatureReport struct {
	Trouble
	Verdict
	Marks
	Device string `json:"device,omitempty"`
	// Temperature is in °C; nil where the tool gave none.
	Temperature *float64 `json:"temperature_c,omitempty"`
	// Sensors is the table of -v.
	Sensors []TemperatureSensor `json:"sensors,omitempty"`
	table   bool
}

// TemperatureSensor is a diode of the ASIC or a module's sensor, in °C; nil
// is n/a.
type TemperatureSensor struct {
	Name        string   `json:"name"`
	Type        string   `json:"type"`
	Temperature *float64 `json:"temperature_c"`
	Max         *float64 `json:"max_c"`
	Threshold   *float64 `json:"threshold_c"`
}

// MGetTemp reads the output of mget_temp.
func MGetTemp(r io.Reader) (*TemperatureReport, error) {
	s := newLines(r)
	rep := &TemperatureReport{}
	known := false
	for line, ok := s.text(); ok; line, ok = s.text() {
		text := strings.TrimSpace(line)
		if args, ok := invoked(text, "mget_temp", "mstmget_temp"); ok {
			rep.Device, known = option(args, "-d", "--dev"), true
			continue
		}
		words := strings.Fields(text)
		if rep.sensor(words) {
			known = true
			continue
		}
		if n := len(words); n > 1 && slices.Contains([]string{"C", "°C", "degC"}, words[n-1]) {
			words = words[:n-1]
		}
		if len(words) == 1 {
			if v := celsius(words[0]); v != nil {
				rep.Temperature, known = v, true
				continue
			}
		}
		if !rep.take(&rep.Trouble, text) {
			rep.complained(line)
		}
	}
	switch {
	case rep.Error != "" && len(rep.Errors) == 0:
		rep.is(Failed, "not_run")
	case rep.Error != "" && strings.Contains(rep.Error, "open"):
		rep.is(Failed, "cannot_open_device")
	case rep.Error != "":
		rep.is(Failed, "error")
	case rep.Temperature != nil, len(rep.Sensors) > 0:
		rep.is(Succeeded, "temperature")
	default:
		rep.is(Truncated, "")
	}
	rep.Incomplete = rep.Outcome == Truncated
	return rep, rep.ended(s, known)
}

// sensor reads "0     asic_0    Internal    1°C    53    61    105".
func (rep *TemperatureReport) sensor(words []string) bool {
	n := len(words)
	if n >= 6 && words[0] == "#" {
		rep.table = true
		return true
	}
	if !rep.table || n < 7 || !isNumber(words[0]) {
		return false
	}
	rep.Sensors = append(rep.Sensors, TemperatureSensor{strings.Join(words[1:n-5], " "), words[n-5],
		celsius(words[n-3]), celsius(words[n-2]), celsius(words[n-1])})
	return true
}

// celsius accepts what a thermometer can show.
func celsius(word string) *float64 {
	v, err := strconv.ParseFloat(word, 64)
	if err != nil || !(v > -100 && v < 300) {
		return nil
	}
	return &v
}

var _ = tool(MGetTemp, "mget_temp", "mstmget_temp")
