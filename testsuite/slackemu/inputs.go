package slackemu

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// findElement looks for an element by action_id, and by block_id when given.
func findElement(blocks []any, blockID, actionID string) (block, element map[string]any) {
	var elementIn func(v any) map[string]any
	elementIn = func(v any) map[string]any {
		switch x := v.(type) {
		case map[string]any:
			if id, _ := x["action_id"].(string); id == actionID && id != "" {
				return x
			}
			for k, e := range x {
				if k == "child_blocks" {
					continue
				}
				if found := elementIn(e); found != nil {
					return found
				}
			}
		case []any:
			for _, e := range x {
				if found := elementIn(e); found != nil {
					return found
				}
			}
		}
		return nil
	}
	for _, b := range blocks {
		obj, _ := b.(map[string]any)
		if children, ok := obj["child_blocks"].([]any); ok {
			if cb, ce := findElement(children, blockID, actionID); ce != nil {
				return cb, ce
			}
		}
		if id, _ := obj["block_id"].(string); blockID != "" && id != blockID {
			continue
		}
		if e := elementIn(obj); e != nil {
			return obj, e
		}
	}
	return nil, nil
}

// action is one entry of "actions" in a block_actions payload.
func (s *Server) action(block, element map[string]any, value any) (map[string]any, error) {
	a := map[string]any{
		"type": element["type"], "action_id": element["action_id"], "block_id": block["block_id"], "action_ts": s.ts(),
	}
	kind, _ := element["type"].(string)
	if kind == "button" || kind == "icon_button" || kind == "workflow_button" {
		for _, k := range []string{"value", "style", "text", "url"} {
			if element[k] != nil {
				a[k] = clone(element[k])
			}
		}
		return a, nil
	}
	state, err := stateOf(element, value)
	for k, v := range state {
		a[k] = v
	}
	return a, err
}

// single names the property of each element that carries one chosen value.
var single = map[string]string{
	"users_select": "selected_user", "channels_select": "selected_channel", "conversations_select": "selected_conversation",
	"datepicker": "selected_date", "timepicker": "selected_time",
	"plain_text_input": "value", "email_text_input": "value", "url_text_input": "value", "number_input": "value",
}

// several does the same for elements with many.
var several = map[string]string{
	"multi_users_select": "selected_users", "multi_channels_select": "selected_channels",
	"multi_conversations_select": "selected_conversations",
}

// stateOf turns what a person entered into an element's state entry.
func stateOf(element map[string]any, value any) (map[string]any, error) {
	kind, _ := element["type"].(string)
	st := map[string]any{"type": kind}
	switch kind {
	case "static_select", "external_select", "radio_buttons", "overflow":
		want, _ := value.(string)
		if want == "" {
			st["selected_option"] = nil
			return st, nil
		}
		o := optionWith(element, want)
		if o == nil {
			return nil, fmt.Errorf("no option with value %q", want)
		}
		st["selected_option"] = o
	case "checkboxes", "multi_static_select", "multi_external_select":
		chosen := []any{}
		for _, want := range words(value) {
			o := optionWith(element, want)
			if o == nil {
				return nil, fmt.Errorf("no option with value %q", want)
			}
			chosen = append(chosen, o)
		}
		st["selected_options"] = chosen
	case "datetimepicker":
		n, _ := strconv.ParseInt(fmt.Sprint(value), 10, 64)
		st["selected_date_time"] = n
	default:
		if k, ok := several[kind]; ok {
			list := []any{}
			for _, w := range words(value) {
				list = append(list, w)
			}
			st[k] = list
			return st, nil
		}
		k, ok := single[kind]
		if !ok {
			return nil, fmt.Errorf("cannot enter a value into a %s", kind)
		}
		if text, _ := value.(string); text != "" {
			st[k] = text
		} else {
			st[k] = nil
		}
	}
	return st, nil
}

func words(value any) []string {
	switch x := value.(type) {
	case []string:
		return x
	case string:
		if x != "" {
			return []string{x}
		}
	case []any:
		var out []string
		for _, e := range x {
			out = append(out, fmt.Sprint(e))
		}
		return out
	}
	return nil
}

func optionWith(element map[string]any, value string) any {
	list, _ := element["options"].([]any)
	groups, _ := element["option_groups"].([]any)
	for _, g := range groups {
		obj, _ := g.(map[string]any)
		more, _ := obj["options"].([]any)
		list = append(list[:len(list):len(list)], more...)
	}
	for _, o := range list {
		if obj, _ := o.(map[string]any); obj["value"] == value {
			return clone(obj)
		}
	}
	return nil
}

// initial is what an element holds before anybody touches it.
func initial(element map[string]any) any {
	for _, k := range []string{
		"initial_value", "initial_date", "initial_time", "initial_user", "initial_channel", "initial_conversation",
		"initial_users", "initial_channels", "initial_conversations",
	} {
		if element[k] != nil {
			return element[k]
		}
	}
	if n, ok := element["initial_date_time"].(json.Number); ok {
		return n.String()
	}
	if o, ok := element["initial_option"].(map[string]any); ok {
		return o["value"]
	}
	if list, ok := element["initial_options"].([]any); ok {
		var out []string
		for _, o := range list {
			obj, _ := o.(map[string]any)
			out = append(out, fmt.Sprint(obj["value"]))
		}
		return out
	}
	return nil
}

// initialState is state.values of a message: stateful elements with what they
// hold, the one just used with what was chosen.
func initialState(blocks []any, action map[string]any) map[string]any {
	values := map[string]any{}
	put := func(blockID any, id string, st map[string]any) {
		key := fmt.Sprint(blockID)
		inner, _ := values[key].(map[string]any)
		if inner == nil {
			inner = map[string]any{}
			values[key] = inner
		}
		inner[id] = st
	}
	for _, b := range blocks {
		obj, _ := b.(map[string]any)
		elements, _ := obj["elements"].([]any)
		for _, e := range append(elements[:len(elements):len(elements)], obj["accessory"], obj["element"]) {
			el, _ := e.(map[string]any)
			id, _ := el["action_id"].(string)
			if kind := el["type"]; id == "" || kind == "button" || kind == "overflow" {
				continue
			}
			if st, err := stateOf(el, initial(el)); err == nil {
				put(obj["block_id"], id, st)
			}
		}
	}
	if kind := action["type"]; kind != "button" && kind != "overflow" {
		st := map[string]any{}
		for k, v := range action {
			if k == "type" || k == "value" || strings.HasPrefix(k, "selected_") {
				st[k] = v
			}
		}
		put(action["block_id"], fmt.Sprint(action["action_id"]), st)
	}
	return values
}
