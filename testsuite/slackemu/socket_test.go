package slackemu

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"
)

// dial opens a raw socket, for what the client library hides.
func dial(t *testing.T, s *Server) *websocket.Conn {
	t.Helper()
	_, address, err := client(s).StartSocketModeContext(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	conn, _, err := websocket.DefaultDialer.Dial(address, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	_ = conn.SetReadDeadline(time.Now().Add(8 * time.Second))
	return conn
}

func frame(t *testing.T, conn *websocket.Conn) map[string]any {
	t.Helper()
	out := map[string]any{}
	if err := conn.ReadJSON(&out); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestHelloAndSingleUseTicket(t *testing.T) {
	s := start(t, quick())
	conn := dial(t, s)
	raw, _ := json.Marshal(frame(t, conn))
	want := `{"connection_info":{"app_id":"A07FABRIC"},"debug_info":{"approximate_connection_time":18060,"build_number":1,"host":"applink-1"},"num_connections":1,"type":"hello"}`
	if string(raw) != want {
		t.Errorf("hello = %s", raw)
	}
	_, address, err := client(s).StartSocketModeContext(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	first, _, err := websocket.DefaultDialer.Dial(address, nil)
	if err != nil {
		t.Fatal(err)
	}
	_ = first.Close()
	if _, resp, err := websocket.DefaultDialer.Dial(address, nil); err == nil || resp.StatusCode != http.StatusForbidden {
		t.Errorf("second use of a ticket: %v", err)
	}
}

func TestEleventhConnectionIsRefused(t *testing.T) {
	s := start(t, quick())
	for range maxSockets {
		frame(t, dial(t, s))
	}
	if got := frame(t, dial(t, s)); got["type"] != "disconnect" || got["reason"] != "too_many_websockets" {
		t.Errorf("eleventh: %v", got)
	}
	if n := s.State().Sockets; n != maxSockets {
		t.Errorf("%d sockets", n)
	}
}

func TestPingAndOversizedFrame(t *testing.T) {
	s := start(t, quick())
	conn := dial(t, s)
	pings := make(chan string, 10)
	conn.SetPingHandler(func(text string) error {
		select {
		case pings <- text:
		default:
		}
		return nil
	})
	frame(t, conn)
	fits := `{"envelope_id":"` + strings.Repeat("x", maxFrameOctets-18) + `"}`
	if len(fits) != maxFrameOctets {
		t.Fatalf("the test's frame has %d bytes", len(fits))
	}
	if err := conn.WriteMessage(websocket.TextMessage, []byte(fits)); err != nil {
		t.Fatal(err)
	}
	wait(t, s, func(st State) bool { return len(st.Warnings) == 1 }) // read, though unknown
	if err := conn.WriteMessage(websocket.TextMessage, []byte(fits+" ")); err != nil {
		t.Fatal(err)
	}
	_, _, err := conn.ReadMessage()
	if !websocket.IsCloseError(err, websocket.CloseMessageTooBig) {
		t.Errorf("frame of 20,481 bytes: %v", err)
	}
	other := dial(t, s)
	other.SetPingHandler(conn.PingHandler())
	frame(t, other)
	go func() { _, _, _ = other.ReadMessage() }()
	select {
	case <-pings:
	case <-time.After(8 * time.Second):
		t.Error("no ping came")
	}
}

func TestEachEnvelopeGoesToOneConnection(t *testing.T) {
	s := start(t, quick())
	connect(t, s)
	connect(t, s)
	for range 4 {
		if _, err := s.Slash("operator-a", "fabric-ops", "/fabric x"); err != nil {
			t.Fatal(err)
		}
	}
	used := map[int]int{}
	for _, d := range s.Deliveries() {
		used[d.Socket]++
	}
	if len(used) != 2 {
		t.Errorf("deliveries per socket: %v", used)
	}
}

func TestClientReconnectsAfterEveryLoss(t *testing.T) {
	for _, f := range []Fault{
		{Kind: FaultSocketKill}, {Kind: FaultDisconnect, Code: "warning"}, {Kind: FaultDisconnect, Code: "refresh_requested"},
	} {
		t.Run(string(f.Kind)+f.Code, func(t *testing.T) {
			s := start(t, quick())
			connect(t, s)
			if err := s.Inject(f); err != nil {
				t.Fatal(err)
			}
			wait(t, s, func(st State) bool { return opened(st) == 2 && st.Sockets == 1 })
			got, err := s.Slash("operator-a", "fabric-ops", "/fabric again")
			if err != nil || got.Outcome != Acked {
				t.Errorf("after the reconnect: %+v, %v", got, err)
			}
		})
	}
}

func opened(st State) int {
	n := 0
	for _, c := range st.Calls {
		if c.Method == "apps.connections.open" && c.Error == "" {
			n++
		}
	}
	return n
}

func TestRefusedOpensAreRetried(t *testing.T) {
	s := start(t, quick())
	if err := s.Inject(Fault{Kind: FaultRefuseOpens, Count: 2}); err != nil {
		t.Fatal(err)
	}
	connect(t, s)
	failed := 0
	for _, c := range s.State().Calls {
		if c.Error == "internal_error" {
			failed++
		}
	}
	if failed != 2 {
		t.Errorf("%d refused opens", failed)
	}
}

func TestNobodyConnected(t *testing.T) {
	s := start(t, quick())
	got, err := s.Slash("operator-a", "fabric-ops", "/fabric x")
	if err != nil || got.Outcome != NoConnection || !strings.Contains(got.Reply.Text, "dispatch_failed") {
		t.Errorf("result = %+v, %v", got, err)
	}
}

func TestTokenRevoked(t *testing.T) {
	s := start(t, quick())
	if err := s.Inject(Fault{Kind: FaultTokenRevoked}); err != nil {
		t.Fatal(err)
	}
	if _, err := client(s).AuthTest(); code(err) != "token_revoked" {
		t.Errorf("auth.test: %v", err)
	}
	if err := s.Inject(Fault{Kind: FaultTokenRevoked, Off: true}); err != nil {
		t.Fatal(err)
	}
	if _, err := client(s).AuthTest(); err != nil {
		t.Errorf("after the repair: %v", err)
	}
}
