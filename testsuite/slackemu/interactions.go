package slackemu

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
)

// SlashResult is what the person who typed a command saw at once.
type SlashResult struct {
	TriggerID string   `json:"trigger_id"`
	Outcome   Outcome  `json:"outcome"`
	Reply     *Message `json:"reply,omitempty"` // the ack's message, or Slack's own error line
}

// Slash types a command, such as "/fabric sm status", as a user in a channel
// (ids or names) and waits for the acknowledgement.
func (s *Server) Slash(user, channel, text string) (SlashResult, error) {
	s.mu.Lock()
	u, c, err := s.actor(user, channel)
	if err != nil {
		s.mu.Unlock()
		return SlashResult{}, fmt.Errorf("slash command: %w", err)
	}
	command, rest, _ := strings.Cut(strings.TrimSpace(text), " ")
	if !slices.Contains(s.opts.Commands, command) {
		reply := *s.systemNote(c.ID, u.ID, "", fmt.Sprintf("%s is not a valid command. In Slack, all messages that start with the “/” character are interpreted as commands.", command))
		s.mu.Unlock()
		return SlashResult{Reply: &reply}, nil
	}
	if s.opts.EscapeSlash {
		rest = s.escapeRefs(rest)
	}
	trigger := s.newTrigger(u.ID, "")
	reply := responseURL{channel: c.ID, user: u.ID}
	p := parcel{kind: "slash_commands", detail: command, key: trigger, user: u.ID, acceptsPayload: true,
		payload: s.slashPayload(u, c, command, strings.TrimSpace(rest), trigger, s.newResponseURL(reply))}
	typed := strings.TrimSpace(text)
	s.mu.Unlock()

	d, a := s.deliver(p, 0)
	s.mu.Lock()
	defer s.mu.Unlock()
	res := SlashResult{TriggerID: trigger, Outcome: d.Outcome}
	if d.Outcome != Acked {
		note := *s.systemNote(c.ID, u.ID, "", failure(command, d.Outcome))
		res.Reply = &note
		return res, nil
	}
	if m := s.applyMessageAck(&reply, command, typed, a.payload); m != nil {
		shown := *m
		res.Reply = &shown
	}
	return res, nil
}

func failure(command string, o Outcome) string {
	code := "dispatch_failed"
	if o == TimedOut {
		code = "operation_timeout"
	}
	return fmt.Sprintf("%s failed with the error %q", command, code)
}

// actor finds a user who can see a channel; the caller holds s.mu.
func (s *Server) actor(user, channel string) (*User, *Channel, error) {
	u := s.user(user)
	if u == nil {
		return nil, nil, fmt.Errorf("no user %q", user)
	}
	c := s.channel(channel)
	if c == nil && channel == "@"+s.opts.Workspace.BotName {
		c, _ = s.dm(u.ID)
	}
	if c == nil {
		return nil, nil, fmt.Errorf("no channel %q", channel)
	}
	if !s.sees(u, c) {
		return nil, nil, fmt.Errorf("%s is not in %s", u.Name, channel)
	}
	return u, c, nil
}

// systemNote is a line of Slack itself that only the user sees.
func (s *Server) systemNote(channel, user, thread, text string) *Message {
	return s.whisper(channel, user, &Message{System: true, ThreadTS: thread, Version: Version{Text: text}}, "slack")
}

// Act is one use of an interactive element.
type Act struct {
	User     string `json:"user"`
	Channel  string `json:"channel,omitempty"` // with TS: an element of a message
	TS       string `json:"ts,omitempty"`
	ViewID   string `json:"view_id,omitempty"` // an element of a modal or Home tab
	BlockID  string `json:"block_id,omitempty"`
	ActionID string `json:"action_id"`
	Value    any    `json:"value,omitempty"` // what was chosen: option value(s), user, date…; not for buttons
}

// ActResult says what became of a click.
type ActResult struct {
	TriggerID string         `json:"trigger_id"`
	Outcome   Outcome        `json:"outcome"`
	Confirm   map[string]any `json:"confirm,omitempty"` // the dialog the user had to accept first
}

// Click presses a button of a message (an ephemeral one too).
func (s *Server) Click(user, channel, ts, actionID string) (ActResult, error) {
	return s.Act(Act{User: user, Channel: channel, TS: ts, ActionID: actionID})
}

// Act uses an interactive element and waits for the acknowledgement.
func (s *Server) Act(a Act) (ActResult, error) {
	s.mu.Lock()
	p, element, err := s.actParcel(a)
	s.mu.Unlock()
	if err != nil {
		return ActResult{}, fmt.Errorf("act on %s: %w", a.ActionID, err)
	}
	d, _ := s.deliver(p, 0)
	res := ActResult{TriggerID: p.key, Outcome: d.Outcome}
	res.Confirm, _ = clone(element["confirm"]).(map[string]any)
	if d.Outcome != Acked && a.Channel != "" {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.systemNote(s.channelID(a.Channel), p.user, "", "We had some trouble connecting. The app did not respond to your action in time.")
	}
	return res, nil
}

func (s *Server) actParcel(a Act) (parcel, map[string]any, error) {
	p := parcel{kind: "interactive", detail: "block_actions"}
	if a.ViewID != "" {
		u := s.user(a.User)
		if u == nil {
			return p, nil, fmt.Errorf("no user %q", a.User)
		}
		v := s.openView(u.ID, a.ViewID)
		if v == nil {
			return p, nil, fmt.Errorf("no open view %s of %s", a.ViewID, u.Name)
		}
		block, element := findElement(v.Blocks, a.BlockID, a.ActionID)
		if element == nil {
			return p, nil, fmt.Errorf("no such element in view %s", v.ID)
		}
		action, err := s.action(block, element, a.Value)
		if err != nil {
			return p, nil, err
		}
		p.user, p.key = u.ID, s.newTrigger(u.ID, v.ID)
		p.payload = s.viewActionPayload(u, v, action, p.key)
		return p, element, nil
	}
	u, c, err := s.actor(a.User, a.Channel)
	if err != nil {
		return p, nil, err
	}
	m := s.message(c.ID, a.TS)
	if m == nil {
		m = s.ephemeral(c.ID, a.TS)
	}
	if m == nil || (m.Ephemeral != "" && m.Ephemeral != u.ID) {
		return p, nil, fmt.Errorf("no message %s in %s", a.TS, a.Channel)
	}
	block, element := findElement(m.allBlocks(), a.BlockID, a.ActionID)
	if element == nil {
		return p, nil, fmt.Errorf("message %s has no such element now", m.TS)
	}
	if ids, ok := element["visible_to_user_ids"].([]any); ok && !slices.Contains(ids, any(u.ID)) {
		return p, nil, fmt.Errorf("the element is not visible to %s", u.Name)
	}
	action, err := s.action(block, element, a.Value)
	if err != nil {
		return p, nil, err
	}
	p.user, p.key = u.ID, s.newTrigger(u.ID, "")
	p.payload = s.messageActionPayload(u, c, m, action, p.key)
	return p, element, nil
}

func (m *Message) allBlocks() []any {
	all := slices.Clone(m.Blocks)
	for _, a := range m.Attachments {
		obj, _ := a.(map[string]any)
		blocks, _ := obj["blocks"].([]any)
		all = append(all, blocks...)
	}
	return all
}

// Say writes a message as a user; thread is the parent's ts or empty. The bot
// gets app_mention when it is mentioned (@name or <@id>), message in a DM.
func (s *Server) Say(user, channel, thread, text string) (ts string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	u, c, err := s.actor(user, channel)
	if err != nil {
		return "", fmt.Errorf("say: %w", err)
	}
	if thread != "" && s.message(c.ID, thread) == nil {
		return "", fmt.Errorf("say: no message %s in %s", thread, channel)
	}
	w := s.opts.Workspace
	text = s.mentions(escapeText(text))
	m := s.post(c, &Message{User: u.ID, ThreadTS: thread, Version: Version{Text: text}}, "user")
	event := answer{"user": u.ID, "text": text, "ts": m.TS, "channel": c.ID, "event_ts": m.TS, "team": u.TeamID}
	if thread != "" {
		event["thread_ts"] = thread
	}
	switch {
	case c.IM != "":
		event["type"], event["channel_type"] = "message", "im"
		s.emit("message.im", "im:history", u, event)
	case strings.Contains(text, "<@"+w.BotUserID+">") && c.BotMember:
		event["type"] = "app_mention"
		s.emit("app_mention", "app_mentions:read", u, event)
	}
	return m.TS, nil
}

// OpenHome opens the app's Home tab as a user.
func (s *Server) OpenHome(user string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	u := s.user(user)
	if u == nil {
		return fmt.Errorf("open home: no user %q", user)
	}
	c, _ := s.dm(u.ID)
	event := answer{"type": "app_home_opened", "user": u.ID, "channel": c.ID, "tab": "home", "event_ts": s.ts()}
	if v := s.ws.homes[u.ID]; v != nil {
		event["view"] = s.viewWire(v)
	}
	s.emit("app_home_opened", "", u, event)
	return nil
}

// emit publishes an event if the app subscribed to it and has the scope.
func (s *Server) emit(name, scope string, u *User, event answer) {
	if !slices.Contains(s.opts.Events, name) || (scope != "" && !slices.Contains(s.opts.Scopes, scope)) {
		return
	}
	w := s.opts.Workspace
	id := "Ev07" + strings.ToUpper(randomHex(5))
	s.publish(parcel{kind: "events_api", detail: name, key: id, user: u.ID, payload: answer{
		"token": "legacy", "team_id": w.TeamID, "api_app_id": w.AppID, "type": "event_callback", "event_id": id,
		"event_time": time.Now().Unix(), "event_context": "4-" + randomHex(20), "event": event,
		"authorizations": []any{answer{"team_id": w.TeamID, "user_id": w.BotUserID, "is_bot": true, "is_enterprise_install": false}},
	}})
}

func escapeText(text string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(text)
}

var (
	typedName = regexp.MustCompile(`(^|[\s(])@([A-Za-z0-9._-]*[A-Za-z0-9])`)
	typedID   = regexp.MustCompile(`&lt;(@[UW][A-Z0-9]+|#[CG][A-Z0-9]+|!subteam\^S[A-Z0-9]+)&gt;`)
)

// mentions turns what a person types into references, as Slack's client does.
func (s *Server) mentions(text string) string {
	text = typedID.ReplaceAllString(text, "<$1>")
	return typedName.ReplaceAllStringFunc(text, func(all string) string {
		before, name, _ := strings.Cut(all, "@")
		if name == s.opts.Workspace.BotName {
			return before + "<@" + s.opts.Workspace.BotUserID + ">"
		}
		if u := s.user(name); u != nil {
			return before + "<@" + u.ID + ">"
		}
		for _, g := range s.ws.groups {
			if g.Handle == name {
				return before + "<!subteam^" + g.ID + ">"
			}
		}
		return all
	})
}

// escapeRefs rewrites @name and #channel the way should_escape does.
func (s *Server) escapeRefs(text string) string {
	words := strings.Split(text, " ")
	for i, w := range words {
		switch {
		case strings.HasPrefix(w, "@") && s.user(w) != nil:
			words[i] = fmt.Sprintf("<@%s|%s>", s.user(w).ID, s.user(w).Name)
		case strings.HasPrefix(w, "#") && s.channel(w) != nil:
			words[i] = fmt.Sprintf("<#%s|%s>", s.channel(w).ID, s.channel(w).Name)
		}
	}
	return strings.Join(words, " ")
}
