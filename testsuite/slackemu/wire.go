package slackemu

import (
	"encoding/json"

	"github.com/fabricbot/fabricbot/testsuite/slackemu/blockkit"
)

// wire is a message as the API and the events tell it.
func (s *Server) wire(m *Message) answer {
	out := answer{"type": "message", "user": m.User, "ts": m.TS, "text": m.Text, "team": s.opts.Workspace.TeamID}
	if m.BotID != "" {
		out["bot_id"], out["app_id"] = m.BotID, s.opts.Workspace.AppID
	}
	if len(m.Blocks) > 0 {
		out["blocks"] = clone(m.Blocks)
	}
	if len(m.Attachments) > 0 {
		out["attachments"] = clone(m.Attachments)
	}
	if m.ThreadTS != "" {
		out["thread_ts"] = m.ThreadTS
	}
	if m.Edited {
		out["edited"] = answer{"user": m.User, "ts": m.TS}
	}
	if m.Metadata != nil {
		out["metadata"] = m.Metadata
	}
	if len(m.Files) > 0 {
		list := make([]any, 0, len(m.Files))
		for _, id := range m.Files {
			if f := s.ws.files[id]; f != nil {
				list = append(list, s.fileWire(f))
			}
		}
		out["files"] = list
	}
	return out
}

// clone copies a JSON value, so that an answer written after the lock is
// released shares nothing with the state.
func clone(v any) any {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil
	}
	out, err := blockkit.Decode(string(raw))
	if err != nil {
		return nil
	}
	return out
}
