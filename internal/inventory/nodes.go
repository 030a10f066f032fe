package inventory

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/fabricbot/fabricbot/fabric"
)

// deviceName matches what stands after the host name in the node description of a channel adapter: HCA-1 as older
// rdma-ndd and openibd write it, or the name of the RDMA device as newer ones do (rdma-ndd(8), default format "%h %d").
var deviceName = regexp.MustCompile(`^(?:HCA-\d+|(?:mlx[45]|hfi1|qib|bnxt_re|irdma|rxe|siw|rdmap|roce|ibp|ib)[A-Za-z0-9_-]*)$`)

// FromNodeDescriptions makes an inventory from the node descriptions of the channel adapters of a fabric, such as "node001 HCA-1"
// or "node001 mlx5_0". An adapter whose description was never set, or does not begin with a host name, gives a note instead.
func FromNodeDescriptions(descriptions []string) (Imported, error) {
	var imported Imported
	devices := map[string][]Device{}
	for _, description := range descriptions {
		fields := strings.Fields(description)
		problem := ""
		switch {
		case len(fields) != 2 || !deviceName.MatchString(fields[1]):
			problem = "not of the form HOST DEVICE"
		case strings.EqualFold(fields[0], "localhost"):
			problem = "a host that did not know its name"
		default:
			if err := fabric.CheckHostName(fields[0]); err != nil {
				problem = err.Error()
			}
		}
		if problem != "" {
			imported.Notes = append(imported.Notes, fmt.Sprintf("node %.80q left out: %s", description, problem))
			continue
		}
		name := fields[0]
		if _, found := devices[name]; !found && len(devices) == fabric.MaxHosts {
			return Imported{}, fmt.Errorf("nodes of a fabric: more than %d hosts", fabric.MaxHosts)
		}
		// HCA-1 counts adapters and names no device.
		if strings.HasPrefix(fields[1], "HCA-") {
			devices[name] = append(devices[name], Device{})
			continue
		}
		devices[name] = append(devices[name], Device{Name: fields[1]})
	}
	for name, found := range devices {
		found = slices.DeleteFunc(found, func(d Device) bool { return d == Device{} })
		slices.SortFunc(found, func(a, b Device) int { return fabric.CompareHostNames(a.Name, b.Name) })
		if found = slices.Compact(found); len(found) == 0 {
			found = nil
		}
		imported.File.Hosts = append(imported.File.Hosts, Host{Name: name, Devices: found})
	}
	if len(imported.File.Hosts) == 0 {
		return Imported{}, fmt.Errorf("nodes of a fabric: none of the %d descriptions begins with a host name", len(descriptions))
	}
	slices.SortFunc(imported.File.Hosts, func(a, b Host) int { return fabric.CompareHostNames(a.Name, b.Name) })
	slices.Sort(imported.Notes)
	imported.Notes = slices.Compact(imported.Notes)
	return imported, nil
}
