package blockkit

// Block elements: docs.slack.dev/reference/block-kit/block-elements.

var (
	modalOnly   = map[Surface]bool{Modal: true}
	messageOnly = map[Surface]bool{Message: true}
)

// Families of elements by the block that may hold them.
var (
	singleSelects = []string{"static_select", "external_select", "users_select", "conversations_select", "channels_select"}
	multiSelects  = []string{
		"multi_static_select", "multi_external_select", "multi_users_select",
		"multi_conversations_select", "multi_channels_select",
	}
	inSection = set([]string{
		"button", "image", "overflow", "checkboxes", "radio_buttons",
		"datepicker", "timepicker", "workflow_button",
	}, singleSelects, multiSelects)
	inActions = set([]string{
		"button", "overflow", "checkboxes", "radio_buttons",
		"datepicker", "timepicker", "datetimepicker", "workflow_button",
	}, singleSelects)
	inInput = set([]string{
		"plain_text_input", "rich_text_input", "email_text_input", "url_text_input",
		"number_input", "file_input", "checkboxes", "radio_buttons",
		"datepicker", "timepicker", "datetimepicker",
	}, singleSelects, multiSelects)
	inContextActions = set([]string{"feedback_buttons", "icon_button"})
	inCard           = set([]string{"button"})
)

func set(words ...[]string) map[string]bool {
	m := map[string]bool{}
	for _, w := range words {
		for _, s := range w {
			m[s] = true
		}
	}
	return m
}

// element judges one interactive element or image of an allowed family.
func element(allowed map[string]bool) check {
	return func(v *walk, at string, val any) {
		obj, ok := val.(map[string]any)
		if !ok {
			v.add(at, "must provide an object")
			return
		}
		kind, _ := obj["type"].(string)
		r, known := elementRows[kind]
		switch {
		case !known || !allowed[kind]:
			v.add(at+"/type", "unsupported type: %s", kind)
			return
		case r.surfaces != nil && !r.surfaces[v.surface]:
			v.add(at+"/type", "unsupported type: %s (not allowed on the %s surface)", kind, v.surface)
			return
		}
		v.object(r, at, obj)
	}
}

// interactive makes the row of an element: the common properties plus its own.
func interactive(own fields) row {
	f := fields{"type": need(text(1, 50)), "action_id": actionID}
	for k, c := range own {
		f[k] = c
	}
	return row{fields: f}
}

func on(surfaces map[Surface]bool, r row) row {
	r.surfaces = surfaces
	return r
}

func textInput(own fields) row {
	own["placeholder"] = plain(1, 150)
	own["dispatch_action_config"] = asObject(&dispatchRow)
	own["focus_on_load"] = focus
	return interactive(own)
}

func selectMenu(own fields) row {
	own["placeholder"] = plain(1, 150)
	own["confirm"] = confirm
	own["focus_on_load"] = focus
	return interactive(own)
}

func multiMenu(own fields) row {
	own["max_selected_items"] = integer(1, 1000)
	return selectMenu(own)
}

var (
	conversationFilter = row{fields: fields{
		"include":                          list(1, 4, enum("im", "mpim", "private", "public")),
		"exclude_external_shared_channels": boolean,
		"exclude_bot_users":                boolean,
	}}
	anyID   = text(1, 255)
	userIDs = list(0, 1000, text(1, 255))
)

// oneOptionSource demands options or option_groups, not both.
func oneOptionSource(v *walk, at string, obj map[string]any) {
	if (obj["options"] == nil) == (obj["option_groups"] == nil) {
		v.add(at, "must provide exactly one of: options, option_groups")
	}
}

func withOptions(r row) row {
	r.fields["options"] = list(1, 100, plainOption)
	r.fields["option_groups"] = list(1, 100, asObject(&optionGroupRow))
	r.also = oneOptionSource
	return r
}

var feedbackRow = row{fields: fields{
	"text": need(plain(1, 75)), "value": need(text(1, 2000)), "accessibility_label": text(1, 75),
}}

var workflowRow = row{fields: fields{"trigger": need(asObject(&row{fields: fields{
	"url":                           need(link(3000)),
	"customizable_input_parameters": list(0, 100, asObject(&row{fields: fields{"name": need(anyID), "value": need(text(0, 3000))}})),
}}))}}

var elementRows = map[string]row{
	"button": interactive(fields{
		"text": need(plain(1, 75)), "url": link(3000), "value": text(0, 2000),
		"style": enum("primary", "danger"), "confirm": confirm, "accessibility_label": text(1, 75),
		"visible_to_user_ids": list(1, 100, anyID), "agent_prompt": text(1, 3000), "agent_prompt_display": text(1, 75),
	}),
	"icon_button": on(messageOnly, interactive(fields{
		"icon": need(enum("trash")), "text": need(plain(1, 75)), "value": text(0, 2000), "confirm": confirm,
		"accessibility_label": text(1, 75), "visible_to_user_ids": list(1, 100, anyID),
	})),
	"feedback_buttons": on(messageOnly, interactive(fields{
		"positive_button": need(asObject(&feedbackRow)), "negative_button": need(asObject(&feedbackRow)),
	})),
	"workflow_button": on(messageOnly, interactive(fields{
		"text": need(plain(1, 75)), "workflow": need(asObject(&workflowRow)),
		"style": enum("primary", "danger"), "accessibility_label": text(1, 75),
	})),
	"overflow": interactive(fields{"options": need(list(1, 5, option(false, true))), "confirm": confirm}),
	"checkboxes": interactive(fields{
		"options": need(list(1, 10, option(true, false))), "initial_options": list(1, 10, option(true, false)),
		"confirm": confirm, "focus_on_load": focus, "visible_to_user_ids": list(1, 100, anyID),
	}),
	"radio_buttons": interactive(fields{
		"options": need(list(1, 10, option(true, false))), "initial_option": option(true, false),
		"confirm": confirm, "focus_on_load": focus,
	}),
	"datepicker": selectMenu(fields{"initial_date": form(dateForm, "date (YYYY-MM-DD)")}),
	"timepicker": selectMenu(fields{"initial_time": form(timeForm, "time (HH:mm)"), "timezone": text(1, 100)}),
	"datetimepicker": on(map[Surface]bool{Message: true, Modal: true}, interactive(fields{
		"initial_date_time": integer(1_000_000_000, 9_999_999_999), "confirm": confirm, "focus_on_load": focus,
	})),
	"image": {fields: fields{
		"type": need(text(1, 50)), "image_url": imageLink, "alt_text": need(text(1, 2000)), "slack_file": asObject(&slackFileRow),
	}, also: oneImageSource},
	"plain_text_input": textInput(fields{
		"initial_value": text(0, 3000), "multiline": boolean,
		"min_length": integer(0, 3000), "max_length": integer(1, 3000),
	}),
	"rich_text_input": textInput(fields{
		"initial_value": richTextBlock, "min_lines": integer(1, 100), "max_lines": integer(1, 100),
	}),
	"email_text_input": on(modalOnly, textInput(fields{"initial_value": text(0, 3000)})),
	"url_text_input":   on(modalOnly, textInput(fields{"initial_value": text(0, 3000)})),
	"number_input": on(modalOnly, textInput(fields{
		"is_decimal_allowed": need(boolean), "initial_value": decimal, "min_value": decimal, "max_value": decimal,
	})),
	"file_input":          on(modalOnly, interactive(fields{"filetypes": list(1, 100, anyID), "max_files": integer(1, 10)})),
	"static_select":       withOptions(selectMenu(fields{"initial_option": plainOption})),
	"multi_static_select": withOptions(multiMenu(fields{"initial_options": list(1, 100, plainOption)})),
	"external_select":     selectMenu(fields{"initial_option": plainOption, "min_query_length": integer(0, 1000)}),
	"multi_external_select": multiMenu(fields{
		"initial_options": list(1, 100, plainOption), "min_query_length": integer(0, 1000),
	}),
	"users_select":       selectMenu(fields{"initial_user": anyID}),
	"multi_users_select": multiMenu(fields{"initial_users": userIDs}),
	"channels_select":    selectMenu(fields{"initial_channel": anyID, "response_url_enabled": boolean}),
	"multi_channels_select": multiMenu(fields{
		"initial_channels": userIDs,
	}),
	"conversations_select": selectMenu(fields{
		"initial_conversation": anyID, "default_to_current_conversation": boolean,
		"response_url_enabled": boolean, "filter": asObject(&conversationFilter),
	}),
	"multi_conversations_select": multiMenu(fields{
		"initial_conversations": userIDs, "default_to_current_conversation": boolean, "filter": asObject(&conversationFilter),
	}),
}
