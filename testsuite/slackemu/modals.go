package slackemu

import (
	"encoding/json"
	"fmt"
	"maps"

	"github.com/fabricbot/fabricbot/testsuite/slackemu/blockkit"
)

// troubleConnecting is what a user reads when a modal's answer is missing or bad.
const troubleConnecting = "We had some trouble connecting. Try again?"

// SubmitResult says what the person saw after pressing the modal's button.
type SubmitResult struct {
	TriggerID string            `json:"trigger_id,omitempty"`
	Outcome   Outcome           `json:"outcome,omitempty"` // empty when Slack itself refused the inputs
	Closed    bool              `json:"closed"`
	Errors    map[string]string `json:"errors,omitempty"` // by block_id
	Notice    string            `json:"notice,omitempty"`
	View      *View             `json:"view,omitempty"` // the view on top now
}

// Submit fills a modal and presses its button. Keys of values are action_ids,
// block_ids or "block_id/action_id"; a value is text, an option's value, an id
// or a date, or a list of those. Inputs that are not named keep their content.
func (s *Server) Submit(viewID, user string, values map[string]any) (SubmitResult, error) {
	s.mu.Lock()
	u := s.user(user)
	if u == nil {
		s.mu.Unlock()
		return SubmitResult{}, fmt.Errorf("submit %s: no user %q", viewID, user)
	}
	v := s.openView(u.ID, viewID)
	if v == nil || v.Type != "modal" {
		s.mu.Unlock()
		return SubmitResult{}, fmt.Errorf("submit %s: no such open modal of %s", viewID, u.Name)
	}
	errs, err := s.enter(v, values)
	if err != nil {
		s.mu.Unlock()
		return SubmitResult{}, fmt.Errorf("submit %s: %w", viewID, err)
	}
	v.Errors, v.Notice = errs, ""
	if len(errs) > 0 {
		s.touch()
		shown := *v
		s.mu.Unlock()
		return SubmitResult{Errors: errs, View: &shown}, nil
	}
	trigger := s.newTrigger(u.ID, v.ID)
	p := parcel{kind: "interactive", detail: "view_submission", key: trigger, user: u.ID, acceptsPayload: true,
		payload: s.viewPayload("view_submission", u, v, trigger)}
	s.mu.Unlock()

	d, a := s.deliver(p, 0)
	s.mu.Lock()
	defer s.mu.Unlock()
	if d.Outcome != Acked {
		v.Notice = troubleConnecting
	} else {
		s.applyViewAck(v, a.payload)
	}
	s.touch()
	res := SubmitResult{TriggerID: trigger, Outcome: d.Outcome, Errors: maps.Clone(v.Errors), Notice: v.Notice}
	res.Closed = s.openView(u.ID, v.ID) == nil
	if stack := s.ws.stacks[u.ID]; len(stack) > 0 {
		top := *stack[len(stack)-1]
		res.View = &top
	}
	return res, nil
}

// enter stores the values and gives the complaints of Slack's own client.
func (s *Server) enter(v *View, values map[string]any) (map[string]string, error) {
	errs, state, used := map[string]string{}, map[string]any{}, 0
	for _, b := range v.Blocks {
		block, _ := b.(map[string]any)
		element, _ := block["element"].(map[string]any)
		if block["type"] != "input" || element == nil {
			continue
		}
		blockID, _ := block["block_id"].(string)
		id, _ := element["action_id"].(string)
		st, _ := held(v, blockID, id)
		entered, given := values[blockID+"/"+id]
		for _, key := range []string{id, blockID} {
			if !given {
				entered, given = values[key]
			}
		}
		var err error
		if given {
			used++
			st, err = stateOf(element, entered)
		} else if st == nil {
			st, err = stateOf(element, initial(element))
		}
		if err != nil {
			return nil, fmt.Errorf("input %s: %w", blockID, err)
		}
		if say := complaint(block, element, st); say != "" {
			errs[blockID] = say
		}
		state[blockID] = map[string]any{id: st}
	}
	if used < len(values) {
		return nil, fmt.Errorf("%d of %d values name no input of the modal", len(values)-used, len(values))
	}
	for blockID, st := range v.State {
		if state[blockID] == nil {
			state[blockID] = st
		}
	}
	v.State = state
	return errs, nil
}

func held(v *View, blockID, actionID string) (map[string]any, bool) {
	inner, _ := v.State[blockID].(map[string]any)
	st, ok := inner[actionID].(map[string]any)
	return st, ok
}

// remember keeps what a view's element holds after an action.
func remember(v *View, action map[string]any) {
	if action["type"] == "button" || action["type"] == "overflow" {
		return
	}
	state := maps.Clone(v.State)
	if state == nil {
		state = map[string]any{}
	}
	state[fmt.Sprint(action["block_id"])] = map[string]any{fmt.Sprint(action["action_id"]): action}
	v.State = state
}

// applyViewAck does what the answer to a view_submission says.
func (s *Server) applyViewAck(v *View, payload json.RawMessage) {
	var reply struct {
		Action string            `json:"response_action"`
		Errors map[string]string `json:"errors"`
		View   json.RawMessage   `json:"view"`
	}
	if len(payload) > 0 && json.Unmarshal(payload, &reply) != nil {
		v.Notice = troubleConnecting
		return
	}
	var src map[string]any
	if reply.Action == "update" || reply.Action == "push" {
		tree, err := blockkit.Decode(string(reply.View))
		src, _ = tree.(map[string]any)
		if err == nil {
			err = s.judgeView(src, "modal")
		}
		if err != nil || (reply.Action == "push" && len(s.ws.stacks[v.User]) >= maxStack) {
			s.warn("view_submission %s: %s refused: %v", v.ID, reply.Action, err)
			v.Notice = troubleConnecting
			return
		}
	}
	switch reply.Action {
	case "":
		s.drop(v, false)
	case "clear":
		s.drop(v, true)
	case "errors":
		for blockID := range reply.Errors {
			if !isInput(v.Blocks, blockID) {
				s.warn("view_submission %s: errors name %q, which is no input block", v.ID, blockID)
				v.Notice = troubleConnecting
				return
			}
		}
		v.Errors = reply.Errors
	case "update":
		s.fill(v, src)
		v.Updates++
	case "push":
		s.pushView(v.User, s.ws.stacks[v.User], src)
	default:
		v.Notice = troubleConnecting
	}
}

func isInput(blocks []any, blockID string) bool {
	for _, b := range blocks {
		if o, _ := b.(map[string]any); o["block_id"] == blockID && o["type"] == "input" {
			return true
		}
	}
	return false
}

// CloseView closes the topmost modal (all of them with clear_on_close).
func (s *Server) CloseView(viewID, user string) error {
	s.mu.Lock()
	u := s.user(user)
	if u == nil {
		s.mu.Unlock()
		return fmt.Errorf("close %s: no user %q", viewID, user)
	}
	v := s.openView(u.ID, viewID)
	if v == nil || v.Type != "modal" {
		s.mu.Unlock()
		return fmt.Errorf("close %s: no such open modal of %s", viewID, u.Name)
	}
	s.drop(v, v.ClearOnClose)
	payload := s.viewPayload("view_closed", u, v, "")
	payload["is_cleared"] = v.ClearOnClose
	s.mu.Unlock()
	if v.NotifyOnClose {
		s.deliver(parcel{kind: "interactive", detail: "view_closed", key: v.ID, user: u.ID, payload: payload}, 0)
	}
	return nil
}

// applyMessageAck shows the message in a slash command's ack, if there is one.
func (s *Server) applyMessageAck(r *responseURL, command, typed string, payload json.RawMessage) *Message {
	if len(payload) == 0 || string(payload) == "null" {
		return nil
	}
	tree, err := blockkit.Decode(string(payload))
	args, ok := tree.(map[string]any)
	if err != nil || !ok {
		args = map[string]any{"text": string(payload)} // HTTP mode: plain text is a message
	}
	k, err := s.readContent(&call{args: args})
	if err != nil {
		return s.systemNote(r.channel, r.user, "", fmt.Sprintf("%s failed with the error %q", command, err))
	}
	if k.empty() {
		return nil
	}
	if args["response_type"] == "in_channel" {
		if ch := s.channel(r.channel); ch != nil {
			s.post(ch, &Message{User: r.user, Version: Version{Text: escapeText(typed)}}, "user")
		}
	}
	return s.answerTo(r, k, args, "ack")
}

// applyDuplicate does what Slack would do with the second answer to the same
// delivery: a command's message is shown once more.
func (s *Server) applyDuplicate(p parcel, a ack) {
	fields, ok := p.payload.(answer)
	if p.kind != "slash_commands" || !ok {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	channel, _ := fields["channel_id"].(string)
	s.applyMessageAck(&responseURL{channel: channel, user: p.user}, p.detail, p.detail, a.payload)
}
