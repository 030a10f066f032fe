package lab

import (
	"errors"
	"fmt"
	"net"
	"sync"
	"syscall"
	"time"
)

// session is one client attached to the simulator through the relay.
type session struct {
	door *door
	peer string // the client's control address
	id   uint32 // the simulator's client number
	pid  uint32 // the client's process id in its own namespace

	simCtl  *net.UnixConn
	simData *net.UnixConn
	cliData *net.UnixConn
	cliAddr *net.UnixAddr

	ctlMu sync.Mutex
	isSM  bool

	mu      sync.Mutex
	pending map[uint64]pendingMAD
	down    chan madRecord
	once    sync.Once
	gone    chan struct{}
}

type pendingMAD struct {
	due     time.Time
	request madRecord
}

// attach takes a client number from the simulator and opens the sockets of
// both sides. pid is the client's process id as it spelled its socket's name.
func (d *door) attach(pid, qp uint32) (*session, error) {
	r := d.relay
	serial := r.serial.Add(1)
	s := &session{
		door: d, pid: pid,
		pending: map[uint64]pendingMAD{},
		down:    make(chan madRecord, queueLimit),
		gone:    make(chan struct{}),
		cliAddr: abstract("%s:in%d", d.base, pid),
	}
	fail := func(err error) (*session, error) {
		s.closeSockets()
		return nil, err
	}
	var err error
	s.simCtl, err = net.DialUnix("unixgram", abstract("%s:ctl%d", r.simName, serial), abstract("%s:ctl", r.simName))
	if err != nil {
		return fail(err)
	}
	// The simulator connects its end to this name while it handles the
	// connect record, so it has to exist before.
	in, err := net.ListenUnixgram("unixgram", abstract("%s:in%d", r.simName, serial))
	if err != nil {
		return fail(err)
	}
	s.simData = in
	rec := newCtl(ctlConnect, 0)
	rec.setWord(0, serial)
	rec.setWord(1, qp)
	rec.setNode(d.node)
	answer, err := s.exchange(rec)
	if err != nil {
		return fail(err)
	}
	s.id = answer.word(0)
	if err := connectTo(in, abstract("%s:out%d", r.simName, s.id)); err != nil {
		return fail(err)
	}
	out, err := net.ListenUnixgram("unixgram", abstract("%s:out%d", d.base, s.id))
	if err != nil {
		s.exchange(newCtl(ctlDisconnect, s.id))
		return fail(err)
	}
	s.cliData = out
	// Connected both ways the kernel limits the bytes under way only, not the
	// ten datagrams of net.unix.max_dgram_qlen.
	if err := connectTo(out, s.cliAddr); err != nil {
		s.exchange(newCtl(ctlDisconnect, s.id))
		return fail(err)
	}
	r.mu.Lock()
	r.sessions[s] = true
	r.mu.Unlock()
	return s, nil
}

func connectTo(c *net.UnixConn, to *net.UnixAddr) error {
	raw, err := c.SyscallConn()
	if err != nil {
		return err
	}
	var cerr error
	err = raw.Control(func(fd uintptr) {
		cerr = syscall.Connect(int(fd), &syscall.SockaddrUnix{Name: to.Name})
	})
	return errors.Join(err, cerr)
}

// exchange sends one control record to the simulator and waits for its answer.
func (s *session) exchange(rec ctlRecord) (ctlRecord, error) {
	s.ctlMu.Lock()
	defer s.ctlMu.Unlock()
	s.simCtl.SetDeadline(time.Now().Add(10 * time.Second))
	if _, err := s.simCtl.Write(rec); err != nil {
		return nil, fmt.Errorf("asking the simulator: %w", err)
	}
	answer := make(ctlRecord, ctlBytes)
	n, err := s.simCtl.Read(answer)
	if err != nil {
		return nil, fmt.Errorf("waiting for the simulator: %w", err)
	}
	if answer = answer[:n]; !answer.valid() || answer.kind() == ctlError {
		return nil, fmt.Errorf("the simulator refused request %d for %s", rec.kind(), s.door.node)
	}
	return answer, nil
}

// control passes a client's control record on.
func (s *session) control(rec ctlRecord) (ctlRecord, error) {
	switch rec.kind() {
	case ctlDisconnect:
		s.end()
		return rec, nil
	case ctlSetIsSM:
		s.mu.Lock()
		s.isSM = rec.word(0) != 0
		s.mu.Unlock()
	}
	own := append(ctlRecord(nil), rec...)
	return s.exchange(own)
}

// run starts the pumps.
func (s *session) run() {
	go s.fromClient()
	go s.fromSim()
	go s.toClient()
	go s.watch()
}

func (s *session) fromClient() {
	buf := make([]byte, 512)
	for {
		n, err := s.cliData.Read(buf)
		if err != nil {
			return
		}
		m := append(madRecord(nil), buf[:n]...)
		if !m.valid() {
			continue
		}
		if m.method() == methodTrapRepress {
			s.door.relay.repress(m)
			continue
		}
		if m.wantsAnswer() {
			s.mu.Lock()
			s.pending[m.transaction()] = pendingMAD{due: time.Now().Add(madTimeout), request: m}
			s.mu.Unlock()
		}
		if _, err := s.simData.Write(m); err != nil && !s.ended() {
			s.door.relay.log("fabric: %s: to the simulator: %v", s.door.base, err)
		}
	}
}

func (s *session) fromSim() {
	buf := make([]byte, 512)
	for {
		n, err := s.simData.Read(buf)
		if err != nil {
			if s.ended() || errors.Is(err, net.ErrClosed) {
				return
			}
			s.door.relay.log("fabric: %s: from the simulator: %v", s.door.base, err)
			time.Sleep(time.Millisecond)
			continue
		}
		m := append(madRecord(nil), buf[:n]...)
		if m.valid() && s.wanted(m) {
			s.queue(m)
		}
	}
}

// wanted drops what the client's library could not deliver: answers to a
// predecessor's requests on the same seat, answers that come after their
// time-out, requests of a class that no SM handles.
func (s *session) wanted(m madRecord) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if m.isResponse() || m.timedOut() {
		_, asked := s.pending[m.transaction()]
		if m.timedOut() && asked {
			// The simulator knows at once that there is no way; a kernel
			// finds out by waiting. Keep the wait short, but not nil, so
			// that a polling SM does not turn into a busy loop.
			p := s.pending[m.transaction()]
			p.due = time.Now().Add(madTimeout / 8)
			s.pending[m.transaction()] = p
			return false
		}
		delete(s.pending, m.transaction())
		return asked
	}
	switch m.class() {
	case classSMPRouted, classSMPDirected, classSA:
		return s.isSM
	}
	return false
}

// repress carries a master's answer to the SM whose trap it answers. The stock
// simulator throws these away, and the SM would wait for ever.
func (r *relay) repress(m madRecord) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for s := range r.sessions {
		s.mu.Lock()
		p, asked := s.pending[m.transaction()]
		if asked && p.request.method() == methodTrap {
			delete(s.pending, m.transaction())
			s.queue(append(madRecord(nil), m...))
		}
		s.mu.Unlock()
	}
}

func (s *session) queue(m madRecord) {
	select {
	case s.down <- m:
	default: // a client that has not read for 20,000 packets loses them, as on a real wire
	}
}

func (s *session) toClient() {
	for {
		select {
		case <-s.gone:
			return
		case m := <-s.down:
			s.cliData.SetWriteDeadline(time.Now().Add(time.Minute))
			if _, err := s.cliData.Write(m); err != nil && (errors.Is(err, syscall.ECONNREFUSED) || s.ended()) {
				s.end()
				return
			}
		}
	}
}

// watch sends time-outs and notices a client that died.
func (s *session) watch() {
	tick := time.NewTicker(probeEvery / 2)
	defer tick.Stop()
	for beat := 0; ; beat++ {
		select {
		case <-s.gone:
			return
		case now := <-tick.C:
			s.mu.Lock()
			for id, p := range s.pending {
				if now.After(p.due) {
					delete(s.pending, id)
					p.request.setTimedOut()
					s.queue(p.request)
				}
			}
			s.mu.Unlock()
			if beat%2 == 1 && !alive(s.cliAddr) {
				s.end()
				return
			}
		}
	}
}

// alive asks the kernel whether somebody still holds the address. Connecting
// a datagram socket sends nothing; a socket that is connected elsewhere
// answers EPERM, a name without owner ECONNREFUSED.
func alive(addr *net.UnixAddr) bool {
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_DGRAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return true
	}
	defer syscall.Close(fd)
	return !errors.Is(syscall.Connect(fd, &syscall.SockaddrUnix{Name: addr.Name}), syscall.ECONNREFUSED)
}

func (s *session) ended() bool {
	select {
	case <-s.gone:
		return true
	default:
		return false
	}
}

// end takes the client off the fabric: IsSM cleared, seat freed.
func (s *session) end() {
	s.once.Do(func() {
		close(s.gone)
		s.mu.Lock()
		wasSM := s.isSM
		s.mu.Unlock()
		if wasSM {
			s.exchange(newCtl(ctlSetIsSM, s.id))
		}
		s.exchange(newCtl(ctlDisconnect, s.id))
		s.closeSockets()
		d := s.door
		d.mu.Lock()
		if d.clients[s.peer] == s {
			delete(d.clients, s.peer)
		}
		d.mu.Unlock()
		d.relay.mu.Lock()
		delete(d.relay.sessions, s)
		d.relay.mu.Unlock()
		<-d.seats
	})
}

func (s *session) closeSockets() {
	for _, c := range []*net.UnixConn{s.simCtl, s.simData, s.cliData} {
		if c != nil {
			c.Close()
		}
	}
}
