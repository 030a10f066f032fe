package blockkit

import "strconv"

// Cells of table and data_table.

func cell(v *walk, at string, val any) { cellOf(v, at, val, false) }

func dataCell(v *walk, at string, val any) { cellOf(v, at, val, true) }

func cellOf(v *walk, at string, val any, actions bool) {
	obj, ok := val.(map[string]any)
	kind, _ := obj["type"].(string)
	if !ok || (kind != "raw_text" && kind != "raw_number" && kind != "rich_text" && (kind != "action_cell" || !actions)) {
		v.add(at+"/type", "unsupported type: %s", kind)
		return
	}
	v.object(cellRow(kind), at, obj)
}

func dataTableShape(v *walk, at string, obj map[string]any) {
	rows, _ := obj["rows"].([]any)
	width := -1
	for i, r := range rows {
		cells, _ := r.([]any)
		if width == -1 {
			width = len(cells)
		}
		here := at + "/rows/" + strconv.Itoa(i)
		if len(cells) != width {
			v.add(here, "all rows must have the same number of cells")
		}
		for j, c := range cells {
			if o, _ := c.(map[string]any); i == 0 && o["type"] != "raw_text" {
				v.add(here+"/"+strconv.Itoa(j), "header cells must be raw_text")
			}
		}
	}
}

func cellRunes(rows any) int {
	total := 0
	list, _ := rows.([]any)
	for _, r := range list {
		cells, _ := r.([]any)
		for _, c := range cells {
			total += shownRunes(c)
		}
	}
	return total
}

// cellRow gives the rule of a cell. It is a function, not a table, because a
// cell may hold a fallback cell.
func cellRow(kind string) row {
	switch kind {
	case "raw_text":
		return row{fields: fields{"type": need(anyID), "text": need(text(1, maxTableRunes))}}
	case "raw_number":
		return row{fields: fields{"type": need(anyID), "value": need(number), "text": text(1, 255)}}
	case "rich_text":
		return row{fields: fields{"type": need(anyID), "elements": need(list(0, 1000, richTextElement))}}
	default:
		return row{fields: fields{"type": need(anyID), "element": need(element(inCard)), "fallback": cell}}
	}
}
