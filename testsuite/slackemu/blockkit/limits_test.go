package blockkit

import (
	"fmt"
	"strings"
	"testing"
)

// Small builders of Block Kit JSON; n is always the quantity under test.

func s(n int) string { return strings.Repeat("é", n) } // two bytes, one rune: limits count runes

func id(n int) string { return strings.Repeat("i", n) }

func addr(n int) string {
	return "https://example.com/" + strings.Repeat("u", max(1, n-len("https://example.com/")))
}

func pt(text string) string { return fmt.Sprintf(`{"type":"plain_text","text":%q}`, text) }

// bare takes the brackets of a list away.
func bare(list string) string { return list[1 : len(list)-1] }

func md(text string) string { return fmt.Sprintf(`{"type":"mrkdwn","text":%q}`, text) }

func many(n int, each func(i int) string) string {
	parts := make([]string, n)
	for i := range parts {
		parts[i] = each(i)
	}
	return "[" + strings.Join(parts, ",") + "]"
}

func button(extra string) string {
	return `{"type":"button","text":{"type":"plain_text","text":"Go"}` + extra + `}`
}

func actions(elements string) string { return `[{"type":"actions","elements":` + elements + `}]` }

func one(element string) string { return actions("[" + element + "]") }

func input(element string) string {
	return `[{"type":"input","label":` + pt("L") + `,"element":` + element + `}]`
}

func confirmed(title, text, yes, no string) string {
	return one(button(`,"confirm":{"title":` + pt(title) + `,"text":` + md(text) + `,"confirm":` + pt(yes) + `,"deny":` + pt(no) + `}`))
}

func options(n int) string {
	return many(n, func(i int) string { return opt("o", fmt.Sprint(i), "") })
}

func opt(text, value, extra string) string {
	return `{"text":` + pt(text) + `,"value":"` + value + `"` + extra + `}`
}

func menu(kind, body string) string { return one(`{"type":"` + kind + `",` + body + `}`) }

func raw(text string) string { return fmt.Sprintf(`{"type":"raw_text","text":%q}`, text) }

func table(rows, cells int, text, extra string) string {
	return `[{"type":"table","rows":` + many(rows, func(int) string {
		return many(cells, func(int) string { return raw(text) })
	}) + extra + `}]`
}

func dataTable(rows, cells int, extra string) string {
	return `[{"type":"data_table","caption":"c","rows":` + many(rows, func(int) string {
		return many(cells, func(int) string { return raw("x") })
	}) + extra + `}]`
}

func line(series, categories int, label string) string {
	return `[{"type":"data_visualization","title":"t","chart":{"type":"line","series":` + many(series, func(int) string {
		return `{"name":"s","data":` + many(categories, func(int) string { return `{"label":"c","value":1}` }) + `}`
	}) + `,"axis_config":{"categories":` + many(categories, func(int) string { return `"c"` }) + `,"x_label":"` + label + `"}}}]`
}

func card(extra string) string { return `{"type":"card","title":` + pt("t") + extra + `}` }

func modal(title, submit, cancel, meta string) string {
	return `{"type":"modal","title":` + pt(title) + `,"submit":` + pt(submit) + `,"close":` + pt(cancel) +
		`,"private_metadata":"` + meta + `","blocks":[{"type":"divider"}]}`
}

// limits lists every number of docs.slack.dev/reference/block-kit: accepted at
// the limit, refused one above. Low limits are written as the reverse.
var limits = []struct {
	name    string
	surface Surface
	max     int
	build   func(n int) string
}{
	{"message_blocks", Message, 50, func(n int) string { return many(n, func(int) string { return `{"type":"divider"}` }) }},
	{"modal_blocks", Modal, 100, func(n int) string { return many(n, func(int) string { return `{"type":"divider"}` }) }},
	{"home_blocks", Home, 100, func(n int) string { return many(n, func(int) string { return `{"type":"divider"}` }) }},
	{"block_id", Message, 255, func(n int) string { return `[{"type":"divider","block_id":"` + id(n) + `"}]` }},
	{"action_id", Message, 255, func(n int) string { return one(button(`,"action_id":"` + id(n) + `"`)) }},
	{"section_text", Message, 3000, func(n int) string { return `[{"type":"section","text":` + md(s(n)) + `}]` }},
	{"section_fields", Message, 10, func(n int) string {
		return `[{"type":"section","fields":` + many(n, func(int) string { return md("f") }) + `}]`
	}},
	{"section_field_text", Message, 2000, func(n int) string { return `[{"type":"section","fields":[` + md(s(n)) + `]}]` }},
	{"header_text", Message, 150, func(n int) string { return `[{"type":"header","text":` + pt(s(n)) + `}]` }},
	{"header_level", Message, 4, func(n int) string { return `[{"type":"header","text":` + pt("h") + fmt.Sprintf(`,"level":%d}]`, n) }},
	{"context_elements", Message, 10, func(n int) string {
		return `[{"type":"context","elements":` + many(n, func(int) string { return md("c") }) + `}]`
	}},
	{"context_text", Message, 3000, func(n int) string { return `[{"type":"context","elements":[` + md(s(n)) + `]}]` }},
	{"actions_elements", Message, 25, func(n int) string { return actions(many(n, func(int) string { return button("") })) }},
	{"button_text", Message, 75, func(n int) string { return one(`{"type":"button","text":` + pt(s(n)) + `}`) }},
	{"button_value", Message, 2000, func(n int) string { return one(button(`,"value":"` + s(n) + `"`)) }},
	{"button_url", Message, 3000, func(n int) string { return one(button(`,"url":"` + addr(n) + `"`)) }},
	{"button_accessibility", Message, 75, func(n int) string { return one(button(`,"accessibility_label":"` + s(n) + `"`)) }},
	{"confirm_title", Message, 100, func(n int) string { return confirmed(s(n), "t", "y", "n") }},
	{"confirm_text", Message, 300, func(n int) string { return confirmed("t", s(n), "y", "n") }},
	{"confirm_confirm", Message, 30, func(n int) string { return confirmed("t", "t", s(n), "n") }},
	{"confirm_deny", Message, 30, func(n int) string { return confirmed("t", "t", "y", s(n)) }},
	{"option_text", Message, 75, func(n int) string { return menu("static_select", `"options":[`+opt(s(n), "v", "")+`]`) }},
	{"option_value", Message, 150, func(n int) string { return menu("static_select", `"options":[`+opt("t", s(n), "")+`]`) }},
	{"option_description", Message, 75, func(n int) string {
		return menu("static_select", `"options":[`+opt("t", "v", `,"description":`+pt(s(n)))+`]`)
	}},
	{"option_url", Message, 3000, func(n int) string {
		return menu("overflow", `"options":[`+opt("t", "v", `,"url":"`+addr(n)+`"`)+`]`)
	}},
	{"select_options", Message, 100, func(n int) string { return menu("static_select", `"options":`+options(n)) }},
	{"select_groups", Message, 100, func(n int) string {
		return menu("static_select", `"option_groups":`+many(n, func(int) string { return `{"label":` + pt("g") + `,"options":` + options(1) + `}` }))
	}},
	{"overflow_options", Message, 5, func(n int) string { return menu("overflow", `"options":`+options(n)) }},
	{"checkboxes_options", Message, 10, func(n int) string { return menu("checkboxes", `"options":`+options(n)) }},
	{"radio_options", Message, 10, func(n int) string { return menu("radio_buttons", `"options":`+options(n)) }},
	{"placeholder", Message, 150, func(n int) string {
		return menu("static_select", `"options":`+options(1)+`,"placeholder":`+pt(s(n)))
	}},
	{"input_min_length", Message, 3000, func(n int) string {
		return input(fmt.Sprintf(`{"type":"plain_text_input","min_length":%d}`, n))
	}},
	{"input_max_length", Message, 3000, func(n int) string {
		return input(fmt.Sprintf(`{"type":"plain_text_input","max_length":%d}`, n))
	}},
	{"input_label", Message, 2000, func(n int) string {
		return `[{"type":"input","label":` + pt(s(n)) + `,"element":{"type":"plain_text_input"}}]`
	}},
	{"input_hint", Message, 2000, func(n int) string {
		return `[{"type":"input","label":` + pt("l") + `,"hint":` + pt(s(n)) + `,"element":{"type":"plain_text_input"}}]`
	}},
	{"image_url", Message, 3000, func(n int) string {
		return `[{"type":"image","alt_text":"a","image_url":"` + addr(n) + `"}]`
	}},
	{"image_alt_text", Message, 2000, func(n int) string {
		return `[{"type":"image","alt_text":"` + s(n) + `","image_url":"https://example.com/a.png"}]`
	}},
	{"image_title", Message, 2000, func(n int) string {
		return `[{"type":"image","alt_text":"a","title":` + pt(s(n)) + `,"image_url":"https://example.com/a.png"}]`
	}},
	{"markdown_one", Message, 12000, func(n int) string { return `[{"type":"markdown","text":"` + s(n) + `"}]` }},
	{"markdown_together", Message, 12000, func(n int) string {
		return `[{"type":"markdown","text":"` + s(6000) + `"},{"type":"markdown","text":"` + s(max(1, n-6000)) + `"}]`
	}},
	{"table_rows", Message, 100, func(n int) string { return table(n, 1, "x", "") }},
	{"table_cells", Message, 20, func(n int) string { return table(1, n, "x", "") }},
	{"table_column_settings", Message, 20, func(n int) string {
		return table(1, 20, "x", `,"column_settings":`+many(n, func(int) string { return `{"align":"left"}` }))
	}},
	{"table_runes", Message, 10000, func(n int) string {
		return `[{"type":"table","rows":[[` + raw(s(5000)) + `,` + raw(s(max(1, n-5000))) + `]]}]`
	}},
	{"tables_per_message", Message, 1, func(n int) string {
		return many(n, func(int) string { return bare(table(1, 1, "x", "")) })
	}},
	{"data_table_rows_with_header", Message, 101, func(n int) string { return dataTable(n, 1, "") }},
	{"data_table_columns", Message, 20, func(n int) string { return dataTable(2, n, "") }},
	{"data_table_page_size", Message, 100, func(n int) string { return dataTable(2, 1, fmt.Sprintf(`,"page_size":%d`, n)) }},
	{"visualization_title", Message, 50, func(n int) string {
		return `[{"type":"data_visualization","title":"` + s(n) + `","chart":{"type":"pie","segments":[{"label":"a","value":1}]}}]`
	}},
	{"pie_segments", Message, 6, func(n int) string {
		return `[{"type":"data_visualization","title":"t","chart":{"type":"pie","segments":` +
			many(n, func(int) string { return `{"label":"a","value":1}` }) + `}}]`
	}},
	{"chart_series", Message, 6, func(n int) string { return line(n, 2, "x") }},
	{"chart_categories", Message, 20, func(n int) string { return line(1, n, "x") }},
	{"chart_axis_label", Message, 50, func(n int) string { return line(1, 1, s(n)) }},
	{"chart_label", Message, 20, func(n int) string {
		return `[{"type":"data_visualization","title":"t","chart":{"type":"pie","segments":[{"label":"` + s(n) + `","value":1}]}}]`
	}},
	{"container_title", Message, 150, func(n int) string {
		return `[{"type":"container","title":` + pt(s(n)) + `,"child_blocks":[{"type":"divider"}]}]`
	}},
	{"container_subtitle", Message, 150, func(n int) string {
		return `[{"type":"container","title":` + pt("t") + `,"subtitle":` + pt(s(n)) + `,"child_blocks":[{"type":"divider"}]}]`
	}},
	{"container_children", Message, 10, func(n int) string {
		return `[{"type":"container","title":` + pt("t") + `,"child_blocks":` + many(n, func(int) string { return `{"type":"divider"}` }) + `}]`
	}},
	{"layout_label", Message, 150, func(n int) string { return layout(s(n), 1, 1) }},
	{"layout_rows", Message, 5, func(n int) string { return layout("l", n, 1) }},
	{"layout_items", Message, 3, func(n int) string { return layout("l", 1, n) }},
	{"card_title", Message, 150, func(n int) string { return `[{"type":"card","title":` + pt(s(n)) + `}]` }},
	{"card_subtitle", Message, 150, func(n int) string { return `[` + card(`,"subtitle":`+pt(s(n))) + `]` }},
	{"card_body", Message, 200, func(n int) string { return `[` + card(`,"body":`+md(s(n))) + `]` }},
	{"card_buttons", Message, 3, func(n int) string {
		return `[` + card(`,"actions":`+many(n, func(int) string { return button("") })) + `]`
	}},
	{"carousel_cards", Message, 10, func(n int) string {
		return `[{"type":"carousel","elements":` + many(n, func(int) string { return card("") }) + `}]`
	}},
	{"alert_text", Modal, 200, func(n int) string { return `[{"type":"alert","text":` + md(s(n)) + `}]` }},
	{"view_title", "view", 24, func(n int) string { return modal(s(n), "s", "c", "") }},
	{"view_submit", "view", 24, func(n int) string { return modal("t", s(n), "c", "") }},
	{"view_close", "view", 24, func(n int) string { return modal("t", "s", s(n), "") }},
	{"view_private_metadata", "view", 3000, func(n int) string { return modal("t", "s", "c", s(n)) }},
	{"home_private_metadata", "view", 3000, func(n int) string {
		return `{"type":"home","blocks":[],"private_metadata":"` + s(n) + `"}`
	}},
	{"view_callback_id", "view", 255, func(n int) string {
		return `{"type":"home","blocks":[],"callback_id":"` + id(n) + `"}`
	}},
	{"view_external_id", "view", 255, func(n int) string {
		return `{"type":"home","blocks":[],"external_id":"` + id(n) + `"}`
	}},
}

func layout(label string, rows, items int) string {
	return `[{"type":"layout","label":"` + label + `","fallback":[{"type":"divider"}],"rows":` + many(rows, func(int) string {
		return `{"items":` + many(items, func(int) string { return `{"block":{"type":"divider"}}` }) + `}`
	}) + `}]`
}

func judge(t *testing.T, surface Surface, text string) []Problem {
	t.Helper()
	v, err := Decode(text)
	if err != nil {
		t.Fatalf("the test's own JSON is broken: %v\n%s", err, text)
	}
	if surface == "view" {
		return View(v.(map[string]any), "/view", Env{})
	}
	return Blocks(surface, v.([]any), "/blocks", Env{})
}

func TestLimits(t *testing.T) {
	for _, l := range limits {
		t.Run(l.name, func(t *testing.T) {
			if got := judge(t, l.surface, l.build(l.max)); len(got) != 0 {
				t.Errorf("at the limit of %d: refused: %v", l.max, got)
			}
			if got := judge(t, l.surface, l.build(l.max+1)); len(got) == 0 {
				t.Errorf("one above the limit of %d: accepted", l.max)
			}
		})
	}
}
