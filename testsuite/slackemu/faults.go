package slackemu

import (
	"fmt"
	"net"
	"slices"
	"time"
)

// FaultKind names a way in which Slack, or the way to it, misbehaves.
type FaultKind string

// Faults of the Web API.
const (
	FaultRefuse       FaultKind = "refuse"        // API connections are refused for Duration
	FaultStatus       FaultKind = "status"        // HTTP Status (default 503) for Duration or Count calls of Method
	FaultRateLimited  FaultKind = "rate_limited"  // 429 with Retry-After for Count calls of Method
	FaultQuota        FaultKind = "quota"         // 429 without Retry-After (message_limit_exceeded)
	FaultRealLimits   FaultKind = "real_limits"   // per-method token buckets on, or off with Off
	FaultError        FaultKind = "error"         // error Code for Count calls of Method
	FaultTokenRevoked FaultKind = "token_revoked" // every call answers token_revoked; off with Off
	FaultLoseAnswer   FaultKind = "lose_answer"   // the call is performed, its answer lost
	FaultSlow         FaultKind = "slow"          // Count answers of Method come Duration late
	FaultBlocks       FaultKind = "blocks"        // block types in Blocks are not rolled out yet
	FaultEditWindow   FaultKind = "edit_window"   // chat.update of Channel/TS: edit_window_closed
	FaultDelete       FaultKind = "delete"        // an admin deletes Channel/TS
	FaultTrigger      FaultKind = "trigger"       // the next Count triggers are expired at birth
	FaultUpload       FaultKind = "upload"        // the next Count uploads fail with Status (default 500)
)

// Faults of delivery.
const (
	FaultSocketKill  FaultKind = "socket_kill" // sockets die without a close frame
	FaultDisconnect  FaultKind = "disconnect"  // disconnect frame with reason Code, then close
	FaultDropAck     FaultKind = "drop_ack"    // the next Count acks are lost on the way
	FaultDuplicate   FaultKind = "duplicate"   // the next Count deliveries are sent twice
	FaultDelay       FaultKind = "delay"       // the next Count deliveries leave Duration late
	FaultReorder     FaultKind = "reorder"     // the next Count deliveries are held and leave in reverse order
	FaultHalfOpen    FaultKind = "half_open"   // for Duration no ping and no frame leaves, sockets stay up
	FaultRefuseOpens FaultKind = "refuse_open" // Count apps.connections.open fail with Code (default internal_error)
)

// Fault is one misbehaviour. Count 0 means 1 where a count is used.
type Fault struct {
	Kind       FaultKind     `json:"kind"`
	Method     string        `json:"method,omitempty"` // empty: every method
	Code       string        `json:"code,omitempty"`
	Count      int           `json:"count,omitempty"`
	Status     int           `json:"status,omitempty"`
	RetryAfter int           `json:"retry_after_seconds,omitempty"`
	Duration   time.Duration `json:"duration_ns,omitempty"`
	Blocks     []string      `json:"blocks,omitempty"`
	Channel    string        `json:"channel,omitempty"`
	TS         string        `json:"ts,omitempty"`
	Off        bool          `json:"off,omitempty"`

	until time.Time
}

type faultState struct {
	active      []*Fault
	realLimits  bool
	revoked     bool
	blocks      map[string]bool
	closedEdits map[string]bool // channel/ts, or "" for all
	held        []func()        // deliveries waiting to be reordered
	holdTarget  int
	halfOpen    time.Time
}

// Inject switches a fault on. It fails for a kind or a combination it does not know.
func (s *Server) Inject(f Fault) error {
	late := f.Kind == FaultDelay || f.Kind == FaultSlow // their Duration is the lateness
	if f.Count == 0 && (f.Duration == 0 || late) {
		f.Count = 1
	}
	switch f.Kind {
	case FaultRefuse:
		return s.refuseFor(f.Duration)
	case FaultSocketKill:
		s.killSockets("")
		return nil
	case FaultDisconnect:
		if f.Code == "" {
			f.Code = "refresh_requested"
		}
		s.killSockets(f.Code)
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.touch()
	if f.Duration > 0 {
		f.until = time.Now().Add(f.Duration)
	}
	fs := &s.faults
	switch f.Kind {
	case FaultRealLimits:
		fs.realLimits = !f.Off
		s.limits.buckets = map[string]*bucket{}
	case FaultTokenRevoked:
		fs.revoked = !f.Off
	case FaultBlocks:
		fs.blocks = map[string]bool{}
		for _, kind := range f.Blocks {
			fs.blocks[kind] = !f.Off
		}
	case FaultEditWindow:
		if fs.closedEdits == nil {
			fs.closedEdits = map[string]bool{}
		}
		fs.closedEdits[editKey(s.channelID(f.Channel), f.TS)] = !f.Off
	case FaultDelete:
		m := s.message(s.channelID(f.Channel), f.TS)
		if m == nil {
			return fmt.Errorf("inject %s: no message %s in %q", f.Kind, f.TS, f.Channel)
		}
		m.Deleted = true
	case FaultHalfOpen:
		fs.halfOpen = f.until
	case FaultReorder:
		fs.holdTarget = max(f.Count, 2)
	case FaultStatus, FaultRateLimited, FaultQuota, FaultError, FaultLoseAnswer, FaultSlow, FaultTrigger,
		FaultUpload, FaultDropAck, FaultDuplicate, FaultDelay, FaultRefuseOpens:
		if f.Kind == FaultError && f.Code == "" {
			return fmt.Errorf("inject %s: code is missing", f.Kind)
		}
		fs.active = append(fs.active, &f)
	default:
		return fmt.Errorf("inject: unknown fault kind %q", f.Kind)
	}
	return nil
}

// ClearFaults switches everything off that is still on.
func (s *Server) ClearFaults() {
	s.mu.Lock()
	held := s.faults.held
	s.faults = faultState{}
	s.touch()
	s.mu.Unlock()
	for i := len(held) - 1; i >= 0; i-- {
		held[i]()
	}
}

func editKey(channel, ts string) string {
	if ts == "" {
		return ""
	}
	return channel + "/" + ts
}

func (s *Server) channelID(ref string) string {
	if c := s.channel(ref); c != nil {
		return c.ID
	}
	return ref
}

// take uses up one application of the first active fault of a kind that fits
// the method; nil when there is none. The caller holds s.mu.
func (s *Server) take(kind FaultKind, method string) *Fault {
	active := s.faults.active
	for i, f := range active {
		if f.Kind != kind || (f.Method != "" && f.Method != method) {
			continue
		}
		if f.Count > 0 {
			if f.Count--; f.Count == 0 {
				s.faults.active = slices.Delete(active, i, i+1)
			}
			return f
		}
		if time.Now().Before(f.until) {
			return f
		}
	}
	return nil
}

// refuseFor closes the API's listener, so that the kernel refuses connections,
// and opens it again on the same port.
func (s *Server) refuseFor(d time.Duration) error {
	s.apiMu.Lock()
	api := s.api
	s.apiMu.Unlock()
	if err := api.Close(); err != nil {
		return fmt.Errorf("refuse connections on %s: %w", s.apiAddr, err)
	}
	s.work.Go(func() {
		if !s.sleep(d) {
			return
		}
		for {
			if l, err := net.Listen("tcp", s.apiAddr); err == nil {
				s.serveAPI(l)
				return
			}
			if !s.sleep(20 * time.Millisecond) { // the port is not free yet
				return
			}
		}
	})
	return nil
}
