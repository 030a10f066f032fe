package blockkit

import "unicode/utf8"

// Blocks that every client renders: docs.slack.dev/reference/block-kit/blocks.
// Younger types stand in rows_new.go.

// maxMarkdown is the cap over all markdown blocks of one payload, in runes.
const maxMarkdown = 12_000

var (
	notModal      = map[Surface]bool{Message: true, Home: true}
	nowhereToSend = map[Surface]bool{}
)

// block makes the row of a block: type and block_id plus its own properties.
func block(own fields) row {
	f := fields{"type": need(text(1, 50)), "block_id": text(1, 255)}
	for k, c := range own {
		f[k] = c
	}
	return row{fields: f}
}

func also(r row, more func(v *walk, at string, obj map[string]any)) row {
	r.also = more
	return r
}

var blockRows map[string]row

func init() {
	blockRows = map[string]row{
		"divider": block(fields{}),
		"section": also(block(fields{
			"text": rich(1, 3000), "fields": list(1, 10, rich(1, 2000)),
			"accessory": element(inSection), "expand": boolean,
		}), func(v *walk, at string, obj map[string]any) {
			if obj["text"] == nil && obj["fields"] == nil {
				v.add(at, "missing required field: text or fields")
			}
		}),
		"header":  block(fields{"text": need(plain(1, 150)), "level": integer(1, 4)}),
		"context": block(fields{"elements": need(list(1, 10, contextElement))}),
		"actions": block(fields{"elements": need(list(1, 25, element(inActions)))}),
		"image": also(block(fields{
			"image_url": imageLink, "alt_text": need(text(1, 2000)), "title": plain(1, 2000),
			"slack_file": asObject(&slackFileRow),
		}), oneImageSource),
		"input": also(block(fields{
			"label": need(plain(1, 2000)), "element": need(element(inInput)), "hint": plain(1, 2000),
			"optional": boolean, "dispatch_action": boolean,
		}), func(v *walk, at string, obj map[string]any) {
			v.inputs++
			minMax(v, at+"/element", obj["element"])
		}),
		"rich_text": block(fields{"elements": need(list(0, 1000, richTextElement))}),
		"markdown": on(messageOnly, also(block(fields{"text": need(text(1, maxMarkdown))}),
			func(v *walk, _ string, obj map[string]any) {
				s, _ := obj["text"].(string)
				v.markdown += utf8.RuneCountInString(s)
			})),
		"video": block(fields{
			"alt_text": need(text(1, 2000)), "title": need(plain(1, 199)), "video_url": need(link(3000)),
			"thumbnail_url": need(link(3000)), "title_url": link(3000), "description": plain(1, 200),
			"author_name": text(1, 49), "provider_name": text(1, 49), "provider_icon_url": link(3000),
		}),
		// Remote files are shown by Slack itself; an app cannot send this block.
		"file": on(nowhereToSend, block(fields{"external_id": need(anyID), "source": need(enum("remote"))})),
	}
	for kind, r := range newRows() {
		blockRows[kind] = r
	}
}

func contextElement(v *walk, at string, val any) {
	obj, _ := val.(map[string]any)
	if obj["type"] == "image" {
		element(map[string]bool{"image": true})(v, at, val)
		return
	}
	rich(1, 3000)(v, at, val)
}

// minMax refuses an input whose shortest answer is longer than its longest.
func minMax(v *walk, at string, val any) {
	obj, _ := val.(map[string]any)
	low, okLow := intOf(obj["min_length"])
	high, okHigh := intOf(obj["max_length"])
	if okLow && okHigh && low > high {
		v.add(at, "min_length must not be greater than max_length")
	}
}

// Rich text: docs.slack.dev/reference/block-kit/blocks/rich-text-block.

func richTextBlock(v *walk, at string, val any) {
	v.block(at, val, map[string]bool{"rich_text": true})
}

var (
	styleRow = row{fields: fields{
		"bold": boolean, "italic": boolean, "strike": boolean, "code": boolean, "underline": boolean,
		"highlight": boolean, "client_highlight": boolean, "unlink": boolean,
	}}
	style = asObject(&styleRow)

	inlineRows = map[string]fields{
		"text":      {"text": need(text(1, 3000*4))},
		"link":      {"url": need(link(3000)), "text": text(0, 3000), "unsafe": boolean},
		"user":      {"user_id": need(anyID)},
		"usergroup": {"usergroup_id": need(anyID)},
		"channel":   {"channel_id": need(anyID)},
		"team":      {"team_id": need(anyID)},
		"emoji":     {"name": need(text(1, 255)), "unicode": text(0, 100), "skin_tone": integer(0, 6)},
		"broadcast": {"range": need(enum("here", "channel", "everyone"))},
		"color":     {"value": need(form(hexColor, "hex color"))},
		"date": {
			"timestamp": need(integer(1, 99_999_999_999)), "format": need(text(1, 255)),
			"url": link(3000), "fallback": text(1, 3000),
		},
		"tag": {"text": need(text(1, 255)), "color": text(1, 50)},
	}
)

func inline(v *walk, at string, val any) {
	obj, ok := val.(map[string]any)
	kind, _ := obj["type"].(string)
	own, known := inlineRows[kind]
	if !ok || !known {
		v.add(at+"/type", "unsupported type: %s", kind)
		return
	}
	f := fields{"type": need(text(1, 50)), "style": style}
	for k, c := range own {
		f[k] = c
	}
	v.object(row{fields: f}, at, obj)
}

var richRows = map[string]fields{
	"rich_text_section":      {"elements": need(list(0, 1000, inline))},
	"rich_text_quote":        {"elements": need(list(0, 1000, inline)), "border": integer(0, 1)},
	"rich_text_preformatted": {"elements": need(list(0, 1000, inline)), "border": integer(0, 1), "language": text(1, 50)},
	"rich_text_list": {
		"elements": need(list(0, 1000, listItem)), "style": need(enum("bullet", "ordered")),
		"indent": integer(0, 8), "border": integer(0, 1), "offset": integer(0, 10_000),
	},
}

func richTextElement(v *walk, at string, val any) {
	obj, ok := val.(map[string]any)
	kind, _ := obj["type"].(string)
	own, known := richRows[kind]
	if !ok || !known {
		v.add(at+"/type", "unsupported type: %s", kind)
		return
	}
	f := fields{"type": need(text(1, 50))}
	for k, c := range own {
		f[k] = c
	}
	v.object(row{fields: f}, at, obj)
}

func listItem(v *walk, at string, val any) {
	obj, ok := val.(map[string]any)
	if !ok || obj["type"] != "rich_text_section" {
		v.add(at+"/type", "must be rich_text_section")
		return
	}
	v.object(row{fields: fields{
		"type": need(text(1, 50)), "elements": need(list(0, 1000, inline)),
	}}, at, obj)
}
