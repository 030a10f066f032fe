package fabric

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// MaxHosts bounds how many names one expression or one HostSet may hold. It is our own limit: an order of magnitude above the
// largest fabrics a single subnet manager serves (49,151 unicast LIDs), and small enough that a mistyped range costs no memory.
const MaxHosts = 100_000

// maxHostName is the longest host name in octets (RFC 1123 section 2.1, RFC 1035 section 2.3.4), maxHostLabel that of one label.
const (
	maxHostName  = 253
	maxHostLabel = 63
)

// HostSet is a set of host names, sorted so that node2 comes before node10, each name once. The zero value is the empty set.
// A HostSet is never changed after it was made, so it may be shared. As text (and so as JSON) it is the folded expression that
// String returns.
type HostSet struct {
	names []string
}

// NewHostSet returns the set of the given names; it refuses a name that CheckHostName refuses and more than MaxHosts names.
func NewHostSet(names ...string) (HostSet, error) {
	for _, name := range names {
		if err := CheckHostName(name); err != nil {
			return HostSet{}, err
		}
	}
	set := sortedHosts(slices.Clone(names))
	if set.Len() > MaxHosts {
		return HostSet{}, fmt.Errorf("host set of %d names: at most %d are allowed", set.Len(), MaxHosts)
	}
	return set, nil
}

// sortedHosts takes over names, which must be valid, and makes a set of them.
func sortedHosts(names []string) HostSet {
	slices.SortFunc(names, CompareHostNames)
	return HostSet{names: slices.Clip(slices.Compact(names))}
}

// Len is the number of hosts.
func (s HostSet) Len() int { return len(s.names) }

// Empty says whether the set has no host.
func (s HostSet) Empty() bool { return len(s.names) == 0 }

// Names returns the host names in order; the caller owns the slice.
func (s HostSet) Names() []string { return slices.Clone(s.names) }

// Contains says whether name is in the set.
func (s HostSet) Contains(name string) bool {
	_, found := slices.BinarySearchFunc(s.names, name, CompareHostNames)
	return found
}

// Equal says whether both sets hold the same hosts.
func (s HostSet) Equal(t HostSet) bool { return slices.Equal(s.names, t.names) }

// Union returns the hosts that are in either set.
func (s HostSet) Union(t HostSet) HostSet {
	return sortedHosts(slices.Concat(s.names, t.names))
}

// Minus returns the hosts of s that are not in t.
func (s HostSet) Minus(t HostSet) HostSet {
	return s.filter(func(name string) bool { return !t.Contains(name) })
}

// Intersect returns the hosts that are in both sets.
func (s HostSet) Intersect(t HostSet) HostSet { return s.filter(t.Contains) }

func (s HostSet) filter(keep func(string) bool) HostSet {
	var names []string
	for _, name := range s.names {
		if keep(name) {
			names = append(names, name)
		}
	}
	return HostSet{names: names}
}

// Chunks cuts the set into consecutive sets of at most size hosts; it is how waves and batches are made. A size below one
// gives no chunk at all, because "all at once" must never come out of a zero.
func (s HostSet) Chunks(size int) []HostSet {
	if size < 1 {
		return nil
	}
	var chunks []HostSet
	for part := range slices.Chunk(s.names, size) {
		chunks = append(chunks, HostSet{names: part})
	}
	return chunks
}

// MarshalText writes the folded expression.
func (s HostSet) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads a list of names and ranges. Groups and exclusions are refused: a set is a result, it needs no inventory.
// Empty text is the empty set.
func (s *HostSet) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		*s = HostSet{}
		return nil
	}
	terms, err := parseHostTerms(string(text))
	if err != nil {
		return err
	}
	var names []string
	for _, t := range terms {
		if t.group || t.exclude {
			return &HostExprError{Expr: string(text), Column: t.column, Reason: "a host set holds names and ranges only, no groups or exclusions"}
		}
		names = append(names, t.expand()...)
	}
	*s = sortedHosts(names)
	return nil
}

// CheckHostName says whether name can be a host name: letters, digits and inner hyphens in labels parted by dots (RFC 1123
// section 2.1). It is stricter than many resolvers, since names end up in paths, in workflow ids and in the arguments of ssh.
func CheckHostName(name string) error {
	if name == "" {
		return errors.New("empty host name")
	}
	if len(name) > maxHostName {
		return fmt.Errorf("host name %.40q…: %d octets, at most %d are allowed", name, len(name), maxHostName)
	}
	for label := range strings.SplitSeq(name, ".") {
		switch {
		case label == "":
			return fmt.Errorf("host name %q: empty part between dots", name)
		case len(label) > maxHostLabel:
			return fmt.Errorf("host name %q: a part of %d octets, at most %d are allowed", name, len(label), maxHostLabel)
		case label[0] == '-' || label[len(label)-1] == '-':
			return fmt.Errorf("host name %q: a part begins or ends with a hyphen", name)
		}
		for _, r := range label {
			if !isHostRune(r) {
				return fmt.Errorf("host name %q: %q is not allowed, use letters, digits, hyphens and dots", name, r)
			}
		}
	}
	return nil
}

func isHostRune(r rune) bool {
	return r == '-' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
}

// CompareHostNames orders names the way people count: runs of digits compare by their value, everything else by octets, and
// of two equal numbers the one with fewer leading zeros comes first.
func CompareHostNames(a, b string) int {
	padding := 0
	for i, j := 0, 0; ; {
		if i == len(a) || j == len(b) {
			if rest := (len(a) - i) - (len(b) - j); rest != 0 {
				return rest
			}
			return padding
		}
		if !isDigit(a[i]) || !isDigit(b[j]) {
			if a[i] != b[j] {
				return int(a[i]) - int(b[j])
			}
			i, j = i+1, j+1
			continue
		}
		x, y := digitRun(a[i:]), digitRun(b[j:])
		i, j = i+len(x), j+len(y)
		vx, vy := strings.TrimLeft(x, "0"), strings.TrimLeft(y, "0")
		if len(vx) != len(vy) {
			return len(vx) - len(vy)
		}
		if c := strings.Compare(vx, vy); c != 0 {
			return c
		}
		if padding == 0 {
			padding = len(x) - len(y)
		}
	}
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// digitRun returns the digits s begins with.
func digitRun(s string) string {
	n := 0
	for n < len(s) && isDigit(s[n]) {
		n++
	}
	return s[:n]
}
