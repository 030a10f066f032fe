package slackemu

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/fabricbot/fabricbot/testsuite/slackemu/blockkit"
)

// Uses of a response_url: docs.slack.dev/interactivity/handling-user-interaction.
const maxResponseUses = 5

// trigger is the short-lived right to open one modal for one user.
type trigger struct {
	user, view string // view: the modal the trigger was born in
	born       time.Time
	used       bool
}

// responseURL is the right to answer an interaction without a token.
type responseURL struct {
	channel, user string
	source        string // ts of the message acted on; empty for slash commands
	thread        string
	born          time.Time
	uses          int
}

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

func (s *Server) newTrigger(user, view string) string {
	id := fmt.Sprintf("%d.%d.%s", 1_000_000+s.ws.serial, s.now().UnixMicro(), randomHex(16))
	s.ws.serial++
	t := &trigger{user: user, view: view, born: s.now()}
	if s.take(FaultTrigger, "") != nil {
		t.born = t.born.Add(-2 * s.opts.Timing.TriggerLife)
	}
	s.ws.triggers[id] = t
	return id
}

func (s *Server) useTrigger(id string) (*trigger, error) {
	t := s.ws.triggers[id]
	switch {
	case t == nil:
		return nil, refuse("invalid_trigger_id")
	case t.used:
		return nil, refuse("exchanged_trigger_id")
	case s.now().Sub(t.born) > s.opts.Timing.TriggerLife:
		return nil, refuse("expired_trigger_id")
	}
	t.used = true
	return t, nil
}

func (s *Server) newResponseURL(r responseURL) string {
	id := randomHex(12)
	r.born = s.now()
	s.ws.replies[id] = &r
	return "http://" + s.apiAddr + "/response/" + id
}

func (s *Server) serveResponseURL(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequest))
	if err != nil {
		return
	}
	s.mu.Lock()
	status, code := s.respond(r, string(body))
	s.mu.Unlock()
	s.record("response_url", status, code)
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	if code == "" {
		_, _ = io.WriteString(w, `{"ok":true}`)
		return
	}
	_ = json.NewEncoder(w).Encode(answer{"ok": false, "error": code})
}

// respond applies one POST to a response_url and gives status and error code.
func (s *Server) respond(r *http.Request, body string) (int, string) {
	reply := s.ws.replies[r.PathValue("id")]
	if f := s.take(FaultStatus, "response_url"); f != nil {
		return max(f.Status, 500), "http_status"
	}
	if s.take(FaultRateLimited, "response_url") != nil {
		return http.StatusTooManyRequests, "rate_limited"
	}
	switch {
	case reply == nil:
		return http.StatusNotFound, "invalid_url"
	case s.now().Sub(reply.born) > s.opts.Timing.ResponseURLLife:
		return http.StatusNotFound, "expired_url"
	case reply.uses >= maxResponseUses:
		return http.StatusNotFound, "used_url"
	}
	v, err := blockkit.Decode(body)
	args, ok := v.(map[string]any)
	if err != nil || !ok {
		return http.StatusBadRequest, "invalid_payload"
	}
	c := &call{http: r, args: args}
	k, err := s.readContent(c)
	if err != nil {
		return http.StatusBadRequest, err.Error()
	}
	reply.uses++
	source := s.message(reply.channel, reply.source)
	if source == nil {
		source = s.ephemeral(reply.channel, reply.source)
	}
	switch {
	case args["delete_original"] == true:
		if source != nil {
			source.Deleted = true
			s.touch()
		}
	case k.empty():
		return http.StatusBadRequest, "no_text"
	case args["replace_original"] == true && source != nil:
		s.show(source, Version{Text: k.text, Blocks: k.blocks, Attachments: k.attachments}, "response_url")
	default:
		s.answerTo(reply, k, args, "response_url")
	}
	return http.StatusOK, ""
}

// answerTo posts an answer where the interaction came from: to all, or to its
// user only, which is the default.
func (s *Server) answerTo(r *responseURL, k content, args map[string]any, via string) *Message {
	thread := r.thread
	if t, ok := args["thread_ts"].(string); ok && t != "" {
		thread = t
	}
	m := s.botMessage(thread, k)
	if args["response_type"] == "in_channel" {
		if ch := s.channel(r.channel); ch != nil {
			return s.post(ch, m, via)
		}
	}
	return s.whisper(r.channel, r.user, m, via)
}
