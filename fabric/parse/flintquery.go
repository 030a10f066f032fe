package parse

import (
	"strings"

	"github.com/fabricbot/fabricbot/fabric"
)

// FlintQuery is the answer to flint query, with or without full. Versions are
// text, since their parts have leading zeros on some images. FWRunning is nil
// where flint does not print it, which it does only when the running version
// differs from the one on flash; Security is nil on images that know none.
type FlintQuery struct {
	ImageType      string        `json:"image_type,omitempty"`
	FWVersion      string        `json:"fw_version,omitempty"`
	FWRunning      *string       `json:"fw_running"`
	ReleaseDate    string        `json:"release_date,omitempty"` // day.month.year
	ProductVersion string        `json:"product_version,omitempty"`
	PSID           string        `json:"psid,omitempty"`
	OrigPSID       string        `json:"orig_psid,omitempty"`
	PartNumber     string        `json:"part_number,omitempty"`
	Description    string        `json:"description,omitempty"`
	DeviceID       string        `json:"device_id,omitempty"`
	GUIDsNumber    string        `json:"guids_number,omitempty"`
	BaseGUID       string        `json:"base_guid,omitempty"`
	BaseMAC        string        `json:"base_mac,omitempty"`
	GUIDs          []string      `json:"guids,omitempty"` // node, ports, system image
	MACs           []string      `json:"macs,omitempty"`
	ROMs           []FirmwareROM `json:"roms"`
	Security       *string       `json:"security"`
	SecureBoot     string        `json:"secure_boot,omitempty"`
	LifeCycle      string        `json:"life_cycle,omitempty"`
	ImageVSD       string        `json:"image_vsd,omitempty"`
	DeviceVSD      string        `json:"device_vsd,omitempty"`
	VSD            string        `json:"vsd,omitempty"`
	// Other are the labels that have no field of their own.
	Other   map[string]string `json:"other,omitempty"`
	inROMs  bool
	ofImage bool
}

// FirmwareROM is one boot ROM inside a firmware image.
type FirmwareROM struct {
	Type    string `json:"type"`
	Version string `json:"version"`
	CPU     string `json:"cpu,omitempty"`
	Proto   string `json:"proto,omitempty"`
}

// RunsFlash reports whether the version on flash is the one that runs, which
// flint tells of a device by leaving the running version out. An image that
// is not on a device runs nowhere.
func (q *FlintQuery) RunsFlash() bool {
	return q.FWVersion != "" && (q.FWRunning == nil || *q.FWRunning == q.FWVersion) && !q.image()
}

// NodeGUID returns the first GUID of the card; false for an image file and
// for a card whose GUIDs are blank.
func (q *FlintQuery) NodeGUID() (fabric.GUID, bool) {
	text := q.BaseGUID
	if text == "" && len(q.GUIDs) > 0 {
		text = q.GUIDs[0]
	}
	if len(text) != 16 || strings.Trim(text, "f") == "" || strings.Trim(text, "0") == "" {
		return 0, false
	}
	g, err := fabric.ParseGUID(text)
	return g, err == nil
}

// SecurityAttributes splits Security ("secure-fw, dev"); nil for N/A.
func (q *FlintQuery) SecurityAttributes() []string {
	if q.Security == nil || *q.Security == "N/A" {
		return nil
	}
	return strings.FieldsFunc(*q.Security, func(c rune) bool { return c == ',' || c == ' ' })
}

// image reports whether the query is of an image file.
func (q *FlintQuery) image() bool {
	return q.ofImage || q.BaseGUID == "N/A" && q.BaseMAC == "N/A" && q.FWRunning == nil
}

// whole reports whether a text that has the query's beginning reached the
// PSID, which follows all that the program decides by.
func (q *FlintQuery) whole() bool { return q.PSID != "" || q.ImageType == "" }

// field reads "Label:   value" and reports whether it belongs to a query.
func (q *FlintQuery) field(key, value string) bool {
	q.inROMs = key == "Rom Info"
	switch key {
	case "Image type":
		q.ImageType = value
	case "FW Version":
		q.FWVersion = value
	case "FW Version(Running)":
		q.FWRunning = &value
	case "FW Release Date":
		q.ReleaseDate = value
	case "Product Version":
		q.ProductVersion = value
	case "Rom Info":
		q.rom(value)
	case "PSID":
		q.PSID = value
	case "Orig PSID":
		q.OrigPSID = value
	case "Part Number":
		q.PartNumber = value
	case "Device ID":
		q.DeviceID = value
	case "Security Attributes":
		q.Security = &value
	case "Secure Boot Capable":
		q.SecureBoot = value
	case "Life cycle":
		q.LifeCycle = value
	case "Image VSD":
		q.ImageVSD = value
	case "Device VSD":
		q.DeviceVSD = value
	case "VSD":
		q.VSD = value
	default:
		return q.ids(key, value)
	}
	return true
}

// ids reads the rows of identifiers and keeps what is left.
func (q *FlintQuery) ids(key, value string) bool {
	words := strings.Fields(value)
	switch key {
	case "Description":
		if !strings.HasPrefix(value, "UID") && !strings.HasPrefix(value, "Node") && !strings.HasPrefix(value, "Port1") {
			q.Description = value
		}
	case "Base GUID", "Base MAC":
		if len(words) == 0 {
			return true
		}
		if key == "Base MAC" {
			q.BaseMAC = words[0]
			return true
		}
		q.BaseGUID = words[0]
		if len(words) > 1 {
			q.GUIDsNumber = words[1]
		}
	case "GUIDs":
		q.GUIDs = words
	case "MACs":
		q.MACs = words
	default:
		if len(key) > 40 || key[0] < 'A' || key[0] > 'Z' || len(q.Other) > 100 {
			return false
		}
		if q.Other == nil {
			q.Other = map[string]string{}
		}
		q.Other[snake(key)] = value
	}
	return true
}

// rom reads a ROM behind Rom Info or on a line that continues it.
func (q *FlintQuery) rom(text string) bool {
	rom, ok := firmwareROM(text)
	if ok && q.inROMs {
		q.ROMs = append(q.ROMs, rom)
	}
	return ok && q.inROMs
}

// firmwareROM reads "type=UEFI version=14.35.15 cpu=AMD64,AARCH64".
func firmwareROM(text string) (FirmwareROM, bool) {
	var rom FirmwareROM
	for _, w := range strings.Fields(text) {
		name, value, ok := strings.Cut(w, "=")
		if !ok {
			continue
		}
		switch name {
		case "type":
			rom.Type = value
		case "version":
			rom.Version = value
		case "cpu":
			rom.CPU = value
		case "proto":
			rom.Proto = value
		}
	}
	return rom, rom.Type != "" && rom.Version != ""
}
