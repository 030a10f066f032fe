package parse

import "fmt"

// The traps of a partitions.conf, each reproduced with opensm 3.3.23 or
// stated in opensm(8).
const (
	// TrapNoDefault: a file without a rule for the default partition makes
	// every port but the SM's a limited member of it, and limited members
	// cannot talk to each other.
	TrapNoDefault = "no-default-rule"
	// TrapDefaultLimited: the rule is there, but nobody except the SM is full.
	TrapDefaultLimited = "default-all-limited"
	// TrapSelfMissing: the SM's own port is not a full member of Default.
	TrapSelfMissing = "sm-not-full-in-default"
	// TrapSamePKey: two names for one P_Key; OpenSM merges them under the first.
	TrapSamePKey = "same-pkey-two-names"
	// TrapSplit: one name in several statements without a P_Key gets several.
	TrapSplit = "split-without-pkey"
	// TrapPKey: a P_Key that is no 16-bit number, or 0 without the membership bit.
	TrapPKey = "bad-pkey"
	// TrapGUID: a member that OpenSM will not find.
	TrapGUID = "bad-member"
	// TrapUnfinished: the last statement does not end.
	TrapUnfinished = "unfinished-statement"
	// TrapSyntax: text that is no statement.
	TrapSyntax = "bad-statement"
)

// defaultPKey is the default partition without the membership bit (IBTA
// specification volume 1, section 10.9.1.2).
const defaultPKey = 0x7fff

// mostFindings bounds the list for a file that is wrong in every line.
const mostFindings = 1000

func (rep *PartitionsConfReport) find(trap string, line int, text string) {
	if len(rep.Findings) < mostFindings {
		rep.Findings = append(rep.Findings, PartitionFinding{trap, line, text})
	}
}

// judge looks at the file as a whole.
func (rep *PartitionsConfReport) judge() {
	hasDefault, allFull, selfFull := false, false, false
	names := map[uint16]string{}
	unnumbered := map[string]bool{}
	for _, p := range rep.Partitions {
		base, ok := p.Base()
		switch {
		case p.PKey == "" && p.Name == "Default":
			base = defaultPKey
		case p.PKey == "":
			if unnumbered[p.Name] {
				rep.find(TrapSplit, p.Line, fmt.Sprintf("%q stands in several statements without a P_Key and becomes several partitions", p.Name))
			}
			unnumbered[p.Name] = true
			continue
		case !ok || base == 0:
			rep.find(TrapPKey, p.Line, fmt.Sprintf("P_Key %q of %q is not 0x0001 to 0xffff", p.PKey, p.Name))
			continue
		}
		if first, taken := names[base]; taken && first != p.Name {
			rep.find(TrapSamePKey, p.Line, fmt.Sprintf("%q and %q name the same partition 0x%04x; OpenSM merges them", first, p.Name, base))
		} else {
			names[base] = p.Name
		}
		if base == defaultPKey {
			hasDefault = true
			allFull = allFull || grants(p, "ALL") || grants(p, "ALL_CAS")
			selfFull = selfFull || grants(p, "ALL") || grants(p, "SELF")
		}
	}
	switch {
	case !hasDefault:
		rep.find(TrapNoDefault, 0, "no rule for Default=0x7fff: all ports except the SM's become limited members and cannot talk to each other over it")
	case !selfFull:
		rep.find(TrapSelfMissing, 0, "neither SELF nor ALL is a full member of Default, so nodes may not reach the SM's services")
	}
	if hasDefault && !allFull {
		rep.find(TrapDefaultLimited, 0, "hosts are limited members of Default and cannot talk to each other over it")
	}
}

func grants(p Partition, who string) bool {
	m := p.Members[who]
	return m == "full" || m == "both"
}
