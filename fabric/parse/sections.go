package parse

import (
	"strings"

	"github.com/fabricbot/fabricbot/fabric"
)

// Section is a block of "Name:.....value" lines under a heading such as
// "# Port info: Lid 12 port 2". Header is nil when the text has none.
type Section struct {
	Header *string `json:"header"`
	Fields Fields  `json:"fields"`
}

// About returns the kind, LID and port that the heading names; zero where it
// does not. "# Port info: Lid 12 port 2" is ("Port info", 12, 2).
func (s Section) About() (kind string, lid fabric.LID, port fabric.PortNum) {
	if s.Header == nil {
		return "", 0, 0
	}
	kind, rest, _ := strings.Cut(strings.TrimPrefix(*s.Header, "# "), ":")
	w := strings.Fields(rest)
	for i := 0; i+1 < len(w); i++ {
		switch strings.ToLower(w[i]) {
		case "lid":
			lid, _ = fabric.ParseLID(w[i+1])
		case "port":
			if n, ok := smallNumber(w[i+1]); ok && n <= 255 {
				port = fabric.PortNum(n)
			}
		}
	}
	return kind, lid, port
}

// sections collects the blocks of smpquery, perfquery and ibportstate. It
// returns the lines that belong to none to other.
func sections(s *lines, t *Trouble, other func(line string)) []Section {
	all := []Section{}
	fresh := false // a heading has been seen and no field of it yet
	for line, ok := s.text(); ok; line, ok = s.text() {
		if strings.HasPrefix(line, "# ") {
			header := line
			all, fresh = append(all, Section{Header: &header, Fields: Fields{}}), true
			continue
		}
		f, ok := dotted(line)
		if !ok {
			if !t.complained(line) {
				other(line)
			}
			continue
		}
		if len(all) == 0 || !fresh && all[len(all)-1].repeats(f.Name) {
			all = append(all, Section{Fields: Fields{}})
		}
		last := &all[len(all)-1]
		last.Fields = append(last.Fields, f)
		fresh = false
	}
	// A heading alone is a text that was cut behind it.
	if n := len(all); n > 0 && len(all[n-1].Fields) == 0 {
		t.Incomplete = true
	}
	return all
}

// repeats reports whether a field name begins a further block, as where
// headings were filtered out.
func (s Section) repeats(name string) bool {
	_, has := s.Fields.Get(name)
	return has
}
