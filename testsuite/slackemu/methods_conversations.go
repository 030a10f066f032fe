package slackemu

import (
	"slices"
	"strconv"
	"strings"
)

// visible finds a conversation the bot may know of.
func (s *Server) visible(id string) (*Channel, error) {
	c := s.channel(id)
	if c == nil || c.ID != id || (c.Private && !c.BotMember) {
		return nil, refuse("channel_not_found")
	}
	return c, nil
}

func (s *Server) channelWire(c *Channel) answer {
	return answer{
		"id": c.ID, "name": c.Name, "is_channel": c.IM == "" && !c.Private, "is_group": c.IM == "" && c.Private,
		"is_im": c.IM != "", "is_private": c.Private, "is_member": c.BotMember, "is_archived": c.Archived,
		"user": c.IM, "is_ext_shared": len(c.SharedTeams) > 0, "is_shared": len(c.SharedTeams) > 0,
		"shared_team_ids": c.SharedTeams, "context_team_id": s.opts.Workspace.TeamID,
		"topic": answer{"value": c.Topic}, "num_members": len(c.Members),
	}
}

func (s *Server) conversationsInfo(c *call) (answer, error) {
	ch, err := s.visible(c.arg("channel"))
	if err != nil {
		return nil, err
	}
	return answer{"channel": s.channelWire(ch)}, nil
}

func (s *Server) conversationsList(c *call) (answer, error) {
	types := c.arg("types")
	if types == "" {
		types = "public_channel"
	}
	list := []any{}
	for _, ch := range s.ws.channels {
		kind := "public_channel"
		switch {
		case ch.IM != "":
			kind = "im"
		case ch.Private:
			kind = "private_channel"
		}
		if !strings.Contains(types, kind) || (ch.Private && !ch.BotMember) || (ch.Archived && c.arg("exclude_archived") == "true") {
			continue
		}
		list = append(list, s.channelWire(ch))
	}
	return answer{"channels": list, "response_metadata": answer{"next_cursor": ""}}, nil
}

func (s *Server) conversationsOpen(c *call) (answer, error) {
	if id := c.arg("channel"); id != "" {
		ch, err := s.visible(id)
		if err != nil {
			return nil, err
		}
		return answer{"channel": s.channelWire(ch), "already_open": true, "no_op": true}, nil
	}
	users := strings.FieldsFunc(c.arg("users"), func(r rune) bool { return r == ',' })
	switch {
	case len(users) == 0:
		return nil, refuse("users_list_not_supplied")
	case len(users) > 1:
		return nil, refuse("not_enough_users", "group DMs are not part of this workspace")
	}
	u := s.user(users[0])
	if u == nil || u.ID != users[0] || u.Deleted {
		return nil, refuse("user_not_found")
	}
	ch, isNew := s.dm(u.ID)
	out := answer{"channel": answer{"id": ch.ID}, "already_open": !isNew, "no_op": !isNew}
	if c.arg("return_im") == "true" {
		out["channel"] = s.channelWire(ch)
	}
	return out, nil
}

func (s *Server) conversationsJoin(c *call) (answer, error) {
	ch, err := s.visible(c.arg("channel"))
	if err != nil {
		return nil, err
	}
	switch {
	case ch.Private || ch.IM != "":
		return nil, refuse("method_not_supported_for_channel_type")
	case ch.Archived:
		return nil, refuse("is_archived")
	}
	out := answer{"channel": s.channelWire(ch)}
	if ch.BotMember {
		out["warning"] = "already_in_channel"
	}
	ch.BotMember = true
	return out, nil
}

func (s *Server) conversationsMembers(c *call) (answer, error) {
	ch, err := s.visible(c.arg("channel"))
	if err != nil {
		return nil, err
	}
	all := slices.Clone(ch.Members)
	if ch.BotMember {
		all = append(all, s.opts.Workspace.BotUserID)
	}
	from, next := page(c, len(all), 100)
	return answer{"members": all[from:next.end], "response_metadata": answer{"next_cursor": next.cursor}}, nil
}

type nextPage struct {
	end    int
	cursor string
}

// page reads cursor and limit; the cursor is the plain offset.
func page(c *call, total, standard int) (from int, next nextPage) {
	limit, err := strconv.Atoi(c.arg("limit"))
	if err != nil || limit <= 0 || limit > 1000 {
		limit = standard
	}
	from, _ = strconv.Atoi(c.arg("cursor"))
	from = min(max(from, 0), total)
	next.end = min(from+limit, total)
	if next.end < total {
		next.cursor = strconv.Itoa(next.end)
	}
	return from, next
}

func (s *Server) conversationsHistory(c *call) (answer, error) {
	ch, err := s.visible(c.arg("channel"))
	if err != nil {
		return nil, err
	}
	if !ch.BotMember {
		return nil, refuse("not_in_channel")
	}
	var list []any
	for _, m := range slices.Backward(s.ws.messages[ch.ID]) {
		if !m.Deleted && (m.ThreadTS == "" || m.ThreadTS == m.TS || m.Broadcast) {
			list = append(list, s.wire(m))
		}
	}
	return paged(c, list), nil
}

func (s *Server) conversationsReplies(c *call) (answer, error) {
	ch, err := s.visible(c.arg("channel"))
	if err != nil {
		return nil, err
	}
	root := c.arg("ts")
	var list []any
	for _, m := range s.ws.messages[ch.ID] {
		if !m.Deleted && (m.TS == root || m.ThreadTS == root) {
			list = append(list, s.wire(m))
		}
	}
	if len(list) == 0 {
		return nil, refuse("thread_not_found")
	}
	return paged(c, list), nil
}

func paged(c *call, list []any) answer {
	from, next := page(c, len(list), 100)
	return answer{
		"messages": append([]any{}, list[from:next.end]...), "has_more": next.cursor != "",
		"response_metadata": answer{"next_cursor": next.cursor},
	}
}
