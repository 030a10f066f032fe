package op

import (
	"encoding"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Kind is how a surface should ask for a parameter.
type Kind string

// The kinds of parameters; a form picks its widget from them.
const (
	KindText     Kind = "text"
	KindHosts    Kind = "hosts"
	KindInt      Kind = "int"
	KindBool     Kind = "bool"
	KindDuration Kind = "duration"
	KindChoice   Kind = "choice"
)

// Param describes one parameter of an operation.
type Param struct {
	Name     string   `json:"name"`
	Kind     Kind     `json:"kind"`
	Doc      string   `json:"doc"`
	Example  string   `json:"example,omitempty"`
	Default  string   `json:"default,omitempty"`
	Choices  []string `json:"choices,omitempty"`
	Required bool     `json:"required,omitempty"`
	// Positional parameters are given without a name, in declaration order.
	Positional bool `json:"positional,omitempty"`
	// Rest takes all remaining words (only the last positional may).
	Rest bool `json:"rest,omitempty"`
}

// Params binds the parameters of one operation to the fields of its input.
// Order of declaration is the order in help.
type Params struct {
	list []Param
	set  []func(string) error
}

func (p *Params) add(d Param, set func(string) error) {
	p.list = append(p.list, d)
	p.set = append(p.set, set)
}

// Text binds a string.
func (p *Params) Text(v *string, name, def, doc, example string) {
	*v = def
	p.add(Param{Name: name, Kind: KindText, Doc: doc, Example: example, Default: def}, func(s string) error { *v = s; return nil })
}

// Int binds a whole number between least and most.
func (p *Params) Int(v *int, name string, def, least, most int, doc string) {
	*v = def
	p.add(Param{Name: name, Kind: KindInt, Doc: doc, Default: strconv.Itoa(def)}, func(s string) error {
		n, err := strconv.Atoi(s)
		if err != nil {
			return fmt.Errorf("%q is not a whole number", s)
		}
		if n < least || n > most {
			return fmt.Errorf("%d is outside %d to %d", n, least, most)
		}
		*v = n
		return nil
	})
}

// Bool binds a switch that is off unless named.
func (p *Params) Bool(v *bool, name, doc string) {
	p.add(Param{Name: name, Kind: KindBool, Doc: doc}, func(s string) error {
		b, err := strconv.ParseBool(s)
		if err != nil {
			return fmt.Errorf("%q is neither true nor false", s)
		}
		*v = b
		return nil
	})
}

// Duration binds a positive time span such as 90s or 2h.
func (p *Params) Duration(v *time.Duration, name string, def time.Duration, doc string) {
	*v = def
	p.add(Param{Name: name, Kind: KindDuration, Doc: doc, Default: def.String()}, func(s string) error {
		d, err := time.ParseDuration(s)
		if err != nil {
			return fmt.Errorf("%q is not a time span such as 90s or 2h", s)
		}
		if d <= 0 {
			return errors.New("a time span must be longer than nothing")
		}
		*v = d
		return nil
	})
}

// Choice binds one of a few words.
func (p *Params) Choice(v *string, name, def string, choices []string, doc string) {
	*v = def
	p.add(Param{Name: name, Kind: KindChoice, Doc: doc, Default: def, Choices: choices}, func(s string) error {
		for _, c := range choices {
			if c == s {
				*v = s
				return nil
			}
		}
		return fmt.Errorf("%q is none of %s%s", s, strings.Join(choices, ", "), didYouMean(s, choices))
	})
}

// Var binds a type that reads itself, such as a host expression.
func (p *Params) Var(v encoding.TextUnmarshaler, name string, kind Kind, doc, example string) {
	p.add(Param{Name: name, Kind: kind, Doc: doc, Example: example}, func(s string) error {
		// Nothing in quotes is often a variable that was not set; it must not
		// mean what leaving the parameter out means.
		if strings.TrimSpace(s) == "" {
			return errors.New("is given but empty")
		}
		return v.UnmarshalText([]byte(s))
	})
}

// Require marks parameters that must be given.
func (p *Params) Require(names ...string) { p.mark(names, func(d *Param) { d.Required = true }) }

// Positional marks parameters that are given by place instead of by name.
func (p *Params) Positional(names ...string) {
	p.mark(names, func(d *Param) { d.Positional = true })
}

// Rest marks the last positional parameter as taking all remaining words.
func (p *Params) Rest(name string) {
	p.mark([]string{name}, func(d *Param) { d.Positional, d.Rest = true, true })
}

func (p *Params) mark(names []string, f func(*Param)) {
	for _, n := range names {
		for i := range p.list {
			if p.list[i].Name == n {
				f(&p.list[i])
			}
		}
	}
}

// read assigns the words and reports the first mistake as a usage error.
func (p *Params) read(e Entry, words []string) error {
	given := make([]bool, len(p.list))
	assign := func(i int, value string) error {
		d := p.list[i]
		if given[i] {
			return e.usageError(d.Name, "is given twice")
		}
		given[i] = true
		if err := p.set[i](value); err != nil {
			return e.usageError(d.Name, err.Error())
		}
		return nil
	}
	for len(words) > 0 {
		word := words[0]
		words = words[1:]
		if !strings.HasPrefix(word, "-") || word == "-" {
			i := p.nextPositional(given)
			if i < 0 {
				return e.usageError("", fmt.Sprintf("unexpected word %q", word))
			}
			if p.list[i].Rest {
				word = strings.Join(append([]string{word}, words...), " ")
				words = nil
			}
			if err := assign(i, word); err != nil {
				return err
			}
			continue
		}
		name, value, hasValue := strings.Cut(strings.TrimLeft(word, "-"), "=")
		i := p.index(name)
		if i < 0 {
			return e.usageError("", fmt.Sprintf("unknown parameter -%s%s", name, didYouMean(name, p.names())))
		}
		if !hasValue {
			switch {
			case p.list[i].Kind == KindBool:
				value = "true"
			case len(words) == 0:
				return e.usageError(name, "needs a value")
			default:
				value, words = words[0], words[1:]
			}
		}
		if err := assign(i, value); err != nil {
			return err
		}
	}
	for i, d := range p.list {
		if d.Required && !given[i] {
			return e.usageError(d.Name, "is missing")
		}
	}
	return nil
}

func (p *Params) nextPositional(given []bool) int {
	for i, d := range p.list {
		if d.Positional && !given[i] {
			return i
		}
	}
	return -1
}

func (p *Params) index(name string) int {
	for i, d := range p.list {
		if d.Name == name {
			return i
		}
	}
	return -1
}

func (p *Params) names() []string {
	names := make([]string, len(p.list))
	for i, d := range p.list {
		names[i] = d.Name
	}
	return names
}
