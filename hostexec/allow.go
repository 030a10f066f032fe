package hostexec

import (
	"fmt"
	"strings"
	"sync"
)

// A rule allows one shape of one or more programs. The shape is a line of
// words:
//
//	-x  --long        this option may be given
//	-x:pat            this option may be given with a value ("-x v" or "--long=v")
//	+-x  +-x:pat      the option must be given
//	word  a|b         the next positional argument is exactly this
//	<pat>             the next positional argument must match the pattern
//	[pat]  [a|b]      it may be left out (only after all required ones)
//	<pat>...  [pat]...  the last one may repeat
//
// Options may stand anywhere; whatever is not in the shape is not allowed.
// Patterns are in pattern.go.
type rule struct {
	programs string // names, space-separated; an absolute path stands for itself
	class    Class
	shape    string
}

// wrappers run another program; the inner command is classified in turn. Each
// function takes the wrapper's own arguments off the front.
var wrappers = map[string]func(args []string) (rest []string, ok bool){
	"numactl": func(a []string) ([]string, bool) {
		n := 0
		for n+1 < len(a) && (a[n] == "-N" || a[n] == "-m") && patterns["num"](a[n+1]) {
			n += 2
		}
		return a[n:], n > 0 && n < len(a)
	},
	"timeout": func(a []string) ([]string, bool) {
		if len(a) >= 2 && patterns["duration"](a[0]) {
			return a[1:], true
		}
		return nil, false
	},
}

// Classify returns the class of the command, or an error that says why it may
// not run at all. It is the only door: every transport asks it first.
func Classify(argv []string) (Class, error) {
	return classify(argv, 0)
}

func classify(argv []string, depth int) (Class, error) {
	if err := CheckArgv(argv); err != nil {
		return 0, err
	}
	table, err := compiled()
	if err != nil {
		return 0, err
	}
	if w, ok := wrappers[argv[0]]; ok && depth < 2 {
		if rest, ok := w(argv[1:]); ok {
			return classify(rest, depth+1)
		}
	}
	shapes := table[argv[0]]
	if shapes == nil {
		shapes = ownPrograms(table, argv[0])
	}
	if shapes == nil {
		return 0, fmt.Errorf("program %s: %w", argv[0], ErrNotAllowed)
	}
	var why error
	best := -1
	for _, s := range shapes {
		far, err := s.match(argv[1:])
		if err == nil {
			return s.class, nil
		}
		if far > best {
			best, why = far, err
		}
	}
	return 0, fmt.Errorf("%s: %w: %w", argv[0], why, ErrNotAllowed)
}

// ownPrograms finds the rules of programs that this product itself put on the
// host, whose directory is not fixed: the rule is under "own:NAME".
func ownPrograms(table map[string][]shape, name string) []shape {
	if !ownPath(name) {
		return nil
	}
	return table["own:"+name[strings.LastIndexByte(name, '/')+1:]]
}

type option struct {
	value    func(string) bool // nil: takes none
	required bool
}

type place struct {
	ok       func(string) bool
	text     string
	optional bool
	repeat   bool
}

type shape struct {
	class   Class
	options map[string]option
	places  []place
}

// compiled turns the table into shapes once; it never changes afterwards.
var compiled = sync.OnceValues(func() (map[string][]shape, error) {
	table := map[string][]shape{}
	for _, rules := range [][]rule{lookRules, changeRules} {
		for _, r := range rules {
			s, err := compile(r)
			if err != nil {
				return nil, err
			}
			for _, p := range strings.Fields(r.programs) {
				table[p] = append(table[p], s)
			}
		}
	}
	return table, nil
})

func compile(r rule) (shape, error) {
	s := shape{class: r.class, options: map[string]option{}}
	pattern := func(name string) (func(string) bool, error) {
		if p := patterns[name]; p != nil {
			return p, nil
		}
		return nil, fmt.Errorf("rule of %s: no pattern %q", r.programs, name)
	}
	for w := range strings.FieldsSeq(r.shape) {
		opt, required := strings.CutPrefix(w, "+")
		switch {
		case strings.HasPrefix(opt, "-"):
			name, pat, valued := strings.Cut(opt, ":")
			o := option{required: required}
			if valued {
				p, err := pattern(pat)
				if err != nil {
					return shape{}, err
				}
				o.value = p
			}
			s.options[name] = o
		default:
			p := place{text: w}
			w, p.repeat = strings.CutSuffix(w, "...")
			inner, named := strings.CutPrefix(w, "<")
			inner = strings.TrimSuffix(inner, ">")
			if rest, ok := strings.CutPrefix(w, "["); ok {
				inner, p.optional, named = strings.TrimSuffix(rest, "]"), true, true
			}
			if fn := patterns[inner]; named && fn != nil {
				p.ok = fn
			} else if named && !p.optional {
				return shape{}, fmt.Errorf("rule of %s: no pattern %q", r.programs, inner)
			} else {
				words := strings.Split(inner, "|")
				p.ok = func(a string) bool {
					for _, x := range words {
						if a == x {
							return true
						}
					}
					return false
				}
			}
			s.places = append(s.places, p)
		}
	}
	return s, nil
}

// match reports how many arguments fitted, and why the next one did not.
func (s shape) match(args []string) (int, error) {
	seen := map[string]bool{}
	at := 0
	for i := 0; i < len(args); i++ {
		a := args[i]
		if len(a) > 1 && a[0] == '-' && (at >= len(s.places) || !s.places[at].ok(a)) {
			name, value, joined := a, "", false
			if strings.HasPrefix(a, "--") {
				name, value, joined = strings.Cut(a, "=")
			}
			o, ok := s.options[name]
			if !ok {
				return i, fmt.Errorf("option %q", a)
			}
			seen[name] = true
			if o.value == nil {
				if joined {
					return i, fmt.Errorf("option %s takes no value", name)
				}
				continue
			}
			if !joined {
				if i++; i >= len(args) {
					return i, fmt.Errorf("option %s needs a value", name)
				}
				value = args[i]
			}
			if !o.value(value) {
				return i, fmt.Errorf("value %q of option %s", value, name)
			}
			continue
		}
		if at >= len(s.places) || !s.places[at].ok(a) {
			return i, fmt.Errorf("argument %q", a)
		}
		if !s.places[at].repeat {
			at++
		} else {
			// Met once: what follows is optional.
			seen[s.places[at].text] = true
		}
	}
	for ; at < len(s.places); at++ {
		if p := s.places[at]; !p.optional && !seen[p.text] {
			return len(args), fmt.Errorf("argument %s is missing", p.text)
		}
	}
	for name, o := range s.options {
		if o.required && !seen[name] && !seen[alias[name]] {
			return len(args), fmt.Errorf("option %s is missing", name)
		}
	}
	return len(args), nil
}

// alias pairs the two spellings of an option that must be given.
var alias = map[string]string{
	"-d": "--device", "--device": "-d", "-i": "--image", "--image": "-i", "-y": "--yes", "--yes": "-y",
}
