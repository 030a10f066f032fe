package fabric

import (
	"fmt"
	"strconv"
	"strings"
)

// GUID is an EUI-64 that names a node, a port or a system image. It is a
// string in JSON, since a 64-bit number does not survive a JSON float.
type GUID uint64

// ParseGUID reads 1 to 16 hexadecimal digits, with or without a leading 0x,
// or four groups of up to four digits divided by colons as sysfs prints them
// (0c42:a103:009f:2650). Anything else is an error.
func ParseGUID(s string) (GUID, error) {
	digits := s
	if strings.Contains(s, ":") {
		groups := strings.Split(s, ":")
		if len(groups) != 4 {
			return 0, fmt.Errorf("guid %q: want four groups of hex digits, got %d", s, len(groups))
		}
		var v uint64
		for _, g := range groups {
			n, err := hexDigits(g, 4)
			if err != nil {
				return 0, fmt.Errorf("guid %q: %w", s, err)
			}
			v = v<<16 | n
		}
		return GUID(v), nil
	}
	if len(digits) > 1 && digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X') {
		digits = digits[2:]
	}
	v, err := hexDigits(digits, 16)
	if err != nil {
		return 0, fmt.Errorf("guid %q: %w", s, err)
	}
	return GUID(v), nil
}

// hexDigits is ParseUint without its tolerance for signs and underscores.
func hexDigits(s string, longest int) (uint64, error) {
	if s == "" || len(s) > longest {
		return 0, fmt.Errorf("want 1 to %d hex digits, got %d characters", longest, len(s))
	}
	var v uint64
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, fmt.Errorf("%q is not a hex digit", c)
		}
		v = v<<4 | uint64(c)
	}
	return v, nil
}

// String returns 0x and sixteen lower-case hexadecimal digits.
func (g GUID) String() string {
	const hex = "0123456789abcdef"
	b := [18]byte{'0', 'x'}
	for i := 17; i > 1; i-- {
		b[i] = hex[g&15]
		g >>= 4
	}
	return string(b[:])
}

// IsZero reports whether the GUID is 0, which no device may have and which
// the tools print for "unknown".
func (g GUID) IsZero() bool { return g == 0 }

// MarshalText makes the GUID its String in JSON, also as a map key.
func (g GUID) MarshalText() ([]byte, error) { return []byte(g.String()), nil }

// UnmarshalText accepts what ParseGUID accepts.
func (g *GUID) UnmarshalText(b []byte) error {
	v, err := ParseGUID(string(b))
	if err != nil {
		return err
	}
	*g = v
	return nil
}

// LID is a local identifier, the 16-bit address that the subnet manager gives
// to a port; 0 means none has been given. 0x0001-0xbfff are unicast and
// 0xc000-0xfffe multicast (IBTA specification volume 1, section 4.1.3).
type LID uint16

// ParseLID reads a decimal number or, with a leading 0x, a hexadecimal one.
func ParseLID(s string) (LID, error) {
	v, err := strconv.ParseUint(s, 0, 16)
	if err != nil {
		return 0, fmt.Errorf("lid %q: want 0 to 65535", s)
	}
	return LID(v), nil
}

// String returns the decimal form, which is what the tools take as argument.
func (l LID) String() string { return strconv.FormatUint(uint64(l), 10) }
