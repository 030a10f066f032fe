package parse

import (
	"io"
	"slices"
	"strings"
)

// MLXConfigReport is what mlxconfig or mstconfig prints for query, set and
// reset. The first device's fields stand at the top level.
type MLXConfigReport struct {
	Trouble
	Verdict
	Marks
	*MLXConfigDevice
	// Devices has every device where the text speaks of several.
	Devices  []*MLXConfigDevice `json:"devices,omitempty"`
	Applied  bool               `json:"applied,omitempty"`
	NextStep string             `json:"next_step,omitempty"`
	// Notes are the closing remarks on marked rows.
	Notes    []string `json:"notes,omitempty"`
	applying bool
	reset    bool
}

// MLXConfigDevice is one device's table.
type MLXConfigDevice struct {
	Index       int    `json:"index,omitempty"`
	DeviceType  string `json:"device_type,omitempty"`
	Name        string `json:"name,omitempty"` // N/A on cards that hold none
	Description string `json:"description,omitempty"`
	Device      string `json:"device,omitempty"`
	// Columns are Default, Current, Next Boot, New in the order printed.
	Columns []string `json:"columns,omitempty"`
	// Values holds a query's rows by parameter, Changes those of a set.
	Values  map[string]ConfigValue `json:"values,omitempty"`
	Changes map[string]ConfigValue `json:"changes,omitempty"`
	// Differing are the parameters whose next value is not the default or
	// current one, which mlxconfig marks with a star.
	Differing []string `json:"differing,omitempty"`
	// ReadOnly are those marked RO.
	ReadOnly []string `json:"read_only,omitempty"`
	table    bool
}

// MLXConfig reads the output of mlxconfig.
func MLXConfig(r io.Reader) (*MLXConfigReport, error) {
	s := newLines(r)
	rep := &MLXConfigReport{}
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

var _ = tool(MLXConfig, "mlxconfig", "mstconfig")

func (rep *MLXConfigReport) line(text string) bool {
	if args, ok := invoked(text, "mlxconfig", "mstconfig"); ok {
		rep.reset = slices.Contains(args, "reset") || slices.Contains(args, "r")
		return true
	}
	if rest, ok := strings.CutPrefix(text, "Applying..."); ok {
		rep.applying, text = true, strings.TrimSpace(rest)
	}
	switch {
	case text == "Done!" && rep.applying:
		rep.Applied, rep.applying = true, false
	case text == "Failed!" && rep.applying:
		rep.applying = false
		rep.failed(&rep.Trouble, "applying the configuration failed")
	case text == "" && rep.applying:
	case rep.take(&rep.Trouble, text):
		if strings.HasPrefix(rep.Prompt, "Reset configuration") {
			rep.reset = true
		}
	case strings.HasPrefix(text, "-I-"):
		rep.NextStep = text
	case strings.HasPrefix(text, "The '*' shows"), strings.HasPrefix(text, "The 'RO' shows"), strings.HasPrefix(text, "Device Firmware does not support reading"):
		rep.Notes = append(rep.Notes, text)
	default:
		return rep.device(text)
	}
	return true
}

// device reads the heading of a device and the rows of its table.
func (rep *MLXConfigReport) device(text string) bool {
	if n, ok := deviceHeading(text); ok {
		rep.Devices = append(rep.Devices, &MLXConfigDevice{Index: n})
		return true
	}
	d := &MLXConfigDevice{}
	if n := len(rep.Devices); n > 0 {
		d = rep.Devices[n-1]
	}
	if !d.line(text) {
		return false
	}
	if len(rep.Devices) == 0 {
		rep.Devices = append(rep.Devices, d)
	}
	return true
}

// deviceHeading reads "Device #1:".
func deviceHeading(text string) (int, bool) {
	number, ok := strings.CutPrefix(text, "Device #")
	if !ok || !strings.HasSuffix(number, ":") {
		return 0, false
	}
	return smallNumber(strings.TrimSuffix(number, ":"))
}

func (d *MLXConfigDevice) line(text string) bool {
	key, value, ok := keyValue(text)
	switch {
	case ok && key == "Device type":
		d.DeviceType = value
	case ok && key == "Name":
		d.Name = value
	case ok && key == "Description":
		d.Description = value
	case ok && key == "Device":
		d.Device = value
	case ok && key == "Configurations":
		d.columns(value)
	case d.table:
		return d.row(text, d.Columns)
	default:
		return d.bareRow(text)
	}
	return true
}

// bareRow reads a row whose heading grep has taken: with one value it is a
// query's, with three that of a query with -e.
func (d *MLXConfigDevice) bareRow(text string) bool {
	words := strings.Fields(strings.TrimLeft(text, "* "))
	if len(words) == 0 || !strings.Contains(words[0], "_") {
		return false
	}
	switch len(words) {
	case 2:
		return d.row(text, []string{"Next Boot"})
	case 4:
		return d.row(text, []string{"Default", "Current", "Next Boot"})
	}
	return false
}

func (d *MLXConfigDevice) columns(heading string) {
	d.table, d.Columns = true, nil
	for w := strings.Fields(heading); len(w) > 0; w = w[1:] {
		name := w[0]
		if name == "Next" && len(w) > 1 {
			name, w = "Next Boot", w[1:]
		}
		if len(d.Columns) < 4 {
			d.Columns = append(d.Columns, name)
		}
	}
}

// row reads "*RO     NAME    value value": a star, RO, a name without blanks
// and a value a column.
func (d *MLXConfigDevice) row(text string, columns []string) bool {
	starred, readOnly := false, false
	words := strings.Fields(text)
	for len(words) > 0 && len(words) > len(columns) && (words[0] == "*" || words[0] == "RO" || words[0] == "*RO") {
		starred = starred || words[0][0] == '*'
		readOnly = readOnly || strings.HasSuffix(words[0], "RO")
		words = words[1:]
	}
	if len(words) < 2 || !configName(words[0]) || len(words) != 1+len(columns) {
		return false
	}
	name := words[0]
	v := ConfigValue{}
	for i, column := range columns {
		word := words[1+i]
		switch column {
		case "Default":
			v.Default = &word
		case "Current":
			v.Current = &word
		case "Next Boot":
			v.NextBoot = &word
		case "New":
			v.New = &word
		}
	}
	if v.New != nil {
		if d.Changes == nil {
			d.Changes = map[string]ConfigValue{}
		}
		d.Changes[name] = v
	} else {
		if d.Values == nil {
			d.Values = map[string]ConfigValue{}
		}
		d.Values[name] = v
	}
	if starred {
		d.Differing = append(d.Differing, name)
	}
	if readOnly {
		d.ReadOnly = append(d.ReadOnly, name)
	}
	return true
}

// configName accepts SRIOV_EN, LINK_TYPE_P1 and HOST_CHAINING_DESCRIPTORS[0].
func configName(s string) bool {
	letters := false
	for i := 0; i < len(s); i++ {
		c := s[i]
		letters = letters || 'A' <= c && c <= 'Z'
		if !('A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_' || c == '[' || c == ']' || c == '.') {
			return false
		}
	}
	return letters && len(s) <= 120
}
