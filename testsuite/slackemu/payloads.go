package slackemu

// Payloads of interactions, in the shapes of Slack's own SDK fixtures.

func (s *Server) slashPayload(u *User, c *Channel, command, text, trigger, replyURL string) answer {
	w := s.opts.Workspace
	name := c.Name
	switch {
	case c.IM != "":
		name = "directmessage"
	case c.Private:
		name = "privategroup"
	}
	// A command typed by a foreigner in a shared channel carries his own team.
	return answer{
		"token": "legacy", "team_id": u.TeamID, "team_domain": w.Domain, "channel_id": c.ID, "channel_name": name,
		"user_id": u.ID, "user_name": u.Name, "command": command, "text": text, "api_app_id": w.AppID,
		"is_enterprise_install": "false", "response_url": replyURL, "trigger_id": trigger,
	}
}

func (s *Server) person(u *User) answer {
	return answer{"id": u.ID, "username": u.Name, "name": u.Name, "team_id": u.TeamID}
}

func (s *Server) interaction(kind string, u *User, trigger string) answer {
	w := s.opts.Workspace
	return answer{
		"type": kind, "team": answer{"id": w.TeamID, "domain": w.Domain}, "user": s.person(u), "api_app_id": w.AppID,
		"token": "legacy", "trigger_id": trigger, "enterprise": nil, "is_enterprise_install": false,
	}
}

func (s *Server) messageActionPayload(u *User, c *Channel, m *Message, action map[string]any, trigger string) answer {
	p := s.interaction("block_actions", u, trigger)
	container := answer{"type": "message", "message_ts": m.TS, "channel_id": c.ID, "is_ephemeral": m.Ephemeral != ""}
	if m.ThreadTS != "" {
		container["thread_ts"] = m.ThreadTS
	}
	p["container"] = container
	name := c.Name
	if c.IM != "" {
		name = "directmessage"
	}
	p["channel"] = answer{"id": c.ID, "name": name}
	if m.Ephemeral == "" {
		p["message"] = s.wire(m) // an ephemeral message is not echoed
	}
	p["state"] = answer{"values": initialState(m.allBlocks(), action)}
	p["actions"] = []any{action}
	p["response_url"] = s.newResponseURL(responseURL{channel: c.ID, user: u.ID, source: m.TS, thread: m.ThreadTS})
	return p
}

func (s *Server) viewActionPayload(u *User, v *View, action map[string]any, trigger string) answer {
	p := s.interaction("block_actions", u, trigger)
	p["container"] = answer{"type": "view", "view_id": v.ID}
	remember(v, action)
	p["view"] = s.viewWire(v)
	p["actions"] = []any{action}
	return p
}

func (s *Server) viewPayload(kind string, u *User, v *View, trigger string) answer {
	p := s.interaction(kind, u, trigger)
	p["view"] = s.viewWire(v)
	if kind == "view_closed" {
		delete(p, "trigger_id")
		return p
	}
	p["response_urls"] = []any{}
	return p
}
