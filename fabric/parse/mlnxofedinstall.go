package parse

import (
	"encoding/json"
	"io"
	"slices"
	"strings"
)

// OFEDInstallReport is what mlnxofedinstall, the mlnx-en and MFT installers
// and mlnx_add_kernel_support.sh print. Installed needs the closing line; a
// failed firmware part inside an otherwise good run is told in Class.
type OFEDInstallReport struct {
	Trouble
	Verdict
	Marks
	// Version is the bundle's, for example 24.10-2.1.8.0.
	Version string `json:"version,omitempty"`
	// FWUpdate is the line in which the installer says that it leaves the
	// firmware alone or has failed to update it.
	FWUpdate string `json:"fw_update,omitempty"`
	// Adapters are those listed at the end, Firmware what the updater found.
	Adapters []OFEDAdapter       `json:"-"`
	Firmware *MLXFWManagerReport `json:"-"`
	// LinkWidth and PCISpeed are those of the first adapter listed.
	LinkWidth       string   `json:"link_width,omitempty"`
	PCISpeed        string   `json:"pci_speed,omitempty"`
	Final           string   `json:"final,omitempty"`
	NextStep        string   `json:"next_step,omitempty"`
	Reboot          bool     `json:"reboot_needed,omitempty"`
	LogsDir         string   `json:"logs_dir,omitempty"`
	Log             string   `json:"log,omitempty"`
	Kernel          string   `json:"kernel,omitempty"`
	FailedPackage   string   `json:"failed_package,omitempty"`
	RolledBack      bool     `json:"rolled_back,omitempty"`
	MissingPackages []string `json:"missing_packages,omitempty"`
	InstallCommand  string   `json:"install_command,omitempty"`
	Hint            string   `json:"hint,omitempty"`
	Distro          string   `json:"distro,omitempty"`
	PackageDistro   string   `json:"package_distro,omitempty"`
	HostDistro      string   `json:"host_distro,omitempty"`
	Uninstalling    string   `json:"uninstalling,omitempty"`
	Removed         string   `json:"removed,omitempty"`
	// Dependants are foreign packages that stand in the way.
	Dependants []string `json:"dependants,omitempty"`
	// Packages counts the packages that were begun; LastPackage is the last.
	Packages    int    `json:"package_count,omitempty"`
	LastPackage string `json:"last_package,omitempty"`
	Created     string `json:"created,omitempty"`
	// FirstRunClass is declined where a run was given up at its question and
	// begun again.
	FirstRunClass string `json:"first_run_class,omitempty"`
	RestartLine   string `json:"restart_line,omitempty"`
	CurrentNewer  *bool  `json:"current_newer_than_available,omitempty"`
	class         string // of the failure, as its line names it
	expect        string // what the next line holds
	building      bool
	begun         bool
}

// OFEDAdapter is an adapter as the installer lists it at its end.
type OFEDAdapter struct {
	BDF       string `json:"bdf"`
	LinkWidth string `json:"link_width,omitempty"`
	PCISpeed  string `json:"pci_speed,omitempty"`
}

// OFEDInstall reads the output of an installer.
func OFEDInstall(r io.Reader) (*OFEDInstallReport, error) {
	s := newLines(r)
	rep := &OFEDInstallReport{}
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

var _ = tool(OFEDInstall, "mlnxofedinstall")

func (rep *OFEDInstallReport) line(text string) bool {
	if rep.expected(text) {
		return true
	}
	if args, ok := invoked(text, "mlnxofedinstall", "mlnx_add_kernel_support.sh", "install", "install.sh"); ok {
		if rep.Prompt != "" && (rep.unanswered || rep.declined()) {
			rep.FirstRunClass = "declined"
		}
		if slices.Contains(args, "--print-distro") {
			rep.expect = "host distro"
		}
		return true
	}
	switch {
	case rep.Firmware != nil && rep.Firmware.line(text):
	case strings.HasPrefix(text, "Querying ") && strings.HasSuffix(text, "devices firmware ..."):
		rep.Firmware = &MLXFWManagerReport{}
		rep.Firmware.line(text)
	case rep.take(&rep.Trouble, text):
		rep.marked()
	default:
		return rep.failure(text) || rep.progress(text) || rep.closing(text)
	}
	return true
}

// expected takes a line that the one before has announced.
func (rep *OFEDInstallReport) expected(text string) bool {
	what := rep.expect
	if what == "" || text == "" {
		return false
	}
	rep.expect = ""
	switch what {
	case "host distro":
		rep.HostDistro = text
	case "missing":
		rep.MissingPackages = bounded(strings.Fields(text))
	case "command":
		rep.InstallCommand = text
		rep.MissingPackages = bounded(packagesOf(text))
	case "next step":
		rep.NextStep = text
	case "log":
		rep.Log = text
	case "dependants":
		rep.Dependants = bounded(strings.Fields(text))
	default:
		return false
	}
	return true
}

func bounded(words []string) []string { return words[:min(len(words), mostMessages)] }

// packagesOf takes the names out of "yum install libusbx tcl".
func packagesOf(command string) []string {
	words := strings.Fields(command)
	for i, w := range words {
		if w == "install" || w == "in" {
			names := words[i+1:]
			return slices.DeleteFunc(slices.Clone(names), func(n string) bool { return strings.HasPrefix(n, "-") })
		}
	}
	return nil
}

// progress reads what the installer does.
func (rep *OFEDInstallReport) progress(text string) bool {
	if dir, ok := after(text, "Logs dir:"); ok {
		rep.LogsDir = dir
		return true
	}
	if v, ok := strings.CutPrefix(text, "Starting MLNX_OFED_LINUX-"); ok {
		rep.Version, _, _ = strings.Cut(v, " ")
		return true
	}
	if kernel, ok := after(text, "Creating metadata-rpms for"); ok {
		rep.Kernel, _, _ = strings.Cut(kernel, " ")
		return true
	}
	if path, ok := after(text, "Created "); ok && strings.HasPrefix(path, "/") {
		rep.Created = path
		return true
	}
	if strings.HasPrefix(text, "See log file ") {
		rep.Log = strings.TrimPrefix(text, "See log file ")
		return true
	}
	if name, ok := strings.CutPrefix(text, "Installing "); ok && name != "new packages" && name != "user level RPMs:" {
		rep.begun = true
		name = strings.TrimSuffix(strings.TrimSuffix(name, "..."), " RPM")
		rep.Packages++
		rep.LastPackage = strings.ReplaceAll(name, " ", "-")
		return true
	}
	switch {
	case strings.HasPrefix(text, "Building ") && strings.Contains(text, "Please wait"):
		rep.building = true
	case strings.HasPrefix(text, "Uninstalling the previous version"):
		rep.Uninstalling, rep.begun = text, true
	case strings.HasPrefix(text, "rpm ") && strings.Contains(text, " -e "):
		rep.Removed = text
	case strings.HasPrefix(text, "Attempting to install the following missing packages"):
		rep.expect, rep.begun = "missing", true
	case strings.HasPrefix(text, "Removing newly installed packages"):
		rep.RolledBack = true
	case strings.HasPrefix(text, "Setting up mlnx-fw-updater ("):
		rep.Version, _ = between(text, "(", ")")
	case strings.Contains(text, "mlnx-fw-updater-") && strings.HasPrefix(text, "1:"):
		rep.Version = fwUpdaterVersion(text, rep.Version)
	case text == "Skipping FW update.":
		rep.FWUpdate = text
	case strings.HasPrefix(text, "Removing old packages"), strings.HasPrefix(text, "Installing new packages"), strings.HasPrefix(text, "Installing user level RPMs"),
		strings.HasPrefix(text, "Checking SW Requirements"):
		rep.begun = true
	case strings.HasPrefix(text, "This program will install "), strings.HasPrefix(text, "Note: This program will create MLNX_OFED_LINUX"):
		rep.begun = true
	default:
		return rep.adapter(text)
	}
	return true
}

func fwUpdaterVersion(text, otherwise string) string {
	_, rest, _ := strings.Cut(text, "mlnx-fw-updater-")
	version, _, _ := strings.Cut(rest, " ")
	if version == "" || otherwise != "" {
		return otherwise
	}
	return version
}

// adapter reads "Device (01:00.0):" and the lines under it.
func (rep *OFEDInstallReport) adapter(text string) bool {
	if bdf, ok := between(text, "Device (", "):"); ok && isBDF(bdf) {
		rep.Adapters = append(rep.Adapters, OFEDAdapter{BDF: bdf})
		return true
	}
	if len(rep.Adapters) == 0 {
		return false
	}
	a := &rep.Adapters[len(rep.Adapters)-1]
	if w, ok := after(text, "Link Width:"); ok {
		a.LinkWidth = w
		return true
	}
	if v, ok := after(text, "PCI Link Speed:"); ok {
		a.PCISpeed = v
		return true
	}
	return strings.HasPrefix(text, a.BDF)
}

// MarshalJSON writes the devices: those whose firmware was looked at where
// that was done, else the adapters listed.
func (rep OFEDInstallReport) MarshalJSON() ([]byte, error) {
	type plain OFEDInstallReport
	out := struct {
		plain
		Devices  any           `json:"devices,omitempty"`
		Adapters []OFEDAdapter `json:"adapters,omitempty"`
	}{plain: plain(rep), Adapters: rep.Adapters}
	if rep.Firmware != nil && len(rep.Firmware.Devices) > 0 {
		out.Devices = rep.Firmware.Devices
	} else if len(rep.Adapters) > 0 {
		bdfs := make([]string, len(rep.Adapters))
		for i, a := range rep.Adapters {
			bdfs[i] = a.BDF
		}
		out.Devices = bdfs
	}
	return json.Marshal(out)
}
