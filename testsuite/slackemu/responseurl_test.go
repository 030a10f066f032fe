package slackemu

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/slack-go/slack"
)

func TestResponseURLRules(t *testing.T) {
	s := start(t, quick())
	b := connect(t, s)
	fresh := func() string {
		if _, err := s.Slash("operator-a", "random", "/fabric x"); err != nil {
			t.Fatal(err)
		}
		return (<-b.seen).Data.(slack.SlashCommand).ResponseURL
	}
	post := func(target, body string) (int, string) {
		resp, err := http.Post(target, "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = resp.Body.Close() }()
		raw, _ := io.ReadAll(resp.Body)
		return resp.StatusCode, string(raw)
	}
	target := fresh()
	for i := range 5 {
		if status, body := post(target, `{"text":"a"}`); status != 200 || body != `{"ok":true}` {
			t.Errorf("use %d: %d %s", i+1, status, body)
		}
	}
	if status, body := post(target, `{"text":"a"}`); status != 404 || !strings.Contains(body, "used_url") {
		t.Errorf("sixth use: %d %s", status, body)
	}
	target = fresh()
	if status, body := post(target, `{"blocks":[{"type":"x"}]}`); status != 400 || !strings.Contains(body, "invalid_blocks") {
		t.Errorf("bad blocks: %d %s", status, body)
	}
	if status, _ := post(target, `{"text":"for all","response_type":"in_channel"}`); status != 200 || len(s.Messages("random")) != 1 {
		t.Errorf("a command works in a channel without the bot: %d", status)
	}
	s.Advance(30*time.Minute + time.Second)
	if status, body := post(target, `{"text":"a"}`); status != 404 || !strings.Contains(body, "expired_url") {
		t.Errorf("after 30 minutes: %d %s", status, body)
	}
}
