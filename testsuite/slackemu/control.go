package slackemu

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// pageHandler serves the page under / and the control API under /control/.
func (s *Server) pageHandler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /control/state", func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, s.State()) })
	control(mux, "slash", func(in struct{ User, Channel, Text string }) (any, error) {
		return s.Slash(in.User, in.Channel, in.Text)
	})
	control(mux, "click", func(in Act) (any, error) { return s.Act(in) })
	control(mux, "submit", func(in struct {
		View   string `json:"view_id"`
		User   string
		Values map[string]any
	}) (any, error) {
		return s.Submit(in.View, in.User, in.Values)
	})
	control(mux, "close", func(in struct {
		View string `json:"view_id"`
		User string
	}) (any, error) {
		return nil, s.CloseView(in.View, in.User)
	})
	control(mux, "say", func(in struct{ User, Channel, Thread, Text string }) (any, error) {
		ts, err := s.Say(in.User, in.Channel, in.Thread, in.Text)
		return map[string]string{"ts": ts}, err
	})
	control(mux, "home", func(in struct{ User string }) (any, error) { return nil, s.OpenHome(in.User) })
	control(mux, "fault", func(in Fault) (any, error) { return nil, s.Inject(in) })
	control(mux, "clear", func(struct{}) (any, error) { s.ClearFaults(); return nil, nil })
	control(mux, "membership", func(in struct {
		Channel string
		Member  bool
	}) (any, error) {
		s.SetBotMember(in.Channel, in.Member)
		return nil, nil
	})
	s.pageRoutes(mux)
	return sameOrigin(mux)
}

// control adds POST /control/NAME with a JSON body and a JSON answer. A
// refusal is status 400 with {"error": …}.
func control[In any](mux *http.ServeMux, name string, do func(In) (any, error)) {
	mux.HandleFunc("POST /control/"+name, func(w http.ResponseWriter, r *http.Request) {
		var in In
		dec := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxRequest))
		dec.DisallowUnknownFields()
		if err := dec.Decode(&in); err != nil {
			writeStatus(w, http.StatusBadRequest, map[string]string{"error": fmt.Sprintf("read request: %v", err)})
			return
		}
		out, err := do(in)
		if err != nil {
			writeStatus(w, http.StatusBadRequest, map[string]string{"error": err.Error()})
			return
		}
		if out == nil {
			out = map[string]bool{"ok": true}
		}
		writeJSON(w, out)
	})
}

func writeJSON(w http.ResponseWriter, v any) { writeStatus(w, http.StatusOK, v) }

func writeStatus(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // the reader left; nothing to tell
}

// sameOrigin keeps other web pages away from the control API: a browser that
// was lured here by a foreign page, or by a name that resolves to loopback,
// names that page in Origin or Host.
func sameOrigin(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host := r.Host
		if i := strings.LastIndex(host, ":"); i >= 0 {
			host = host[:i]
		}
		origin := r.Header.Get("Origin")
		u, err := url.Parse(origin)
		if (host != "127.0.0.1" && host != "localhost" && host != "[::1]") || (origin != "" && (err != nil || u.Host != r.Host)) {
			http.Error(w, "only pages of this server may talk to it", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}
