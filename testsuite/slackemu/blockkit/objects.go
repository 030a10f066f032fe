package blockkit

import (
	"regexp"
	"strconv"
)

// Composition objects: docs.slack.dev/reference/block-kit/composition-objects.

// plain accepts a plain_text object only.
func plain(min, max int) check { return textObject(min, max, false) }

// rich accepts plain_text or mrkdwn.
func rich(min, max int) check { return textObject(min, max, true) }

func textObject(min, max int, mrkdwn bool) check {
	return func(v *walk, at string, val any) {
		obj, ok := val.(map[string]any)
		if !ok {
			v.add(at, "must provide an object")
			return
		}
		f := fields{"type": need(enum("plain_text")), "text": need(text(min, max)), "emoji": boolean}
		if mrkdwn && obj["type"] != "plain_text" {
			f = fields{"type": need(enum("plain_text", "mrkdwn")), "text": need(text(min, max)), "verbatim": boolean}
		}
		v.object(row{fields: f}, at, obj)
	}
}

var confirmRow = row{fields: fields{
	"title":   need(plain(1, 100)),
	"text":    need(rich(1, 300)),
	"confirm": need(plain(1, 30)),
	"deny":    need(plain(1, 30)),
	"style":   enum("primary", "danger"),
}}

var confirm = asObject(&confirmRow)

// option describes one choice. Mrkdwn labels exist for checkboxes and radio
// buttons only, addresses for overflow menus only.
func option(mrkdwn, address bool) check {
	r := row{fields: fields{
		"text":        need(textObject(1, 75, mrkdwn)),
		"value":       need(text(1, 150)),
		"description": textObject(1, 75, mrkdwn),
	}}
	if address {
		r.fields["url"] = link(3000)
	}
	return asObject(&r)
}

var plainOption = option(false, false)

var optionGroupRow = row{fields: fields{
	"label":   need(plain(1, 75)),
	"options": need(list(1, 100, plainOption)),
}}

var slackFileRow = row{
	fields: fields{"id": text(1, 255), "url": text(1, 3000)},
	also: func(v *walk, at string, obj map[string]any) {
		id, _ := obj["id"].(string)
		url, _ := obj["url"].(string)
		if (id == "") == (url == "") {
			v.add(at, "must provide exactly one of: id, url")
			return
		}
		if v.env.SlackFile == nil {
			return
		}
		if err := v.env.SlackFile(id, url); err != nil {
			v.add(at, "invalid slack file: %s", err)
		}
	},
}

// oneImageSource demands image_url or slack_file, not both.
func oneImageSource(v *walk, at string, obj map[string]any) {
	if (obj["image_url"] == nil) == (obj["slack_file"] == nil) {
		v.add(at, "must provide exactly one of: image_url, slack_file")
	}
}

var (
	dateForm = regexp.MustCompile(`^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$`)
	timeForm = regexp.MustCompile(`^([01]\d|2[0-3]):[0-5]\d$`)
	hexColor = regexp.MustCompile(`^#?[0-9a-fA-F]{6}$`)
)

func form(re *regexp.Regexp, what string) check {
	return func(v *walk, at string, val any) {
		if s, ok := val.(string); !ok || !re.MatchString(s) {
			v.add(at, "must provide a valid %s", what)
		}
	}
}

var dispatchRow = row{fields: fields{
	"trigger_actions_on": list(1, 2, enum("on_enter_pressed", "on_character_entered")),
}}

// focus counts elements which want the cursor: one per view.
func focus(v *walk, at string, val any) {
	boolean(v, at, val)
	if val == true {
		v.focused++
	}
}

// actionID is 1..255 runes and unique within its block.
func actionID(v *walk, at string, val any) {
	text(1, 255)(v, at, val)
	id, _ := val.(string)
	if v.actions[id] {
		v.add(at, "action_id already exists in this block: %s", id)
	}
	if v.actions != nil {
		v.actions[id] = true
	}
}

// decimal accepts a number written as a string, as number_input wants it.
func decimal(v *walk, at string, val any) {
	s, ok := val.(string)
	if !ok {
		v.add(at, "must provide a string")
		return
	}
	if _, err := strconv.ParseFloat(s, 64); err != nil {
		v.add(at, "must be a number written as a string")
	}
}
