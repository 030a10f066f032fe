package slackemu

import (
	"embed"
	"fmt"
	"io/fs"
	"net/http"
	"slices"
	"strings"
	"time"
)

//go:embed static
var static embed.FS

// pageDepth is how many messages of a channel the page is given.
const pageDepth = 300

func (s *Server) pageRoutes(mux *http.ServeMux) {
	files, err := fs.Sub(static, "static")
	if err != nil { // the directory is part of the program
		files = static
	}
	mux.Handle("GET /", http.FileServerFS(files))
	mux.HandleFunc("GET /page/state", func(w http.ResponseWriter, r *http.Request) {
		writeJSON(w, s.seenBy(r.URL.Query().Get("user")))
	})
	mux.HandleFunc("GET /page/events", s.serveEvents)
	mux.HandleFunc("GET /page/files/{id}", func(w http.ResponseWriter, r *http.Request) { s.sendFile(w, r.PathValue("id")) })
}

// pageState is the workspace as one user sees it, without history.
type pageState struct {
	Version    int       `json:"version"`
	Team       string    `json:"team"`
	Bot        User      `json:"bot"`
	Me         string    `json:"me"`
	Users      []User    `json:"users"`
	Groups     []Group   `json:"groups"`
	Channels   []Channel `json:"channels"`
	Messages   []Message `json:"messages"` // ephemerals of this user among them
	Views      []View    `json:"views"`
	Home       *View     `json:"home"`
	Files      []File    `json:"files"`
	Commands   []string  `json:"commands"`
	Connected  bool      `json:"connected"`
	Unanswered []Waiting `json:"unanswered"`
}

// Waiting is a delivery that still waits, for the page's status line.
type Waiting struct {
	Detail string `json:"detail"`
	User   string `json:"user"`
}

func (s *Server) seenBy(ref string) pageState {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := &s.ws
	u := s.user(ref)
	if u == nil {
		u = &w.users[0]
	}
	s.dm(u.ID)
	p := pageState{
		Version: s.version, Team: s.opts.Workspace.Name, Bot: *s.botUser(), Me: u.ID, Users: slices.Clone(w.users),
		Groups: slices.Clone(w.groups), Commands: s.opts.Commands,
		Connected: len(s.sockets.conns) > 0 || s.request != (RequestURLs{}),
		Messages:  []Message{}, Views: []View{}, Files: []File{}, Unanswered: []Waiting{},
	}
	for _, c := range w.channels {
		if !s.sees(u, c) {
			continue
		}
		p.Channels = append(p.Channels, *c)
		list := w.messages[c.ID]
		p.Messages = append(p.Messages, slim(list[max(0, len(list)-pageDepth):])...)
	}
	var mine []*Message
	for _, m := range w.private {
		if m.Ephemeral == u.ID && !m.Deleted {
			mine = append(mine, m)
		}
	}
	p.Messages = append(p.Messages, slim(mine[max(0, len(mine)-pageDepth):])...)
	slices.SortStableFunc(p.Messages, func(a, b Message) int { return strings.Compare(a.TS, b.TS) })
	for _, v := range w.stacks[u.ID] {
		p.Views = append(p.Views, *v)
	}
	if h := w.homes[u.ID]; h != nil {
		home := *h
		p.Home = &home
	}
	for _, id := range w.order {
		p.Files = append(p.Files, w.files[id].copy())
	}
	for _, d := range w.sent {
		if d.Outcome == Sent {
			p.Unanswered = append(p.Unanswered, Waiting{Detail: d.Detail, User: d.User})
		}
	}
	return p
}

// slim copies messages without their history; the page shows the present.
func slim(list []*Message) []Message {
	out := make([]Message, len(list))
	for i, m := range list {
		out[i] = *m
		out[i].History = nil
	}
	return out
}

// serveEvents is a server-sent stream of version numbers; the page fetches its
// state anew for each.
func (s *Server) serveEvents(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	out := http.NewResponseController(w)
	for {
		s.mu.Lock()
		version, changed := s.version, s.changed
		s.mu.Unlock()
		if _, err := fmt.Fprintf(w, "data: %d\n\n", version); err != nil {
			return
		}
		if out.Flush() != nil {
			return
		}
		select {
		case <-changed:
		case <-r.Context().Done():
			return
		case <-s.ctx.Done():
			return
		}
		select { // gather bursts: ten pictures a second are enough
		case <-time.After(100 * time.Millisecond):
		case <-s.ctx.Done():
			return
		}
	}
}
