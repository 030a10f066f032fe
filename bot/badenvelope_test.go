package bot

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/fabricbot/fabricbot/testsuite/slackemu"
)

// rawSlack is just enough of a Slack to send frames that no library knows. It
// reports the envelope ids that are acknowledged.
func rawSlack(t *testing.T, frames []string) (url string, acks <-chan string) {
	t.Helper()
	got := make(chan string, 10)
	mux := http.NewServeMux()
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	mux.HandleFunc("/api/auth.test", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, map[string]any{"ok": true, "team_id": team, "user_id": "U07FABBOT", "user": "fabricbot"})
	})
	mux.HandleFunc("/api/apps.connections.open", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, map[string]any{"ok": true, "url": "ws" + s.URL[len("http"):] + "/link"})
	})
	mux.HandleFunc("/link", func(w http.ResponseWriter, r *http.Request) {
		c, err := (&websocket.Upgrader{CheckOrigin: func(*http.Request) bool { return true }}).Upgrade(w, r, nil)
		if err != nil {
			return
		}
		defer c.Close()
		for _, f := range frames {
			if err := c.WriteMessage(websocket.TextMessage, []byte(f)); err != nil {
				return
			}
		}
		for {
			_, b, err := c.ReadMessage()
			if err != nil {
				return
			}
			var ack struct {
				ID string `json:"envelope_id"`
			}
			if json.Unmarshal(b, &ack) == nil {
				got <- ack.ID
			}
		}
	})
	return s.URL + "/api/", got
}

// TestUnreadableEnvelopesAreAcknowledged: a button element and an event that
// the library does not know must not show an error to people or come back.
func TestUnreadableEnvelopesAreAcknowledged(t *testing.T) {
	url, acks := rawSlack(t, []string{
		`{"type":"hello","num_connections":1}`,
		`{"type":"interactive","envelope_id":"e1","payload":{"type":"block_actions","message":{"blocks":[{"type":"actions","elements":[{"type":"from_the_future"}]}]}}}`,
		`{"type":"events_api","envelope_id":"e2","payload":{"type":"event_callback","event":{"type":"event_of_tomorrow"}}}`,
		`{"type":"slash_commands","envelope_id":"e3","payload":{"command":"/fabric","text":"help","team_id":"T0OTHER","trigger_id":"1.2.3"}}`,
	})
	api, err := Connect(Tokens{Bot: "xoxb-x", App: "xapp-x", APIURL: url})
	if err != nil {
		t.Fatal(err)
	}
	emu := emulator(t, slackemu.Options{})
	h := &house{t: t, slack: emu, runs: &runsInMemory{}}
	th, store := newThread(t, emu, t.TempDir()+"/said.db", quick)
	defer store.Close()
	th.api = api
	h.thread = th
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- h.newBot(Options{}).Run(ctx) }()
	for _, want := range []string{"e1", "e2", "e3"} {
		select {
		case got := <-acks:
			if got != want {
				t.Errorf("acknowledged %q, want %q", got, want)
			}
		case <-time.After(10 * time.Second):
			t.Fatalf("%s was not acknowledged", want)
		}
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func FuzzPressed(f *testing.F) {
	f.Add("4f2c09a1d3|g1|9f86d0818", "sm <http://a|b> &lt;")
	f.Fuzz(func(t *testing.T, value, text string) {
		if p, err := parsePressed(value); err == nil {
			if q, err := parsePressed(p.value()); err != nil || q.Run != p.Run || q.Gate != p.Gate {
				t.Errorf("%q does not survive: %+v, %v", value, q, err)
			}
		}
		_, _, _ = parseCarried(value)
		_ = typedText(text)
		_ = momentOf(0, value)
	})
}
