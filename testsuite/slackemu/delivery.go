package slackemu

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

// Outcome says how a delivery ended.
type Outcome string

// Outcomes of a delivery.
const (
	Sent         Outcome = "sent"          // on its way
	Acked        Outcome = "acked"         // in time
	TimedOut     Outcome = "timeout"       // no ack within the deadline: the user saw an error
	NoConnection Outcome = "no_connection" // nobody was connected
	Failed       Outcome = "failed"        // HTTP mode: bad status or no connection
)

// Delivery is one envelope (or HTTP request) to the bot.
type Delivery struct {
	EnvelopeID string          `json:"envelope_id"`
	Type       string          `json:"type"`   // slash_commands, interactive, events_api
	Detail     string          `json:"detail"` // the command, interaction type or event type
	Key        string          `json:"key"`    // trigger_id or event_id: equal in duplicates and retries
	User       string          `json:"user,omitempty"`
	Attempt    int             `json:"attempt"` // 0 is the first
	Duplicate  bool            `json:"duplicate,omitempty"`
	Socket     int             `json:"socket,omitempty"`
	At         time.Time       `json:"at"`
	AckedAt    time.Time       `json:"acked_at,omitzero"`
	LateAck    bool            `json:"late_ack,omitempty"` // an ack came after the deadline
	Outcome    Outcome         `json:"outcome"`
	Error      string          `json:"error,omitempty"`
	AckPayload json.RawMessage `json:"ack_payload,omitempty"`
}

// parcel is what is to be delivered, once or several times.
type parcel struct {
	kind, detail, key, user string
	payload                 any
	acceptsPayload          bool
	retryReason             string // HTTP mode: what went wrong the last time
}

// deliver sends a parcel and waits for its ack. It must not hold s.mu.
func (s *Server) deliver(p parcel, attempt int) (*Delivery, ack) {
	s.mu.Lock()
	delay := s.take(FaultDelay, "")
	twice := s.take(FaultDuplicate, "") != nil
	s.mu.Unlock()
	if delay != nil && !s.sleep(delay.Duration) {
		return &Delivery{Outcome: NoConnection}, ack{}
	}
	s.waitTurn()
	if twice {
		s.work.Go(func() {
			if d, a := s.send(p, attempt, true); d.Outcome == Acked {
				s.applyDuplicate(p, a)
			}
		})
	}
	return s.send(p, attempt, false)
}

// waitTurn holds deliveries while a reorder fault gathers them; the last one
// to arrive goes first.
func (s *Server) waitTurn() {
	s.mu.Lock()
	if s.faults.holdTarget == 0 {
		s.mu.Unlock()
		return
	}
	turn := make(chan struct{})
	s.faults.held = append(s.faults.held, func() { close(turn) })
	var release []func()
	if len(s.faults.held) >= s.faults.holdTarget {
		release = s.faults.held
		s.faults.held, s.faults.holdTarget = nil, 0
	}
	s.mu.Unlock()
	if release != nil {
		s.work.Go(func() {
			for _, free := range slices.Backward(release) {
				free()
				if !s.sleep(50 * time.Millisecond) { // let it leave before the next one
					return
				}
			}
		})
	}
	select {
	case <-turn:
	case <-s.ctx.Done():
	}
}

// send is one attempt over whichever way the bot is reached.
func (s *Server) send(p parcel, attempt int, duplicate bool) (*Delivery, ack) {
	d := &Delivery{
		EnvelopeID: uuid(), Type: p.kind, Detail: p.detail, Key: p.key, User: p.user,
		Attempt: attempt, Duplicate: duplicate, At: time.Now(), Outcome: Sent,
	}
	s.mu.Lock()
	if len(s.ws.sent) >= maxCalls {
		s.ws.sent = s.ws.sent[maxCalls/2:]
	}
	s.ws.sent = append(s.ws.sent, d)
	urls := s.request
	wait := make(chan ack, 1)
	s.sockets.pending[d.EnvelopeID] = wait
	k := s.pick()
	if k != nil {
		d.Socket = k.id
	}
	silent := time.Now().Before(s.faults.halfOpen)
	s.touch()
	s.mu.Unlock()

	switch {
	case urls != (RequestURLs{}):
		s.work.Go(func() { wait <- s.postSigned(urls, p, attempt) })
	case k == nil:
		return s.settle(d, NoConnection, ack{})
	case !silent:
		if err := k.send(p.envelope(d.EnvelopeID, attempt)); err != nil {
			return s.settle(d, NoConnection, ack{err: err.Error()})
		}
	}
	deadline := time.NewTimer(s.opts.Timing.AckDeadline)
	defer deadline.Stop()
	select {
	case a := <-wait:
		if a.err == httpTimeout {
			return s.settle(d, TimedOut, a)
		}
		if a.err != "" {
			return s.settle(d, Failed, a)
		}
		return s.settle(d, Acked, a)
	case <-deadline.C:
		return s.settle(d, TimedOut, ack{})
	case <-s.ctx.Done():
		return s.settle(d, NoConnection, ack{})
	}
}

func (p parcel) envelope(id string, attempt int) answer {
	e := answer{"type": p.kind, "envelope_id": id, "accepts_response_payload": p.acceptsPayload, "payload": p.payload}
	if p.kind == "events_api" {
		e["retry_attempt"], e["retry_reason"] = attempt, ""
		if attempt > 0 {
			e["retry_reason"] = "timeout"
		}
	}
	return e
}

func (s *Server) settle(d *Delivery, o Outcome, a ack) (*Delivery, ack) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.sockets.pending, d.EnvelopeID)
	d.Outcome, d.Error = o, a.err
	if o == Acked {
		d.AckedAt, d.AckPayload = time.Now(), a.payload
	}
	s.touch()
	copied := *d
	return &copied, a
}

// late notes an ack for which nobody waits any more; the caller holds s.mu.
func (s *Server) late(envelope string) {
	for _, d := range s.ws.sent {
		if d.EnvelopeID == envelope {
			d.LateAck = true
			s.touch()
			return
		}
	}
	s.warn("ack for unknown envelope %.60s", envelope)
}

// publish delivers an event in the background, with Slack's three retries.
func (s *Server) publish(p parcel) {
	s.work.Go(func() {
		for attempt := 0; ; attempt++ {
			d, a := s.deliver(p, attempt)
			if d.Outcome == Acked || a.noRetry || attempt == len(s.opts.Timing.EventRetry) {
				return
			}
			if p.retryReason = a.err; p.retryReason == "" {
				p.retryReason = httpTimeout
			}
			if !s.sleep(s.opts.Timing.EventRetry[attempt]) {
				return
			}
		}
	})
}

func uuid() string {
	h := randomHex(16)
	return fmt.Sprintf("%s-%s-4%s-8%s-%s", h[:8], h[8:12], h[13:16], h[17:20], h[20:])
}
