package parse

import (
	"io"
	"path"
	"strings"
)

// OFEDInfoReport is what ofed_info prints. Class is ofed_info_short for -s
// and ofed_info_full for the listing.
type OFEDInfoReport struct {
	Trouble
	Outcome string `json:"outcome"`
	Class   string `json:"class,omitempty"`
	// Version is the bundle, for example MLNX_OFED_LINUX-23.10-1.1.9.0, or
	// OFED-internal-… after a rebuild with --add-kernel-support or from DOCA.
	Version string `json:"version,omitempty"`
	// Release is the text in brackets behind it.
	Release string `json:"version_paren,omitempty"`
	// Components maps a component to its source package or commit.
	Components map[string]string `json:"components,omitempty"`
	// Installed maps a package to its version.
	Installed map[string]string `json:"installed,omitempty"`
}

// OFEDInfo reads the output of ofed_info, with or without -s.
func OFEDInfo(r io.Reader) (*OFEDInfoReport, error) {
	s := newLines(r)
	rep := &OFEDInfoReport{}
	component, packages := "", false
	for line, ok := s.text(); ok; line, ok = s.text() {
		trimmed := strings.TrimSpace(line)
		switch {
		case trimmed == "" || strings.Trim(trimmed, "-") == "":
		case trimmed == "Installed Packages:":
			packages = true
		case packages:
			rep.installed(trimmed)
		case rep.Version == "" && rep.banner(trimmed):
		case rep.Version != "" && strings.HasSuffix(trimmed, ":") && !strings.ContainsAny(trimmed, " /"):
			component = strings.TrimSuffix(trimmed, ":")
		case component != "":
			rep.component(component, trimmed)
		default:
			rep.complained(trimmed)
		}
	}
	if rep.Version == "" {
		rep.Outcome = "failure"
		return rep, rep.ended(s, false)
	}
	rep.Outcome, rep.Class = "success", "ofed_info_short"
	if len(rep.Components) > 0 || packages {
		rep.Class = "ofed_info_full"
	}
	return rep, rep.ended(s, true)
}

var _ = tool(OFEDInfo, "ofed_info", "ofed_info -s")

// banner reads "MLNX_OFED_LINUX-23.10-1.1.9.0 (OFED-23.10-1.1.9):" and the
// short "OFED-internal-25.10-1.7.1:".
func (rep *OFEDInfoReport) banner(line string) bool {
	version, rest, _ := strings.Cut(strings.TrimSuffix(line, ":"), " ")
	if !strings.Contains(version, "OFED") || !strings.ContainsAny(version, "0123456789") || strings.HasSuffix(version, ".sh") {
		return false
	}
	rep.Version = version
	rep.Release, _ = between(rest, "(", ")")
	return true
}

// component keeps the commit where there is one, else the source package; an
// absolute path only says where the vendor built it.
func (rep *OFEDInfoReport) component(name, line string) {
	if rep.Components == nil {
		rep.Components = map[string]string{}
	}
	if commit, ok := after(line, "commit "); ok {
		rep.Components[name] = commit
		return
	}
	if strings.HasPrefix(line, "/") {
		line = path.Base(line)
	}
	if _, has := rep.Components[name]; !has {
		rep.Components[name] = line
	}
}

// installed reads a dpkg row ("ii  name  version  arch  text") or an rpm name
// ("name-version-release.arch").
func (rep *OFEDInfoReport) installed(line string) {
	name, version := "", ""
	words := strings.Fields(line)
	switch {
	case len(words) >= 3 && len(words[0]) == 2 && strings.Contains("iihirc", words[0]):
		name, version = words[1], words[2]
		name, _, _ = strings.Cut(name, ":") // libibverbs1:amd64
	case len(words) == 1 && strings.Count(line, "-") >= 2:
		release := strings.LastIndexByte(line, '-')
		at := strings.LastIndexByte(line[:release], '-')
		name, version = line[:at], line[at+1:]
	default:
		return
	}
	if rep.Installed == nil {
		rep.Installed = map[string]string{}
	}
	rep.Installed[name] = version
}
