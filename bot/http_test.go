package bot

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/fabricbot/fabricbot/testsuite/slackemu"
)

type answering struct{}

func (answering) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: 200, Body: io.NopCloser(strings.NewReader("{}"))}, nil
}

func request(t *testing.T, url string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

type stoppedClock struct{ now *time.Time }

func (c stoppedClock) Now() time.Time { return *c.now }

func (c stoppedClock) Sleep(ctx context.Context, _ time.Duration) error { return ctx.Err() }

// overHTTP turns a house into HTTP mode and gives the bot's address.
func overHTTP(t *testing.T) (*house, string) {
	t.Helper()
	h := open(t)
	h.bot = h.newBot(Options{})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- h.bot.Serve(ctx, l, h.slack.SigningSecret()) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("the bot ended with: %v", err)
		}
	})
	base := "http://" + l.Addr().String()
	h.eventually("slack to accept the addresses", func() bool {
		return h.slack.SetRequestURLs(t.Context(), slackemu.RequestURLs{Slash: base + PathCommand, Interactivity: base + PathInteract, Events: base + PathEvents}) == nil
	})
	return h, base
}

func TestHTTPMode(t *testing.T) {
	h, _ := overHTTP(t)
	if r := h.slash(anna, "sm restart"); r.Reply != nil {
		t.Errorf("the acknowledgement says %s beside the run's message", dump(r.Reply))
	}
	h.until("the gate", func(s slackemu.State) bool { return len(tops(s, ops)) == 1 })
	h.runs.wait()
	h.click(ben, h.message().TS, actionDeny)
	h.until("the form", func(s slackemu.State) bool { return len(s.Views) == 1 })
	if r, err := h.slack.Submit(h.slack.Views(ben)[0].ID, ben, map[string]any{inputAction: "later"}); err != nil || !r.Closed {
		t.Fatalf("%+v, %v", r, err)
	}
	h.eventually("the denial", func() bool { return len(h.decisions()) == 1 })
	if _, err := h.slack.Say(anna, ops, "", "@fabricbot help sm status"); err != nil {
		t.Fatal(err)
	}
	h.told(anna, "sm status [-from FROM]")
}

func signedBy(t *testing.T, secret, url, body string, at time.Time) *http.Request {
	t.Helper()
	stamp := fmt.Sprint(at.Unix())
	mac := hmac.New(sha256.New, []byte(secret))
	fmt.Fprintf(mac, "v0:%s:%s", stamp, body)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, bytes.NewReader([]byte(body)))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("X-Slack-Request-Timestamp", stamp)
	r.Header.Set("X-Slack-Signature", "v0="+hex.EncodeToString(mac.Sum(nil)))
	return r
}

func TestSignature(t *testing.T) {
	h, base := overHTTP(t)
	body := "team_id=" + team + "&user_id=" + anna + "&channel_id=" + ops + "&command=%2Ffabric&text=sm+status&trigger_id=1.2.abc"
	good := func() *http.Request { return signedBy(t, h.slack.SigningSecret(), base+PathCommand, body, time.Now()) }
	tests := []struct {
		name string
		r    *http.Request
		want int
	}{
		{"other-secret", signedBy(t, "another", base+PathCommand, body, time.Now()), 401},
		{"old", signedBy(t, h.slack.SigningSecret(), base+PathCommand, body, time.Now().Add(-6*time.Minute)), 401},
		{"unsigned", request(t, base+PathCommand), 401},
		{"good", good(), 200},
		{"replayed", good(), 200},
	}
	for _, tt := range tests {
		answer, err := http.DefaultClient.Do(tt.r)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		if answer.StatusCode != tt.want {
			t.Errorf("%s: %d, want %d", tt.name, answer.StatusCode, tt.want)
		}
	}
	h.until("the run's message", func(s slackemu.State) bool { return len(tops(s, ops)) == 1 })
	if _, n := h.runs.only(); n != 1 {
		t.Errorf("a replayed request started %d runs", n)
	}
}

func TestServeNeedsASecret(t *testing.T) {
	if err := (&Bot{}).Serve(t.Context(), nil, ""); err == nil {
		t.Error("http mode without a signing secret was accepted")
	}
}
