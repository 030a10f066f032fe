package parse

import (
	"regexp"
	"strings"
)

var (
	ofedNoDrivers   = regexp.MustCompile(`The (\S+) kernel is installed, \S+ does not have drivers available`)
	ofedBuild       = regexp.MustCompile(`^Failed to build \S+ for (\S+)`)
	ofedDeb         = regexp.MustCompile(`^Failed to install (\S+) (?:DEB|RPM)`)
	ofedPackage     = regexp.MustCompile(`^Error: (\S+) installation failed!`)
	ofedDistro      = regexp.MustCompile(`operation(?:g|al)? system is not supported \(([^)]+)\)|operating system is not supported \(([^)]+)\)`)
	ofedWrongDistro = regexp.MustCompile(`is intended for (\S+?)\.?$`)
)

// failure reads the lines with which the installers give up.
func (rep *OFEDInstallReport) failure(text string) bool {
	fail := func(class string) bool { // the first reason is the cause, a later class may be closer
		rep.keep(text)
		if class != "" {
			rep.class = class
		}
		if rep.Error == "" {
			rep.Error = text
		}
		return true
	}
	if m := ofedNoDrivers.FindStringSubmatch(text); m != nil {
		rep.Kernel = m[1]
		return fail("kernel_not_supported")
	}
	if m := ofedBuild.FindStringSubmatch(text); m != nil {
		rep.Kernel, rep.Final = m[1], text
		return fail("kernel_module_build_failed")
	}
	if m := ofedDeb.FindStringSubmatch(text); m != nil {
		rep.FailedPackage = m[1]
		if strings.HasSuffix(m[1], "-dkms") {
			return fail("kernel_module_build_failed")
		}
		return fail(kernelOr(m[1], "package_install_failed"))
	}
	if m := ofedPackage.FindStringSubmatch(text); m != nil {
		rep.FailedPackage = m[1]
		return fail(kernelOr(m[1], "package_install_failed"))
	}
	if m := ofedDistro.FindStringSubmatch(text); m != nil {
		rep.Distro = m[1] + m[2]
		return fail("distro_not_supported")
	}
	if m := ofedWrongDistro.FindStringSubmatch(text); m != nil && strings.HasPrefix(text, "Error") {
		rep.PackageDistro = m[1]
		return fail("distro_mismatch")
	}
	lower := strings.ToLower(text)
	switch {
	case strings.HasPrefix(text, "Error: One or more required packages"):
		return fail("missing_dependencies")
	case strings.HasPrefix(text, "Error: One or more packages depends on"):
		return fail("dependent_packages")
	case strings.HasPrefix(text, "Those packages should be removed before"):
		rep.expect = "dependants"
	case strings.HasPrefix(text, "Please install the missing packages"):
	case text == "Run:":
		rep.expect = "command"
	case strings.Contains(text, "'--add-kernel-support' flag"):
		rep.Hint = "--add-kernel-support"
	case strings.HasPrefix(text, "ERROR: Failed executing"):
		return fail("kernel_module_build_failed")
	case strings.HasPrefix(text, "ERROR: See /"):
		rep.Log = strings.TrimPrefix(text, "ERROR: See ")
	case text == "See:":
		rep.expect = "log"
	case strings.HasPrefix(text, "See /"):
		rep.Log = strings.TrimPrefix(text, "See ")
	case strings.HasPrefix(text, "Collecting debug info"):
	case strings.HasPrefix(text, "Failed to update Firmware"):
		rep.FWUpdate = text
		rep.keep(text)
	case strings.HasPrefix(text, "Failed to install "), strings.HasPrefix(text, "Installation failed"):
		return fail("")
	case strings.HasPrefix(text, "Only root can run"), strings.Contains(lower, "must be root"):
		return fail("not_root")
	case strings.Contains(lower, "unsupported devices"):
		return fail("unsupported_device")
	case strings.Contains(lower, "no space left"), strings.Contains(lower, "not enough space"), strings.Contains(lower, "not enough free space"):
		return fail("no_space")
	case strings.HasPrefix(text, "Error:"), strings.HasPrefix(text, "ERROR:"):
		if rep.class == "" {
			return fail("")
		}
		rep.keep(text)
	default:
		return false
	}
	return true
}

// kernelOr names a failure after the package it befell.
func kernelOr(pkg, otherwise string) string {
	if strings.Contains(pkg, "kernel") || strings.HasSuffix(pkg, "-modules") || strings.HasSuffix(pkg, "-dkms") {
		return "kernel_module_install_failed"
	}
	return otherwise
}

// marked reads the -E- and -I- lines of the MFT installer.
func (rep *OFEDInstallReport) marked() {
	if strings.Contains(rep.Error, "missing packages") {
		rep.class = "missing_dependencies"
	}
}

// closing reads the last words.
func (rep *OFEDInstallReport) closing(text string) bool {
	switch {
	case strings.HasPrefix(text, "Installation passed successfully"), strings.HasPrefix(text, "Installation finished successfully"):
		rep.Final = text
	case strings.HasPrefix(text, "-I- You can install missing packages using:"):
		rep.InstallCommand = strings.TrimSpace(strings.TrimPrefix(text, "-I- You can install missing packages using:"))
		rep.MissingPackages = bounded(packagesOf(rep.InstallCommand))
	case strings.HasPrefix(text, "-I-"):
	case strings.HasPrefix(text, "To load the new driver, run:"):
		rep.expect = "next step"
	case strings.HasPrefix(text, "Please reboot your system"):
		rep.Reboot = true
	case strings.HasPrefix(text, "WARNING:"):
		rep.Warnings++
	case strings.HasPrefix(text, "Restart needed for updates"):
		rep.RestartLine = text
	default:
		return false
	}
	return true
}

func (rep *OFEDInstallReport) judge() {
	updated, firmwareFailed := rep.judgeFirmware()
	if len(rep.Adapters) > 0 {
		rep.LinkWidth, rep.PCISpeed = rep.Adapters[0].LinkWidth, rep.Adapters[0].PCISpeed
	}
	installed := strings.HasPrefix(rep.Final, "Installation ")
	switch {
	case rep.Error != "" && !installed:
		if rep.class == "" {
			rep.class = "error"
		}
		rep.is(Failed, rep.class)
	case installed && rep.Firmware != nil && rep.Firmware.Class == "updating": // its part may come last
		rep.is(Truncated, "firmware_updating")
	case installed && firmwareFailed:
		rep.is(Succeeded, "installed_fw_update_failed")
	case installed && updated:
		rep.is(Succeeded, "installed_fw_updated_reboot_needed")
	case installed:
		rep.is(Succeeded, "installed")
	case rep.Created != "":
		rep.is(Succeeded, "package_built")
	case rep.declined():
		rep.is(Failed, "declined")
	case rep.unanswered:
		rep.is(Truncated, "waiting_for_answer")
	case rep.building:
		rep.is(Truncated, "building")
	case rep.begun:
		rep.is(Truncated, "installing")
	default:
		rep.is(Truncated, "")
	}
	if installed || rep.Outcome == Failed && rep.class != "" {
		rep.LastPackage = ""
	}
	rep.Incomplete = rep.Outcome == Truncated
}

// judgeFirmware carries over what the firmware part found.
func (rep *OFEDInstallReport) judgeFirmware() (updated, failed bool) {
	failed = strings.HasPrefix(rep.FWUpdate, "Failed")
	fw := rep.Firmware
	if fw == nil {
		return false, failed
	}
	fw.judge()
	rep.RestartLine = fw.RestartLine
	if fw.Warning != "" {
		rep.Warning = fw.Warning
		rep.Warnings += fw.Warnings
	}
	for _, d := range fw.Devices {
		if current, _ := d.FW(); current != "" {
			newer := d.NewerThanAvailable() || rep.CurrentNewer != nil && *rep.CurrentNewer
			rep.CurrentNewer = &newer
		}
		updated = updated || d.UpdateResult == "Done"
	}
	return updated, failed || fw.Class == "update_failed"
}
