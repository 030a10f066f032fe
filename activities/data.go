package activities

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// Data carries a typed value as its raw JSON through places that do not know
// its type (history, queries, the chat queue). Numbers keep every digit,
// because nothing decodes them on the way.
type Data []byte

// Pack encodes a value. A value that cannot be encoded is a programming error
// and comes back as an error, not a panic.
func Pack(v any) (Data, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("packing a %T: %w", v, err)
	}
	return b, nil
}

// Unpack decodes into v, refusing fields v does not have: a worker of another
// version must not silently drop what a person asked for.
func (d Data) Unpack(v any) error {
	if len(d) == 0 {
		return errors.New("no data to unpack")
	}
	dec := json.NewDecoder(bytes.NewReader(d))
	dec.DisallowUnknownFields()
	if err := dec.Decode(v); err != nil {
		return fmt.Errorf("unpacking a %T: %w", v, err)
	}
	return nil
}

// MarshalJSON writes the raw value, null when empty.
func (d Data) MarshalJSON() ([]byte, error) {
	if len(d) == 0 {
		return []byte("null"), nil
	}
	return d, nil
}

// UnmarshalJSON keeps a copy of the raw value.
func (d *Data) UnmarshalJSON(b []byte) error {
	*d = append((*d)[:0], b...)
	if string(b) == "null" {
		*d = nil
	}
	return nil
}
