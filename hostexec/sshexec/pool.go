package sshexec

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/fabricbot/fabricbot/hostexec"
	"github.com/fabricbot/fabricbot/hostexec/wire"
)

// Pool runs commands on hosts. Its methods may be called at the same time.
type Pool struct {
	opt     Options
	keys    *hostKeys
	auth    *keyring
	ward    ward
	overall chan struct{}

	mu     sync.Mutex
	closed bool
	hosts  map[string]*hostSlot
	jumps  map[string]*slot
}

type hostSlot struct {
	*slot
	places chan struct{} // commands at once on this host

	mu sync.Mutex
	ep Endpoint // as last resolved
}

// New checks the options and reads keys and known hosts; it connects nowhere.
func New(o Options) (*Pool, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	p := &Pool{
		opt: o, overall: make(chan struct{}, o.Overall),
		hosts: map[string]*hostSlot{}, jumps: map[string]*slot{}, ward: ward{hosts: map[string]Quarantine{}},
	}
	if p.keys, err = newHostKeys(o); err != nil {
		return nil, err
	}
	if p.auth, err = newKeyring(o); err != nil {
		return nil, err
	}
	return p, nil
}

// Close ends every connection; commands under way come back as lost.
func (p *Pool) Close() {
	p.mu.Lock()
	p.closed = true
	var all []*slot
	for _, s := range p.hosts {
		all = append(all, s.slot)
	}
	for _, s := range p.jumps {
		all = append(all, s)
	}
	p.mu.Unlock()
	for _, s := range all {
		s.lock <- struct{}{}
		if s.conn != nil {
			s.conn.close()
		}
		<-s.lock
	}
}

// Look runs a command that reads. A command of class change is refused.
//
// A program that ran to its end gives a nil error whatever its exit status
// (Outcome OK or Failed): with fabric tools the output decides, not the status.
// Every other outcome comes with a *hostexec.Error as well.
func (p *Pool) Look(ctx context.Context, host string, cmd hostexec.Command) (hostexec.Result, error) {
	class, err := hostexec.Classify(cmd.Argv)
	if err == nil && class != hostexec.Look {
		err = hostexec.ErrNeedsLease
	}
	if err != nil {
		return notAllowed(host, cmd.Argv, err)
	}
	return p.run(ctx, host, hostexec.Lease{}, cmd)
}

// Change runs a command under a lease. The host itself turns it away (refused,
// hostexec.ErrFenced) when it has seen a newer lease.
func (p *Pool) Change(ctx context.Context, host string, lease hostexec.Lease, cmd hostexec.Command) (hostexec.Result, error) {
	if _, err := hostexec.Classify(cmd.Argv); err != nil {
		return notAllowed(host, cmd.Argv, err)
	}
	if err := lease.Check(); err != nil {
		return notAllowed(host, cmd.Argv, err)
	}
	return p.run(ctx, host, lease, cmd)
}

// Run is Look, or Change with the lease of the context (hostexec.WithLease):
// a change without one is refused.
func (p *Pool) Run(ctx context.Context, host string, cmd hostexec.Command) (hostexec.Result, error) {
	if class, err := hostexec.Classify(cmd.Argv); err == nil && class == hostexec.Change {
		lease, _ := hostexec.LeaseFrom(ctx)
		return p.Change(ctx, host, lease, cmd)
	}
	return p.Look(ctx, host, cmd)
}

func notAllowed(host string, argv []string, err error) (hostexec.Result, error) {
	r := hostexec.Result{Host: host, Argv: argv, Exit: -1, Outcome: hostexec.Refused, Step: "allow", Detail: err.Error()}
	return r, refused(host, hostexec.Display(argv), "allow", "nothing was sent", "", err)
}

func (p *Pool) run(ctx context.Context, host string, lease hostexec.Lease, cmd hostexec.Command) (hostexec.Result, error) {
	cmd = cmd.WithDefaults()
	w := work{
		script: wire.Script{Kind: wire.KindRun, Args: cmd.Argv, Sudo: cmd.Sudo, Stdin: len(cmd.Stdin) > 0, Run: lease.Run, Token: lease.Token},
		argv:   cmd.Argv, stdin: cmd.Stdin, timeout: cmd.Timeout, idle: cmd.Idle, keep: cmd.MaxOutput, spill: true,
	}
	a, err := p.do(ctx, host, w)
	return a.Result, err
}

// do takes a place, a connection and a channel for the work and sees it through.
func (p *Pool) do(ctx context.Context, host string, w work) (answer, error) {
	begin := time.Now()
	fail := func(step string, err error) (answer, error) {
		e, ok := errors.AsType[*hostexec.Error](err)
		if !ok {
			e = &hostexec.Error{Step: step, Outcome: hostexec.Unreachable, Err: err}
			switch {
			case errors.Is(err, context.DeadlineExceeded):
				e.Outcome, e.Detail = hostexec.TimedOut, "the caller's deadline passed before anything was started"
			case errors.Is(err, context.Canceled):
				e.Outcome, e.Detail = hostexec.Failed, "cancelled before anything was started"
			}
		}
		told := *e
		told.Host, told.Act = host, hostexec.Display(w.argv)
		r := hostexec.Result{Host: host, Argv: w.argv, Exit: -1, Outcome: told.Outcome, Step: told.Step, Detail: detailOf(&told), Took: time.Since(begin)}
		return answer{Result: r}, &told
	}
	if err := p.inWard(host, hostexec.Display(w.argv)); err != nil {
		return fail("host key", err)
	}
	s, err := p.hostSlot(host)
	if err != nil {
		return fail("queue", err)
	}
	leave, err := p.enter(ctx, s)
	if err != nil {
		return fail("queue", err)
	}
	defer leave()
	// A connection that turns out dead before anything was sent is replaced once.
	for attempt := 0; ; attempt++ {
		c, ep, err := p.connection(ctx, host, s)
		if err != nil {
			return fail("connect", err)
		}
		w.script.StateDir = ep.StateDir
		w.script.Sudo = w.script.Sudo && ep.User != "root"
		c.busy.Add(1)
		a, begun, err := p.session(ctx, c, host, w)
		c.busy.Add(-1)
		c.used.Store(time.Now().UnixNano())
		if err != nil && !begun && attempt == 0 && ctx.Err() == nil && hostexec.OutcomeOf(err) == hostexec.Unreachable {
			c.close()
			<-c.gone
			continue
		}
		a.Took = time.Since(begin)
		return a, err
	}
}

// detailOf is the story without the words that Result holds in its own fields.
func detailOf(e *hostexec.Error) string {
	d := e.Detail
	if e.Err != nil {
		if d != "" {
			d += ": "
		}
		d += e.Err.Error()
	}
	if e.Next != "" {
		d += "; " + e.Next
	}
	return d
}

// enter waits for a place on the host, then for one of all places.
func (p *Pool) enter(ctx context.Context, s *hostSlot) (leave func(), err error) {
	select {
	case s.places <- struct{}{}:
	case <-ctx.Done():
		return nil, fmt.Errorf("waiting for one of %d places on the host: %w", p.opt.PerHost, ctx.Err())
	}
	select {
	case p.overall <- struct{}{}:
	case <-ctx.Done():
		<-s.places
		return nil, fmt.Errorf("waiting for one of %d places: %w", p.opt.Overall, ctx.Err())
	}
	return func() { <-p.overall; <-s.places }, nil
}

func (p *Pool) connection(ctx context.Context, host string, s *hostSlot) (*conn, Endpoint, error) {
	c, err := s.get(ctx, func() (*conn, error) {
		ep, err := p.opt.Resolve(host)
		if err == nil {
			ep, err = p.opt.complete(ep, host)
		}
		if err != nil {
			return nil, refused(host, "connecting", "connect", "the host has no usable endpoint", "correct the inventory or ssh_config", err)
		}
		s.mu.Lock()
		s.ep = ep
		s.mu.Unlock()
		return p.connect(ctx, host, ep)
	})
	s.mu.Lock()
	defer s.mu.Unlock()
	return c, s.ep, err
}

func (p *Pool) hostSlot(host string) (*hostSlot, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, errors.New("the connection pool is closed")
	}
	s := p.hosts[host]
	if s == nil {
		s = &hostSlot{slot: newSlot(), places: make(chan struct{}, p.opt.PerHost)}
		p.hosts[host] = s
	}
	return s, nil
}

func (p *Pool) jumpSlot(chain string) *slot {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.jumps[chain]
	if s == nil {
		s = newSlot()
		p.jumps[chain] = s
	}
	return s
}
