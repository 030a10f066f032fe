package redact

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// secretField matches the key of a log field whose value is never written, whatever it looks like.
var secretField = regexp.MustCompile(`(?i)^` + secretWord + `$`)

// Core returns a zap core that hands every entry on to next with its message, its stack and all its fields redacted.
func (r *Redactor) Core(next zapcore.Core) zapcore.Core { return core{Core: next, redactor: r} }

// WrapCore is Core as an option for a logger that exists already.
func (r *Redactor) WrapCore() zap.Option { return zap.WrapCore(r.Core) }

type core struct {
	zapcore.Core
	redactor *Redactor
}

func (c core) With(fields []zapcore.Field) zapcore.Core {
	return core{Core: c.Core.With(c.fields(fields)), redactor: c.redactor}
}

func (c core) Check(entry zapcore.Entry, checked *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	if c.Enabled(entry.Level) {
		return checked.AddCore(entry, c)
	}
	return checked
}

func (c core) Write(entry zapcore.Entry, fields []zapcore.Field) error {
	entry.Message = c.redactor.String(entry.Message)
	entry.Stack = c.redactor.String(entry.Stack)
	entry.LoggerName = c.redactor.String(entry.LoggerName)
	return c.Core.Write(entry, c.fields(fields))
}

func (c core) fields(fields []zapcore.Field) []zapcore.Field {
	out := make([]zapcore.Field, 0, len(fields))
	for _, f := range fields {
		out = append(out, c.field(f)...)
	}
	return out
}

// field redacts one field; an inlined object becomes several. Fields that hold a number, a time or a truth value go through.
func (c core) field(f zapcore.Field) []zapcore.Field {
	switch f.Type {
	case zapcore.NamespaceType, zapcore.SkipType:
		return []zapcore.Field{f}
	case zapcore.BoolType, zapcore.DurationType, zapcore.TimeType, zapcore.TimeFullType, zapcore.Float64Type, zapcore.Float32Type,
		zapcore.Complex128Type, zapcore.Complex64Type, zapcore.Int64Type, zapcore.Int32Type, zapcore.Int16Type, zapcore.Int8Type,
		zapcore.Uint64Type, zapcore.Uint32Type, zapcore.Uint16Type, zapcore.Uint8Type, zapcore.UintptrType:
		if !secretField.MatchString(f.Key) {
			return []zapcore.Field{f}
		}
	case zapcore.StringType:
		return []zapcore.Field{c.text(f.Key, f.String)}
	}
	// Everything else is first turned into plain values by zap itself, which also guards against panics in Error and String.
	encoder := zapcore.NewMapObjectEncoder()
	f.AddTo(encoder)
	keys := make([]string, 0, len(encoder.Fields))
	for key := range encoder.Fields {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	out := make([]zapcore.Field, 0, len(keys))
	for _, key := range keys {
		if text, ok := encoder.Fields[key].(string); ok {
			out = append(out, c.text(key, text))
			continue
		}
		out = append(out, zap.Reflect(key, c.value(key, encoder.Fields[key])))
	}
	return out
}

func (c core) text(key, text string) zapcore.Field {
	if secretField.MatchString(key) && !reference.MatchString(text) {
		return zap.String(key, mark("value"))
	}
	return zap.String(key, c.redactor.String(text))
}

// value redacts any value by way of its JSON, because that is the form in which it would be written.
func (c core) value(key string, value any) any {
	if secretField.MatchString(key) {
		return mark("value")
	}
	encoded, err := json.Marshal(value)
	if err != nil {
		return c.redactor.String(fmt.Sprint(value))
	}
	decoder := json.NewDecoder(bytes.NewReader(encoded))
	decoder.UseNumber() // a GUID must not come out rounded
	var plain any
	if err := decoder.Decode(&plain); err != nil {
		return c.redactor.String(string(encoded))
	}
	return c.walk(plain)
}

func (c core) walk(value any) any {
	switch v := value.(type) {
	case string:
		return c.redactor.String(v)
	case []any:
		for i := range v {
			v[i] = c.walk(v[i])
		}
	case map[string]any:
		for key, inner := range v {
			if text, ok := inner.(string); ok && secretField.MatchString(key) && !reference.MatchString(text) {
				v[key] = mark("value")
				continue
			}
			v[key] = c.walk(inner)
		}
	}
	return value
}
