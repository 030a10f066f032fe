package parse

import (
	"regexp"
	"strings"
)

// FirmwareDevice is one adapter in mlxfwmanager's words.
type FirmwareDevice struct {
	Index       int    `json:"index"` // the tool's own numbering from 1
	Type        string `json:"type,omitempty"`
	PartNumber  string `json:"part_number,omitempty"`
	Description string `json:"description,omitempty"`
	PSID        string `json:"psid,omitempty"`
	DeviceName  string `json:"device_name,omitempty"`
	BaseGUID    string `json:"base_guid,omitempty"`
	BaseMAC     string `json:"base_mac,omitempty"`
	Port1GUID   string `json:"port1_guid,omitempty"`
	Port2GUID   string `json:"port2_guid,omitempty"`
	Port1MAC    string `json:"port1_mac,omitempty"`
	Port2MAC    string `json:"port2_mac,omitempty"`
	// Versions maps FW, PXE, UEFI, CLP, NVMe … to the current version and the
	// available one, "N/A" where there is none.
	Versions map[string][2]string `json:"versions"`
	// FWRunning is printed only where it differs from the one on flash.
	FWRunning string `json:"fw_running,omitempty"`
	Status    string `json:"status,omitempty"`
	// UpdateResult is Done, Interrupted or "Fail : reason" after an update.
	UpdateResult string `json:"update_result,omitempty"`
	inVersions   bool
	step         string // the last progress line
}

// FW returns the firmware's current and available versions.
func (d *FirmwareDevice) FW() (current, available string) {
	v := d.Versions["FW"]
	return v[0], v[1]
}

// NeedsUpdate reports whether the tool calls the device's firmware old.
func (d *FirmwareDevice) NeedsUpdate() bool {
	return strings.HasSuffix(strings.ToLower(d.Status), "update required")
}

// NewerThanAvailable reports whether the current firmware is newer than the
// one at hand, which the tool still calls up to date.
func (d *FirmwareDevice) NewerThanAvailable() bool {
	current, available := d.FW()
	return versionNewer(current, available)
}

// firmwareRow is a row of Versions by its form, for where grep has taken the
// heading.
var firmwareRow = regexp.MustCompile(`^(?:FW|PXE|UEFI|CLP|NVMe|FCODE|FW \(Running\))\s+[\d.]+\s+(?:[\d.]+|N/A)$`)

func (d *FirmwareDevice) empty() bool {
	return d.Type == "" && d.PSID == "" && d.DeviceName == "" && len(d.Versions) == 0
}

func (d *FirmwareDevice) line(text string) bool {
	key, value, ok := keyValue(text)
	if !ok {
		return (d.inVersions || firmwareRow.MatchString(text)) && d.version(text) || text != "" && strings.Trim(text, "-") == ""
	}
	d.inVersions = false
	fields := map[string]*string{
		"Device Type": &d.Type, "Part Number": &d.PartNumber, "Description": &d.Description, "PSID": &d.PSID, "PCI Device Name": &d.DeviceName,
		"Base GUID": &d.BaseGUID, "Base MAC": &d.BaseMAC, "Port1 GUID": &d.Port1GUID, "Port2 GUID": &d.Port2GUID,
		"Port1 MAC": &d.Port1MAC, "Port2 MAC": &d.Port2MAC, "Status": &d.Status,
	}
	if key == "Versions" {
		d.inVersions = true
		return true
	}
	to, has := fields[key]
	if has {
		*to = value
	}
	return has
}

// version reads "FW             16.28.2006     16.28.2006" and
// "FW (Running)   2.42.5016      N/A".
func (d *FirmwareDevice) version(text string) bool {
	w := strings.Fields(text)
	if len(w) < 2 || len(w) > 4 || len(d.Versions) > 32 || len(w[0]) > 20 {
		return false
	}
	if w[1] == "(Running)" {
		if len(w) > 2 {
			d.FWRunning = w[2]
		}
		return true
	}
	pair := [2]string{w[1], "N/A"}
	if len(w) > 2 {
		pair[1] = w[2]
	}
	d.Versions[w[0]] = pair
	return true
}

// versionNewer compares dotted numbers; false where one is no version.
func versionNewer(a, b string) bool {
	pa, pb := strings.Split(a, "."), strings.Split(b, ".")
	if len(pa) != len(pb) || len(pa) < 2 {
		return false
	}
	for i := range pa {
		na, ok1 := smallNumber(pa[i])
		nb, ok2 := smallNumber(pb[i])
		if !ok1 || !ok2 {
			return false
		}
		if na != nb {
			return na > nb
		}
	}
	return false
}
