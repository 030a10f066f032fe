package parse

import (
	"io"
	"strings"
)

// OpenSMConfReport is an opensm.conf: one "name value" per line, "#" begins a
// comment. It stands in the order of the file.
type OpenSMConfReport struct {
	Trouble
	Settings Fields `json:"settings"`
	Count    int    `json:"count"`
	// Lines[i] is the line number of Settings[i], from 1.
	Lines []int `json:"-"`
	// Duplicates are names set more than once; opensm takes the last.
	Duplicates []string `json:"duplicates,omitempty"`
	// Secrets are the settings that hold a key, which may not be shown.
	Secrets []string `json:"secrets,omitempty"`
}

// Get returns the value that counts for a name: the last.
func (rep *OpenSMConfReport) Get(name string) (string, bool) {
	for i := len(rep.Settings) - 1; i >= 0; i-- {
		if rep.Settings[i].Name == name {
			return rep.Settings[i].Value, true
		}
	}
	return "", false
}

// secretSettings hold keys that let their owner program the fabric (opensm
// 3.3.24, osm_subnet.c, option table). A value of zero is no secret.
var secretSettings = map[string]bool{
	"m_key": true, "sm_key": true, "sa_key": true, "vendor_specific_key": true, "cc_key": true, "pm_key": true, "n2n_key": true,
}

// OpenSMConf reads an opensm.conf. Empty values, "(null)" and values of
// several words are kept as they stand; trailing comments are dropped.
func OpenSMConf(r io.Reader) (*OpenSMConfReport, error) {
	s := newLines(r)
	rep := &OpenSMConfReport{Settings: Fields{}}
	seen := map[string]bool{}
	comments, bad := false, 0
	for line, ok := s.text(); ok; line, ok = s.text() {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "#") {
			comments = true
			continue
		}
		name, value := line, ""
		if i := strings.IndexAny(line, " \t"); i >= 0 {
			name, value = line[:i], strings.TrimSpace(line[i:])
		}
		if !isSettingName(name) {
			if line != "" && !rep.complained(line) {
				rep.Incomplete = true
				bad++
			}
			continue
		}
		if i := strings.Index(value, " #"); i >= 0 {
			value = strings.TrimSpace(value[:i])
		}
		if seen[name] {
			rep.Duplicates = append(rep.Duplicates, name)
		}
		seen[name] = true
		if secretSettings[name] && strings.Trim(value, "0x") != "" {
			rep.Secrets = append(rep.Secrets, name)
		}
		rep.Settings = append(rep.Settings, Field{name, value})
		rep.Lines = append(rep.Lines, s.n)
	}
	rep.Count = len(rep.Settings)
	return rep, rep.ended(s, rep.Count > bad || comments && bad == 0)
}

var _ = tool(OpenSMConf, "opensm.conf")

// isSettingName accepts what opensm's option table holds: lower-case words
// joined by underlines, as in "sminfo_polling_timeout".
func isSettingName(s string) bool {
	if s == "" || len(s) > 100 || s[0] < 'a' || s[0] > 'z' {
		return false
	}
	for i := 0; i < len(s); i++ {
		if c := s[i]; !isWord(c) || 'A' <= c && c <= 'Z' {
			return false
		}
	}
	return true
}
