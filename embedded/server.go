package embedded

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"sync"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/server/temporal"
	"go.uber.org/zap"

	"github.com/fabricbot/fabricbot/internal/engine"
)

// Server is a running Temporal server with its database. One per process: the server keeps its SQLite handle and some
// goroutines until the process ends.
type Server struct {
	o         Options
	m         Meta
	lock      *dirLock
	log       *serverLog
	clientTLS *tls.Config
	srv       temporal.Server
	state     state
	ui        *webUI // nil when off
	stop      sync.Once
}

// state of the Temporal server inside, for what a failed start may undo.
type state int

const (
	untouched state = iota // nothing has the database open
	halfway                // some services may run
	running
)

// Start returns when the namespace is registered, its search attributes can be used and its schedules run. An error
// says what to do about it; a *LockedError that another process has the directory. After an error in Start the
// process should end: a server that came up halfway keeps the directory until then.
func Start(ctx context.Context, o Options) (*Server, error) {
	began := time.Now()
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	if err := openDir(o.DataDir); err != nil {
		return nil, err
	}
	lock, err := lockDir(o.DataDir)
	if err != nil {
		return nil, err
	}
	s := &Server{o: o, lock: lock}
	if err := s.start(ctx); err != nil {
		s.abandon()
		return nil, err
	}
	o.Log.Info("engine started", zap.String("address", s.Address()), zap.String("data_dir", o.DataDir),
		zap.String("namespace", o.Namespace), zap.String("version", s.m.ServerVersion), zap.Duration("took", time.Since(began)))
	return s, nil
}

func (s *Server) start(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	if err := checkDisk(s.o.DataDir); err != nil {
		return err
	}
	m, err := prepare(ctx, s.o)
	if err != nil {
		return err
	}
	ca, err := openAuthority(s.o.DataDir)
	if err != nil {
		return err
	}
	if m.FrontendPort, err = frontendPort(s.o.FrontendPort, m.FrontendPort); err != nil {
		return err
	}
	m.UIPort, m.LastStarted = s.o.UIPort, time.Now().UTC().Truncate(time.Second)
	var uiListener net.Listener
	if m.UIPort != 0 {
		if uiListener, err = listen("web UI", m.UIPort); err != nil {
			return err
		}
	}
	if err := writeMeta(s.o.DataDir, m); err != nil {
		return errors.Join(err, closeListener(uiListener))
	}
	s.m = m
	if err := s.startServer(ctx, ca); err != nil {
		return errors.Join(err, closeListener(uiListener))
	}
	if uiListener == nil {
		return nil
	}
	if s.ui, err = newUI(s.o, m, ca); err != nil {
		return errors.Join(err, closeListener(uiListener))
	}
	go s.ui.serve(uiListener)
	return nil
}

func closeListener(l net.Listener) error {
	if l == nil {
		return nil
	}
	return l.Close()
}

func (s *Server) startServer(ctx context.Context, ca *authority) error {
	provider, err := ca.serverTLS()
	if err != nil {
		return err
	}
	if s.clientTLS, err = ca.dialTLS(clientName); err != nil {
		return err
	}
	inner, err := freePorts(3)
	if err != nil {
		return err
	}
	s.log = openServerLog(s.o.DataDir, s.o.Log)
	srv, err := newServer(s.o, s.m, inner, provider, s.log)
	if err != nil {
		return fmt.Errorf("wiring engine: %w", err)
	}
	s.srv, s.state = srv, halfway
	if err := srv.Start(); err != nil {
		return fmt.Errorf("starting engine: %w: more is in %s", explainStore(filepath.Join(s.o.DataDir, databaseFile), err), s.log.file.Filename)
	}
	s.state = running
	adminTLS, err := provider.GetFrontendClientConfig()
	if err != nil {
		return err
	}
	cl, err := client.NewLazyClient(client.Options{
		HostPort: s.Address(), Namespace: s.o.Namespace, Logger: engine.Logger(nil),
		ConnectionOptions: client.ConnectionOptions{TLS: adminTLS},
	})
	if err != nil {
		return fmt.Errorf("connecting to engine: %w", err)
	}
	defer cl.Close()
	if err := makeReady(ctx, cl, s.o); err != nil {
		return fmt.Errorf("starting engine: %w", err)
	}
	return nil
}

// Address is host:port of the frontend, on 127.0.0.1.
func (s *Server) Address() string { return hostPort(s.m.FrontendPort) }

// UIAddress is the web UI's URL, empty when it is off. A browser needs UISignIn once.
func (s *Server) UIAddress() string {
	if s.ui == nil {
		return ""
	}
	return "http://" + hostPort(s.m.UIPort)
}

// UISignIn is the link that signs a browser in to the web UI. It is a secret: print it on the operator's terminal,
// never in a log or a channel. Empty when the UI is off.
func (s *Server) UISignIn() string {
	if s.ui == nil {
		return ""
	}
	return engine.UILink(s.m.UIPort, s.ui.token)
}

// Meta is what was recorded at this start.
func (s *Server) Meta() Meta { return s.m }

// ClientOptions are what a client in this process needs. It may start, signal, update, query and poll, but not
// administrate. Another process of the same user calls engine.FromDataDir instead.
func (s *Server) ClientOptions() client.Options {
	return client.Options{
		HostPort:          s.Address(),
		Namespace:         s.o.Namespace,
		Logger:            engine.Logger(s.o.Log),
		ConnectionOptions: client.ConnectionOptions{TLS: s.clientTLS.Clone()},
	}
}

// Stop takes a second (measured 2026-12). Stop workers and close clients first. It may be called more than once.
func (s *Server) Stop() {
	s.stop.Do(func() {
		s.log.stopped.Store(true)
		if s.ui != nil {
			s.ui.stop()
		}
		if err := s.srv.Stop(); err != nil {
			s.o.Log.Warn("engine stopped with an error", zap.Error(err))
		}
		s.log.close()
		s.lock.release()
	})
}

// abandon undoes a failed start. A server that came up halfway cannot be taken down for certain, and another process
// must not get at its database; then the lock stays until this process ends.
func (s *Server) abandon() {
	if s.log != nil {
		s.log.stopped.Store(true)
	}
	if s.state == running {
		if err := s.srv.Stop(); err == nil {
			s.state = untouched
		}
	}
	if s.log != nil {
		s.log.close()
	}
	if s.state == untouched {
		s.lock.release()
	}
}
