package templates

import (
	"fmt"
	"reflect"
)

// finding is what a result says about one thing; Action is what to do next.
type finding struct{ Severity, Text, Action string }

// summary is the Summary of any operation's result. Results arrive with their
// type, or as a decoded JSON object where this program does not know it.
func summary(result any) string {
	if s, ok := member(result, "Summary", "summary").(string); ok {
		return s
	}
	return ""
}

// findings are the Findings of any operation's result, the gravest first as the
// operation ordered them.
func findings(result any) []finding {
	v := reflect.ValueOf(member(result, "Findings", "findings"))
	if v.Kind() != reflect.Slice {
		return nil
	}
	var out []finding
	for i := range v.Len() {
		item := v.Index(i).Interface()
		out = append(out, finding{
			Severity: text(member(item, "Severity", "severity")),
			Text:     text(member(item, "Text", "text")),
			Action:   text(member(item, "Action", "action")),
		})
	}
	return out
}

// lines are the Lines of any operation's result.
func lines(result any) []string {
	v := reflect.ValueOf(member(result, "Lines", "lines"))
	if v.Kind() != reflect.Slice {
		return nil
	}
	var out []string
	for i := range v.Len() {
		out = append(out, text(v.Index(i).Interface()))
	}
	return out
}

func text(v any) string {
	if v == nil {
		return ""
	}
	return fmt.Sprint(v)
}

// member reads a field of a struct or a key of a JSON object, nil if absent.
func member(v any, field, key string) any {
	r := reflect.ValueOf(v)
	for r.Kind() == reflect.Pointer || r.Kind() == reflect.Interface {
		r = r.Elem()
	}
	switch r.Kind() {
	case reflect.Struct:
		if f := r.FieldByName(field); f.IsValid() && f.CanInterface() {
			return f.Interface()
		}
	case reflect.Map:
		if r.Type().Key().Kind() != reflect.String {
			return nil
		}
		if e := r.MapIndex(reflect.ValueOf(key).Convert(r.Type().Key())); e.IsValid() {
			return e.Interface()
		}
	}
	return nil
}

// last gives the last n elements of a list, take the first n, rest how many
// take leaves out.
func last(n int, list any) (any, error) {
	v := reflect.ValueOf(list)
	if !v.IsValid() {
		return nil, nil
	}
	if v.Kind() != reflect.Slice {
		return nil, fmt.Errorf("last of a %T, want a list", list)
	}
	return v.Slice(max(0, v.Len()-n), v.Len()).Interface(), nil
}

func take(n int, list any) (any, error) {
	v := reflect.ValueOf(list)
	if !v.IsValid() {
		return nil, nil
	}
	if v.Kind() != reflect.Slice {
		return nil, fmt.Errorf("the first of a %T, want a list", list)
	}
	return v.Slice(0, min(n, v.Len())).Interface(), nil
}

func rest(n int, list any) int {
	v := reflect.ValueOf(list)
	if v.Kind() != reflect.Slice {
		return 0
	}
	return max(0, v.Len()-n)
}
