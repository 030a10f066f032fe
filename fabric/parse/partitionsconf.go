package parse

import (
	"io"
	"strconv"
	"strings"

	"github.com/fabricbot/fabricbot/fabric"
)

// PartitionsConfReport is OpenSM's partitions.conf; the grammar is that of
// opensm(8), section PARTITION CONFIGURATION.
type PartitionsConfReport struct {
	Trouble
	Statements   int         `json:"statements"`
	NamesInOrder []string    `json:"names_in_order"`
	PKeys        []string    `json:"pkeys"`
	WithoutPKey  []string    `json:"without_pkey"`
	MGIDs        []string    `json:"mgids"`
	Partitions   []Partition `json:"partitions"`
	// Findings are traps of this file; see the Trap constants.
	Findings []PartitionFinding `json:"findings,omitempty"`
}

// Partition is one statement. PKey is the file's text, empty where OpenSM
// will choose one. Statements with the same P_Key add up.
type Partition struct {
	Line      int               `json:"line"`
	Name      string            `json:"name"`
	PKey      string            `json:"pkey,omitempty"`
	IPoIB     bool              `json:"ipoib"`
	Indx0     bool              `json:"indx0,omitempty"`
	DefMember string            `json:"defmember,omitempty"`
	Flags     map[string]string `json:"flags,omitempty"`
	// Members maps a port GUID as written, or ALL, ALL_CAS, ALL_SWITCHES,
	// ALL_ROUTERS or SELF, to full, limited or both.
	Members map[string]string `json:"members"`
	MGIDs   []string          `json:"mgids,omitempty"`
}

// Base returns the partition's number without the membership bit, which
// OpenSM ignores in this file; ok is false without a readable P_Key.
func (p Partition) Base() (base uint16, ok bool) {
	v, err := strconv.ParseUint(p.PKey, 0, 16)
	return uint16(v) & 0x7fff, err == nil
}

// PartitionFinding is one trap, at the line of a statement or 0 for the file.
type PartitionFinding struct {
	Trap string `json:"trap"`
	Line int    `json:"line,omitempty"`
	Text string `json:"text"`
}

// PartitionsConf reads a partitions.conf. An empty file, or one of comments
// only, is understood: it has a meaning, and a finding.
func PartitionsConf(r io.Reader) (*PartitionsConfReport, error) {
	s := newLines(r)
	rep := &PartitionsConfReport{NamesInOrder: []string{}, PKeys: []string{}, WithoutPKey: []string{}, MGIDs: []string{}, Partitions: []Partition{}}
	var statement strings.Builder
	start, other := 0, 0
	for line, ok := s.text(); ok; line, ok = s.text() {
		line, _, _ = strings.Cut(line, "#")
		for {
			part, rest, ends := strings.Cut(line, ";")
			if strings.TrimSpace(part) != "" {
				if strings.TrimSpace(statement.String()) == "" {
					start = s.n
				}
				if statement.Len()+len(part) > longestLine {
					rep.Incomplete = true
					statement.Reset()
				}
				statement.WriteString(part)
			}
			if !ends {
				statement.WriteByte('\n')
				break
			}
			if !rep.statement(statement.String(), start) {
				other++
			}
			statement.Reset()
			line = rest
		}
	}
	if strings.TrimSpace(statement.String()) != "" {
		rep.Incomplete = true
		rep.find(TrapUnfinished, start, "the last statement has no semicolon, so OpenSM does not see it")
		if !strings.Contains(statement.String(), ":") {
			other++
		}
	}
	rep.Statements = len(rep.Partitions)
	rep.judge()
	return rep, rep.ended(s, rep.Statements > 0 || other == 0)
}

var _ = tool(PartitionsConf, "partitions.conf")

// statement reads "definition : properties".
func (rep *PartitionsConfReport) statement(text string, line int) bool {
	definition, properties, ok := strings.Cut(text, ":")
	if !ok {
		rep.find(TrapSyntax, line, "a statement without a colon is not a partition")
		return false
	}
	p := Partition{Line: line, Members: map[string]string{}}
	for i, word := range strings.Split(definition, ",") {
		name, value := assignment(word)
		switch lower := strings.ToLower(name); {
		case i == 0:
			p.Name, p.PKey = name, value
		case lower == "ipoib":
			p.IPoIB = true
		case lower == "indx0":
			p.Indx0 = true
		case lower == "defmember":
			p.DefMember = membership(value)
		case name != "":
			if p.Flags == nil {
				p.Flags = map[string]string{}
			}
			p.Flags[lower] = value
		}
	}
	for _, row := range strings.Split(properties, "\n") {
		if name, value := assignment(row); strings.EqualFold(name, "mgid") {
			// The group's own flags follow behind commas up to the line's end.
			value, _, _ = strings.Cut(value, ",")
			p.MGIDs = append(p.MGIDs, strings.TrimSpace(value))
			continue
		}
		for _, word := range strings.Split(row, ",") {
			name, value := assignment(word)
			if name == "" {
				continue
			}
			if value == "" && p.DefMember != "" {
				value = p.DefMember
			}
			if _, err := strconv.ParseUint(name, 0, 64); err != nil && !memberKeyword(name) {
				if _, err := fabric.ParseGUID(name); err == nil {
					rep.find(TrapGUID, line, name+" has no 0x, so OpenSM reads it as decimal")
				} else {
					rep.find(TrapGUID, line, name+" is neither a port GUID nor a keyword")
				}
			}
			p.Members[name] = membership(value)
		}
	}
	rep.add(p)
	return true
}

func (rep *PartitionsConfReport) add(p Partition) {
	rep.Partitions = append(rep.Partitions, p)
	rep.NamesInOrder = append(rep.NamesInOrder, p.Name)
	rep.MGIDs = append(rep.MGIDs, p.MGIDs...)
	if p.PKey == "" {
		if p.Name != "Default" {
			rep.WithoutPKey = append(rep.WithoutPKey, p.Name)
		}
		return
	}
	for _, k := range rep.PKeys {
		if k == p.PKey {
			return
		}
	}
	rep.PKeys = append(rep.PKeys, p.PKey)
}

// assignment reads "name = value" with blanks anywhere; value is empty for a
// bare name.
func assignment(s string) (name, value string) {
	name, value, _ = strings.Cut(s, "=")
	return strings.TrimSpace(name), strings.TrimSpace(value)
}

// membership spells out what OpenSM accepts abbreviated, and is limited for
// everything else, as opensm(8) says.
func membership(s string) string {
	for _, full := range []string{"full", "both"} {
		if s != "" && strings.HasPrefix(full, strings.ToLower(s)) {
			return full
		}
	}
	return "limited"
}

func memberKeyword(s string) bool {
	switch s {
	case "ALL", "ALL_CAS", "ALL_SWITCHES", "ALL_ROUTERS", "ALL_VCAS", "SELF":
		return true
	}
	return false
}
