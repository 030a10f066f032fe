package slackemu

import (
	"slices"
	"strings"
)

func (s *Server) apiTest(*call) (answer, error) { return answer{}, nil }

func (s *Server) authTest(*call) (answer, error) {
	w := s.opts.Workspace
	return answer{
		"url": "https://" + w.Domain + ".slack.com/", "team": w.Name, "user": w.BotName, "team_id": w.TeamID,
		"user_id": w.BotUserID, "bot_id": w.BotID, "is_enterprise_install": false,
	}, nil
}

func (s *Server) userWire(u *User) answer {
	return answer{
		"id": u.ID, "team_id": u.TeamID, "name": u.Name, "real_name": u.RealName, "tz": u.TZ, "deleted": u.Deleted,
		"is_bot": u.IsBot, "is_admin": u.Admin, "is_stranger": u.TeamID != s.opts.Workspace.TeamID,
		"profile": answer{"display_name": u.Display, "real_name": u.RealName, "email": u.Email, "team": u.TeamID},
	}
}

func (s *Server) botUser() *User {
	w := s.opts.Workspace
	return &User{ID: w.BotUserID, Name: w.BotName, Display: w.BotName, RealName: w.BotName, TeamID: w.TeamID, IsBot: true, TZ: "Etc/UTC"}
}

func (s *Server) usersInfo(c *call) (answer, error) {
	id := c.arg("user")
	u := s.user(id)
	if id == s.opts.Workspace.BotUserID {
		u = s.botUser()
	}
	if u == nil || u.ID != id {
		return nil, refuse("user_not_found")
	}
	return answer{"user": s.userWire(u)}, nil
}

func (s *Server) usersList(*call) (answer, error) {
	list := []any{s.userWire(s.botUser())}
	for i := range s.ws.users {
		list = append(list, s.userWire(&s.ws.users[i]))
	}
	return answer{"members": list, "response_metadata": answer{"next_cursor": ""}}, nil
}

func (s *Server) usersLookupByEmail(c *call) (answer, error) {
	email := strings.ToLower(c.arg("email"))
	for i := range s.ws.users {
		if u := &s.ws.users[i]; email != "" && strings.ToLower(u.Email) == email && !u.Deleted {
			return answer{"user": s.userWire(u)}, nil
		}
	}
	return nil, refuse("users_not_found")
}

func (s *Server) usergroupsList(c *call) (answer, error) {
	if s.opts.FreePlan {
		return nil, refuse("plan_upgrade_required")
	}
	list := []any{}
	for _, g := range s.ws.groups {
		if g.Disabled && c.arg("include_disabled") != "true" {
			continue
		}
		o := answer{
			"id": g.ID, "team_id": s.opts.Workspace.TeamID, "is_usergroup": true, "name": g.Name, "handle": g.Handle,
			"date_delete": 0, "user_count": len(g.Users),
		}
		if g.Disabled {
			o["date_delete"] = 1
		}
		if c.arg("include_users") == "true" {
			o["users"] = slices.Clone(g.Users)
		}
		list = append(list, o)
	}
	return answer{"usergroups": list}, nil
}

func (s *Server) usergroupsUsersList(c *call) (answer, error) {
	if s.opts.FreePlan {
		return nil, refuse("plan_upgrade_required")
	}
	for _, g := range s.ws.groups {
		if g.ID == c.arg("usergroup") && !g.Disabled {
			return answer{"users": append([]string{}, g.Users...)}, nil
		}
	}
	return nil, refuse("no_such_subteam")
}

// reactionTarget finds the message a reaction or pin is about.
func (s *Server) reactionTarget(c *call) (*Message, error) {
	ch := s.channel(c.arg("channel"))
	if ch == nil || (ch.Private && !ch.BotMember) {
		return nil, refuse("channel_not_found")
	}
	m := s.message(ch.ID, c.arg("timestamp"))
	if m == nil {
		return nil, refuse("message_not_found")
	}
	return m, nil
}

func (s *Server) reactionsAdd(c *call) (answer, error) {
	m, err := s.reactionTarget(c)
	if err != nil {
		return nil, err
	}
	name := c.arg("name")
	switch {
	case name == "" || strings.ContainsAny(name, ": "):
		return nil, refuse("invalid_name")
	case slices.Contains(m.Reactions, name):
		return nil, refuse("already_reacted")
	}
	m.Reactions = append(slices.Clone(m.Reactions), name)
	return answer{}, nil
}

func (s *Server) reactionsRemove(c *call) (answer, error) {
	m, err := s.reactionTarget(c)
	if err != nil {
		return nil, err
	}
	i := slices.Index(m.Reactions, c.arg("name"))
	if i < 0 {
		return nil, refuse("no_reaction")
	}
	m.Reactions = slices.Delete(slices.Clone(m.Reactions), i, i+1)
	return answer{}, nil
}

func (s *Server) pinsAdd(c *call) (answer, error) {
	if _, err := s.reactionTarget(c); err != nil {
		return nil, err
	}
	return answer{}, nil
}
