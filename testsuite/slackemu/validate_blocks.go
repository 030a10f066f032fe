package slackemu

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/fabricbot/fabricbot/testsuite/slackemu/blockkit"
)

// Limits of messages: docs.slack.dev/reference/methods/chat.postmessage and
// chat.update. The total over all blocks is undocumented; it was measured by
// others (slackapi/bolt-js#2509).
const (
	maxTextRunes        = 40_000 // silently truncated above
	maxUpdateOctets     = 4_000  // msg_too_long above
	maxShownRunes       = 13_200 // msg_blocks_too_long above
	maxMarkdownText     = 12_000
	maxAttachments      = 100
	maxAttachmentBlocks = 20
	maxViewOctets       = 250_000
)

func (s *Server) env() blockkit.Env {
	return blockkit.Env{NotRolledOut: s.faults.blocks, SlackFile: s.imageFile}
}

// blocksArg reads and judges the blocks of a message. Present is false when
// the argument is absent; an empty list is present.
func (s *Server) blocksArg(c *call, name string) (list []any, present bool, err error) {
	if !c.has(name) {
		return nil, false, nil
	}
	v, err := c.tree(name)
	if err != nil {
		return nil, false, refuse("invalid_blocks_format")
	}
	if v == nil {
		return nil, false, nil
	}
	list, ok := v.([]any)
	if !ok {
		return nil, false, refuse("invalid_blocks_format")
	}
	if problems := blockkit.Blocks(blockkit.Message, list, "/"+name, s.env()); len(problems) > 0 {
		return nil, false, &apiError{code: "invalid_blocks", problems: problems}
	}
	if blockkit.ShownRunes(list) > maxShownRunes {
		return nil, false, refuse("msg_blocks_too_long")
	}
	return s.withIDs(list), true, nil
}

// withIDs gives every block a block_id and every element an action_id, as
// Slack does before a message is shown.
func (s *Server) withIDs(list []any) []any {
	for _, b := range list {
		obj, ok := b.(map[string]any)
		if !ok {
			continue
		}
		if id, _ := obj["block_id"].(string); id == "" {
			obj["block_id"] = randomHex(3)
		}
		nameActions(obj["accessory"])
		nameActions(obj["element"])
		if elements, ok := obj["elements"].([]any); ok {
			for _, e := range elements {
				nameActions(e)
			}
		}
		if children, ok := obj["child_blocks"].([]any); ok {
			s.withIDs(children)
		}
	}
	return list
}

func nameActions(v any) {
	obj, ok := v.(map[string]any)
	if !ok {
		return
	}
	switch kind, _ := obj["type"].(string); kind {
	case "", "image", "plain_text", "mrkdwn", "card":
		return
	default:
		if strings.HasPrefix(kind, "rich_text") {
			return
		}
	}
	if id, _ := obj["action_id"].(string); id == "" {
		obj["action_id"] = randomHex(3)
	}
}

func (s *Server) attachmentsArg(c *call) (list []any, present bool, err error) {
	if !c.has("attachments") {
		return nil, false, nil
	}
	v, err := c.tree("attachments")
	if err != nil {
		return nil, false, refuse("invalid_attachments")
	}
	if v == nil {
		return nil, false, nil
	}
	list, ok := v.([]any)
	if !ok {
		return nil, false, refuse("invalid_attachments")
	}
	if len(list) > maxAttachments {
		return nil, false, refuse("too_many_attachments")
	}
	for i, a := range list {
		obj, ok := a.(map[string]any)
		if !ok {
			return nil, false, refuse("invalid_attachments")
		}
		blocks, _ := obj["blocks"].([]any)
		if len(blocks) > maxAttachmentBlocks {
			return nil, false, refuse("invalid_attachments", fmt.Sprintf("no more than %d items allowed [json-pointer:/attachments/%d/blocks]", maxAttachmentBlocks, i))
		}
		problems := blockkit.Blocks(blockkit.Message, blocks, "/attachments/"+strconv.Itoa(i)+"/blocks", s.env())
		if len(problems) > 0 {
			return nil, false, &apiError{code: "invalid_blocks", problems: problems}
		}
		s.withIDs(blocks)
	}
	return list, true, nil
}

// viewArg reads and judges a view.
func (s *Server) viewArg(c *call, wantType string) (map[string]any, error) {
	v, err := c.tree("view")
	view, ok := v.(map[string]any)
	if err != nil || !ok {
		return nil, refuse("invalid_arguments", "must provide an object [json-pointer:/view]")
	}
	if err := s.judgeView(view, wantType); err != nil {
		return nil, err
	}
	return view, nil
}

func (s *Server) judgeView(view map[string]any, wantType string) error {
	if raw, err := json.Marshal(view); err != nil || len(raw) > maxViewOctets {
		return refuse("view_too_large")
	}
	problems := blockkit.View(view, "/view", s.env())
	if len(problems) == 0 && view["type"] != wantType {
		problems = []blockkit.Problem{{Message: "must be one of: " + wantType, Pointer: "/view/type"}}
	}
	if len(problems) > 0 {
		return &apiError{code: "invalid_arguments", problems: problems}
	}
	return nil
}

// blocksValidate is the public method that only judges.
func (s *Server) blocksValidate(c *call) (answer, error) {
	given := 0
	for _, name := range []string{"blocks", "view", "message"} {
		if c.has(name) {
			given++
		}
	}
	if given != 1 {
		return nil, refuse("invalid_arguments", "exactly one of blocks, view, message is required")
	}
	var problems []blockkit.Problem
	code := "invalid_blocks"
	switch {
	case c.has("view"):
		code = "invalid_view"
		v, _ := c.tree("view")
		view, _ := v.(map[string]any)
		problems = blockkit.View(view, "/view", s.env())
	case c.has("message"):
		code = "invalid_message"
		v, _ := c.tree("message")
		msg, _ := v.(map[string]any)
		list, _ := msg["blocks"].([]any)
		problems = blockkit.Blocks(blockkit.Message, list, "/message/blocks", s.env())
	default:
		v, _ := c.tree("blocks")
		list, ok := v.([]any)
		if !ok {
			return nil, refuse("invalid_blocks_format")
		}
		problems = blockkit.Blocks(blockkit.Message, list, "/blocks", s.env())
	}
	if len(problems) == 0 {
		return answer{}, nil
	}
	detail := make([]any, len(problems))
	for i, p := range problems {
		detail[i] = answer{"code": "invalid", "message": p.Message, "pointer": p.Pointer, "constraint": p.Message}
	}
	return nil, &apiError{code: code, extra: answer{"errors": detail}}
}
