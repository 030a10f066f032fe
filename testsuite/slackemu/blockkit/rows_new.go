package blockkit

import (
	"encoding/json"
	"unicode/utf8"
)

// Blocks that roll out in phases (2025 and 2026). Their limits moved while
// they were new; the lower published number is taken.

// maxTableRunes caps all cells of a table together.
const maxTableRunes = 10_000

var (
	inContainer = set([]string{
		"section", "header", "context", "actions", "divider", "image", "rich_text", "markdown",
		"table", "data_table", "data_visualization", "video", "input",
	})
	inLayout = set([]string{"section", "header", "context", "actions", "divider", "image", "rich_text", "card"})
)

func inner(only map[string]bool) check {
	return func(v *walk, at string, val any) { v.block(at, val, only) }
}

func newRows() map[string]row {
	icon := element(map[string]bool{"image": true})
	card := block(fields{
		"hero_image": icon, "icon": icon, "title": rich(1, 150), "subtitle": rich(1, 150),
		"body": rich(1, 200), "subtext": rich(1, 200), "actions": list(1, 3, element(inCard)),
		"slack_icon": asObject(&row{fields: fields{"type": need(enum("icon")), "name": need(anyID)}}),
	})
	task := block(fields{
		"task_id": need(anyID), "title": need(text(1, 255)),
		"status":  need(enum("pending", "in_progress", "complete", "error")),
		"details": richTextBlock, "output": richTextBlock, "hide_title": boolean,
		"sources": list(0, 20, asObject(&row{fields: fields{
			"type": need(enum("url")), "url": need(link(3000)), "text": need(text(1, 255)),
		}})),
	})
	return map[string]row{
		"table": on(messageOnly, also(block(fields{
			"rows": need(list(1, 100, list(1, 20, cell))),
			"column_settings": list(0, 20, asObject(&row{fields: fields{
				"align": enum("left", "center", "right"), "is_wrapped": boolean,
			}})),
		}), func(v *walk, at string, obj map[string]any) {
			v.tables++
			if n := cellRunes(obj["rows"]); n > maxTableRunes {
				v.add(at+"/rows", "must be less than %d characters over all cells", maxTableRunes+1)
			}
		})),
		"data_table": on(messageOnly, also(block(fields{
			"caption": need(text(1, 255)), "rows": need(list(2, 101, list(1, 20, dataCell))),
			"page_size": integer(1, 100), "row_header_column_index": integer(0, 19),
		}), dataTableShape)),
		"data_visualization": on(notModal, block(fields{"title": need(text(1, 50)), "chart": need(chart)})),
		"container": on(notModal, also(block(fields{
			"title": plain(1, 150), "rich_text_title": richTextBlock, "subtitle": plain(1, 150), "icon": icon,
			"width": enum("narrow", "standard", "wide", "full"), "is_collapsible": boolean,
			"default_collapsed": boolean, "has_header_divider": boolean,
			"child_blocks": need(list(1, 10, inner(inContainer))),
		}), containerFlags)),
		"layout": block(fields{
			"label": need(text(1, 150)), "is_label_visible": boolean, "grid_lines": enum("none", "rows", "outer"),
			"rows": need(list(1, 5, asObject(&row{fields: fields{"items": need(list(1, 3, asObject(&row{fields: fields{
				"block": need(inner(inLayout)), "width": enum("narrow", "standard", "wide"),
				"horizontal_alignment": enum("start", "center", "end"),
			}})))}}))),
			"fallback": need(list(1, 50, inner(inContainer))),
		}),
		"card": on(notModal, also(card, func(v *walk, at string, obj map[string]any) {
			if obj["title"] == nil && obj["body"] == nil && obj["hero_image"] == nil && obj["actions"] == nil {
				v.add(at, "missing required field: title, body, hero_image or actions")
			}
		})),
		"carousel":  on(notModal, block(fields{"elements": need(list(1, 10, inner(set([]string{"card"}))))})),
		"alert":     on(modalOnly, block(fields{"text": need(rich(1, 200)), "level": enum("default", "info", "warning", "error", "success")})),
		"task_card": on(messageOnly, task),
		"plan":      on(messageOnly, block(fields{"title": need(text(1, 255)), "tasks": list(0, 50, inner(set([]string{"task_card"})))})),
		"context_actions": on(messageOnly, block(fields{
			"elements": need(list(1, 5, element(inContextActions))),
		})),
	}
}

func containerFlags(v *walk, at string, obj map[string]any) {
	if (obj["title"] == nil) == (obj["rich_text_title"] == nil) {
		v.add(at, "must provide exactly one of: title, rich_text_title")
	}
	if obj["default_collapsed"] == true && obj["is_collapsible"] != true {
		v.add(at+"/default_collapsed", "only allowed when is_collapsible is true")
	}
	if obj["has_header_divider"] == true && obj["is_collapsible"] == true {
		v.add(at+"/has_header_divider", "not allowed when is_collapsible is true")
	}
}

func intOf(val any) (int64, bool) {
	n, ok := val.(json.Number)
	if !ok {
		return 0, false
	}
	i, err := n.Int64()
	return i, err == nil
}

// shownRunes counts the text a reader sees in a value, at any depth.
func shownRunes(val any) int {
	switch x := val.(type) {
	case []any:
		n := 0
		for _, e := range x {
			n += shownRunes(e)
		}
		return n
	case map[string]any:
		n := 0
		for k, e := range x {
			if s, ok := e.(string); ok {
				if k == "text" || k == "title" || k == "caption" || k == "label" {
					n += utf8.RuneCountInString(s)
				}
				continue
			}
			n += shownRunes(e)
		}
		if num, ok := x["value"].(json.Number); ok && x["text"] == nil {
			n += len(num)
		}
		return n
	}
	return 0
}

// headerOverhead is what a header adds beyond its own text; measured by others
// against msg_blocks_too_long (slackapi/bolt-js#2509).
const headerOverhead = 100

// ShownRunes counts the text of a message's blocks as the undocumented
// msg_blocks_too_long does.
func ShownRunes(blocks []any) int {
	n := shownRunes(blocks)
	for _, b := range blocks {
		if o, _ := b.(map[string]any); o["type"] == "header" {
			n += headerOverhead
		}
	}
	return n
}
