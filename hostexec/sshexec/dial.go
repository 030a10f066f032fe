package sshexec

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/fabricbot/fabricbot/hostexec"
)

// conn is one live connection to a host or a jump host.
type conn struct {
	client *ssh.Client
	name   string
	gone   chan struct{} // closed when the connection has ended
	used   atomic.Int64  // Unix nanoseconds of the last use
	busy   atomic.Int64  // channels in use
	bourne atomic.Bool   // a marker has shown the login shell to be of that family
	once   sync.Once
}

func (c *conn) close() { c.once.Do(func() { _ = c.client.Close() }) }

func (c *conn) alive() bool {
	select {
	case <-c.gone:
		return false
	default:
		return true
	}
}

// slot is the place of one connection in the pool; its lock, a channel so that
// waiting ends with the context, makes simultaneous users dial once.
type slot struct {
	lock chan struct{}
	conn *conn
}

func newSlot() *slot { return &slot{lock: make(chan struct{}, 1)} }

// get returns the live connection, dialling when there is none.
func (s *slot) get(ctx context.Context, dial func() (*conn, error)) (*conn, error) {
	select {
	case s.lock <- struct{}{}:
		defer func() { <-s.lock }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if s.conn != nil && s.conn.alive() {
		return s.conn, nil
	}
	s.conn = nil
	c, err := dial()
	if err == nil {
		s.conn = c
	}
	return c, err
}

// connect reaches the endpoint through its jump hosts, hop by hop. Connections
// to jump hosts are shared by every host behind them.
func (p *Pool) connect(ctx context.Context, host string, ep Endpoint) (*conn, error) {
	var via *conn
	chain := ""
	for i, hop := range ep.Jump {
		chain += fmt.Sprintf("%s@%s:%d ", hop.User, hop.Address, hop.Port)
		previous := via
		next, err := p.jumpSlot(chain).get(ctx, func() (*conn, error) { return p.dial(ctx, hop.Address, hop, previous) })
		if err != nil {
			if e, ok := errors.AsType[*hostexec.Error](err); ok {
				through := *e
				through.Host, through.Step = host, fmt.Sprintf("%s of jump host %d, %s", e.Step, i+1, hop.Address)
				return nil, &through
			}
			return nil, err
		}
		via = next
	}
	return p.dial(ctx, host, ep, via)
}

// dial makes one hop: TCP (or a forwarded channel of via), key exchange with
// verified host key, login.
func (p *Pool) dial(ctx context.Context, host string, ep Endpoint, via *conn) (*conn, error) {
	const act = "connecting"
	if err := p.inWard(host, act); err != nil {
		return nil, err
	}
	addr := net.JoinHostPort(ep.Address, strconv.Itoa(ep.Port))
	files, err := p.keys.load()
	if err != nil {
		return nil, refused(host, act, "host key", "known hosts cannot be read", "", err)
	}
	names := hostKeyNames(host, ep)
	plain, vouched := p.keys.recorded(files, names)

	ctx, cancel := context.WithTimeout(ctx, p.opt.ConnectTimeout)
	defer cancel()
	var step atomic.Value
	step.Store("connect")
	var raw net.Conn
	if via != nil {
		raw, err = via.client.DialContext(ctx, "tcp", addr)
	} else {
		raw, err = (&net.Dialer{}).DialContext(ctx, "tcp", addr)
	}
	if err != nil {
		return nil, p.dialError(ctx, host, addr, "connect", err, nil)
	}
	// The handshake knows no context; closing the socket ends it.
	stop := context.AfterFunc(ctx, func() { _ = raw.Close() })
	verify := p.keys.callback(files, names, plain)
	var verdict error
	step.Store("key exchange")
	cc, chans, reqs, err := ssh.NewClientConn(raw, addr, &ssh.ClientConfig{
		User: ep.User,
		Auth: []ssh.AuthMethod{p.auth.method(ep.Keys)},
		HostKeyCallback: func(name string, remote net.Addr, key ssh.PublicKey) error {
			step.Store("host key")
			if verdict = verify(name, remote, key); verdict == nil {
				step.Store("login")
			}
			return verdict
		},
		HostKeyAlgorithms: algorithms(plain, vouched),
		ClientVersion:     "SSH-2.0-fabricbot",
	})
	if !stop() && err == nil {
		err = ctx.Err()
	}
	if err != nil {
		_ = raw.Close()
		if verdict == nil && len(plain) > 0 && !vouched && strings.Contains(err.Error(), "no common algorithm for host key") {
			verdict = &changedKeyError{got: "no key of a recorded kind", want: fingerprints(plain)}
			step.Store("host key")
		}
		return nil, p.dialError(ctx, host, addr, step.Load().(string), err, verdict)
	}
	c := &conn{client: ssh.NewClient(cc, chans, reqs), name: host, gone: make(chan struct{})}
	c.used.Store(time.Now().UnixNano())
	go func() {
		_ = c.client.Wait()
		close(c.gone)
		p.opt.Event(Event{Kind: "closed", Host: host, Detail: addr})
	}()
	if via != nil {
		via.busy.Add(1) // keeps the jump host's connection from looking unused
		go func() { <-c.gone; via.busy.Add(-1) }()
	}
	go p.keepAlive(c)
	p.opt.Event(Event{Kind: "connected", Host: host, Detail: ep.User + "@" + addr})
	return c, nil
}

// hostKeyNames are the names under which the host's key may be recorded.
func hostKeyNames(host string, ep Endpoint) []string {
	if ep.HostKeyAlias != "" {
		return []string{net.JoinHostPort(ep.HostKeyAlias, "22")}
	}
	names := []string{net.JoinHostPort(ep.Address, strconv.Itoa(ep.Port))}
	if host != ep.Address {
		names = append(names, net.JoinHostPort(host, strconv.Itoa(ep.Port)))
	}
	return names
}

// dialError sorts a failed connection into unreachable, refused and timed out.
func (p *Pool) dialError(ctx context.Context, host, addr, step string, err, verdict error) error {
	e := &hostexec.Error{Host: host, Act: "connecting", Step: step, Outcome: hostexec.Unreachable, Detail: addr, Err: err}
	switch {
	case verdict != nil:
		e.Outcome, e.Err, e.Detail = hostexec.Refused, nil, addr+": "+verdict.Error()
		if changed, ok := errors.AsType[*changedKeyError](verdict); ok {
			p.ward.add(Quarantine{Host: host, Address: addr, Got: changed.got, Want: changed.want, Since: time.Now(), names: changed.names})
			p.opt.Event(Event{Kind: "quarantined", Host: host, Detail: e.Detail})
			e.Err, e.Next = hostexec.ErrQuarantined, afterChange
		} else if _, ok := errors.AsType[*unknownKeyError](verdict); ok {
			e.Next = "compare the fingerprint on the host's console, then add the key to known_hosts"
		}
	case ctx.Err() != nil && errors.Is(context.Cause(ctx), context.DeadlineExceeded), ctx.Err() == nil && netTimeout(err):
		e.Outcome, e.Err = hostexec.TimedOut, context.DeadlineExceeded
		e.Detail = fmt.Sprintf("%s did not answer within %v", addr, p.opt.ConnectTimeout)
		e.Next = "see whether the host is up and its sshd is not overloaded"
	case ctx.Err() != nil:
		e.Outcome, e.Err, e.Detail = hostexec.Failed, ctx.Err(), addr+": cancelled, nothing was started"
	case step == "login" && strings.Contains(err.Error(), "unable to authenticate"):
		e.Outcome, e.Next = hostexec.Refused, "see that the user exists there and has our public key in authorized_keys"
	}
	return e
}

// keepAlive ends a connection that no longer answers or is no longer used.
func (p *Pool) keepAlive(c *conn) {
	tick := time.NewTicker(p.opt.KeepAlive)
	defer tick.Stop()
	for {
		select {
		case <-c.gone:
			return
		case <-tick.C:
		}
		if c.busy.Load() == 0 && time.Since(time.Unix(0, c.used.Load())) > p.opt.IdleClose {
			c.close()
			return
		}
		answered := make(chan error, 1)
		go func() {
			_, _, err := c.client.SendRequest("keepalive@openssh.com", true, nil)
			answered <- err
		}()
		select {
		case err := <-answered:
			if err != nil {
				c.close()
				return
			}
		case <-time.After(3 * p.opt.KeepAlive):
			c.close()
			return
		case <-c.gone:
			return
		}
	}
}

// netTimeout reports that the network gave up: it has the same deadline as the
// context and may notice it first.
func netTimeout(err error) bool {
	e, ok := errors.AsType[net.Error](err)
	return ok && e.Timeout()
}
