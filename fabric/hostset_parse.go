package fabric

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxRangeDigits keeps range bounds inside an int64.
const maxRangeDigits = 18

// hostTerm is one part of an expression between commas.
type hostTerm struct {
	column  int
	exclude bool
	group   bool
	parts   []hostPart
	count   int // how many names the parts give
	octets  int // how long the longest of them is
}

// hostPart is literal text or, when ranges is set, one bracket.
type hostPart struct {
	literal string
	ranges  []hostRange
}

// hostRange counts from lo to hi, both included, each number written with at least width digits.
type hostRange struct {
	lo, hi int64
	width  int
}

// octets is the length of the longest number in a bracket.
func (p hostPart) octets() int {
	longest := 0
	for _, r := range p.ranges {
		longest = max(longest, len(strconv.FormatInt(r.hi, 10)), r.width)
	}
	return longest
}

// expand gives the term's names; parsing has bounded their number.
func (t hostTerm) expand() []string {
	names := []string{""}
	for _, part := range t.parts {
		if part.ranges == nil {
			for i := range names {
				names[i] += part.literal
			}
			continue
		}
		var longer []string
		for _, name := range names {
			for _, r := range part.ranges {
				for n := r.lo; n <= r.hi; n++ {
					longer = append(longer, name+fmt.Sprintf("%0*d", r.width, n))
				}
			}
		}
		names = longer
	}
	return names
}

// hostParser walks over an expression.
type hostParser struct {
	expr   string
	rest   string
	column int
}

func parseHostTerms(expr string) ([]hostTerm, error) {
	p := hostParser{expr: expr, rest: expr, column: 1}
	if strings.TrimSpace(expr) == "" {
		return nil, p.fail("no host given; name hosts like node[01-08], groups like @rack7")
	}
	var terms []hostTerm
	total, included := 0, false
	for {
		p.spaces()
		t, err := p.term()
		if err != nil {
			return nil, err
		}
		if total += t.count; total > MaxHosts {
			return nil, &HostExprError{Expr: expr, Column: t.column, Reason: fmt.Sprintf("more than %d names", MaxHosts)}
		}
		included = included || !t.exclude
		terms = append(terms, t)
		p.spaces()
		if p.rest == "" {
			break
		}
		if p.rest[0] != ',' {
			return nil, p.fail("a comma is expected before %q", firstRune(p.rest))
		}
		p.skip(1)
	}
	if !included {
		return nil, &HostExprError{Expr: expr, Column: 1, Reason: "only exclusions; say first which hosts are meant, there is no implicit all"}
	}
	return terms, nil
}

func (p *hostParser) term() (hostTerm, error) {
	start := p.column
	exclude, group := p.take('!'), false
	if exclude && p.rest != "" && p.rest[0] == '!' {
		return hostTerm{}, p.fail("a second !")
	}
	group = p.take('@')
	allowed := func(r rune) bool { return isHostRune(r) || r == '.' }
	if group {
		allowed = isGroupRune
	}
	t, err := p.pattern(allowed)
	if err != nil {
		return hostTerm{}, err
	}
	t.column, t.exclude, t.group = start, exclude, group
	if group {
		return t, nil
	}
	for _, name := range t.expand() {
		if err := CheckHostName(name); err != nil {
			return hostTerm{}, &HostExprError{Expr: p.expr, Column: start, Reason: err.Error()}
		}
	}
	return t, nil
}

// pattern reads literals and brackets up to a comma, a space or the end.
func (p *hostParser) pattern(allowed func(rune) bool) (hostTerm, error) {
	t := hostTerm{count: 1}
	for p.rest != "" {
		// Checked before anything is multiplied out, so that memory stays bounded by names times octets.
		if t.octets > maxHostName {
			return t, p.fail("a name of more than %d octets", maxHostName)
		}
		r := firstRune(p.rest)
		switch {
		case r == ',' || r == ' ' || r == '\t':
			return p.nonEmpty(t)
		case r == '[':
			part, count, err := p.bracket()
			if err != nil {
				return t, err
			}
			if t.count*count > MaxHosts {
				return t, p.fail("more than %d names", MaxHosts)
			}
			t.count *= count
			t.octets += part.octets()
			t.parts = append(t.parts, part)
		case !allowed(r):
			return t, p.fail("%q is not allowed here; write names like node001, ranges like node[001-064], groups like @rack7, exclusions like !node009", r)
		default:
			n := strings.IndexFunc(p.rest, func(r rune) bool { return !allowed(r) })
			if n < 0 {
				n = len(p.rest)
			}
			t.parts = append(t.parts, hostPart{literal: p.rest[:n]})
			t.octets += n
			p.skip(n)
		}
	}
	return p.nonEmpty(t)
}

func (p *hostParser) nonEmpty(t hostTerm) (hostTerm, error) {
	switch {
	case len(t.parts) == 0:
		return t, p.fail("a name is missing")
	case t.octets > maxHostName:
		return t, p.fail("a name of more than %d octets", maxHostName)
	}
	return t, nil
}

// bracket reads [001-064,070] and says how many numbers it stands for.
func (p *hostParser) bracket() (hostPart, int, error) {
	part, count := hostPart{}, 0
	p.skip(1)
	for {
		r, err := p.rangeOf()
		if err != nil {
			return part, 0, err
		}
		if r.hi-r.lo >= MaxHosts || count+int(r.hi-r.lo)+1 > MaxHosts {
			return part, 0, p.fail("more than %d names", MaxHosts)
		}
		count += int(r.hi-r.lo) + 1
		part.ranges = append(part.ranges, r)
		switch {
		case p.take(']'):
			return part, count, nil
		case !p.take(','):
			return part, 0, p.fail("a bracket holds numbers and ranges and ends with ], like [001-064,070]")
		}
	}
}

func (p *hostParser) rangeOf() (hostRange, error) {
	start := p.column
	lo := digitRun(p.rest)
	p.skip(len(lo))
	hi := lo
	if p.take('-') {
		hi = digitRun(p.rest)
		p.skip(len(hi))
	}
	fail := func(format string, args ...any) (hostRange, error) {
		return hostRange{}, &HostExprError{Expr: p.expr, Column: start, Reason: fmt.Sprintf(format, args...)}
	}
	switch {
	case lo == "" || hi == "":
		return hostRange{}, p.fail("a number is missing; ranges are written like [001-064,070]")
	case len(lo) > maxRangeDigits || len(hi) > maxRangeDigits:
		return fail("a number of more than %d digits", maxRangeDigits)
	}
	r := hostRange{}
	// Both runs hold 1 to 18 digits, so they fit and cannot fail.
	r.lo, _ = strconv.ParseInt(lo, 10, 64)
	r.hi, _ = strconv.ParseInt(hi, 10, 64)
	if lo[0] == '0' {
		r.width = len(lo)
	}
	switch {
	case r.lo > r.hi:
		return fail("range [%s-%s] runs backwards", lo, hi)
	case len(hi) < r.width, hi[0] == '0' && len(hi) != len(lo):
		return fail("range [%s-%s] pads its ends differently", lo, hi)
	}
	return r, nil
}

func (p *hostParser) fail(format string, args ...any) error {
	return &HostExprError{Expr: p.expr, Column: p.column, Reason: fmt.Sprintf(format, args...)}
}

func (p *hostParser) take(c byte) bool {
	if p.rest == "" || p.rest[0] != c {
		return false
	}
	p.skip(1)
	return true
}

func (p *hostParser) spaces() {
	p.skip(len(p.rest) - len(strings.TrimLeft(p.rest, " \t")))
}

func (p *hostParser) skip(n int) {
	p.column += utf8.RuneCountInString(p.rest[:n])
	p.rest = p.rest[n:]
}

func isGroupRune(r rune) bool { return isHostRune(r) || r == '.' || r == '_' || r == ':' }

func firstRune(s string) rune {
	r, _ := utf8.DecodeRuneInString(s)
	return r
}
