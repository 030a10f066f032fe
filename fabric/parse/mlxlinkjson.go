package parse

import (
	"encoding/json"
	"strings"
)

// jsonLevel is an open object or array and the key it stands under.
type jsonLevel struct {
	key   string
	array bool
}

// json reads the --json form, which has the text form's sections and labels
// under result and output. The document may end anywhere, so it is read token
// by token.
func (rep *MLXLinkReport) json(document string) bool {
	rep.Format = "json"
	dec := json.NewDecoder(strings.NewReader(document))
	dec.UseNumber()
	var open []jsonLevel
	var list []string // of the open array
	key, known := "", false
	for {
		token, err := dec.Token()
		if err != nil {
			rep.Incomplete = len(open) > 0
			return known
		}
		delim, isDelim := token.(json.Delim)
		inArray := len(open) > 0 && open[len(open)-1].array
		switch {
		case isDelim && (delim == '{' || delim == '['):
			if delim == '{' && len(open) == 3 {
				rep.section(key)
			}
			open = append(open, jsonLevel{key, delim == '['})
			key, list = "", nil
		case isDelim:
			closed := open[len(open)-1]
			open = open[:len(open)-1]
			if closed.array {
				known = rep.jsonField(open, closed.key, strings.Join(list, ",")) || known
				list = nil
			}
			key = ""
		case inArray:
			list = append(list, jsonText(token))
		case key == "":
			key = jsonText(token)
		default:
			known = rep.jsonField(open, key, jsonText(token)) || known
			key = ""
		}
	}
}

func jsonText(token json.Token) string {
	switch t := token.(type) {
	case string:
		return t
	case json.Number:
		return t.String()
	case bool:
		if t {
			return "true"
		}
		return "false"
	}
	return ""
}

// jsonField takes a scalar or a list. An object inside a section is one
// label's mask and values.
func (rep *MLXLinkReport) jsonField(open []jsonLevel, key, value string) bool {
	if len(open) > 0 && open[len(open)-1].key == "status" {
		if key == "message" && value != "" && !strings.EqualFold(value, "success") {
			rep.failed(&rep.Trouble, value)
		}
		return key == "message" || key == "code"
	}
	switch {
	case len(open) == 5 && key == "values":
		key = open[4].key
	case len(open) != 4:
		return false
	}
	return rep.port(key).field(key, value)
}
