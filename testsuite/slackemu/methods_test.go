package slackemu

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/slack-go/slack"
)

// form calls a method the way any HTTP client would and decodes the answer.
func form(t *testing.T, s *Server, method string, args map[string]string) (int, map[string]any) {
	t.Helper()
	v := url.Values{}
	for k, a := range args {
		v.Set(k, a)
	}
	resp, err := http.PostForm(s.APIURL()+method, v)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]any{}
	if err := json.Unmarshal(raw, &out); err != nil {
		t.Fatalf("%s: %v in %q", method, err, raw)
	}
	return resp.StatusCode, out
}

func TestRefusals(t *testing.T) {
	o := quick()
	o.Scopes = []string{"chat:write", "im:write", "channels:read", "channels:join", "files:write", "files:read", "users:read", "usergroups:read", "reactions:write", "channels:history"}
	s := start(t, o)
	s.mu.Lock()
	s.ws.channels = append(s.ws.channels, &Channel{ID: "C07OLD", Name: "old", Archived: true, BotMember: true})
	foreign := s.post(s.channel("fabric-ops"), &Message{User: "U07OPERA", Version: Version{Text: "mine"}}, "user").TS
	s.mu.Unlock()
	api := client(s)
	_, own, err := api.PostMessage("C07FABOPS", slack.MsgOptionText("x", false))
	if err != nil {
		t.Fatal(err)
	}
	_, reply, _ := api.PostMessage("C07FABOPS", slack.MsgOptionText("x", false), slack.MsgOptionTS(own))
	_, rich, _ := api.PostMessage("C07FABOPS", slack.MsgOptionText("x", false),
		slack.MsgOptionBlocks(slack.NewRichTextBlock("", slack.NewRichTextSection(slack.NewRichTextSectionTextElement("x", nil)))))
	tok := s.BotToken()
	divider := `[{"type":"divider"}]`
	cases := []struct {
		name, method, want string
		args               map[string]string
	}{
		{"no_token", "auth.test", "not_authed", map[string]string{}},
		{"wrong_token", "auth.test", "invalid_auth", map[string]string{"token": "xoxb-other"}},
		{"bot_token_for_sockets", "apps.connections.open", "not_allowed_token_type", map[string]string{"token": tok}},
		{"app_token_for_chat", "chat.postMessage", "not_allowed_token_type", map[string]string{"token": s.AppToken()}},
		{"unknown_method", "chat.shout", "unknown_method", map[string]string{"token": tok}},
		{"missing_scope", "pins.add", "missing_scope", map[string]string{"token": tok}},
		{"no_channel", "chat.postMessage", "channel_not_found", map[string]string{"token": tok, "text": "x"}},
		{"unknown_channel", "chat.postMessage", "channel_not_found", map[string]string{"token": tok, "channel": "C1", "text": "x"}},
		{"private_channel", "chat.postMessage", "channel_not_found", map[string]string{"token": tok, "channel": "C07SECRET", "text": "x"}},
		{"not_in_channel", "chat.postMessage", "not_in_channel", map[string]string{"token": tok, "channel": "C07RANDOM", "text": "x"}},
		{"archived", "chat.postMessage", "is_archived", map[string]string{"token": tok, "channel": "C07OLD", "text": "x"}},
		{"no_text", "chat.postMessage", "no_text", map[string]string{"token": tok, "channel": "C07FABOPS"}},
		{"blocks_not_json", "chat.postMessage", "invalid_blocks_format", map[string]string{"token": tok, "channel": "C07FABOPS", "blocks": "[{"}},
		{"blocks_wrong", "chat.postMessage", "invalid_blocks", map[string]string{"token": tok, "channel": "C07FABOPS", "blocks": `[{"type":"x"}]`}},
		{"too_much_text_in_blocks", "chat.postMessage", "msg_blocks_too_long", map[string]string{"token": tok, "channel": "C07FABOPS", "text": "x", "blocks": sections(5, 2641)}},
		{"too_many_attachments", "chat.postMessage", "too_many_attachments", map[string]string{"token": tok, "channel": "C07FABOPS", "attachments": "[" + strings.Repeat(`{"text":"a"},`, 100) + `{"text":"a"}]`}},
		{"attachment_with_21_blocks", "chat.postMessage", "invalid_attachments", map[string]string{"token": tok, "channel": "C07FABOPS", "attachments": `[{"blocks":[` + strings.Repeat(`{"type":"divider"},`, 20) + `{"type":"divider"}]}]`}},
		{"markdown_and_text", "chat.postMessage", "markdown_text_conflict", map[string]string{"token": tok, "channel": "C07FABOPS", "text": "x", "markdown_text": "y"}},
		{"reply_to_a_reply", "chat.postMessage", "cannot_reply_to_message", map[string]string{"token": tok, "channel": "C07FABOPS", "text": "x", "thread_ts": reply}},
		{"update_unknown", "chat.update", "message_not_found", map[string]string{"token": tok, "channel": "C07FABOPS", "ts": "1.1", "text": "x"}},
		{"update_by_name", "chat.update", "channel_not_found", map[string]string{"token": tok, "channel": "fabric-ops", "ts": own, "text": "x"}},
		{"update_foreign", "chat.update", "cant_update_message", map[string]string{"token": tok, "channel": "C07FABOPS", "ts": foreign, "text": "x"}},
		{"update_4001_octets", "chat.update", "msg_too_long", map[string]string{"token": tok, "channel": "C07FABOPS", "ts": own, "text": strings.Repeat("é", 2000) + "x"}},
		{"update_nothing", "chat.update", "no_text", map[string]string{"token": tok, "channel": "C07FABOPS", "ts": own}},
		{"update_rich_to_plain", "chat.update", "block_mismatch", map[string]string{"token": tok, "channel": "C07FABOPS", "ts": rich, "blocks": divider}},
		{"delete_foreign", "chat.delete", "cant_delete_message", map[string]string{"token": tok, "channel": "C07FABOPS", "ts": foreign}},
		{"ephemeral_to_outsider", "chat.postEphemeral", "user_not_in_channel", map[string]string{"token": tok, "channel": "C07FABOPS", "user": "U08GUEST", "text": "x"}},
		{"permalink_of_nothing", "chat.getPermalink", "message_not_found", map[string]string{"token": tok, "channel": "C07FABOPS", "message_ts": "1.1"}},
		{"join_private", "conversations.join", "channel_not_found", map[string]string{"token": tok, "channel": "C07SECRET"}},
		{"open_nobody", "conversations.open", "users_list_not_supplied", map[string]string{"token": tok}},
		{"open_stranger", "conversations.open", "user_not_found", map[string]string{"token": tok, "users": "U1"}},
		{"private_info", "conversations.info", "channel_not_found", map[string]string{"token": tok, "channel": "C07SECRET"}},
		{"thread_of_nothing", "conversations.replies", "thread_not_found", map[string]string{"token": tok, "channel": "C07FABOPS", "ts": "1.1"}},
		{"unknown_user", "users.info", "user_not_found", map[string]string{"token": tok, "user": "U1"}},
		{"unknown_group", "usergroups.users.list", "no_such_subteam", map[string]string{"token": tok, "usergroup": "S1"}},
		{"empty_file", "files.getUploadURLExternal", "missing_argument", map[string]string{"token": tok, "filename": "a", "length": "0"}},
		{"long_alt_text", "files.getUploadURLExternal", "alt_txt_too_large", map[string]string{"token": tok, "filename": "a", "length": "1", "alt_txt": strings.Repeat("a", 1001)}},
		{"large_snippet", "files.getUploadURLExternal", "snippet_too_large", map[string]string{"token": tok, "filename": "a", "length": "1048577", "snippet_type": "text"}},
		{"complete_unknown", "files.completeUploadExternal", "file_not_found", map[string]string{"token": tok, "files": `[{"id":"F1"}]`}},
		{"share_outside", "files.completeUploadExternal", "not_in_channel", map[string]string{"token": tok, "files": `[{"id":"F1"}]`, "channel_id": "C07RANDOM"}},
		{"view_without_trigger", "views.open", "invalid_trigger_id", map[string]string{"token": tok, "trigger_id": "1.1.a", "view": modalJSON("t")}},
		{"view_wrong", "views.open", "invalid_arguments", map[string]string{"token": tok, "trigger_id": "1.1.a", "view": modalJSON(strings.Repeat("t", 25))}},
		{"view_large", "views.open", "view_too_large", map[string]string{"token": tok, "trigger_id": "1.1.a", "view": largeModal()}},
		{"publish_to_stranger", "views.publish", "invalid_arguments", map[string]string{"token": tok, "user_id": "U1", "view": `{"type":"home","blocks":[]}`}},
		{"update_no_view", "views.update", "not_found", map[string]string{"token": tok, "view_id": "V1", "view": modalJSON("t")}},
		{"validate_two", "blocks.validate", "invalid_arguments", map[string]string{"blocks": "[]", "view": "{}"}},
		{"validate_bad", "blocks.validate", "invalid_blocks", map[string]string{"blocks": `[{"type":"x"}]`}},
		{"validate_bad_view", "blocks.validate", "invalid_view", map[string]string{"view": `{"type":"x"}`}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			status, got := form(t, s, c.method, c.args)
			if status != http.StatusOK || got["ok"] != false || got["error"] != c.want {
				t.Errorf("status %d, answer %v, want error %s", status, got, c.want)
			}
		})
	}
	t.Run("error_shape", func(t *testing.T) {
		_, got := form(t, s, "chat.postMessage", map[string]string{"token": tok, "channel": "C07FABOPS", "blocks": "[" + strings.Repeat(`{"type":"divider"},`, 50) + `{"type":"divider"}]`})
		want := `{"error":"invalid_blocks","errors":["no more than 50 items allowed [json-pointer:/blocks]"],"ok":false,"response_metadata":{"messages":["[ERROR] no more than 50 items allowed [json-pointer:/blocks]"]}}`
		if raw, _ := json.Marshal(got); string(raw) != want {
			t.Errorf("got  %s\nwant %s", raw, want)
		}
	})
	t.Run("scopes_are_told", func(t *testing.T) {
		_, got := form(t, s, "pins.add", map[string]string{"token": tok})
		if got["needed"] != "pins:write" || !strings.Contains(got["provided"].(string), "chat:write") {
			t.Errorf("answer %v", got)
		}
	})
	t.Run("limits_are_accepted", func(t *testing.T) {
		for what, args := range map[string]map[string]string{
			"13200 in blocks": {"token": tok, "channel": "C07FABOPS", "text": "x", "blocks": sections(5, 2640)},
			"100 attachments": {"token": tok, "channel": "C07FABOPS", "attachments": "[" + strings.Repeat(`{"text":"a"},`, 99) + `{"text":"a"}]`},
		} {
			if _, got := form(t, s, "chat.postMessage", args); got["ok"] != true {
				t.Errorf("%s: %v", what, got["error"])
			}
		}
		if _, got := form(t, s, "chat.update", map[string]string{"token": tok, "channel": "C07FABOPS", "ts": own, "text": strings.Repeat("é", 2000)}); got["ok"] != true {
			t.Errorf("4000 octets: %v", got["error"])
		}
	})
	t.Run("long_text_is_cut", func(t *testing.T) {
		_, got := form(t, s, "chat.postMessage", map[string]string{"token": tok, "channel": "C07FABOPS", "text": strings.Repeat("a", 40_001)})
		if n := len(got["message"].(map[string]any)["text"].(string)); n != 40_000 {
			t.Errorf("%d characters", n)
		}
	})
}

func sections(n, runes int) string {
	one := `{"type":"section","text":{"type":"mrkdwn","text":"` + strings.Repeat("a", runes) + `"}}`
	return "[" + strings.TrimSuffix(strings.Repeat(one+",", n), ",") + "]"
}

func modalJSON(title string) string {
	return `{"type":"modal","title":{"type":"plain_text","text":"` + title + `"},"blocks":[]}`
}

func largeModal() string {
	one := `{"type":"section","text":{"type":"mrkdwn","text":"` + strings.Repeat("a", 2990) + `"}},`
	return `{"type":"modal","title":{"type":"plain_text","text":"t"},"blocks":[` + strings.Repeat(one, 90) + `{"type":"divider"}]}`
}

func TestUpdateSemantics(t *testing.T) {
	s := start(t, quick())
	api := client(s)
	post := func() string {
		_, ts, err := api.PostMessage("C07FABOPS", slack.MsgOptionText("old", false), slack.MsgOptionBlocks(approveBlocks()...))
		if err != nil {
			t.Fatal(code(err))
		}
		return ts
	}
	last := func() Message { l := s.Messages("fabric-ops"); return l[len(l)-1] }
	ts := post()
	if _, _, _, err := api.UpdateMessage("C07FABOPS", ts, slack.MsgOptionBlocks(slack.NewDividerBlock())); err != nil {
		t.Fatal(code(err))
	}
	if m := last(); m.Text != "old" || len(m.Blocks) != 1 || m.Edited {
		t.Errorf("blocks only: %+v", m)
	}
	if _, _, _, err := api.UpdateMessage("C07FABOPS", ts, slack.MsgOptionText("new", false)); err != nil {
		t.Fatal(code(err))
	}
	if m := last(); m.Text != "new" || len(m.Blocks) != 0 || !m.Edited || len(m.History) != 3 {
		t.Errorf("text only: %+v", m)
	}
	thread, _, err := api.PostMessage("C07FABOPS", slack.MsgOptionText("r", false), slack.MsgOptionTS("1.000001"))
	if err != nil || last().ThreadTS != "" {
		t.Errorf("reply to a deleted parent: %s %+v %v", thread, last(), err)
	}
	link, err := api.GetPermalink(&slack.PermalinkParameters{Channel: "C07FABOPS", Ts: ts})
	if err != nil || link != "https://fabric-lab.slack.com/archives/C07FABOPS/p"+strings.Replace(ts, ".", "", 1) {
		t.Errorf("permalink %q, %v", link, err)
	}
}

func TestCarelessMessagesAreNoted(t *testing.T) {
	s := start(t, quick())
	api := client(s)
	loud := slack.NewSectionBlock(slack.NewTextBlockObject("mrkdwn", "all: <!channel>", false, false), nil, nil)
	if _, _, err := api.PostMessage("C07FABOPS", slack.MsgOptionBlocks(loud)); err != nil {
		t.Fatal(code(err))
	}
	got := strings.Join(s.State().Warnings, "\n")
	if !strings.Contains(got, "blocks without text") || !strings.Contains(got, "mentions <!channel>") {
		t.Errorf("warnings: %s", got)
	}
	if _, _, err := api.PostMessage("C07FABOPS", slack.MsgOptionText("all: &lt;!channel&gt;", false)); err != nil {
		t.Fatal(code(err))
	}
	if n := len(s.State().Warnings); n != 2 {
		t.Errorf("escaped text was noted: %d warnings", n)
	}
}

func TestPeopleAndChannels(t *testing.T) {
	s := start(t, quick())
	api := client(s)
	me, err := api.AuthTest()
	if err != nil || me.UserID != "U07FABBOT" || me.TeamID != "T07FABRIC" {
		t.Errorf("auth.test: %+v, %v", me, err)
	}
	u, err := api.GetUserInfo("U07OPERB")
	if err != nil || u.TZ != "America/New_York" || u.Profile.DisplayName != "operator-b" {
		t.Errorf("users.info: %+v, %v", u, err)
	}
	members, err := api.GetUserGroupMembers("S07APPROVE")
	if err != nil || strings.Join(members, ",") != "U07OPERA,U07OPERB" {
		t.Errorf("group: %v, %v", members, err)
	}
	s.SetGroup("fabric-approvers", []string{"U07ADMIN"})
	groups, err := api.GetUserGroups(slack.GetUserGroupsOptionIncludeUsers(true))
	if err != nil || len(groups) != 2 || groups[0].Users[0] != "U07ADMIN" {
		t.Errorf("groups: %+v, %v", groups, err)
	}
	dm, _, already, err := api.OpenConversation(&slack.OpenConversationParameters{Users: []string{"U07VIEWER"}})
	if err != nil || already || !strings.HasPrefix(dm.ID, "D") {
		t.Errorf("dm: %+v, %v", dm, err)
	}
	c, _, err := api.PostMessage("U07VIEWER", slack.MsgOptionText("hi", false))
	if err != nil || c != dm.ID {
		t.Errorf("post to a user went to %q, %v", c, err)
	}
	if _, _, _, err := api.JoinConversation("C07RANDOM"); err != nil {
		t.Error(err)
	}
	info, err := api.GetConversationInfo(&slack.GetConversationInfoInput{ChannelID: "C07RANDOM"})
	if err != nil || !info.IsMember {
		t.Errorf("info: %+v, %v", info, err)
	}
	shared, err := api.GetConversationInfo(&slack.GetConversationInfoInput{ChannelID: "C07SHARED"})
	if err != nil || !shared.IsExtShared {
		t.Errorf("shared: %+v, %v", shared, err)
	}
	if err := api.AddReaction("eyes", slack.NewRefToMessage(c, s.Messages(c)[0].TS)); err != nil {
		t.Error(err)
	}
	if err := api.AddReaction("eyes", slack.NewRefToMessage(c, s.Messages(c)[0].TS)); code(err) != "already_reacted" {
		t.Errorf("second reaction: %v", err)
	}
}
