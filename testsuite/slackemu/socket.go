package slackemu

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/gorilla/websocket"
)

// Limits of Socket Mode: docs.slack.dev/apis/events-api/using-socket-mode. The
// frame limit was seen as close code 1009 (revelrylabs/slax#614).
const (
	maxSockets      = 10
	maxFrameOctets  = 20_480
	connectionLife  = 18_060 // seconds, told in hello
	writeTimeout    = 5 * time.Second
	hostInDebugInfo = "applink-1"
)

type socketState struct {
	conns   []*socket
	next    int
	serial  int
	tickets map[string]bool
	pending map[string]chan ack // by envelope_id
}

func newSocketState() socketState {
	return socketState{tickets: map[string]bool{}, pending: map[string]chan ack{}}
}

// ack is what came back for an envelope.
type ack struct {
	payload json.RawMessage
	err     string // transport trouble in HTTP mode
	noRetry bool
}

type socket struct {
	id   int
	conn *websocket.Conn
	out  sync.Mutex // one writer at a time
}

func (k *socket) send(v any) error {
	raw, err := json.Marshal(v)
	if err != nil {
		return err
	}
	k.out.Lock()
	defer k.out.Unlock()
	_ = k.conn.SetWriteDeadline(time.Now().Add(writeTimeout))
	return k.conn.WriteMessage(websocket.TextMessage, raw)
}

func (k *socket) close(code int, text string) {
	_ = k.conn.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(code, text), time.Now().Add(time.Second))
	_ = k.conn.Close()
}

func (s *Server) connectionsOpen(c *call) (answer, error) {
	if !strings.HasPrefix(c.http.Header.Get("Authorization"), "Bearer ") {
		return nil, refuse("not_authed")
	}
	if f := s.take(FaultRefuseOpens, ""); f != nil {
		if f.Code == "" {
			return nil, refuse("internal_error")
		}
		return nil, refuse(f.Code)
	}
	ticket := randomHex(16)
	s.sockets.tickets[ticket] = true
	return answer{"url": fmt.Sprintf("ws://%s/link/?ticket=%s&app_id=%s", s.apiAddr, ticket, s.opts.Workspace.AppID)}, nil
}

func (s *Server) serveSocket(w http.ResponseWriter, r *http.Request) {
	ticket := r.URL.Query().Get("ticket")
	s.mu.Lock()
	valid := s.sockets.tickets[ticket]
	delete(s.sockets.tickets, ticket)
	s.mu.Unlock()
	if !valid {
		http.Error(w, "ticket unknown or used", http.StatusForbidden)
		return
	}
	up := websocket.Upgrader{
		HandshakeTimeout: writeTimeout,
		// Clients name Slack as their origin; the single-use ticket is the guard.
		CheckOrigin: func(*http.Request) bool { return true },
	}
	conn, err := up.Upgrade(w, r, nil)
	if err != nil {
		return // Upgrade has answered
	}
	k := &socket{conn: conn}
	conn.SetReadLimit(maxFrameOctets)
	s.mu.Lock()
	full := len(s.sockets.conns) >= maxSockets
	if !full {
		s.sockets.serial++
		k.id = s.sockets.serial
		s.sockets.conns = append(s.sockets.conns, k)
		s.touch()
	}
	count := len(s.sockets.conns)
	s.mu.Unlock()
	info := answer{"app_id": s.opts.Workspace.AppID}
	if full {
		_ = k.send(answer{
			"type": "disconnect", "reason": "too_many_websockets", "num_connections": count,
			"debug_info": answer{"host": hostInDebugInfo}, "connection_info": info,
		})
		k.close(websocket.CloseNormalClosure, "")
		return
	}
	_ = k.send(answer{
		"type": "hello", "num_connections": count, "connection_info": info,
		"debug_info": answer{"host": hostInDebugInfo, "build_number": 1, "approximate_connection_time": connectionLife},
	})
	s.work.Go(func() { s.ping(k) })
	s.readAcks(k)
	s.forget(k)
}

func (s *Server) readAcks(k *socket) {
	for {
		_, raw, err := k.conn.ReadMessage()
		if err != nil {
			return // an oversized frame was answered with 1009 by the reader
		}
		var frame struct {
			EnvelopeID string          `json:"envelope_id"`
			Payload    json.RawMessage `json:"payload"`
		}
		if json.Unmarshal(raw, &frame) != nil || frame.EnvelopeID == "" {
			s.mu.Lock()
			s.warn("socket %d: frame without envelope_id", k.id)
			s.mu.Unlock()
			continue
		}
		s.mu.Lock()
		waiting := s.sockets.pending[frame.EnvelopeID]
		lost := waiting != nil && s.take(FaultDropAck, "") != nil
		if waiting == nil {
			s.late(frame.EnvelopeID)
		}
		if !lost {
			delete(s.sockets.pending, frame.EnvelopeID)
		}
		s.mu.Unlock()
		if waiting != nil && !lost {
			waiting <- ack{payload: frame.Payload} // buffered, one ack per envelope
		}
	}
}

func (s *Server) ping(k *socket) {
	for s.sleep(s.opts.Timing.PingEvery) {
		s.mu.Lock()
		silent := time.Now().Before(s.faults.halfOpen)
		s.mu.Unlock()
		if silent {
			continue
		}
		if k.conn.WriteControl(websocket.PingMessage, []byte("Ping from "+hostInDebugInfo), time.Now().Add(writeTimeout)) != nil {
			return
		}
	}
}

func (s *Server) forget(k *socket) {
	_ = k.conn.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, o := range s.sockets.conns {
		if o == k {
			s.sockets.conns = append(s.sockets.conns[:i:i], s.sockets.conns[i+1:]...)
			s.touch()
			return
		}
	}
}

// pick chooses the connection for the next envelope: in turn, since Slack
// promises no pattern. The caller holds s.mu.
func (s *Server) pick() *socket {
	if len(s.sockets.conns) == 0 {
		return nil
	}
	s.sockets.next++
	return s.sockets.conns[s.sockets.next%len(s.sockets.conns)]
}

// killSockets ends all connections: with a disconnect frame when reason is
// given, otherwise without a word.
func (s *Server) killSockets(reason string) {
	s.mu.Lock()
	all := append([]*socket{}, s.sockets.conns...)
	s.mu.Unlock()
	for _, k := range all {
		if reason == "" {
			_ = k.conn.NetConn().Close()
			continue
		}
		_ = k.send(answer{"type": "disconnect", "reason": reason, "debug_info": answer{"host": hostInDebugInfo}})
		k.close(websocket.CloseNormalClosure, "")
	}
}
