package parse

import (
	"encoding/xml"
	"strings"
)

// judge weighs the devices' states. What needs a hand outranks what is fine.
func (rep *MLXFWManagerReport) judge() {
	rep.DeviceCount = len(rep.Devices)
	var old, done, bad, same, unknown, pending int
	for _, d := range rep.Devices {
		flash, _ := d.FW()
		if d.FWRunning != "" && d.FWRunning != flash && d.Status != "" {
			pending++
			rep.Notes = "flash " + flash + " differs from running " + d.FWRunning
		}
		switch {
		case d.UpdateResult == "Done":
			done++
		case strings.HasPrefix(d.UpdateResult, "Fail"), d.UpdateResult == "Interrupted":
			bad++
			rep.Error = d.UpdateResult
		case d.NeedsUpdate():
			old++
		case d.Status == "Up to date", strings.HasPrefix(d.Status, "Skipped (same version)"):
			same++
		case strings.HasPrefix(d.Status, "Failed"):
			bad++
		case d.Status != "":
			unknown++
		}
	}
	switch {
	case bad > 0 && done == 0 && rep.Requiring == 0 && same+old+unknown == 0:
		rep.is(Failed, "cannot_open_device")
	case bad > 0:
		rep.is(Failed, "update_failed")
	case rep.Error != "":
		rep.is(Failed, rep.reason())
	case rep.updating != nil, done > 0 && done < rep.Requiring:
		rep.is(Truncated, "updating")
	case done > 0:
		rep.is(Succeeded, "updated_reboot_needed")
	case rep.none, old > 0 && rep.declined():
		rep.is(NeedsAction, "update_declined")
	case old > 0 && rep.unanswered:
		rep.is(Truncated, "waiting_for_answer")
	case old > 0:
		rep.is(NeedsAction, "update_available")
	case pending > 0:
		rep.is(Succeeded, "up_to_date_reboot_pending")
	case same > 0:
		rep.is(Succeeded, "up_to_date")
	case unknown > 0:
		rep.is(Informed, "no_image")
	default:
		rep.is(Truncated, "")
	}
	if n := len(rep.Devices); n > 0 && rep.Devices[n-1].Status == "" {
		rep.Outcome = Truncated
	}
	rep.Incomplete = rep.Incomplete || rep.Outcome == Truncated
	if rep.Config != nil {
		rep.Config.judge()
	}
}

func (rep *MLXFWManagerReport) reason() string {
	text := strings.ToLower(rep.Error)
	switch {
	case strings.Contains(text, "no devices found"):
		return "no_devices"
	case strings.Contains(text, "failed to query"), strings.Contains(text, "failed to retrieve device"):
		return "cannot_open_device"
	case strings.Contains(text, "could not find matching"):
		return "no_image"
	case strings.Contains(text, "multiple image"):
		return "multiple_images"
	case len(rep.Errors) == 0:
		return "not_run"
	}
	return "error"
}

// xml reads the --query-format XML form, whose keys are attributes.
func (rep *MLXFWManagerReport) xml(document string) bool {
	dec := xml.NewDecoder(strings.NewReader(document))
	dec.Strict = false
	var d *FirmwareDevice
	element, status := "", ""
	for {
		token, err := dec.Token()
		if err != nil {
			rep.Incomplete = !strings.Contains(document, "</Devices>")
			return len(rep.Devices) > 0 || strings.Contains(document, "<Devices")
		}
		switch t := token.(type) {
		case xml.StartElement:
			element = t.Name.Local
			if element == "Devices" {
				rep.Format = "xml"
			}
			if element == "Device" {
				d = &FirmwareDevice{Index: len(rep.Devices) + 1, Versions: map[string][2]string{}}
				rep.Devices = append(rep.Devices, d)
			}
			if d != nil {
				d.attributes(element, t.Attr)
			}
		case xml.CharData:
			text := strings.TrimSpace(string(t))
			switch {
			case d == nil || text == "":
			case element == "Status":
				status += text
			case element == "Description":
				d.Description += text
			}
		case xml.EndElement:
			if d != nil && t.Name.Local == "Status" {
				d.Status, status = status, "" // only a whole one decides
			}
			element = ""
		}
	}
}

func (d *FirmwareDevice) attributes(element string, attrs []xml.Attr) {
	value := func(name string) string {
		for _, a := range attrs {
			if strings.EqualFold(a.Name.Local, name) {
				return a.Value
			}
		}
		return ""
	}
	switch element {
	case "Device":
		d.DeviceName, d.Type, d.PSID, d.PartNumber = value("pciName"), value("type"), value("psid"), value("partNumber")
	case "MACs":
		d.BaseMAC, d.Port1MAC, d.Port2MAC = value("Base_Mac"), value("Port1_Mac"), value("Port2_Mac")
	case "GUIDs":
		d.BaseGUID, d.Port1GUID, d.Port2GUID = value("Base_Guid"), value("Port1_Guid"), value("Port2_Guid")
	case "Versions", "Status", "Description", "Message":
	default:
		current, available := value("current"), value("available")
		switch {
		case current == "" || len(element) > 20 || len(d.Versions) > 32:
		case strings.Contains(element, "unning"):
			d.FWRunning = current
		default:
			d.Versions[element] = [2]string{current, available}
		}
	}
}
