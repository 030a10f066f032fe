package slackemu

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"
)

// Server is one emulated workspace. All methods may be called concurrently.
type Server struct {
	opts   Options
	ctx    context.Context // ends with Close; stops retries, pings and streams
	cancel context.CancelFunc
	work   sync.WaitGroup

	page    *http.Server
	pageURL string
	apiAddr string

	apiMu sync.Mutex // guards api: it is closed and reopened by an outage
	api   *http.Server

	mu      sync.Mutex // guards everything below
	changed chan struct{}
	version int
	offset  time.Duration // Advance shifts the workspace's clock
	ws      state
	faults  faultState
	limits  limiter
	sockets socketState
	request RequestURLs
}

// New starts a workspace. Both listeners must be on loopback.
func New(o Options) (*Server, error) {
	o = o.withDefaults()
	s := &Server{opts: o, changed: make(chan struct{})}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.ws = newState(o)
	s.faults.realLimits = o.RealRateLimits
	s.limits = limiter{buckets: map[string]*bucket{}}
	s.sockets = newSocketState()

	api, err := listenLoopback(o.APIListen)
	if err != nil {
		return nil, err
	}
	page, err := listenLoopback(o.Listen)
	if err != nil {
		_ = api.Close()
		return nil, err
	}
	s.apiAddr = api.Addr().String()
	s.pageURL = "http://" + page.Addr().String() + "/"
	s.serveAPI(api)
	s.page = &http.Server{Handler: s.pageHandler(), ReadHeaderTimeout: 10 * time.Second}
	s.work.Go(func() { _ = s.page.Serve(page) })
	return s, nil
}

func listenLoopback(addr string) (net.Listener, error) {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, fmt.Errorf("listen on %q: %w", addr, err)
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return nil, fmt.Errorf("listen on %q: the emulator has no authentication and serves loopback only", addr)
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", addr, err)
	}
	return l, nil
}

func (s *Server) serveAPI(l net.Listener) {
	srv := &http.Server{Handler: s.apiHandler(), ReadHeaderTimeout: 10 * time.Second}
	s.apiMu.Lock()
	s.api = srv
	s.apiMu.Unlock()
	s.work.Go(func() { _ = srv.Serve(l) })
}

// URL is the address of the page and of the control API, ending in "/".
func (s *Server) URL() string { return s.pageURL }

// APIURL is what slack.OptionAPIURL wants; it ends in "/api/".
func (s *Server) APIURL() string { return "http://" + s.apiAddr + "/api/" }

// BotToken is the xoxb- token of the bot.
func (s *Server) BotToken() string { return s.opts.BotToken }

// AppToken is the xapp- token for Socket Mode.
func (s *Server) AppToken() string { return s.opts.AppToken }

// SigningSecret signs requests in HTTP mode.
func (s *Server) SigningSecret() string { return s.opts.SigningSecret }

// Close ends all connections and waits for the emulator's own goroutines.
func (s *Server) Close() error {
	s.cancel()
	s.killSockets("")
	s.apiMu.Lock()
	api := s.api
	s.apiMu.Unlock()
	err := errors.Join(s.page.Close(), api.Close())
	s.work.Wait()
	return err
}

// Advance moves the workspace's clock: triggers, response_urls and rate limits
// age by d at once. Deadlines which are already being waited for do not move.
func (s *Server) Advance(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.offset += d
	s.touch()
}

func (s *Server) now() time.Time { return time.Now().Add(s.offset) }

// touch tells all waiters that the state changed; the caller holds s.mu.
func (s *Server) touch() {
	s.version++
	close(s.changed)
	s.changed = make(chan struct{})
}

// sleep waits for d unless the server is closed first.
func (s *Server) sleep(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-s.ctx.Done():
		return false
	}
}
