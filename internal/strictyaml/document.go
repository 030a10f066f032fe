package strictyaml

import (
	"encoding"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/fabricbot/fabricbot/fabric"
	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// Document is one parsed YAML file.
type Document struct {
	name string
	root ast.Node // nil when the file is empty
}

// Error is a mistake at a place in a file. Line and Column count from 1.
type Error struct {
	File   string
	Line   int
	Column int
	Reason string
}

func (e *Error) Error() string {
	if e.Line == 0 {
		return e.File + ": " + e.Reason
	}
	return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Column, e.Reason)
}

// Parse reads the YAML text of the file called name. Errors are *Error.
func Parse(name string, text []byte) (*Document, error) {
	file, err := parser.ParseBytes(text, 0)
	if err != nil {
		return nil, place(name, err)
	}
	doc := &Document{name: name}
	for _, d := range file.Docs {
		if d.Body == nil || d.Body.Type() == ast.CommentType || d.Body.Type() == ast.NullType {
			continue
		}
		if doc.root != nil {
			return nil, doc.fail(d.Body.GetToken(), "a second document; one file holds one")
		}
		doc.root = d.Body
	}
	if doc.root == nil {
		return doc, nil
	}
	return doc, doc.checkAliases()
}

// DecodeLoosely is Decode for files that are not ours: keys that into does not have are passed over.
func (d *Document) DecodeLoosely(into any) error {
	if d.root == nil {
		return nil
	}
	if err := yaml.NodeToValue(d.root, into); err != nil {
		return place(d.name, err)
	}
	return nil
}

// Decode fills the struct that into points to. Keys that the struct does not have are refused, all of them at once; what the file
// leaves out keeps the value it has.
func (d *Document) Decode(into any) error {
	if d.root == nil {
		return nil
	}
	if err := d.checkKeys(d.root, reflect.TypeOf(into)); err != nil {
		return err
	}
	if err := yaml.NodeToValue(d.root, into, yaml.Strict()); err != nil {
		return place(d.name, err)
	}
	return nil
}

// Errorf is an error about the value at path, such as "access.rules[0].who". Where the path itself is not in the file, the
// nearest thing around it that is gives the place.
func (d *Document) Errorf(path, format string, args ...any) error {
	reason := fmt.Sprintf(format, args...)
	if path != "" {
		reason = path + ": " + reason
	}
	for p := path; d.root != nil && p != ""; p = p[:max(0, strings.LastIndexAny(p, ".["))] {
		selector, err := yaml.PathString("$." + p)
		if err != nil {
			continue
		}
		node, err := selector.FilterNode(d.root)
		if err != nil || node == nil {
			continue
		}
		return d.fail(node.GetToken(), "%s", reason)
	}
	return &Error{File: d.name, Reason: reason}
}

func (d *Document) fail(at *token.Token, format string, args ...any) error {
	e := &Error{File: d.name, Reason: fmt.Sprintf(format, args...)}
	if at != nil && at.Position != nil {
		e.Line, e.Column = at.Position.Line, at.Position.Column
	}
	return e
}

// place turns an error of the YAML library into an *Error, without the excerpt of the source that it would print.
func place(name string, err error) error {
	var located yaml.Error
	if !errors.As(err, &located) {
		return &Error{File: name, Reason: err.Error()}
	}
	d := Document{name: name}
	return d.fail(located.GetToken(), "%s", located.GetMessage())
}

var textUnmarshaler = reflect.TypeFor[encoding.TextUnmarshaler]()

// checkKeys compares the keys of every mapping with the fields of the struct it is for.
func (d *Document) checkKeys(node ast.Node, t reflect.Type) error {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if reflect.PointerTo(t).Implements(textUnmarshaler) {
		return d.checkScalar(node, t)
	}
	switch n := node.(type) {
	case *ast.AnchorNode:
		return d.checkKeys(n.Value, t)
	case *ast.AliasNode, *ast.NullNode:
		return nil // what an alias stands for was checked where it stands, and decoding is strict too
	case *ast.SequenceNode:
		if t.Kind() != reflect.Slice {
			return d.fail(n.GetToken(), "a list is not expected here")
		}
		var found []error
		for _, value := range n.Values {
			found = append(found, d.checkKeys(value, t.Elem()))
		}
		return errors.Join(found...)
	case *ast.MappingValueNode:
		return d.checkMapping([]*ast.MappingValueNode{n}, n.GetToken(), t)
	case *ast.MappingNode:
		return d.checkMapping(n.Values, n.GetToken(), t)
	default:
		if t.Kind() != reflect.Struct {
			return d.checkScalar(node, t)
		}
		return d.fail(node.GetToken(), "keys and values are expected here: %s", strings.Join(keysOf(t), ", "))
	}
}

// checkScalar decodes one value on its own, because the library does not say where a duration or a text was that its type
// refused.
func (d *Document) checkScalar(node ast.Node, t reflect.Type) error {
	if node.Type() == ast.AliasType {
		return nil
	}
	err := yaml.NodeToValue(node, reflect.New(t).Interface())
	var located yaml.Error
	if err == nil || errors.As(err, &located) {
		return nil // with a place of its own, so decoding will tell
	}
	return d.fail(node.GetToken(), "%s", err)
}

func (d *Document) checkMapping(values []*ast.MappingValueNode, at *token.Token, t reflect.Type) error {
	switch t.Kind() {
	case reflect.Struct, reflect.Map:
	default:
		return d.fail(at, "keys and values are not expected here")
	}
	var found []error
	for _, value := range values {
		if value.Key.IsMergeKey() {
			continue // the library merges and checks it
		}
		inner := t
		if t.Kind() == reflect.Map {
			inner = t.Elem()
		} else {
			field, known := fieldOf(t, value.Key.GetToken().Value)
			if !known {
				found = append(found, d.unknown(value.Key.GetToken(), keysOf(t)))
				continue
			}
			inner = field.Type
		}
		found = append(found, d.checkKeys(value.Value, inner))
	}
	return errors.Join(found...)
}

func (d *Document) unknown(key *token.Token, known []string) error {
	if near, found := fabric.NearestName(key.Value, known); found {
		return d.fail(key, "unknown key %.60q, did you mean %s?", key.Value, near)
	}
	return d.fail(key, "unknown key %.60q; here are known: %s", key.Value, strings.Join(known, ", "))
}

func fieldOf(t reflect.Type, key string) (reflect.StructField, bool) {
	for field := range fieldsOf(t) {
		if keyOf(field) == key {
			return field, true
		}
	}
	return reflect.StructField{}, false
}

func keysOf(t reflect.Type) []string {
	var keys []string
	for field := range fieldsOf(t) {
		keys = append(keys, keyOf(field))
	}
	slices.Sort(keys)
	return keys
}

func fieldsOf(t reflect.Type) func(yield func(reflect.StructField) bool) {
	return func(yield func(reflect.StructField) bool) {
		for i := range t.NumField() {
			if field := t.Field(i); field.IsExported() && field.Tag.Get("yaml") != "-" && !yield(field) {
				return
			}
		}
	}
}

// keyOf is the key of a field: the name in its yaml tag, or its own in lower case, as the library has it.
func keyOf(field reflect.StructField) string {
	name, _, _ := strings.Cut(field.Tag.Get("yaml"), ",")
	if name == "" {
		return strings.ToLower(field.Name)
	}
	return name
}
