package slackemu

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// RequestURLs are the addresses of a bot in HTTP mode. The zero value means
// Socket Mode.
type RequestURLs struct {
	Slash         string `json:"slash"`
	Interactivity string `json:"interactivity"`
	Events        string `json:"events"`
}

// SetRequestURLs switches to HTTP mode (or back, with the zero value). An
// events address must first answer the url_verification challenge.
func (s *Server) SetRequestURLs(ctx context.Context, u RequestURLs) error {
	if u.Events != "" {
		challenge := randomHex(20)
		body, err := json.Marshal(answer{"type": "url_verification", "token": "legacy", "challenge": challenge})
		if err != nil {
			return err
		}
		status, _, got, err := s.signed(ctx, u.Events, "application/json", body, nil)
		if err != nil {
			return fmt.Errorf("verify events address %s: %w", u.Events, err)
		}
		var reply struct{ Challenge string }
		_ = json.Unmarshal(got, &reply) // a plain-text answer is as good
		if status != http.StatusOK || (reply.Challenge != challenge && string(bytes.TrimSpace(got)) != challenge) {
			return fmt.Errorf("verify events address %s: status %d and no challenge in the answer", u.Events, status)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.request = u
	return nil
}

// httpTimeout is the retry reason Slack gives for an answer that came too late.
const httpTimeout = "http_timeout"

// postSigned delivers one parcel over HTTP, form-coded or JSON as Slack does.
func (s *Server) postSigned(urls RequestURLs, p parcel, attempt int) ack {
	target, kind := urls.Interactivity, "application/x-www-form-urlencoded"
	raw, err := json.Marshal(p.payload)
	if err != nil {
		return ack{err: err.Error()}
	}
	body := []byte(url.Values{"payload": {string(raw)}}.Encode())
	var retry http.Header
	switch p.kind {
	case "slash_commands":
		target = urls.Slash
		form := url.Values{}
		if fields, ok := p.payload.(answer); ok {
			for k, v := range fields {
				form.Set(k, fmt.Sprint(v))
			}
		}
		body = []byte(form.Encode())
	case "events_api":
		target, kind, body = urls.Events, "application/json", raw
		if attempt > 0 {
			retry = http.Header{"X-Slack-Retry-Num": {strconv.Itoa(attempt)}, "X-Slack-Retry-Reason": {p.retryReason}}
		}
	}
	ctx, cancel := context.WithTimeout(s.ctx, s.opts.Timing.AckDeadline)
	defer cancel()
	status, header, got, err := s.signed(ctx, target, kind, body, retry)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return ack{err: httpTimeout}
	case err != nil:
		return ack{err: "connection_failed"}
	case status != http.StatusOK:
		return ack{err: "http_error", noRetry: header.Get("X-Slack-No-Retry") == "1"}
	}
	a := ack{}
	if len(bytes.TrimSpace(got)) > 0 {
		a.payload = got
	}
	return a
}

// signed sends one request with a v0 signature:
// docs.slack.dev/authentication/verifying-requests-from-slack.
func (s *Server) signed(ctx context.Context, target, kind string, body []byte, more http.Header) (int, http.Header, []byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, target, bytes.NewReader(body))
	if err != nil {
		return 0, nil, nil, err
	}
	for k, v := range more {
		req.Header[k] = v
	}
	stamp := strconv.FormatInt(time.Now().Unix(), 10)
	mac := hmac.New(sha256.New, []byte(s.opts.SigningSecret))
	_, _ = fmt.Fprintf(mac, "v0:%s:%s", stamp, body) // a hash never fails to write
	req.Header.Set("Content-Type", kind)
	req.Header.Set("User-Agent", "Slackbot 1.0 (+https://api.slack.com/robots)")
	req.Header.Set("X-Slack-Request-Timestamp", stamp)
	req.Header.Set("X-Slack-Signature", "v0="+hex.EncodeToString(mac.Sum(nil)))
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, nil, nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	got, err := io.ReadAll(io.LimitReader(resp.Body, maxRequest))
	return resp.StatusCode, resp.Header, got, err
}
