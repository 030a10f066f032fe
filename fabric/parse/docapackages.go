package parse

import (
	"io"
	"regexp"
	"strings"
)

// PackagesReport is what apt, dpkg, dnf, yum, zypper or rpm prints while it
// installs the DOCA packages, or a listing of them.
type PackagesReport struct {
	Trouble
	Verdict
	// Package cannot be installed; Depends is what it lacks, Reason why, and
	// Dependent a further package that it holds up.
	Package   string `json:"package,omitempty"`
	Depends   string `json:"depends,omitempty"`
	Reason    string `json:"reason,omitempty"`
	Dependent string `json:"dependent,omitempty"`
	// Installed maps the packages of a listing, or those set up, to their
	// versions.
	Installed map[string]string `json:"installed,omitempty"`
	// ToRemove are the packages that the transaction would take away.
	ToRemove []string `json:"to_remove,omitempty"`
	// NotConfigured are packages that were unpacked and not set up.
	NotConfigured []string `json:"not_configured,omitempty"`
	unpacked      map[string]bool
	class         string
	done          bool
	begun         bool
	removing      bool
}

// DOCAPackages reads the text of a package manager.
func DOCAPackages(r io.Reader) (*PackagesReport, error) {
	s := newLines(r)
	rep := &PackagesReport{}
	known := false
	for line, ok := s.text(); ok; line, ok = s.text() {
		if rep.removal(line) || rep.line(strings.TrimSpace(line)) {
			known = true
			continue
		}
		rep.complained(line)
	}
	rep.judge()
	return rep, rep.ended(s, known)
}

var _ = tool(DOCAPackages, "doca_packages")

var (
	aptDepends    = regexp.MustCompile(`^([\w.+-]+)(?::\w+)? ?: (?:Pre)?Depends: ([\w.+-]+)(?::\w+)?(?: \(([^)]*)\))?\s*(.*)$`)
	dpkgProblems  = regexp.MustCompile(`^dpkg: dependency problems prevent configuration of ([\w.+-]+)`)
	dpkgDepends   = regexp.MustCompile(`^([\w.+-]+) depends on ([\w.+-]+)(?: \([^)]*\))?; however:`)
	dpkgError     = regexp.MustCompile(`^dpkg: error processing (?:package|archive) (\S+) `)
	dnfProvides   = regexp.MustCompile(`nothing provides (.+?) needed by (\S+)`)
	rpmNeeded     = regexp.MustCompile(`^(\S.*?) is needed by (\S+)$`)
	dnfRequires   = regexp.MustCompile(`package (\S+) requires (.+?), but none of the providers can be installed`)
	noPackage     = regexp.MustCompile(`(?:Unable to locate package|No match for argument:|No package|No provider of) '?([\w.+-]+)'?`)
	listedDeb     = regexp.MustCompile(`^[uirph]([ncHUFWti])R?\s+([\w.+-]+)(?::\w+)?\s+(\S+)\s+\S+`)
	unpacking     = regexp.MustCompile(`^Unpacking ([\w.+-]+)(?::\w+)? \(`)
	listedRPM     = regexp.MustCompile(`^((?:doca|mlnx|rdma|mft|kernel-mft|ofed|perftest|ibutils|opensm|ucx|rshim|libibverbs|librdmacm)[\w.+-]*?)-(\d[\w.+~^]*-[\w.+~^]+)\.(?:x86_64|aarch64|noarch|ppc64le)$`)
	settingUp     = regexp.MustCompile(`^Setting up ([\w.+-]+)(?::\w+)? \(([^)]+)\)`)
	packageLocked = regexp.MustCompile(`Could not get lock|dpkg frontend lock|Another app is currently holding|System management is locked|waiting for process with pid`)
)

func (rep *PackagesReport) fail(class, text string) {
	rep.keep(text)
	if rep.class == "" {
		rep.class = class
	}
	if rep.Error == "" {
		rep.Error = text
	}
}

func (rep *PackagesReport) line(text string) bool {
	if m := aptDepends.FindStringSubmatch(text); m != nil {
		rep.lacks(m[1], m[2], text)
		rep.Reason = m[4]
		return true
	}
	if m := dpkgDepends.FindStringSubmatch(text); m != nil {
		if m[2] == rep.Package && m[1] != rep.Package {
			rep.Dependent = m[1] // waits for the package that is in trouble itself
		} else {
			rep.lacks(m[1], m[2], text)
		}
		return true
	}
	if m := dpkgProblems.FindStringSubmatch(text); m != nil {
		if rep.Package == "" {
			rep.Package = m[1]
		}
		rep.fail("unmet_dependencies", text)
		return true
	}
	if m := dpkgError.FindStringSubmatch(text); m != nil {
		if rep.Package == "" {
			rep.Package = m[1]
		}
		rep.fail("", text)
		return true
	}
	for _, form := range []struct {
		is        *regexp.Regexp
		pkg, need int
	}{{dnfProvides, 2, 1}, {dnfRequires, 1, 2}, {rpmNeeded, 2, 1}} {
		if m := form.is.FindStringSubmatch(text); m != nil {
			rep.lacks(m[form.pkg], m[form.need], text)
			return true
		}
	}
	if m := noPackage.FindStringSubmatch(text); m != nil && !strings.Contains(text, "needs to be") {
		rep.Package = m[1]
		rep.fail("package_not_found", text)
		return true
	}
	return rep.listed(text) || rep.state(text)
}

// lacks records the first unmet dependency: the later ones follow from it.
func (rep *PackagesReport) lacks(pkg, need, text string) {
	if rep.Depends == "" {
		rep.Package, rep.Depends = pkg, need
	}
	rep.class = "" // closer than what was said before
	rep.fail("unmet_dependencies", text)
}

// removal collects the indented names under apt's headline on removals.
func (rep *PackagesReport) removal(line string) bool {
	if rep.removing && strings.HasPrefix(line, "  ") {
		for _, name := range strings.Fields(line) {
			if len(rep.ToRemove) < mostMessages {
				rep.ToRemove = append(rep.ToRemove, strings.TrimSuffix(name, "*"))
			}
		}
		return true
	}
	rep.removing = strings.Contains(line, "packages will be REMOVED")
	return rep.removing
}

// listed reads rows of dpkg -l, names of rpm -qa and packages set up.
func (rep *PackagesReport) listed(text string) bool {
	if m := listedDeb.FindStringSubmatch(text); m != nil {
		switch m[1] {
		case "i":
			put(&rep.Installed, m[2], m[3])
		case "U", "F", "H", "W", "t":
			rep.NotConfigured = appendNew(rep.NotConfigured, m[2])
		}
		return true
	}
	if m := unpacking.FindStringSubmatch(text); m != nil {
		rep.begun = true
		if rep.unpacked == nil {
			rep.unpacked = map[string]bool{}
		}
		rep.unpacked[m[1]] = true
		return true
	}
	for _, form := range []*regexp.Regexp{listedRPM, settingUp} {
		m := form.FindStringSubmatch(text)
		if m == nil {
			continue
		}
		put(&rep.Installed, m[1], m[2])
		delete(rep.unpacked, m[1])
		rep.begun = rep.begun || form == settingUp
		return true
	}
	return false
}

func (rep *PackagesReport) state(text string) bool {
	switch {
	case packageLocked.MatchString(text):
		rep.fail("locked", text)
	case strings.Contains(text, "NO_PUBKEY"), strings.Contains(text, "GPG check FAILED"), strings.Contains(text, "is not signed"):
		rep.fail("not_signed", text)
	case strings.Contains(text, "No space left on device"), strings.Contains(text, "don't have enough free space"):
		rep.fail("no_space", text)
	case strings.Contains(text, "held broken packages"), strings.Contains(text, "have unmet dependencies"):
		rep.fail("unmet_dependencies", text)
	case strings.Contains(text, "conflicts with"):
		rep.fail("conflict", text)
	case strings.HasPrefix(text, "E: "), strings.HasPrefix(text, "Error: "), strings.HasPrefix(text, "error: "):
		rep.fail("", text)
	case text == "Complete!", strings.HasPrefix(text, "0 upgraded, 0 newly installed"), text == "Nothing to do.":
		rep.done = true
	case strings.HasPrefix(text, "Reading package lists"), strings.HasPrefix(text, "Building dependency tree"), strings.HasPrefix(text, "Reading state information"),
		strings.HasPrefix(text, "Preparing to unpack"), strings.HasPrefix(text, "Dependencies resolved"),
		strings.HasPrefix(text, "Running transaction"):
		rep.begun = true
	case strings.HasPrefix(text, "dependency problems - leaving unconfigured"):
		rep.fail("unmet_dependencies", text)
	default:
		return false
	}
	return true
}

func (rep *PackagesReport) judge() {
	switch {
	case rep.Error != "" && rep.class == "" && len(rep.Messages) > 0:
		rep.is(Failed, "error")
	case rep.Error != "":
		rep.is(Failed, rep.class)
	case rep.done:
		rep.is(Succeeded, "installed")
	case len(rep.unpacked) > 0: // dpkg has no closing line: what it unpacks it must set up
		rep.is(Truncated, "installing")
	case len(rep.NotConfigured) > 0:
		rep.is(NeedsAction, "not_configured")
	case rep.begun && len(rep.Installed) > 0:
		rep.is(Succeeded, "installed")
	case len(rep.Installed) > 0:
		rep.is(Succeeded, "package_list")
	default:
		rep.is(Truncated, "")
	}
	rep.Incomplete = rep.Outcome == Truncated
}
