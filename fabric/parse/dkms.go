package parse

import (
	"io"
	"regexp"
	"strings"
)

// DKMSReport is what dkms status prints, or a build by dkms inside a package
// manager's text.
type DKMSReport struct {
	Trouble
	Verdict
	// Modules maps each module of dkms status to its version.
	Modules map[string]string `json:"modules,omitempty"`
	// Builds are the rows of dkms status, one a module, version and kernel.
	Builds []DKMSBuild `json:"builds,omitempty"`
	// StateWord is the state that all rows share.
	StateWord string `json:"state_word,omitempty"`
	Module    string `json:"module,omitempty"`
	Version   string `json:"version,omitempty"`
	Kernel    string `json:"kernel,omitempty"`
	Log       string `json:"log,omitempty"`
	Final     string `json:"final,omitempty"`
	DPKGExit  string `json:"dpkg_exit,omitempty"`
	class     string
	building  bool
}

// DKMSBuild is a row of dkms status. Kernel is empty for a module that is
// only added.
type DKMSBuild struct {
	Module  string `json:"module"`
	Version string `json:"version"`
	Kernel  string `json:"kernel,omitempty"`
	Arch    string `json:"arch,omitempty"`
	State   string `json:"state"` // added, built, installed, broken
	Note    string `json:"note,omitempty"`
}

// Installed reports whether a module is installed for a kernel.
func (rep *DKMSReport) Installed(module, kernel string) bool {
	for _, b := range rep.Builds {
		if b.Module == module && b.Kernel == kernel && b.State == "installed" {
			return true
		}
	}
	return false
}

// DKMS reads the output of dkms.
func DKMS(r io.Reader) (*DKMSReport, error) {
	s := newLines(r)
	rep := &DKMSReport{}
	known := false
	for line, ok := s.text(); ok; line, ok = s.text() {
		text := strings.TrimSpace(line)
		if rep.status(text) || rep.build(text) {
			known = true
			continue
		}
		rep.complained(line)
	}
	rep.judge()
	return rep, rep.ended(s, known)
}

var _ = tool(DKMS, "dkms", "dkms status")

var (
	// dkms 2 separates module and version by a comma, dkms 3 by a slash.
	dkmsStatus   = regexp.MustCompile(`^([\w.+-]+)(?:, |/)([\w.+~-]+)(?:, ([\w.+~-]+), (\w+))?: (added|built|installed|broken)\b\s*(.*)$`)
	dkmsBadBuild = regexp.MustCompile(`^Error! Bad return status for module build on kernel: (\S+)`)
	dkmsHeaders  = regexp.MustCompile(`[Yy]our kernel headers for kernel (\S+) cannot be found`)
	dkmsPackage  = regexp.MustCompile(`^(?:Setting up|Unpacking) ([\w.+-]+)-dkms \(([^)]+)\)`)
	dkmsLoading  = regexp.MustCompile(`^Loading new ([\w.+-]+?)-(\d[\w.+~-]*) DKMS files`)
	dkmsFor      = regexp.MustCompile(`^(?:Building only for|Building initial module for|Building for kernel|Module build for kernel|Making new initrd\.img-|Building module:? ?for) ?(\S+)$`)
	dkmsConsult  = regexp.MustCompile(`^Consult (?:the )?(\S*make\.log)`)
)

func (rep *DKMSReport) status(text string) bool {
	m := dkmsStatus.FindStringSubmatch(text)
	if m == nil {
		return false
	}
	if rep.Modules == nil {
		rep.Modules = map[string]string{}
	}
	rep.Modules[m[1]] = m[2]
	rep.Builds = append(rep.Builds, DKMSBuild{m[1], m[2], m[3], m[4], m[5], strings.Trim(m[6], "() ")})
	return true
}

func (rep *DKMSReport) fail(class, text string) {
	rep.keep(text)
	if rep.class == "" {
		rep.class, rep.Error = class, text
	}
}

// build reads a build's lines, among those of dpkg or rpm.
func (rep *DKMSReport) build(text string) bool {
	if m := dkmsPackage.FindStringSubmatch(text); m != nil {
		rep.Module, rep.Version = m[1], m[2]
		return true
	}
	if m := dkmsLoading.FindStringSubmatch(text); m != nil {
		if rep.Module == "" {
			rep.Module, rep.Version = m[1], m[2]
		}
		rep.building = true
		return true
	}
	if m := dkmsFor.FindStringSubmatch(text); m != nil {
		rep.Kernel, rep.building = m[1], true
		return true
	}
	if m := dkmsConsult.FindStringSubmatch(text); m != nil {
		rep.Log = m[1]
		return true
	}
	if m := dkmsBadBuild.FindStringSubmatch(text); m != nil {
		rep.Kernel = m[1]
		rep.fail("kernel_module_build_failed", text)
		return true
	}
	if m := dkmsHeaders.FindStringSubmatch(text); m != nil {
		rep.Kernel = strings.TrimSuffix(m[1], ".")
		rep.fail("kernel_headers_missing", text)
		return true
	}
	if _, exit, ok := strings.Cut(text, "returned error "); ok && strings.Contains(exit, "exit status") {
		rep.DPKGExit = exit
		return true
	}
	switch {
	case strings.HasPrefix(text, "DKMS: install completed"):
		rep.Final = text
	case strings.HasPrefix(text, "Error!") && strings.Contains(text, "not in the DKMS tree"), strings.HasPrefix(text, "Error! There are no instances"):
		rep.fail("module_not_found", text)
	case strings.HasPrefix(text, "Error!") && strings.Contains(text, "sign"):
		rep.fail("signing_failed", text)
	case strings.HasPrefix(text, "Error!"):
		rep.fail("error", text)
	case strings.HasPrefix(text, "Building module:"), strings.HasPrefix(text, "Cleaning build area"), strings.HasPrefix(text, "Building initial module"),
		strings.HasPrefix(text, "First Installation:"), strings.HasPrefix(text, "Building for "):
		rep.building = true
	case strings.HasPrefix(text, "dpkg: error processing package"):
		rep.keep(text)
	default:
		return false
	}
	return true
}

func (rep *DKMSReport) judge() {
	states, kernels := map[string]bool{}, map[string]bool{}
	for _, b := range rep.Builds {
		states[b.State] = true
		if b.Kernel != "" {
			kernels[b.Kernel] = true
			rep.Kernel = b.Kernel
		}
	}
	if len(kernels) > 1 {
		rep.Kernel = "" // each row has its own
	}
	if len(states) == 1 {
		rep.StateWord = rep.Builds[0].State
	}
	switch {
	case rep.class != "":
		rep.is(Failed, rep.class)
	case rep.Error != "":
		rep.is(Failed, "not_run")
	case states["broken"]:
		rep.is(Failed, "broken")
	case len(states) > 0 && rep.StateWord == "":
		rep.is(NeedsAction, "partly_installed")
	case rep.StateWord == "installed", rep.Final != "":
		rep.is(Succeeded, "installed")
	case rep.StateWord != "":
		rep.is(NeedsAction, rep.StateWord)
	case rep.building:
		rep.is(Truncated, "building")
	default:
		rep.is(Truncated, "")
	}
	rep.Incomplete = rep.Outcome == Truncated
}
