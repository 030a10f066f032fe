package blockkit

import (
	"encoding/json"
	"net/netip"
	"net/url"
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"
)

// check judges one JSON value found at a pointer.
type check func(v *walk, at string, val any)

// fields is the complete set of properties an object may have.
type fields map[string]any // check, or required{check}

type required struct{ check check }

func need(c check) required { return required{c} }

// row is the rule of one object type.
type row struct {
	fields   fields
	surfaces map[Surface]bool // nil: everywhere
	also     func(v *walk, at string, obj map[string]any)
}

// object applies a row. A JSON null counts as absent; Slack treats it so.
func (v *walk) object(r row, at string, obj map[string]any) {
	if v.depth++; v.depth > 20 {
		v.add(at, "nested too deeply")
		v.depth--
		return
	}
	defer func() { v.depth-- }()
	for _, name := range sortedKeys(r.fields) {
		if _, must := r.fields[name].(required); must && obj[name] == nil {
			v.add(at, "missing required field: %s", name)
		}
	}
	for _, name := range sortedKeys(obj) {
		if obj[name] == nil {
			continue
		}
		switch f := r.fields[name].(type) {
		case required:
			f.check(v, at+"/"+name, obj[name])
		case check:
			f(v, at+"/"+name, obj[name])
		case func(*walk, string, any):
			f(v, at+"/"+name, obj[name])
		default:
			v.add(at, "invalid additional property: %s", name)
		}
	}
	if r.also != nil {
		r.also(v, at, obj)
	}
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}

func asObject(r *row) check {
	return func(v *walk, at string, val any) {
		obj, ok := val.(map[string]any)
		if !ok {
			v.add(at, "must provide an object")
			return
		}
		v.object(*r, at, obj)
	}
}

// text accepts a string of min..max runes.
func text(min, max int) check {
	return func(v *walk, at string, val any) {
		s, ok := val.(string)
		if !ok {
			v.add(at, "must provide a string")
			return
		}
		v.length(at, s, min, max)
	}
}

func (v *walk) length(at, s string, min, max int) {
	switch n := utf8.RuneCountInString(s); {
	case n < min:
		v.add(at, "must be more than %d characters", min-1)
	case n > max:
		v.add(at, "must be less than %d characters", max+1)
	}
}

func boolean(v *walk, at string, val any) {
	if _, ok := val.(bool); !ok {
		v.add(at, "must provide a boolean")
	}
}

func number(v *walk, at string, val any) {
	if _, ok := val.(json.Number); !ok {
		v.add(at, "must provide a number")
	}
}

func integer(min, max int64) check {
	return func(v *walk, at string, val any) {
		n, ok := val.(json.Number)
		if !ok {
			v.add(at, "must provide a number")
			return
		}
		i, err := n.Int64()
		if err != nil || i < min || i > max {
			v.add(at, "must be an integer from %d to %d", min, max)
		}
	}
}

func enum(words ...string) check {
	return func(v *walk, at string, val any) {
		s, _ := val.(string)
		for _, w := range words {
			if s == w {
				return
			}
		}
		v.add(at, "must be one of: %s", strings.Join(words, ", "))
	}
}

func list(min, max int, each check) check {
	return func(v *walk, at string, val any) {
		items, ok := val.([]any)
		switch {
		case !ok:
			v.add(at, "must provide an array")
			return
		case len(items) < min:
			v.add(at, "no fewer than %d items allowed", min)
			return
		case len(items) > max:
			v.add(at, "no more than %d items allowed", max)
			return
		}
		for i, item := range items {
			each(v, at+"/"+strconv.Itoa(i), item)
		}
	}
}

// link accepts an absolute http or https (or mailto) address.
func link(max int) check {
	return func(v *walk, at string, val any) {
		text(1, max)(v, at, val)
		s, _ := val.(string)
		u, err := url.Parse(s)
		if err != nil || (u.Host == "" && u.Scheme != "mailto") ||
			(u.Scheme != "http" && u.Scheme != "https" && u.Scheme != "mailto" && u.Scheme != "slack") {
			v.add(at, "invalid url")
		}
	}
}

// imageLink accepts what Slack's servers could download: public https and no
// format their image proxy refuses (SVG, WebP).
func imageLink(v *walk, at string, val any) {
	text(1, 3000)(v, at, val)
	s, _ := val.(string)
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "https" || !publicHost(u.Hostname()) {
		v.add(at, "downloading image failed: must be a public https url")
		return
	}
	path := strings.ToLower(u.Path)
	if strings.HasSuffix(path, ".svg") || strings.HasSuffix(path, ".webp") {
		v.add(at, "downloading image failed: unsupported image format")
	}
}

func publicHost(host string) bool {
	if addr, err := netip.ParseAddr(host); err == nil {
		return addr.IsGlobalUnicast() && !addr.IsPrivate()
	}
	return strings.Contains(host, ".") && !strings.HasSuffix(host, ".local") &&
		!strings.HasSuffix(host, ".localhost") && !strings.HasSuffix(host, ".internal")
}
