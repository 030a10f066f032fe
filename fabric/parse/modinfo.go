package parse

import (
	"io"
	"path"
	"regexp"
	"strings"
)

// ModinfoReport is what modinfo prints about a kernel module, or the part of
// it that grep left over. Class is inbox or ofed by where the module file
// lies, and by the version where the text names no file.
type ModinfoReport struct {
	Trouble
	Verdict
	Filename string  `json:"filename,omitempty"`
	Version  *string `json:"version"` // nil for inbox modules without one
	// SrcVersion is the checksum of the source: the same for the same source.
	SrcVersion  string `json:"srcversion,omitempty"`
	RHELVersion string `json:"rhelversion,omitempty"`
	Description string `json:"description,omitempty"`
	Depends     string `json:"depends,omitempty"`
	Vermagic    string `json:"vermagic,omitempty"`
	Kernel      string `json:"kernel,omitempty"` // the first word of Vermagic
	Name        string `json:"name,omitempty"`
	InTree      string `json:"intree,omitempty"` // Y, or empty
	Signer      string `json:"signer,omitempty"`
	// OwnerPackage is the answer to an rpm -qf that followed.
	OwnerPackage string `json:"owner_package,omitempty"`
	asked        bool   // the next line is that answer
	module       string
}

// Modinfo reads the output of modinfo.
func Modinfo(r io.Reader) (*ModinfoReport, error) {
	s := newLines(r)
	rep := &ModinfoReport{}
	known := false
	for line, ok := s.text(); ok; line, ok = s.text() {
		text := strings.TrimSpace(line)
		switch {
		case rep.asked && text != "":
			rep.OwnerPackage, rep.asked = text, false
		case rep.command(text):
		case strings.HasPrefix(text, "modinfo: ERROR:"):
			rep.Error = strings.TrimSpace(strings.TrimPrefix(text, "modinfo: ERROR:"))
			rep.keep(text)
		case rep.field(text):
			known = true
		default:
			rep.complained(line)
		}
	}
	rep.judge()
	return rep, rep.ended(s, known)
}

var _ = tool(Modinfo, "modinfo")

func (rep *ModinfoReport) command(text string) bool {
	if args, ok := invoked(text, "modinfo"); ok {
		if len(args) > 0 {
			rep.module = args[0]
		}
		return true
	}
	if args, ok := invoked(text, "rpm"); ok {
		rep.asked = len(args) > 0 && strings.Contains(args[0], "f")
		return true
	}
	return false
}

func (rep *ModinfoReport) field(text string) bool {
	key, value, ok := keyValue(text)
	if !ok {
		return false
	}
	fields := map[string]*string{
		"filename": &rep.Filename, "srcversion": &rep.SrcVersion, "rhelversion": &rep.RHELVersion, "description": &rep.Description,
		"depends": &rep.Depends, "vermagic": &rep.Vermagic, "name": &rep.Name, "intree": &rep.InTree, "signer": &rep.Signer,
	}
	switch key {
	case "version":
		rep.Version = &value
	case "license", "author", "alias", "parm", "retpoline", "sig_id", "sig_key", "sig_hashalgo", "signature", "firmware", "softdep", "import_ns", "supported":
	default:
		to, has := fields[key]
		if !has {
			return false
		}
		*to = value
	}
	return true
}

// ofedVersion is a bundle's: 4.9-6.0.6, 24.10-2.1.8. The kernel's own mlx4
// and mlx5 modules once had 4.0-0 and 5.0-0.
var ofedVersion = regexp.MustCompile(`^\d+\.\d+-\d+\.\d+(\.\d+)*$`)

func (rep *ModinfoReport) judge() {
	rep.Kernel, _, _ = strings.Cut(rep.Vermagic, " ")
	class := "unknown_origin"
	switch dir := path.Dir(rep.Filename); {
	case strings.Contains(dir, "/kernel/drivers"), rep.Filename == "(builtin)":
		class = "inbox"
	case strings.Contains(dir, "/updates"), strings.Contains(dir, "/extra"), strings.Contains(dir, "/weak-updates"), strings.Contains(dir, "/dkms"):
		class = "ofed"
	case rep.Version != nil && ofedVersion.MatchString(*rep.Version):
		class = "ofed"
	case rep.InTree == "Y":
		class = "inbox"
	}
	switch {
	case rep.Error != "" && strings.Contains(rep.Error, "not found") && !strings.Contains(rep.Error, "command"):
		rep.is(Failed, "module_not_found")
	case rep.Error != "":
		rep.is(Failed, "error")
	case rep.Filename == "" && rep.Version == nil && rep.Vermagic == "":
		rep.is(Truncated, "")
	default:
		rep.is(Succeeded, class)
	}
	rep.Incomplete = rep.Outcome == Truncated
}
