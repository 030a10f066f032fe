package slackemu

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Version is one appearance of a message, in the order readers saw them.
type Version struct {
	At          time.Time `json:"at"`
	Via         string    `json:"via"` // the method, "response_url", "ack" or "user"
	Text        string    `json:"text"`
	Blocks      []any     `json:"blocks,omitempty"`
	Attachments []any     `json:"attachments,omitempty"`
}

// Message is a message, thread reply or ephemeral message with its history.
type Message struct {
	Channel   string    `json:"channel"`
	TS        string    `json:"ts"`
	ThreadTS  string    `json:"thread_ts,omitempty"`
	User      string    `json:"user"`
	BotID     string    `json:"bot_id,omitempty"`
	Broadcast bool      `json:"broadcast,omitempty"`
	Ephemeral string    `json:"ephemeral_to,omitempty"` // the only user who sees it
	System    bool      `json:"system,omitempty"`       // Slack itself speaks ("… did not respond")
	Edited    bool      `json:"edited,omitempty"`       // "(edited)" is shown
	Deleted   bool      `json:"deleted,omitempty"`
	Files     []string  `json:"files,omitempty"`
	Reactions []string  `json:"reactions,omitempty"`
	Metadata  any       `json:"metadata,omitempty"`
	Version             // the present appearance
	History   []Version `json:"history"` // all appearances, the present one last
}

// Call is one Web API call as it was answered.
type Call struct {
	At     time.Time `json:"at"`
	Method string    `json:"method"`
	Error  string    `json:"error,omitempty"`
	Status int       `json:"status"`
}

// State is a copy of the workspace; changing it changes nothing.
type State struct {
	Version    int        `json:"version"`
	Users      []User     `json:"users"`
	Groups     []Group    `json:"groups"`
	Channels   []Channel  `json:"channels"`
	Messages   []Message  `json:"messages"`   // of all channels, replies too, by ts
	Ephemerals []Message  `json:"ephemerals"` // of all users
	Views      []View     `json:"views"`      // open modals, bottom of the stack first
	Homes      []View     `json:"homes"`
	Files      []File     `json:"files"`
	Calls      []Call     `json:"calls"`
	Deliveries []Delivery `json:"deliveries"`
	Warnings   []string   `json:"warnings"` // what Slack would let pass and a careful bot would not
	Sockets    int        `json:"sockets"`
}

// maxCalls bounds the record of a long demo.
const maxCalls = 20_000

type state struct {
	users    []User
	groups   []Group
	channels []*Channel
	messages map[string][]*Message // by channel, in order of ts
	private  []*Message            // ephemerals
	views    map[string]*View      // every view ever shown, by id
	stacks   map[string][]*View    // open modals by user
	homes    map[string]*View
	files    map[string]*File
	order    []string // file ids in order of birth
	uploads  map[string]string
	triggers map[string]*trigger
	replies  map[string]*responseURL
	calls    []Call
	sent     []*Delivery
	warnings []string
	lastTS   int64 // microseconds
	serial   int
}

func newState(o Options) state {
	w := state{
		users: slices.Clone(o.Workspace.Users), groups: slices.Clone(o.Workspace.Groups),
		messages: map[string][]*Message{}, views: map[string]*View{}, stacks: map[string][]*View{},
		homes: map[string]*View{}, files: map[string]*File{}, uploads: map[string]string{},
		triggers: map[string]*trigger{}, replies: map[string]*responseURL{},
	}
	for i := range w.users {
		u := &w.users[i]
		if u.TeamID == "" {
			u.TeamID = o.Workspace.TeamID
		}
		if u.Display == "" {
			u.Display = u.Name
		}
	}
	for _, c := range o.Workspace.Channels {
		c.Members = slices.Clone(c.Members)
		if len(c.Members) == 0 && !c.Private && c.IM == "" {
			for _, u := range w.users {
				if u.TeamID == o.Workspace.TeamID || slices.Contains(c.SharedTeams, u.TeamID) {
					c.Members = append(c.Members, u.ID)
				}
			}
		}
		w.channels = append(w.channels, &c)
	}
	return w
}

// ts gives a unique, increasing message id: seconds and six digits.
func (s *Server) ts() string {
	us := s.now().UnixMicro()
	if us <= s.ws.lastTS {
		us = s.ws.lastTS + 1
	}
	s.ws.lastTS = us
	return fmt.Sprintf("%d.%06d", us/1e6, us%1e6)
}

func (s *Server) id(prefix string) string {
	s.ws.serial++
	return fmt.Sprintf("%s07%s%04d", prefix, strings.ToUpper(randomHex(3)), s.ws.serial)
}

func randomHex(octets int) string {
	b := make([]byte, octets)
	_, _ = rand.Read(b) // never fails: crypto/rand ends the program instead
	return hex.EncodeToString(b)
}

func (s *Server) warn(format string, args ...any) {
	if len(s.ws.warnings) < maxCalls {
		s.ws.warnings = append(s.ws.warnings, fmt.Sprintf(format, args...))
		s.touch()
	}
}

// State copies the whole workspace.
func (s *Server) State() State {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.snapshot()
}

func (s *Server) snapshot() State {
	w := &s.ws
	st := State{
		Version: s.version, Users: slices.Clone(w.users), Groups: slices.Clone(w.groups),
		Calls: slices.Clone(w.calls), Warnings: slices.Clone(w.warnings), Sockets: len(s.sockets.conns),
		Ephemerals: copies(w.private),
	}
	for _, c := range w.channels {
		st.Channels = append(st.Channels, *c)
		st.Messages = append(st.Messages, copies(w.messages[c.ID])...)
	}
	slices.SortStableFunc(st.Messages, func(a, b Message) int { return strings.Compare(a.TS, b.TS) })
	for _, user := range slices.Sorted(maps.Keys(w.stacks)) {
		for _, v := range w.stacks[user] {
			st.Views = append(st.Views, *v)
		}
	}
	for _, user := range slices.Sorted(maps.Keys(w.homes)) {
		st.Homes = append(st.Homes, *w.homes[user])
	}
	for _, id := range w.order {
		st.Files = append(st.Files, w.files[id].copy())
	}
	for _, d := range w.sent {
		st.Deliveries = append(st.Deliveries, *d)
	}
	return st
}

func copies(list []*Message) []Message {
	out := make([]Message, len(list))
	for i, m := range list {
		out[i] = *m
		out[i].History = slices.Clone(m.History)
	}
	return out
}

// Wait returns as soon as the state satisfies ok, or with ctx's error.
func (s *Server) Wait(ctx context.Context, ok func(State) bool) error {
	for {
		s.mu.Lock()
		st, changed := s.snapshot(), s.changed
		s.mu.Unlock()
		if ok(st) {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("wait for the workspace to reach a state: %w", ctx.Err())
		case <-s.ctx.Done():
			return fmt.Errorf("wait for the workspace to reach a state: emulator closed")
		}
	}
}
