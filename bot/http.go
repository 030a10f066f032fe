package bot

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/slack-go/slack"
	"github.com/slack-go/slack/slackevents"
	"go.uber.org/zap"
)

// Paths under which Slack reaches the bot in HTTP mode.
const (
	PathCommand  = "/slack/command"
	PathInteract = "/slack/interactive"
	PathEvents   = "/slack/events"
)

// maxBody bounds a request in bytes; a click echoes its whole message.
const maxBody = 1 << 20

// Serve listens in HTTP mode on l until ctx ends. The signing secret must not
// be empty: it is all that tells Slack from anybody else.
func (b *Bot) Serve(ctx context.Context, l net.Listener, signingSecret string) error {
	if signingSecret == "" {
		return errors.New("http mode needs the signing secret of the slack app")
	}
	return b.attend(ctx, func(ctx context.Context) error {
		s := &http.Server{
			Handler: b.Handler(signingSecret), ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second,
			WriteTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 32 << 10,
		}
		failed := make(chan error, 1)
		go func() { failed <- s.Serve(l) }()
		select {
		case err := <-failed:
			return err
		case <-ctx.Done():
			stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
			defer cancel()
			_ = s.Shutdown(stop)
			return ctx.Err()
		}
	})
}

// Handler serves Slack's requests; each is answered before its work begins.
func (b *Bot) Handler(signingSecret string) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST "+PathCommand, b.signed(signingSecret, b.httpCommand))
	mux.HandleFunc("POST "+PathInteract, b.signed(signingSecret, b.httpInteract))
	mux.HandleFunc("POST "+PathEvents, b.signed(signingSecret, b.httpEvent))
	return mux
}

// signed lets only requests through whose raw body carries Slack's signature
// of the last five minutes.
func (b *Bot) signed(secret string, next func(http.ResponseWriter, *http.Request, []byte)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
		if err != nil {
			http.Error(w, "body cannot be read", http.StatusBadRequest)
			return
		}
		v, err := slack.NewSecretsVerifier(r.Header, secret)
		if err == nil {
			_, _ = v.Write(body)
			err = v.Ensure()
		}
		if err != nil {
			b.log.Warn("a request without slack's signature was refused", zap.String("path", r.URL.Path))
			http.Error(w, "not signed by slack", http.StatusUnauthorized)
			return
		}
		b.health.ok(b.o.Clock.Now())
		next(w, r, body)
	}
}

func (b *Bot) httpCommand(w http.ResponseWriter, r *http.Request, body []byte) {
	f, err := url.ParseQuery(string(body))
	if err != nil {
		http.Error(w, "not a form", http.StatusBadRequest)
		return
	}
	if f.Get("ssl_check") == "1" {
		return
	}
	c := slack.SlashCommand{
		TeamID: f.Get("team_id"), ChannelID: f.Get("channel_id"), UserID: f.Get("user_id"), UserName: f.Get("user_name"),
		Command: f.Get("command"), Text: f.Get("text"), ResponseURL: f.Get("response_url"), TriggerID: f.Get("trigger_id"),
	}
	at := b.o.Clock.Now()
	if n, err := strconv.ParseInt(r.Header.Get("X-Slack-Request-Timestamp"), 10, 64); err == nil {
		at = time.Unix(n, 0)
	}
	// The answer leaves when this returns, which queueing does not delay.
	a := slashAsk(c, at)
	answer, queue := b.onCommand(r.Context(), a)
	if queue && !b.enqueue(a) {
		busy := overrun()
		answer = &busy
	}
	if answer != nil {
		writeJSON(w, ackBody(answer))
	}
}

func (b *Bot) httpInteract(w http.ResponseWriter, r *http.Request, body []byte) {
	f, err := url.ParseQuery(string(body))
	var cb slack.InteractionCallback
	if err == nil {
		err = json.Unmarshal([]byte(f.Get("payload")), &cb)
	}
	if err != nil {
		http.Error(w, "not an interaction", http.StatusBadRequest)
		return
	}
	if cb.Type != slack.InteractionTypeViewSubmission {
		b.onClick(cb)
		return
	}
	if !b.seen.first(clickKey(cb), b.o.Clock.Now()) {
		return
	}
	answer, then := b.submit(r.Context(), cb)
	if then != nil {
		b.clicks.offer(job{"form", then})
	}
	if answer != nil {
		writeJSON(w, answer)
	}
}

func (b *Bot) httpEvent(w http.ResponseWriter, _ *http.Request, body []byte) {
	e, err := slackevents.ParseEvent(json.RawMessage(body), slackevents.OptionNoVerifyToken())
	if err != nil {
		// Unknown events are acknowledged; Slack would send them again.
		b.log.Warn("slack sent an unknown event", zap.Error(err))
		return
	}
	if e.Type == slackevents.URLVerification {
		if c, ok := e.Data.(*slackevents.EventsAPIURLVerificationEvent); ok {
			w.Header().Set("Content-Type", "text/plain")
			_, _ = io.WriteString(w, c.Challenge)
		}
		return
	}
	var outer eventOuter
	if json.Unmarshal(body, &outer) == nil {
		b.onEvent(e, outer)
	}
}

func writeJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}
