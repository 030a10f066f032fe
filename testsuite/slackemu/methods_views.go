package slackemu

import (
	"slices"
	"time"
)

// View is a modal or a Home tab.
type View struct {
	ID              string            `json:"id"`
	Type            string            `json:"type"` // modal or home
	User            string            `json:"user"`
	CallbackID      string            `json:"callback_id"`
	ExternalID      string            `json:"external_id,omitempty"`
	PrivateMetadata string            `json:"private_metadata,omitempty"`
	Hash            string            `json:"hash"`
	RootViewID      string            `json:"root_view_id"`
	PreviousViewID  string            `json:"previous_view_id,omitempty"`
	Title           any               `json:"title,omitempty"`
	Submit          any               `json:"submit,omitempty"`
	Close           any               `json:"close,omitempty"`
	Blocks          []any             `json:"blocks"`
	ClearOnClose    bool              `json:"clear_on_close,omitempty"`
	NotifyOnClose   bool              `json:"notify_on_close,omitempty"`
	Errors          map[string]string `json:"errors,omitempty"` // shown under inputs, by block_id
	Notice          string            `json:"notice,omitempty"` // shown on top ("We had some trouble connecting")
	Updates         int               `json:"updates"`          // how often the app changed it
	State           map[string]any    `json:"state,omitempty"`  // block_id → action_id → value, as last chosen
}

// maxStack is one opened view and two pushed ones: docs.slack.dev/reference/methods/views.push.
const maxStack = 3

// newView makes a view from the app's JSON.
func (s *Server) newView(user string, src map[string]any) *View {
	v := &View{ID: s.id("V"), User: user}
	v.RootViewID = v.ID
	s.fill(v, src)
	s.ws.views[v.ID] = v
	return v
}

// fill replaces everything the app decides; what the person typed stays.
func (s *Server) fill(v *View, src map[string]any) {
	str := func(k string) string { x, _ := src[k].(string); return x }
	v.Type, v.CallbackID, v.ExternalID, v.PrivateMetadata = str("type"), str("callback_id"), str("external_id"), str("private_metadata")
	v.Title, v.Submit, v.Close = src["title"], src["submit"], src["close"]
	v.ClearOnClose, _ = src["clear_on_close"].(bool)
	v.NotifyOnClose, _ = src["notify_on_close"].(bool)
	list, _ := src["blocks"].([]any)
	v.Blocks = s.withIDs(list)
	v.Errors, v.Notice = nil, ""
	v.Hash = itoa(time.Now().Unix()) + "." + randomHex(4)
}

func (s *Server) viewWire(v *View) answer {
	w := s.opts.Workspace
	state := v.State
	if state == nil {
		state = map[string]any{}
	}
	out := answer{
		"id": v.ID, "team_id": w.TeamID, "type": v.Type, "title": clone(v.Title), "submit": clone(v.Submit), "close": clone(v.Close),
		"blocks": clone(v.Blocks), "private_metadata": v.PrivateMetadata, "callback_id": v.CallbackID,
		"external_id": v.ExternalID, "state": answer{"values": clone(state)}, "hash": v.Hash,
		"clear_on_close": v.ClearOnClose, "notify_on_close": v.NotifyOnClose, "root_view_id": v.RootViewID,
		"app_id": w.AppID, "bot_id": w.BotID, "app_installed_team_id": w.TeamID,
	}
	if v.PreviousViewID != "" {
		out["previous_view_id"] = v.PreviousViewID
	}
	if len(v.Blocks) == 0 {
		out["blocks"] = []any{}
	}
	return out
}

// externalIDTaken tells whether another living view bears the same external_id.
func (s *Server) externalIDTaken(id string, except *View) bool {
	if id == "" {
		return false
	}
	for _, stack := range s.ws.stacks {
		if slices.ContainsFunc(stack, func(v *View) bool { return v.ExternalID == id && v != except }) {
			return true
		}
	}
	for _, v := range s.ws.homes {
		if v.ExternalID == id && v != except {
			return true
		}
	}
	return false
}

func (s *Server) viewsOpen(c *call) (answer, error) { return s.raise(c, false) }

func (s *Server) viewsPush(c *call) (answer, error) { return s.raise(c, true) }

func (s *Server) raise(c *call, push bool) (answer, error) {
	src, err := s.viewArg(c, "modal")
	if err != nil {
		return nil, err
	}
	if id, _ := src["external_id"].(string); s.externalIDTaken(id, nil) {
		return nil, refuse("duplicate_external_id")
	}
	t, err := s.useTrigger(c.arg("trigger_id"))
	if err != nil {
		return nil, err
	}
	stack := s.ws.stacks[t.user]
	switch {
	case push && t.view == "":
		return nil, refuse("invalid_trigger_id", "the trigger was not born in a modal")
	case push && len(stack) >= maxStack:
		return nil, refuse("push_limit_reached")
	case !push:
		stack = nil // a newly opened modal replaces what was open
	}
	v := s.pushView(t.user, stack, src)
	return answer{"view": s.viewWire(v)}, nil
}

func (s *Server) pushView(user string, stack []*View, src map[string]any) *View {
	v := s.newView(user, src)
	if len(stack) > 0 {
		below := stack[len(stack)-1]
		v.RootViewID, v.PreviousViewID = below.RootViewID, below.ID
	}
	s.ws.stacks[user] = append(slices.Clone(stack), v)
	s.touch()
	return v
}

func (s *Server) viewsUpdate(c *call) (answer, error) {
	var v *View
	for _, stack := range s.ws.stacks {
		for _, o := range stack {
			if (c.arg("view_id") != "" && o.ID == c.arg("view_id")) || (c.arg("external_id") != "" && o.ExternalID == c.arg("external_id")) {
				v = o
			}
		}
	}
	src, err := s.viewArg(c, "modal")
	switch {
	case err != nil:
		return nil, err
	case v == nil:
		return nil, refuse("not_found")
	case c.arg("hash") != "" && c.arg("hash") != v.Hash:
		return nil, refuse("hash_conflict")
	}
	if id, _ := src["external_id"].(string); s.externalIDTaken(id, v) {
		return nil, refuse("duplicate_external_id")
	}
	s.fill(v, src)
	v.Updates++
	return answer{"view": s.viewWire(v)}, nil
}

func (s *Server) viewsPublish(c *call) (answer, error) {
	if s.opts.NoHomeTab {
		return nil, refuse("not_enabled")
	}
	src, err := s.viewArg(c, "home")
	if err != nil {
		return nil, err
	}
	u := s.user(c.arg("user_id"))
	if u == nil || u.ID != c.arg("user_id") {
		return nil, refuse("invalid_arguments", "invalid `user_id` [json-pointer:/user_id]")
	}
	v := s.ws.homes[u.ID]
	if v == nil {
		v = s.newView(u.ID, src)
		s.ws.homes[u.ID] = v
		return answer{"view": s.viewWire(v)}, nil
	}
	if h := c.arg("hash"); h != "" && h != v.Hash {
		return nil, refuse("hash_conflict")
	}
	s.fill(v, src)
	v.Updates++
	return answer{"view": s.viewWire(v)}, nil
}

// openView finds a modal in its owner's stack, or a Home tab.
func (s *Server) openView(user, id string) *View {
	for _, v := range s.ws.stacks[user] {
		if v.ID == id {
			return v
		}
	}
	if h := s.ws.homes[user]; h != nil && h.ID == id {
		return h
	}
	return nil
}

// drop takes a view and everything above it off the stack.
func (s *Server) drop(v *View, all bool) {
	stack := s.ws.stacks[v.User]
	i := slices.Index(stack, v)
	if i < 0 {
		return
	}
	if all {
		i = 0
	}
	s.ws.stacks[v.User] = slices.Clone(stack[:i])
	s.touch()
}
