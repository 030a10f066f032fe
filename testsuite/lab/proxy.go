package lab

import (
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// proxy stands between the world and a host's SSH server, because a host on
// loopback has no cable to pull. It forwards bytes until told to misbehave.
type proxy struct {
	listen, target string

	mu       sync.Mutex
	listener net.Listener
	dark     []int // sockets that keep the accept queue full
	conns    map[net.Conn]bool
	delay    time.Duration
	frozen   chan struct{} // non-nil while partitioned, closed on healing
}

func newProxy(listen, target string) *proxy {
	return &proxy{listen: listen, target: target, conns: map[net.Conn]bool{}}
}

func (p *proxy) start() error {
	l, err := net.Listen("tcp4", p.listen)
	if err != nil {
		return fmt.Errorf("opening the way to %s: %w", p.target, err)
	}
	p.mu.Lock()
	p.listener = l
	p.mu.Unlock()
	go p.serve(l)
	return nil
}

func (p *proxy) serve(l net.Listener) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		go func() {
			t, err := net.DialTimeout("tcp4", p.target, 5*time.Second)
			if err != nil {
				abort(c) // nobody listens behind: the answer is a reset, as from a host without sshd
				return
			}
			p.mu.Lock()
			p.conns[c], p.conns[t] = true, true
			p.mu.Unlock()
			var wg sync.WaitGroup
			wg.Add(2)
			go func() { defer wg.Done(); p.pump(t, c, false) }()
			go func() { defer wg.Done(); p.pump(c, t, true) }()
			wg.Wait()
			p.mu.Lock()
			delete(p.conns, c)
			delete(p.conns, t)
			p.mu.Unlock()
			c.Close()
			t.Close()
		}()
	}
}

type chunk struct {
	data []byte
	due  time.Time
}

// pump copies one direction. The delay is put on the way back, whole, so a
// round trip is longer by it; chunks follow each other as fast as they came.
func (p *proxy) pump(dst, src net.Conn, back bool) {
	line := make(chan chunk, 4096)
	go func() {
		defer close(line)
		for {
			buf := make([]byte, 32*1024)
			n, err := src.Read(buf)
			if n > 0 {
				p.mu.Lock()
				due := time.Now()
				if back {
					due = due.Add(p.delay)
				}
				p.mu.Unlock()
				line <- chunk{buf[:n], due}
			}
			if err != nil {
				return
			}
		}
	}()
	broken := false
	for c := range line {
		time.Sleep(time.Until(c.due))
		p.mu.Lock()
		frozen := p.frozen
		p.mu.Unlock()
		if frozen != nil {
			<-frozen
		}
		if !broken {
			_, err := dst.Write(c.data)
			broken = err != nil
		}
		if broken {
			src.Close()
		}
	}
	if t, ok := dst.(*net.TCPConn); ok {
		t.CloseWrite()
	}
}

// slow delays answers by d; 0 heals.
func (p *proxy) slow(d time.Duration) {
	p.mu.Lock()
	p.delay = d
	p.mu.Unlock()
}

// reset cuts all present connections with a TCP reset.
func (p *proxy) reset() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.conns {
		abort(c)
	}
	return len(p.conns) / 2
}

func abort(c net.Conn) {
	if t, ok := c.(*net.TCPConn); ok {
		t.SetLinger(0)
	}
	c.Close()
}

// partition makes the host unreachable the way a pulled cable does: present
// connections stay open and carry nothing, new ones get no answer to their
// SYN. The latter is a listening socket whose queue is full.
func (p *proxy) partition() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.frozen != nil {
		return nil
	}
	p.frozen = make(chan struct{})
	if p.listener != nil {
		p.listener.Close()
		p.listener = nil
	}
	addr, err := net.ResolveTCPAddr("tcp4", p.listen)
	if err != nil {
		return err
	}
	sa := &unix.SockaddrInet4{Port: addr.Port, Addr: [4]byte(addr.IP.To4())}
	for deadline := time.Now().Add(2 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			return err
		}
		unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1)
		err = unix.Bind(fd, sa)
		if err == nil {
			err = unix.Listen(fd, 0)
		}
		if err == nil {
			p.dark = append(p.dark, fd)
			break
		}
		unix.Close(fd)
		if time.Now().After(deadline) {
			return fmt.Errorf("partitioning %s: %w", p.listen, err)
		}
	}
	for range 2 {
		fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
		if err != nil {
			return err
		}
		if err := unix.Connect(fd, sa); err != nil && !errors.Is(err, unix.EINPROGRESS) {
			unix.Close(fd)
			return fmt.Errorf("partitioning %s: %w", p.listen, err)
		}
		p.dark = append(p.dark, fd)
	}
	return nil
}

// heal ends a partition.
func (p *proxy) heal() error {
	p.mu.Lock()
	frozen := p.frozen
	p.frozen = nil
	for i := len(p.dark) - 1; i >= 0; i-- {
		unix.Close(p.dark[i])
	}
	p.dark = nil
	p.mu.Unlock()
	if frozen == nil {
		return nil
	}
	close(frozen)
	var err error
	for range 100 {
		if err = p.start(); err == nil {
			return nil
		}
		time.Sleep(10 * time.Millisecond)
	}
	return err
}

func (p *proxy) stop() {
	p.mu.Lock()
	frozen := p.frozen
	p.frozen = nil
	for _, fd := range p.dark {
		unix.Close(fd)
	}
	p.dark = nil
	if p.listener != nil {
		p.listener.Close()
		p.listener = nil
	}
	p.mu.Unlock()
	if frozen != nil {
		close(frozen)
	}
	p.reset()
}
