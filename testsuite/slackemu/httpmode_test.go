package slackemu

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/slack-go/slack"
)

// webBot is a bot in HTTP mode which verifies each signature with the real client.
type webBot struct {
	secret  string
	refuse  atomic.Int32 // events to answer with 500
	noRetry atomic.Bool
	retries atomic.Int32 // events that carried X-Slack-Retry-Num
	actions atomic.Int32
}

func (b *webBot) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	v, verr := slack.NewSecretsVerifier(r.Header, b.secret)
	if err != nil || verr != nil {
		http.Error(w, "unreadable", http.StatusBadRequest)
		return
	}
	_, _ = v.Write(body)
	if v.Ensure() != nil {
		http.Error(w, "bad signature", http.StatusUnauthorized)
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	switch r.URL.Path {
	case "/slash":
		c, err := slack.SlashCommandParse(r)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]string{"text": "http " + c.Text})
	case "/actions":
		if c, err := slack.InteractionCallbackParse(r); err == nil && len(c.ActionCallback.BlockActions) == 1 {
			b.actions.Add(1)
		}
	case "/events":
		var e struct{ Type, Challenge string }
		_ = json.Unmarshal(body, &e)
		if e.Type == "url_verification" {
			_, _ = io.WriteString(w, e.Challenge)
			return
		}
		if r.Header.Get("X-Slack-Retry-Num") != "" && r.Header.Get("X-Slack-Retry-Reason") == "http_error" {
			b.retries.Add(1)
		}
		if b.refuse.Add(-1) >= 0 {
			if b.noRetry.Load() {
				w.Header().Set("X-Slack-No-Retry", "1")
			}
			http.Error(w, "busy", http.StatusInternalServerError)
		}
	}
}

func TestHTTPMode(t *testing.T) {
	s := start(t, quick())
	bot := &webBot{secret: s.SigningSecret()}
	web := httptest.NewServer(bot)
	t.Cleanup(web.Close)
	urls := RequestURLs{Slash: web.URL + "/slash", Interactivity: web.URL + "/actions", Events: web.URL + "/events"}
	if err := s.SetRequestURLs(t.Context(), RequestURLs{Events: web.URL + "/slash"}); err == nil {
		t.Error("an address that does not answer the challenge was accepted")
	}
	if err := s.SetRequestURLs(t.Context(), urls); err != nil {
		t.Fatal(err)
	}
	got, err := s.Slash("operator-a", "fabric-ops", "/fabric sm status")
	if err != nil || got.Outcome != Acked || got.Reply.Text != "http sm status" {
		t.Errorf("slash: %+v, %v", got, err)
	}
	_, ts, err := client(s).PostMessage("C07FABOPS", slack.MsgOptionText("x", false), slack.MsgOptionBlocks(approveBlocks()...))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := s.Click("operator-b", "fabric-ops", ts, "approve"); err != nil || got.Outcome != Acked || bot.actions.Load() != 1 {
		t.Errorf("click: %+v, %v", got, err)
	}
	bot.refuse.Store(2)
	if err := s.OpenHome("viewer"); err != nil {
		t.Fatal(err)
	}
	wait(t, s, func(st State) bool { n := len(st.Deliveries); return n == 5 && st.Deliveries[4].Outcome == Acked })
	if n := bot.retries.Load(); n != 2 {
		t.Errorf("%d retries", n)
	}
	bot.refuse.Store(9)
	bot.noRetry.Store(true)
	if err := s.OpenHome("viewer"); err != nil {
		t.Fatal(err)
	}
	wait(t, s, func(st State) bool { n := len(st.Deliveries); return n == 6 && st.Deliveries[5].Outcome == Failed })
	web.Close()
	if got, err := s.Slash("operator-a", "fabric-ops", "/fabric x"); err != nil || got.Outcome != Failed {
		t.Errorf("bot is down: %+v, %v", got, err)
	}
}

func TestControlAPI(t *testing.T) {
	s := start(t, quick())
	connect(t, s)
	post := func(name, body string) (int, string) {
		resp, err := http.Post(s.URL()+"control/"+name, "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = resp.Body.Close() }()
		raw, _ := io.ReadAll(resp.Body)
		return resp.StatusCode, string(raw)
	}
	if status, body := post("slash", `{"user":"operator-a","channel":"#fabric-ops","text":"/fabric approve"}`); status != 200 || !strings.Contains(body, `"started"`) {
		t.Errorf("slash: %d %s", status, body)
	}
	wait(t, s, func(st State) bool { return len(st.Messages) == 1 })
	ts := s.Messages("fabric-ops")[0].TS
	if status, body := post("click", `{"user":"operator-b","channel":"fabric-ops","ts":"`+ts+`","action_id":"deny"}`); status != 200 || !strings.Contains(body, `"acked"`) {
		t.Errorf("click: %d %s", status, body)
	}
	wait(t, s, func(st State) bool { return len(st.Views) == 1 })
	if status, body := post("submit", `{"user":"operator-b","view_id":"`+s.Views("operator-b")[0].ID+`","values":{"text":"no"}}`); status != 200 || !strings.Contains(body, `"closed":true`) {
		t.Errorf("submit: %d %s", status, body)
	}
	if status, body := post("say", `{"user":"operator-b","channel":"random","text":"hi"}`); status != 200 || !strings.Contains(body, `"ts"`) {
		t.Errorf("say: %d %s", status, body)
	}
	if status, body := post("fault", `{"kind":"rate_limited","method":"chat.update"}`); status != 200 {
		t.Errorf("fault: %d %s", status, body)
	}
	if status, body := post("fault", `{"kind":"rate_limited","methd":"x"}`); status != 400 || !strings.Contains(body, "methd") {
		t.Errorf("misspelt fault: %d %s", status, body)
	}
	resp, err := http.Get(s.URL() + "control/state")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	var st State
	if err := json.NewDecoder(resp.Body).Decode(&st); err != nil || len(st.Messages) != 2 || len(st.Users) != 6 {
		t.Errorf("state: %v, %d messages", err, len(st.Messages))
	}
	req, _ := http.NewRequest(http.MethodPost, s.URL()+"control/clear", strings.NewReader("{}"))
	req.Header.Set("Origin", "https://evil.example")
	foreign, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = foreign.Body.Close()
	if foreign.StatusCode != http.StatusForbidden {
		t.Errorf("a foreign page may use the control API: %d", foreign.StatusCode)
	}
}

func TestOnlyLoopback(t *testing.T) {
	if s, err := New(Options{Listen: "0.0.0.0:0"}); err == nil {
		_ = s.Close()
		t.Error("listens beyond loopback")
	}
}
