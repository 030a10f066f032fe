package strictyaml

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"

	"github.com/goccy/go-yaml"
)

// Keys lists the paths of all keys a struct has, with dots between them; what is inside lists and maps is left out.
func Keys(of any) []string {
	var paths []string
	var walk func(prefix string, t reflect.Type)
	walk = func(prefix string, t reflect.Type) {
		for t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		if t.Kind() != reflect.Struct || reflect.PointerTo(t).Implements(textUnmarshaler) {
			paths = append(paths, prefix)
			return
		}
		for field := range fieldsOf(t) {
			walk(strings.TrimPrefix(prefix+"."+keyOf(field), "."), field.Type)
		}
	}
	walk("", reflect.TypeOf(of))
	return paths
}

// Has says whether the file gives a value at path.
func (d *Document) Has(path string) bool {
	if d.root == nil {
		return false
	}
	selector, err := yaml.PathString("$." + path)
	if err != nil {
		return false
	}
	node, err := selector.FilterNode(d.root)
	return err == nil && node != nil
}

// Marshal writes value as YAML, for files that are made for people to edit.
func Marshal(value any) ([]byte, error) {
	var b bytes.Buffer
	encoder := yaml.NewEncoder(&b, yaml.Indent(2), yaml.IndentSequence(true))
	if err := encoder.Encode(value); err != nil {
		return nil, fmt.Errorf("writing YAML: %w", err)
	}
	return b.Bytes(), nil
}
