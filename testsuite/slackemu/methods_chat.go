package slackemu

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// content is what a message shows, as an app sends it.
type content struct {
	text                               string
	blocks, attachments                []any
	hasText, hasBlocks, hasAttachments bool
	metadata                           any
	files                              []string
}

// readContent reads and judges the arguments that post and update share.
func (s *Server) readContent(c *call) (k content, err error) {
	k.text, k.hasText = c.arg("text"), c.has("text")
	if md := c.arg("markdown_text"); md != "" {
		if k.hasText || c.has("blocks") {
			return k, refuse("markdown_text_conflict")
		}
		if utf8.RuneCountInString(md) > maxMarkdownText {
			return k, refuse("msg_too_long")
		}
		k.text, k.hasText = md, true
		k.blocks, k.hasBlocks = s.withIDs([]any{map[string]any{"type": "markdown", "text": md}}), true
		return k, nil
	}
	if r := []rune(k.text); len(r) > maxTextRunes {
		k.text = string(r[:maxTextRunes])
		s.warn("text truncated from %d to %d characters", len(r), maxTextRunes)
	}
	if k.blocks, k.hasBlocks, err = s.blocksArg(c, "blocks"); err != nil {
		return k, err
	}
	if k.attachments, k.hasAttachments, err = s.attachmentsArg(c); err != nil {
		return k, err
	}
	if c.has("metadata") {
		if k.metadata, err = c.tree("metadata"); err != nil {
			return k, refuse("invalid_metadata_format")
		}
	}
	if k.files, err = s.fileIDs(c); err != nil {
		return k, err
	}
	if k.hasBlocks && len(k.blocks) > 0 && k.text == "" {
		s.warn("%s: blocks without text: the notification and screen readers get nothing", c.where())
	}
	s.warnLoud(k)
	return k, nil
}

// warnLoud notes mentions of everybody: they are usually foreign text that
// nobody escaped.
func (s *Server) warnLoud(k content) {
	raw, err := json.Marshal([]any{k.text, k.blocks, k.attachments})
	if err != nil {
		return
	}
	for _, loud := range []string{"!channel", "!here", "!everyone"} {
		// The encoder writes the angle brackets as \u003c and \u003e.
		if bytes.Contains(raw, []byte(`\u003c`+loud+`\u003e`)) {
			s.warn("the message mentions <%s>", loud)
		}
	}
}

func (k content) empty() bool {
	return k.text == "" && len(k.blocks) == 0 && len(k.attachments) == 0 && len(k.files) == 0
}

// postTarget finds where the bot may post; a user id means the DM.
func (s *Server) postTarget(ref string) (*Channel, error) {
	if ref == "" {
		return nil, refuse("channel_not_found")
	}
	if u := s.user(ref); u != nil && u.ID == ref {
		c, _ := s.dm(u.ID)
		return c, nil
	}
	c := s.channel(ref)
	switch {
	case c == nil, c.Private && !c.BotMember:
		return nil, refuse("channel_not_found")
	case c.Archived:
		return nil, refuse("is_archived")
	case !c.BotMember && !slices.Contains(s.opts.Scopes, "chat:write.public"):
		return nil, refuse("not_in_channel")
	}
	return c, nil
}

func (s *Server) chatPostMessage(c *call) (answer, error) {
	ch, err := s.postTarget(c.arg("channel"))
	if err != nil {
		return nil, err
	}
	k, err := s.readContent(c)
	if err != nil {
		return nil, err
	}
	if k.empty() {
		return nil, refuse("no_text")
	}
	thread := c.arg("thread_ts")
	if thread != "" {
		parent := s.message(ch.ID, thread)
		switch {
		case parent == nil:
			thread = "" // the parent is gone: Slack posts the reply into the channel
		case parent.ThreadTS != "" && parent.ThreadTS != parent.TS:
			return nil, refuse("cannot_reply_to_message")
		}
	}
	m := s.post(ch, s.botMessage(thread, k), "chat.postMessage")
	m.Broadcast = thread != "" && c.arg("reply_broadcast") == "true"
	s.shareFiles(m)
	return answer{"channel": ch.ID, "ts": m.TS, "message": s.wire(m)}, nil
}

func (s *Server) botMessage(thread string, k content) *Message {
	return &Message{
		User: s.opts.Workspace.BotUserID, BotID: s.opts.Workspace.BotID, ThreadTS: thread,
		Metadata: k.metadata, Files: k.files,
		Version: Version{Text: k.text, Blocks: k.blocks, Attachments: k.attachments},
	}
}

// post puts a message into a channel and makes it the newest.
func (s *Server) post(ch *Channel, m *Message, via string) *Message {
	m.Channel, m.TS = ch.ID, s.ts()
	m.At, m.Via = time.Now(), via
	m.History = []Version{m.Version}
	s.ws.messages[ch.ID] = append(s.ws.messages[ch.ID], m)
	s.touch()
	return m
}

// show gives a message a new appearance.
func (s *Server) show(m *Message, v Version, via string) {
	v.At, v.Via = time.Now(), via
	m.Version = v
	m.History = append(m.History, v)
	s.touch()
}

func (s *Server) chatUpdate(c *call) (answer, error) {
	ch := s.channel(c.arg("channel"))
	if ch == nil || ch.ID != c.arg("channel") || (ch.Private && !ch.BotMember) {
		return nil, refuse("channel_not_found")
	}
	m := s.message(ch.ID, c.arg("ts"))
	switch {
	case ch.Archived:
		return nil, refuse("is_inactive")
	case m == nil:
		return nil, refuse("message_not_found")
	case m.BotID != s.opts.Workspace.BotID:
		return nil, refuse("cant_update_message")
	case s.faults.closedEdits[""], s.faults.closedEdits[editKey(ch.ID, m.TS)]:
		return nil, refuse("edit_window_closed")
	}
	if len(c.arg("text")) > maxUpdateOctets {
		return nil, refuse("msg_too_long")
	}
	k, err := s.readContent(c)
	if err != nil {
		return nil, err
	}
	if !k.hasText && !k.hasBlocks && !k.hasAttachments && !c.has("file_ids") {
		return nil, refuse("no_text")
	}
	next := m.Version
	switch {
	case k.hasBlocks:
		if hasRichText(m.Blocks) && len(k.blocks) > 0 && !hasRichText(k.blocks) {
			return nil, refuse("block_mismatch")
		}
		next.Blocks = k.blocks
	case k.hasText:
		next.Blocks = nil // text alone removes the old blocks
	}
	if k.hasText {
		next.Text = k.text
	}
	if k.hasAttachments {
		next.Attachments = k.attachments
	}
	if next.Text == "" && len(next.Blocks) == 0 && len(next.Attachments) == 0 && len(m.Files) == 0 {
		return nil, refuse("no_text")
	}
	if k.metadata != nil {
		m.Metadata = k.metadata
	}
	m.Edited = !k.hasBlocks
	s.show(m, next, "chat.update")
	return answer{"channel": ch.ID, "ts": m.TS, "text": m.Text, "message": s.wire(m)}, nil
}

func hasRichText(blocks []any) bool {
	return slices.ContainsFunc(blocks, func(b any) bool {
		o, _ := b.(map[string]any)
		return o["type"] == "rich_text"
	})
}

func (s *Server) chatPostEphemeral(c *call) (answer, error) {
	ch, err := s.postTarget(c.arg("channel"))
	if err != nil {
		return nil, err
	}
	u := s.user(c.arg("user"))
	if u == nil || !(slices.Contains(ch.Members, u.ID) || ch.IM == u.ID) {
		return nil, refuse("user_not_in_channel")
	}
	k, err := s.readContent(c)
	if err != nil {
		return nil, err
	}
	if k.empty() {
		return nil, refuse("no_text")
	}
	m := s.whisper(ch.ID, u.ID, s.botMessage(c.arg("thread_ts"), k), "chat.postEphemeral")
	return answer{"message_ts": m.TS}, nil
}

// whisper shows a message to one user only.
func (s *Server) whisper(channel, user string, m *Message, via string) *Message {
	m.Channel, m.TS, m.Ephemeral = channel, s.ts(), user
	m.At, m.Via = time.Now(), via
	m.History = []Version{m.Version}
	s.ws.private = append(s.ws.private, m)
	s.touch()
	return m
}

func (s *Server) chatDelete(c *call) (answer, error) {
	ch := s.channel(c.arg("channel"))
	if ch == nil {
		return nil, refuse("channel_not_found")
	}
	m := s.message(ch.ID, c.arg("ts"))
	if m == nil {
		return nil, refuse("message_not_found")
	}
	if m.BotID != s.opts.Workspace.BotID {
		return nil, refuse("cant_delete_message")
	}
	m.Deleted = true
	return answer{"channel": ch.ID, "ts": m.TS}, nil
}

func (s *Server) chatGetPermalink(c *call) (answer, error) {
	ch := s.channel(c.arg("channel"))
	if ch == nil || (ch.Private && !ch.BotMember) {
		return nil, refuse("channel_not_found")
	}
	m := s.message(ch.ID, c.arg("message_ts"))
	if m == nil {
		return nil, refuse("message_not_found")
	}
	link := fmt.Sprintf("https://%s.slack.com/archives/%s/p%s", s.opts.Workspace.Domain, ch.ID, strings.Replace(m.TS, ".", "", 1))
	if m.ThreadTS != "" && m.ThreadTS != m.TS {
		link += "?thread_ts=" + m.ThreadTS + "&cid=" + ch.ID
	}
	return answer{"channel": ch.ID, "permalink": link}, nil
}
