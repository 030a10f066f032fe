package parse

import (
	"bytes"

	"github.com/fabricbot/fabricbot/fabric"
)

// The functions below read the small pieces of topology lines straight from
// the scanner's bytes: ibnetdiscover's text of a large fabric is tens of
// megabytes, and only node names need to become strings.

// blank drops leading blanks and tabs.
func blank(b []byte) []byte {
	for len(b) > 0 && (b[0] == ' ' || b[0] == '\t') {
		b = b[1:]
	}
	return b
}

// digits reads a number in base 10 or 16, the latter with or without 0x, and
// returns what follows. More digits than fit make it no number.
func digits(b []byte, base uint64) (v uint64, rest []byte, ok bool) {
	if base == 16 && len(b) > 2 && b[0] == '0' && (b[1] == 'x' || b[1] == 'X') {
		b = b[2:]
	}
	i := 0
	for ; i < len(b); i++ {
		c := uint64(b[i])
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case base == 16 && c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case base == 16 && c >= 'A' && c <= 'F':
			c -= 'A' - 10
		default:
			return v, b[i:], i > 0
		}
		if i == 16 {
			return 0, b, false
		}
		v = v*base + c
	}
	return v, b[i:], i > 0
}

// nodeID reads `"S-0c42a103002a48b6"`, whose letter repeats the node's type.
func nodeID(b []byte) (fabric.GUID, fabric.NodeType, []byte, bool) {
	if len(b) < 4 || b[0] != '"' || b[2] != '-' {
		return 0, 0, b, false
	}
	kind := fabric.NodeUnknown
	switch b[1] {
	case 'H':
		kind = fabric.NodeCA
	case 'S':
		kind = fabric.NodeSwitch
	case 'R':
		kind = fabric.NodeRouter
	}
	v, rest, ok := digits(b[3:], 16)
	if !ok || len(rest) == 0 || rest[0] != '"' {
		return 0, 0, b, false
	}
	return fabric.GUID(v), kind, rest[1:], true
}

// guidInParens finds "(c42a10300ee7594)".
func guidInParens(b []byte) fabric.GUID {
	open := bytes.IndexByte(b, '(')
	if open < 0 {
		return 0
	}
	v, _, ok := digits(b[open+1:], 16)
	if !ok {
		return 0
	}
	return fabric.GUID(v)
}

// lastQuoted is quoted for bytes.
func lastQuoted(b []byte) (inside, rest []byte, ok bool) {
	first, last := bytes.IndexByte(b, '"'), bytes.LastIndexByte(b, '"')
	if first < 0 || first == last {
		return nil, b, false
	}
	return b[first+1 : last], b[last+1:], true
}

// numberAfter finds word and reads the decimal number behind it; 0 if there
// is none. Numbers above 65535 are none: they are LIDs and LMCs.
func numberAfter(b []byte, word string) (uint64, []byte) {
	i := bytes.Index(b, []byte(word))
	if i < 0 {
		return 0, b
	}
	v, rest, ok := digits(b[i+len(word):], 10)
	if !ok || v > 0xffff {
		return 0, b
	}
	return v, rest
}

// linkRate reads "4xHDR"; the speed is unknown for "4x???" and names that are
// newer than this program.
func linkRate(b []byte) (fabric.Width, fabric.Speed) {
	lanes, rest, ok := digits(b, 10)
	if !ok || len(rest) == 0 || rest[0] != 'x' && rest[0] != 'X' {
		return 0, 0
	}
	switch lanes {
	case 1, 2, 4, 8, 12:
	default:
		return 0, 0
	}
	rest = blank(rest[1:])
	if i := bytes.IndexByte(rest, ' '); i >= 0 {
		rest = rest[:i]
	}
	for s := fabric.SDR; s <= fabric.XDR; s++ {
		if string(rest) == s.String() {
			return fabric.Width(lanes), s
		}
	}
	return fabric.Width(lanes), fabric.SpeedUnknown
}
