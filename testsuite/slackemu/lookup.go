package slackemu

import (
	"slices"
	"strings"
)

// Messages lists a channel (id or name) with all thread replies, in order of ts.
func (s *Server) Messages(channel string) []Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.channel(channel)
	if c == nil {
		return nil
	}
	return copies(s.ws.messages[c.ID])
}

// Ephemerals lists what only this user sees, deleted ones included.
func (s *Server) Ephemerals(user string) []Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	var mine []*Message
	if u := s.user(user); u != nil {
		for _, m := range s.ws.private {
			if m.Ephemeral == u.ID {
				mine = append(mine, m)
			}
		}
	}
	return copies(mine)
}

// Views lists the user's open modals, the topmost last.
func (s *Server) Views(user string) []View {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []View
	if u := s.user(user); u != nil {
		for _, v := range s.ws.stacks[u.ID] {
			out = append(out, *v)
		}
	}
	return out
}

// Home is the published Home tab of a user; ok is false before the first publish.
func (s *Server) Home(user string) (v View, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	u := s.user(user)
	if u == nil || s.ws.homes[u.ID] == nil {
		return View{}, false
	}
	return *s.ws.homes[u.ID], true
}

// Files lists all uploads in order.
func (s *Server) Files() []File {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]File, 0, len(s.ws.order))
	for _, id := range s.ws.order {
		out = append(out, s.ws.files[id].copy())
	}
	return out
}

// Deliveries lists every envelope or request sent to the bot, in order.
func (s *Server) Deliveries() []Delivery {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]Delivery, len(s.ws.sent))
	for i, d := range s.ws.sent {
		out[i] = *d
	}
	return out
}

// user finds a person by id, name or @name.
func (s *Server) user(ref string) *User {
	ref = strings.TrimPrefix(ref, "@")
	for i := range s.ws.users {
		if u := &s.ws.users[i]; u.ID == ref || u.Name == ref {
			return u
		}
	}
	return nil
}

// channel finds a conversation by id, name or #name.
func (s *Server) channel(ref string) *Channel {
	ref = strings.TrimPrefix(ref, "#")
	for _, c := range s.ws.channels {
		if c.ID == ref || (c.Name != "" && c.Name == ref) {
			return c
		}
	}
	return nil
}

// dm returns the conversation between the bot and a user, opening it if need be.
func (s *Server) dm(user string) (c *Channel, isNew bool) {
	for _, c := range s.ws.channels {
		if c.IM == user {
			return c, false
		}
	}
	c = &Channel{ID: s.id("D"), IM: user, BotMember: true, Private: true, Members: []string{user}}
	s.ws.channels = append(s.ws.channels, c)
	s.touch()
	return c, true
}

// message finds a message that still stands.
func (s *Server) message(channel, ts string) *Message {
	for _, m := range s.ws.messages[channel] {
		if m.TS == ts && !m.Deleted {
			return m
		}
	}
	return nil
}

func (s *Server) ephemeral(channel, ts string) *Message {
	for _, m := range s.ws.private {
		if m.Channel == channel && m.TS == ts && !m.Deleted {
			return m
		}
	}
	return nil
}

// sees tells whether a person may open a conversation: members may, and the
// workspace's own people may look into every public channel.
func (s *Server) sees(u *User, c *Channel) bool {
	if c.IM != "" {
		return c.IM == u.ID
	}
	return slices.Contains(c.Members, u.ID) || (!c.Private && u.TeamID == s.opts.Workspace.TeamID)
}

// SetBotMember adds the bot to a channel or removes it, as /invite and /kick do.
func (s *Server) SetBotMember(channel string, member bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.channel(channel); c != nil {
		c.BotMember = member
		s.touch()
	}
}

// SetGroup replaces the members (ids) of a user group, given by id or handle.
func (s *Server) SetGroup(group string, users []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.ws.groups {
		if g := &s.ws.groups[i]; g.ID == group || g.Handle == strings.TrimPrefix(group, "@") {
			g.Users = slices.Clone(users)
			s.touch()
		}
	}
}
