package parse

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
)

// Field is one "Name:......value" of the infiniband-diags.
type Field struct {
	Name  string
	Value string
}

// Fields keeps the order in which the tool printed them. In JSON it is an
// object whose values are the tool's text, so that 64-bit counters survive.
type Fields []Field

// Get returns the value of the first field with this name.
func (f Fields) Get(name string) (string, bool) {
	for i := range f {
		if f[i].Name == name {
			return f[i].Value, true
		}
	}
	return "", false
}

// Uint returns a field's value as a number, decimal or with 0x; false when
// the field is absent or no number.
func (f Fields) Uint(name string) (uint64, bool) {
	v, ok := f.Get(name)
	if !ok {
		return 0, false
	}
	n, err := strconv.ParseUint(v, 0, 64)
	return n, err == nil
}

// MarshalJSON writes an object in the tool's order. Of fields with the same
// name only the last is written, since an object has each key once.
func (f Fields) MarshalJSON() ([]byte, error) {
	last := make(map[string]int, len(f))
	for i := range f {
		last[f[i].Name] = i
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // left to the encoder around this one
	b.WriteByte('{')
	for i := range f {
		if last[f[i].Name] != i {
			continue
		}
		if b.Len() > 1 {
			b.WriteByte(',')
		}
		if err := enc.Encode(f[i].Name); err != nil {
			return nil, err
		}
		b.WriteByte(':')
		if err := enc.Encode(f[i].Value); err != nil {
			return nil, err
		}
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// dotted splits "Name:.......value" and saquery's "Name.......value". The
// value may be empty and may itself begin with a dot only after the colon
// form's padding, which no tool's value does.
func dotted(line string) (Field, bool) {
	line = strings.TrimSpace(line)
	dots := strings.IndexByte(line, '.')
	if dots <= 0 {
		return Field{}, false
	}
	name, colon := strings.CutSuffix(line[:dots], ":")
	if !colon && !strings.HasPrefix(line[dots:], "..") {
		return Field{}, false
	}
	for i := 0; i < len(name); i++ {
		if c := name[i]; !isWord(c) && c != ' ' && c != '[' && c != ']' && c != '/' && c != '-' {
			return Field{}, false
		}
	}
	return Field{strings.TrimSpace(name), strings.TrimSpace(strings.TrimLeft(line[dots:], "."))}, name != ""
}

func isWord(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// keyValue splits "key: value" at the first colon and trims both; false when
// there is no colon or no key.
func keyValue(line string) (key, value string, ok bool) {
	key, value, ok = strings.Cut(strings.TrimSpace(line), ":")
	key = strings.TrimSpace(key)
	return key, strings.TrimSpace(value), ok && key != ""
}
