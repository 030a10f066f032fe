package inventory

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/fabricbot/fabricbot/fabric"
	"github.com/fabricbot/fabricbot/internal/strictyaml"
)

// readINI reads sections [group], [group:children] and [group:vars]; hosts before the first section belong to no group.
func (t *ansibleTree) readINI(text []byte) error {
	group, kind := "ungrouped", ""
	number := 0
	for line := range strings.SplitSeq(string(text), "\n") {
		number++
		if err := t.readLine(strings.TrimSpace(line), &group, &kind); err != nil {
			return fmt.Errorf("line %d: %w", number, err)
		}
	}
	return nil
}

func (t *ansibleTree) readLine(line string, group, kind *string) error {
	if line == "" || line[0] == '#' || line[0] == ';' {
		return nil
	}
	if line[0] == '[' && strings.HasSuffix(uncommented(line), "]") && !strings.Contains(line, "=") {
		section := strings.Trim(uncommented(line), "[]")
		*group, *kind, _ = strings.Cut(section, ":")
		if *group == "" || *kind != "" && *kind != "children" && *kind != "vars" {
			return fmt.Errorf("section %.80q is not of the form [group], [group:children] or [group:vars]", section)
		}
		t.group(*group)
		return nil
	}
	if *kind == "vars" {
		key, value, found := strings.Cut(line, "=")
		if !found {
			return errors.New("a variable without =")
		}
		t.group(*group).vars[strings.TrimSpace(key)] = unquoted(strings.TrimSpace(value))
		return nil
	}
	words, err := iniWords(line)
	if err != nil {
		return err
	}
	if len(words) == 0 {
		return nil
	}
	if *kind == "children" {
		t.group(words[0])
		t.group(*group).children = append(t.group(*group).children, words[0])
		return nil
	}
	vars := map[string]string{}
	for _, word := range words[1:] {
		key, value, found := strings.Cut(word, "=")
		if !found {
			return fmt.Errorf("word %d after the host is not of the form key=value", slices.Index(words, word))
		}
		vars[key] = value
	}
	name := words[0]
	// name:port, but not the colon of a range
	if host, port, found := strings.Cut(name[strings.LastIndex(name, "]")+1:], ":"); found {
		vars["ansible_port"] = port
		name = name[:strings.LastIndex(name, "]")+1] + host
	}
	return t.addHosts(*group, name, vars)
}

func uncommented(line string) string {
	before, _, _ := strings.Cut(line, " #")
	return strings.TrimSpace(before)
}

func unquoted(value string) string {
	if len(value) > 1 && (value[0] == '"' || value[0] == '\'') && value[len(value)-1] == value[0] {
		return value[1 : len(value)-1]
	}
	return value
}

// iniWords splits a line at spaces outside quotes, up to a remark.
func iniWords(line string) ([]string, error) {
	var words []string
	var word strings.Builder
	inWord, quote := false, rune(0)
	for _, r := range line {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '"' || r == '\'':
			inWord, quote = true, r
		case r == '#' && !inWord:
			return words, nil
		case r == ' ' || r == '\t':
			if inWord {
				words = append(words, word.String())
				word.Reset()
			}
			inWord = false
		default:
			inWord = true
			word.WriteRune(r)
		}
	}
	if quote != 0 {
		return nil, errors.New("a quotation that does not end")
	}
	if inWord {
		words = append(words, word.String())
	}
	return words, nil
}

// yamlGroup is a group in the YAML form. What else stands in it is for Ansible alone.
type yamlGroup struct {
	Hosts    map[string]map[string]any `yaml:"hosts"`
	Children map[string]*yamlGroup     `yaml:"children"`
	Vars     map[string]any            `yaml:"vars"`
}

func (t *ansibleTree) readYAML(text []byte) error {
	var groups map[string]*yamlGroup
	doc, err := strictyaml.Parse("YAML", text)
	if err != nil {
		return err
	}
	if err := doc.DecodeLoosely(&groups); err != nil {
		return err
	}
	return t.addYAML("", groups)
}

func (t *ansibleTree) addYAML(parent string, groups map[string]*yamlGroup) error {
	for name, group := range groups {
		own := t.group(name)
		if parent != "" {
			t.group(parent).children = append(t.group(parent).children, name)
		}
		if group == nil {
			continue
		}
		for key, value := range scalars(group.Vars) {
			own.vars[key] = value
		}
		for pattern, vars := range group.Hosts {
			if err := t.addHosts(name, pattern, scalars(vars)); err != nil {
				return err
			}
		}
		if err := t.addYAML(name, group.Children); err != nil {
			return err
		}
	}
	return nil
}

// scalars keeps the variables that are a word or a number.
func scalars(vars map[string]any) map[string]string {
	words := map[string]string{}
	for key, value := range vars {
		switch v := value.(type) {
		case string:
			words[key] = v
		case uint64, int64, int:
			words[key] = fmt.Sprint(v)
		}
	}
	return words
}

// maxPattern bounds a host with ranges, in octets; what it expands to is bounded by names and their length.
const maxPattern = 300

var ansibleRange = regexp.MustCompile(`\[(\w+):(\w+)(?::(\d+))?\]`)

// expandAnsible expands ranges such as node[01:16], node[1:9:2] and rack-[a:f], both ends included.
func expandAnsible(pattern string) ([]string, error) {
	names := []string{pattern}
	for {
		at := ansibleRange.FindStringSubmatchIndex(names[0])
		if at == nil {
			return names, nil
		}
		m := ansibleRange.FindStringSubmatch(names[0])
		values, err := rangeValues(m[1], m[2], m[3])
		if err != nil {
			return nil, fmt.Errorf("host %.80q: %w", pattern, err)
		}
		if len(names)*len(values) > fabric.MaxHosts || len(pattern) > maxPattern {
			return nil, fmt.Errorf("host %.80q stands for more than %d", pattern, fabric.MaxHosts)
		}
		longer := make([]string, 0, len(names)*len(values))
		for _, name := range names {
			// The range stands at another place in each name, but it is the first in all of them.
			at := ansibleRange.FindStringIndex(name)
			for _, value := range values {
				longer = append(longer, name[:at[0]]+value+name[at[1]:])
			}
		}
		names = longer
	}
}

func rangeValues(lo, hi, stride string) ([]string, error) {
	step := uint64(1)
	if stride != "" {
		n, err := strconv.ParseUint(stride, 10, 16)
		if err != nil || n == 0 {
			return nil, fmt.Errorf("a step of %s", stride)
		}
		step = n
	}
	first, errLo := strconv.ParseUint(lo, 10, 32)
	last, errHi := strconv.ParseUint(hi, 10, 32)
	width := 0
	switch {
	case errLo == nil && errHi == nil:
		if lo[0] == '0' {
			width = len(lo)
		}
	case len(lo) == 1 && len(hi) == 1 && lo >= "a" && hi <= "z":
		first, last = uint64(lo[0]), uint64(hi[0])
	default:
		return nil, fmt.Errorf("range %s:%s is not of numbers or of small letters", lo, hi)
	}
	if last < first || (last-first)/step >= fabric.MaxHosts {
		return nil, fmt.Errorf("range %s:%s runs backwards or stands for more than %d", lo, hi, fabric.MaxHosts)
	}
	var values []string
	for n := first; n <= last; n += step {
		if errLo != nil {
			values = append(values, string(rune(n)))
			continue
		}
		values = append(values, fmt.Sprintf("%0*d", width, n))
	}
	return values, nil
}
