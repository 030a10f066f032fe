package lab

import (
	"context"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// The relay stands between the hosts' tools and the stock simulator and gives
// the path what a kernel gives and ibsim does not:
//
//   - time-outs: a request nobody answers comes back with ETIMEDOUT after
//     madTimeout, so an SM whose peer died does not wait for ever;
//   - the way back for TrapRepress, which ibsim drops and an SM waits for;
//   - room: it reads at once and keeps what a stopped or slow client has not
//     fetched, so that the simulator, which spins on a full socket, never stalls;
//   - order: at most ten clients exist at a time; two seats are kept for the
//     subnet managers, the others are handed out first come, first served;
//   - identity: a host's tools reach only that host's own HCA, whatever they say;
//   - death: a client killed without a farewell is noticed, its IsSM bit
//     cleared and its seat freed.
//
// No answer is ever made up: every response is the simulator's or an SM's.
const (
	simSeats   = 10 // clients ibsim 0.10 accepts
	smSeats    = 2
	toolSeats  = simSeats - smSeats
	madTimeout = 800 * time.Millisecond // opensm's 200 ms x (1 + 3 retries), which the kernel would do
	seatWait   = 30 * time.Second
	probeEvery = 100 * time.Millisecond
	queueLimit = 20000 // datagrams kept for a client that does not read
)

type relay struct {
	simName string // base of the simulator's own socket names
	tools   chan struct{}
	sms     chan struct{}
	serial  atomic.Uint32
	log     func(format string, args ...any)

	mu       sync.Mutex
	closed   bool
	doors    []*door
	sessions map[*session]bool
}

// door is the control socket one host's tools (or its SM) knock at.
type door struct {
	relay *relay
	base  string // base of the socket names this host's clients use
	node  string // node id in the net file
	seats chan struct{}
	conn  *net.UnixConn

	mu      sync.Mutex
	clients map[string]*session // by control address
}

func newRelay(simName string, log func(string, ...any)) *relay {
	return &relay{
		simName:  simName,
		tools:    make(chan struct{}, toolSeats),
		sms:      make(chan struct{}, smSeats),
		log:      log,
		sessions: map[*session]bool{},
	}
}

// abstract is an address in the abstract namespace as ibsim spells it: with a
// closing NUL that belongs to the name.
func abstract(format string, args ...any) *net.UnixAddr {
	return &net.UnixAddr{Net: "unixgram", Name: "@" + fmt.Sprintf(format, args...) + "\x00"}
}

// open makes the control socket for clients whose IBSIM_SOCKNAME is base and
// attaches them to node.
func (r *relay) open(base, node string, sm bool) error {
	conn, err := net.ListenUnixgram("unixgram", abstract("%s:ctl", base))
	if err != nil {
		return fmt.Errorf("opening fabric socket for %s: %w", base, err)
	}
	d := &door{relay: r, base: base, node: node, conn: conn, seats: r.tools, clients: map[string]*session{}}
	if sm {
		d.seats = r.sms
	}
	r.mu.Lock()
	r.doors = append(r.doors, d)
	r.mu.Unlock()
	go d.serve()
	return nil
}

// close ends all sessions and doors.
func (r *relay) close() {
	r.mu.Lock()
	r.closed = true
	doors := r.doors
	var open []*session
	for s := range r.sessions {
		open = append(open, s)
	}
	r.mu.Unlock()
	for _, d := range doors {
		d.conn.Close()
	}
	for _, s := range open {
		s.end()
	}
}

func (d *door) serve() {
	buf := make([]byte, 512)
	for {
		n, from, err := d.conn.ReadFromUnix(buf)
		if err != nil {
			return
		}
		rec := append(ctlRecord(nil), buf[:n]...)
		if !rec.valid() || from == nil {
			continue
		}
		// The closing NUL of the peer's name is cut on the way in.
		peer := &net.UnixAddr{Net: "unixgram", Name: from.Name + "\x00"}
		if rec.kind() == ctlConnect {
			go d.connect(rec, peer)
			continue
		}
		d.mu.Lock()
		s := d.clients[peer.Name]
		d.mu.Unlock()
		if s == nil {
			rec.setKind(ctlError)
			d.reply(rec, peer)
			continue
		}
		go func() {
			answer, err := s.control(rec)
			if err != nil {
				rec.setKind(ctlError)
				answer = rec
			}
			d.reply(answer, peer)
		}()
	}
}

func (d *door) reply(rec ctlRecord, peer *net.UnixAddr) {
	if _, err := d.conn.WriteToUnix(rec, peer); err != nil {
		d.relay.log("fabric: answer to %s: %v", d.base, err)
	}
}

// connect waits for a seat, attaches to the simulator as the door's node and
// answers the client. A client that finds no seat in time is refused.
func (d *door) connect(rec ctlRecord, peer *net.UnixAddr) {
	ctx, cancel := context.WithTimeout(context.Background(), seatWait)
	defer cancel()
	select {
	case d.seats <- struct{}{}:
	case <-ctx.Done():
		d.relay.log("fabric: %s: no free seat at the simulator within %v (%d tools at a time)", d.base, seatWait, toolSeats)
		rec.setKind(ctlError)
		d.reply(rec, peer)
		return
	}
	pid := rec.word(0)
	s, err := d.attach(pid, rec.word(1))
	if err != nil {
		d.relay.log("fabric: %s: attaching process %d: %v", d.base, pid, err)
		<-d.seats
		rec.setKind(ctlError)
		d.reply(rec, peer)
		return
	}
	s.peer = peer.Name
	d.mu.Lock()
	d.clients[peer.Name] = s
	d.mu.Unlock()
	rec.setWord(0, s.id)
	rec.setNode(d.node)
	d.reply(rec, peer)
	s.run()
}
