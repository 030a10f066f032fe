package blockkit

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/slack-go/slack"
)

// TestRefusals holds rules which are not numbers: each text is wrong in one way.
func TestRefusals(t *testing.T) {
	const png = `"image_url":"https://example.com/a.png"`
	cases := []struct {
		name    string
		surface Surface
		text    string
		want    string
	}{
		{"unknown_type", Message, `[{"type":"sparkle"}]`, "unsupported type: sparkle"},
		{"no_type", Message, `[{}]`, "unsupported type"},
		{"not_an_object", Message, `["divider"]`, "must provide an object"},
		{"unknown_property", Message, `[{"type":"divider","colour":"red"}]`, "invalid additional property: colour"},
		{"header_mrkdwn", Message, `[{"type":"header","text":` + md("x") + `}]`, "must be one of: plain_text"},
		{"button_mrkdwn", Message, one(`{"type":"button","text":` + md("x") + `}`), "must be one of: plain_text"},
		{"emoji_on_mrkdwn", Message, `[{"type":"section","text":{"type":"mrkdwn","text":"x","emoji":true}}]`, "invalid additional property: emoji"},
		{"empty_text", Message, `[{"type":"section","text":` + md("") + `}]`, "must be more than 0 characters"},
		{"empty_section", Message, `[{"type":"section"}]`, "missing required field: text or fields"},
		{"same_block_id", Message, `[{"type":"divider","block_id":"a"},{"type":"divider","block_id":"a"}]`, "block_id already exists"},
		{"same_action_id_in_block", Message, actions("[" + button(`,"action_id":"a"`) + "," + button(`,"action_id":"a"`) + "]"), "action_id already exists"},
		{"button_style", Message, one(button(`,"style":"default"`)), "must be one of: primary, danger"},
		{"confirm_incomplete", Message, one(button(`,"confirm":{"title":` + pt("t") + `}`)), "missing required field: text"},
		{"no_actions", Message, actions("[]"), "no fewer than 1 items"},
		{"overflow_without_options", Message, menu("overflow", `"options":[]`), "no fewer than 1 items"},
		{"options_and_groups", Message, menu("static_select", `"options":`+options(1)+`,"option_groups":[{"label":`+pt("g")+`,"options":`+options(1)+`}]`), "exactly one of: options"},
		{"image_without_alt", Message, `[{"type":"image",` + png + `}]`, "missing required field: alt_text"},
		{"image_http", Message, `[{"type":"image","alt_text":"a","image_url":"http://example.com/a.png"}]`, "public https"},
		{"image_loopback", Message, `[{"type":"image","alt_text":"a","image_url":"https://127.0.0.1/a.png"}]`, "public https"},
		{"image_private", Message, `[{"type":"image","alt_text":"a","image_url":"https://10.0.0.1/a.png"}]`, "public https"},
		{"image_svg", Message, `[{"type":"image","alt_text":"a","image_url":"https://example.com/a.svg"}]`, "unsupported image format"},
		{"image_two_sources", Message, `[{"type":"image","alt_text":"a",` + png + `,"slack_file":{"id":"F1"}}]`, "exactly one of: image_url"},
		{"input_without_label", Message, `[{"type":"input","element":{"type":"plain_text_input"}}]`, "missing required field: label"},
		{"button_as_input", Message, input(button("")), "unsupported type: button"},
		{"input_in_actions", Message, one(`{"type":"plain_text_input"}`), "unsupported type: plain_text_input"},
		{"min_over_max", Message, input(`{"type":"plain_text_input","min_length":9,"max_length":3}`), "min_length must not be greater"},
		{"alert_in_message", Message, `[{"type":"alert","text":` + md("x") + `}]`, "unsupported type: alert"},
		{"table_in_modal", Modal, table(1, 1, "x", ""), "unsupported type: table"},
		{"table_in_home", Home, table(1, 1, "x", ""), "unsupported type: table"},
		{"markdown_in_modal", Modal, `[{"type":"markdown","text":"x"}]`, "unsupported type: markdown"},
		{"markdown_in_home", Home, `[{"type":"markdown","text":"x"}]`, "unsupported type: markdown"},
		{"container_in_modal", Modal, `[{"type":"container","title":` + pt("t") + `,"child_blocks":[{"type":"divider"}]}]`, "unsupported type: container"},
		{"file_from_app", Message, `[{"type":"file","external_id":"x","source":"remote"}]`, "unsupported type: file"},
		{"email_in_message", Message, input(`{"type":"email_text_input"}`), "unsupported type: email_text_input"},
		{"number_in_home", Home, input(`{"type":"number_input","is_decimal_allowed":true}`), "unsupported type: number_input"},
		{"datetime_in_home", Home, one(`{"type":"datetimepicker"}`), "unsupported type: datetimepicker"},
		{"icon_button_in_modal", Modal, `[{"type":"context_actions","elements":[]}]`, "unsupported type: context_actions"},
		{"ragged_data_table", Message, `[{"type":"data_table","caption":"c","rows":[[` + raw("h") + `],[` + raw("a") + `,` + raw("b") + `]]}]`, "same number of cells"},
		{"number_in_header", Message, `[{"type":"data_table","caption":"c","rows":[[{"type":"raw_number","value":1}],[` + raw("a") + `]]}]`, "header cells must be raw_text"},
		{"action_in_plain_table", Message, `[{"type":"table","rows":[[{"type":"action_cell","element":` + button("") + `}]]}]`, "unsupported type: action_cell"},
		{"collapsed_not_collapsible", Message, `[{"type":"container","title":` + pt("t") + `,"default_collapsed":true,"child_blocks":[{"type":"divider"}]}]`, "only allowed when is_collapsible"},
		{"layout_without_fallback", Message, `[{"type":"layout","label":"l","rows":[{"items":[{"block":{"type":"divider"}}]}]}]`, "missing required field: fallback"},
		{"container_in_container", Message, `[{"type":"container","title":` + pt("t") + `,"child_blocks":[{"type":"container","title":` + pt("t") + `,"child_blocks":[{"type":"divider"}]}]}]`, "not allowed inside"},
		{"modal_without_submit", "view", `{"type":"modal","title":` + pt("t") + `,"blocks":` + input(`{"type":"plain_text_input"}`) + `}`, "missing required field: submit"},
		{"modal_without_title", "view", `{"type":"modal","blocks":[]}`, "missing required field: title"},
		{"view_type", "view", `{"type":"page","blocks":[]}`, "must be one of: modal, home"},
		{"two_focused", "view", `{"type":"modal","title":` + pt("t") + `,"submit":` + pt("s") + `,"blocks":[` +
			bare(input(`{"type":"plain_text_input","focus_on_load":true}`)) + `,` +
			bare(input(`{"type":"plain_text_input","focus_on_load":true}`)) + `]}`, "only one element"},
		{"bad_date", Message, menu("datepicker", `"initial_date":"2026-13-01"`), "valid date"},
		{"task_status", Message, `[{"type":"task_card","task_id":"1","title":"t","status":"done"}]`, "must be one of: pending"},
		{"points_per_category", Message, strings.Replace(line(1, 2, "x"), `["c","c"]`, `["c"]`, 1), "one point per category"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got := judge(t, c.surface, c.text)
			for _, p := range got {
				if strings.Contains(p.Message, c.want) {
					return
				}
			}
			t.Errorf("problems = %v, want one with %q", got, c.want)
		})
	}
}

func TestSameActionIDInTwoBlocksIsAllowed(t *testing.T) {
	b := bare(one(button(`,"action_id":"a"`)))
	if got := judge(t, Message, "["+b+","+b+"]"); len(got) != 0 {
		t.Errorf("refused: %v", got)
	}
}

func TestPointerNamesThePlace(t *testing.T) {
	got := judge(t, Message, `[{"type":"divider"},{"type":"header","text":`+pt(s(151))+`}]`)
	if len(got) != 1 || got[0].String() != "must be less than 151 characters [json-pointer:/blocks/1/text/text]" {
		t.Errorf("got %v", got)
	}
}

func TestEnv(t *testing.T) {
	env := Env{
		NotRolledOut: map[string]bool{"table": true},
		SlackFile:    func(id, _ string) error { return errors.New(id + " is not an image") },
	}
	v, _ := Decode(table(1, 1, "x", ""))
	if got := Blocks(Message, v.([]any), "/blocks", env); len(got) != 1 {
		t.Errorf("table not rolled out: %v", got)
	}
	v, _ = Decode(`[{"type":"image","alt_text":"a","slack_file":{"id":"F9"}}]`)
	got := Blocks(Message, v.([]any), "/blocks", env)
	if len(got) != 1 || !strings.Contains(got[0].Message, "F9 is not an image") {
		t.Errorf("slack file: %v", got)
	}
}

// TestClientLibraryOutputPasses proves that the judge knows every property
// which the Go client writes.
func TestClientLibraryOutputPasses(t *testing.T) {
	text := slack.NewTextBlockObject("plain_text", "t", true, false)
	mark := slack.NewTextBlockObject("mrkdwn", "*t*", false, true)
	btn := slack.NewButtonBlockElement("a", "v", text).WithStyle(slack.StylePrimary).
		WithConfirm(slack.NewConfirmationBlockObject(text, mark, text, text))
	blocks := []slack.Block{
		slack.NewHeaderBlock(text), slack.NewDividerBlock(),
		slack.NewSectionBlock(mark, []*slack.TextBlockObject{mark}, slack.NewAccessory(btn)),
		slack.NewContextBlock("ctx", mark, text),
		slack.NewActionBlock("act", btn, slack.NewOverflowBlockElement("o", slack.NewOptionBlockObject("v", text, nil))),
		slack.NewImageBlock("https://example.com/a.png", "alt", "img", text),
		slack.NewRichTextBlock("rt",
			slack.NewRichTextSection(
				slack.NewRichTextSectionTextElement("x", &slack.RichTextSectionTextStyle{Bold: true}),
				slack.NewRichTextSectionUserElement("U1", nil),
				slack.NewRichTextSectionLinkElement("https://example.com", "l", nil),
				slack.NewRichTextSectionEmojiElement("tada", 0, nil)),
			slack.NewRichTextList(slack.RTEListBullet, 0, slack.NewRichTextSection(slack.NewRichTextSectionTextElement("i", nil)))),
		slack.NewTableBlock("tab").AddRow(slack.TableRawTextCell{Type: "raw_text", Text: "x"}, slack.TableRawNumberCell{Type: "raw_number", Value: 1.5}).
			WithColumnSettings(slack.ColumnSetting{Align: slack.ColumnAlignmentRight, IsWrapped: true}),
		slack.NewInputBlock("in", text, text, &slack.PlainTextInputBlockElement{Type: slack.METPlainTextInput, ActionID: "p", MaxLength: 10}),
		slack.NewMarkdownBlock("m", "**x**"),
	}
	raw, err := json.Marshal(blocks)
	if err != nil {
		t.Fatal(err)
	}
	if got := judge(t, Message, string(raw)); len(got) != 0 {
		t.Errorf("refused: %v", got)
	}
}

func TestShownRunes(t *testing.T) {
	v, _ := Decode(`[{"type":"header","text":` + pt("abc") + `},{"type":"section","text":` + md("de") + `,"fields":[` + md("f") + `]}]`)
	if got := ShownRunes(v.([]any)); got != 100+3+2+1 {
		t.Errorf("ShownRunes = %d", got)
	}
}

// FuzzBlocks: any JSON gets a verdict, never a panic, and a verdict is stable.
func FuzzBlocks(f *testing.F) {
	for _, l := range limits {
		if text := l.build(1 + l.max%7); l.surface != "view" && len(text) < 4000 {
			f.Add(text)
		}
	}
	f.Add(`[{"type":"actions","elements":[{"type":"button","text":null}]}]`)
	f.Add(`[{"type":"container","child_blocks":[{"type":"container"}]}]`)
	f.Fuzz(func(t *testing.T, text string) {
		v, err := Decode(text)
		if err != nil {
			return
		}
		for _, surface := range []Surface{Message, Modal, Home} {
			var a, b []Problem
			switch x := v.(type) {
			case []any:
				a, b = Blocks(surface, x, "/blocks", Env{}), Blocks(surface, x, "/blocks", Env{})
				ShownRunes(x)
			case map[string]any:
				a, b = View(x, "/view", Env{}), View(x, "/view", Env{})
			}
			if len(a) != len(b) {
				t.Fatalf("two verdicts: %v and %v", a, b)
			}
		}
	})
}
