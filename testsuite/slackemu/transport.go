package slackemu

import (
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fabricbot/fabricbot/testsuite/slackemu/blockkit"
)

// maxRequest bounds a Web API request; uploads have their own bound.
const maxRequest = 4 << 20

// answer is the JSON object of a successful call, without "ok".
type answer map[string]any

// apiError is a refusal. It travels with HTTP 200, as Slack's do.
type apiError struct {
	code     string
	messages []string // response_metadata.messages, without the [ERROR] mark
	problems []blockkit.Problem
	extra    answer
}

func (e *apiError) Error() string { return e.code }

func refuse(code string, messages ...string) *apiError {
	return &apiError{code: code, messages: messages}
}

// call is one request with its arguments, however they were written.
type call struct {
	http  *http.Request
	args  map[string]any
	token string
}

// arg gives a string argument; numbers and booleans in JSON count as text.
func (c *call) arg(name string) string {
	switch v := c.args[name].(type) {
	case string:
		return v
	case json.Number:
		return v.String()
	case bool:
		return strconv.FormatBool(v)
	}
	return ""
}

// where names the call in warnings.
func (c *call) where() string {
	if c.http == nil {
		return "ack"
	}
	return strings.TrimPrefix(c.http.URL.Path, "/api/")
}

func (c *call) has(name string) bool { v, ok := c.args[name]; return ok && v != nil }

// tree gives a structured argument: JSON inside a form field, or a JSON value.
func (c *call) tree(name string) (any, error) {
	v := c.args[name]
	if text, ok := v.(string); ok {
		if text == "" {
			return nil, nil
		}
		return blockkit.Decode(text)
	}
	return v, nil
}

func (s *Server) apiHandler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/api/{method}", s.serveMethod)
	mux.HandleFunc("/link/", s.serveSocket)
	mux.HandleFunc("POST /upload/v1/{ticket}", s.serveUpload)
	mux.HandleFunc("POST /response/{id}", s.serveResponseURL)
	mux.HandleFunc("GET /files/{id}/{name}", s.serveFile)
	return mux
}

func (s *Server) serveMethod(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("method")
	c, err := readCall(r)
	if err != nil {
		s.reply(w, name, http.StatusOK, nil, err)
		return
	}
	m, known := methods[name]
	s.mu.Lock()
	slow := s.take(FaultSlow, name)
	status := s.take(FaultStatus, name)
	s.mu.Unlock()
	if slow != nil && !s.sleep(slow.Duration) {
		return
	}
	if status != nil {
		code := status.Status
		if code == 0 {
			code = http.StatusServiceUnavailable
		}
		s.record(name, code, "http_status")
		http.Error(w, "upstream unavailable", code)
		return
	}
	if !known {
		s.reply(w, name, http.StatusOK, nil, refuse("unknown_method"))
		return
	}
	s.mu.Lock()
	if f := s.take(FaultRateLimited, name); f != nil {
		s.mu.Unlock()
		w.Header().Set("Retry-After", strconv.Itoa(max(1, f.RetryAfter)))
		s.reply(w, name, http.StatusTooManyRequests, nil, refuse("ratelimited"))
		return
	}
	if s.take(FaultQuota, name) != nil {
		s.mu.Unlock()
		s.reply(w, name, http.StatusTooManyRequests, nil, refuse("message_limit_exceeded"))
		return
	}
	if seconds, hit := s.limited(m, c); hit {
		s.mu.Unlock()
		w.Header().Set("Retry-After", strconv.Itoa(seconds))
		s.reply(w, name, http.StatusTooManyRequests, nil, refuse("ratelimited"))
		return
	}
	out, err := s.perform(m, c)
	lost := s.take(FaultLoseAnswer, name)
	s.mu.Unlock()
	if lost != nil {
		s.record(name, 0, "answer_lost")
		if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
			_ = conn.Close()
		}
		return
	}
	s.reply(w, name, http.StatusOK, out, err)
}

// perform checks who calls and runs the method; the caller holds s.mu.
func (s *Server) perform(m method, c *call) (answer, error) {
	if f := s.take(FaultError, m.name); f != nil {
		return nil, refuse(f.Code)
	}
	if err := s.authorise(m, c); err != nil {
		return nil, err
	}
	out, err := m.run(s, c)
	if err == nil {
		s.touch()
	}
	return out, err
}

func (s *Server) authorise(m method, c *call) error {
	want := s.opts.BotToken
	if m.app {
		want = s.opts.AppToken
	}
	switch {
	case m.public:
		return nil
	case c.token == "":
		return refuse("not_authed")
	case s.faults.revoked && (c.token == s.opts.BotToken || c.token == s.opts.AppToken):
		return refuse("token_revoked")
	case c.token != want && (c.token == s.opts.BotToken || c.token == s.opts.AppToken):
		return refuse("not_allowed_token_type")
	case c.token != want:
		return refuse("invalid_auth")
	}
	for _, scope := range m.scopes {
		if slices.Contains(s.opts.Scopes, scope) {
			return nil
		}
	}
	if len(m.scopes) > 0 {
		return &apiError{code: "missing_scope", extra: answer{
			"needed": strings.Join(m.scopes, ","), "provided": strings.Join(s.opts.Scopes, ","),
		}}
	}
	return nil
}

func readCall(r *http.Request) (*call, error) {
	c := &call{http: r, args: map[string]any{}}
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	r.Body = http.MaxBytesReader(nil, r.Body, maxRequest)
	if kind == "application/json" {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, refuse("invalid_json")
		}
		if len(body) == 0 {
			body = []byte("{}") // apps.connections.open has no arguments
		}
		v, err := blockkit.Decode(string(body))
		obj, ok := v.(map[string]any)
		if err != nil || !ok {
			return nil, refuse("invalid_json")
		}
		c.args = obj
	} else {
		if err := r.ParseMultipartForm(maxRequest); err != nil && !errors.Is(err, http.ErrNotMultipart) {
			return nil, refuse("invalid_form_data")
		}
		for k, v := range r.Form {
			// A repeated argument is ambiguous; Slack takes the first.
			c.args[k] = v[0]
		}
	}
	c.token = strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	if t := c.arg("token"); t != "" && kind != "application/json" {
		c.token = t
	}
	return c, nil
}

func (s *Server) reply(w http.ResponseWriter, method string, status int, out answer, err error) {
	code := ""
	if out == nil {
		out = answer{}
	}
	out["ok"] = err == nil
	if err != nil {
		var refusal *apiError
		if !errors.As(err, &refusal) {
			refusal = refuse("internal_error")
		}
		code = refusal.code
		out["error"] = code
		for k, v := range refusal.extra {
			out[k] = v
		}
		marked, plain := []string{}, []string{}
		for _, m := range refusal.messages {
			marked = append(marked, "[ERROR] "+m)
		}
		for _, p := range refusal.problems {
			plain = append(plain, p.String())
			marked = append(marked, "[ERROR] "+p.String())
		}
		if len(plain) > 0 {
			out["errors"] = plain
		}
		if len(marked) > 0 {
			out["response_metadata"] = answer{"messages": marked}
		}
	}
	s.record(method, status, code)
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(out) // the client hung up; nothing to tell
}

func (s *Server) record(method string, status int, code string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.ws.calls) >= maxCalls {
		s.ws.calls = s.ws.calls[maxCalls/2:]
	}
	s.ws.calls = append(s.ws.calls, Call{At: time.Now(), Method: method, Status: status, Error: code})
	s.touch()
}
