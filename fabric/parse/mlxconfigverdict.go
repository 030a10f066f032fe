package parse

import (
	"encoding/json"
	"strconv"
	"strings"
)

// ConfigValue is a parameter's value as mlxconfig writes it, "True(1)" or
// "16", for each column that was printed.
type ConfigValue struct {
	Default  *string `json:"default,omitempty"`
	Current  *string `json:"current,omitempty"`
	NextBoot *string `json:"next_boot,omitempty"`
	New      *string `json:"new,omitempty"`
}

// MarshalJSON writes the bare value where the next boot's is the only one.
func (v ConfigValue) MarshalJSON() ([]byte, error) {
	if v.NextBoot != nil && v.Default == nil && v.Current == nil && v.New == nil {
		return json.Marshal(*v.NextBoot)
	}
	type columns ConfigValue
	return json.Marshal(columns(v))
}

// ConfigNumber returns the number of a value, that in brackets for an
// enumerated one: "ETH(2)" and "2" are 2, 0x10 is 16. It is false for N/A,
// for arrays and for text.
func ConfigNumber(value string) (uint64, bool) {
	if _, inside, ok := strings.Cut(value, "("); ok {
		value = strings.TrimSuffix(inside, ")")
	}
	n, err := strconv.ParseUint(value, 0, 64)
	return n, err == nil
}

// Get returns what a parameter will be after the next boot.
func (d *MLXConfigDevice) Get(name string) (value string, ok bool) {
	if v, has := d.Values[name]; has && v.NextBoot != nil {
		return *v.NextBoot, true
	}
	return "", false
}

var mlxconfigClasses = []struct{ class, words string }{
	{"unsupported_device", "unsupported device"},
	{"cannot_open_device", "failed to open the device"},
	{"cannot_open_device", "failed to identify the device"},
	{"livefish", "livefish"},
	{"no_devices", "no devices found"},
	{"unknown_parameter", "doesn't support"},
	{"unknown_parameter", "unknown parameter"},
	{"unknown_parameter", "does not support"},
	{"aborted_by_user", "aborted"},
	{"not_supported", "not supported"},
	{"invalid_value", "illegal"},
	{"invalid_value", "invalid"},
}

// judge: a set is done when it says so; a query when its table has rows.
func (rep *MLXConfigReport) judge() {
	rows, changes := 0, 0
	for _, d := range rep.Devices {
		rows += len(d.Values)
		changes += len(d.Changes)
	}
	switch {
	case rep.Error != "":
		rep.is(Failed, rep.reason())
	case rep.declined():
		rep.is(Failed, "aborted_by_user")
	case rep.unanswered && !rep.Applied && !rep.applying:
		rep.is(Truncated, "waiting_for_answer")
	case rep.applying:
		rep.is(Truncated, "applying")
	case rep.Applied && rep.reset:
		rep.is(Succeeded, "reset_reboot_needed")
	case rep.Applied:
		rep.is(Succeeded, "set_reboot_needed")
	case changes > 0:
		rep.is(Truncated, "set")
	case rows > 0:
		rep.is(Succeeded, "query")
	default:
		rep.is(Truncated, "")
	}
	rep.Incomplete = rep.Outcome == Truncated
	if len(rep.Devices) > 0 {
		rep.MLXConfigDevice = rep.Devices[0]
	}
	if len(rep.Devices) == 1 {
		rep.Devices = nil
	}
}

func (rep *MLXConfigReport) reason() string {
	for _, c := range mlxconfigClasses {
		for _, e := range rep.Errors {
			if strings.Contains(strings.ToLower(e), c.words) {
				return c.class
			}
		}
	}
	switch {
	case len(rep.Errors) == 0:
		return "not_run"
	case rep.Prompt != "":
		return "set_failed"
	}
	return "error"
}
