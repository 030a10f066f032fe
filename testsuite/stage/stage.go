package stage

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/fabricbot/fabricbot/testsuite/lab"
	"github.com/fabricbot/fabricbot/testsuite/slackemu"
)

// Ids of the emulator's demo workspace.
const (
	Channel   = "C07FABOPS"
	Elsewhere = "C07RANDOM"
	Shared    = "C07SHARED"
	UserA     = "U07OPERA"
	UserB     = "U07OPERB"
	Viewer    = "U07VIEWER"
	Guest     = "U08GUEST"
	Approvers = "S07APPROVE"
)

// Options of a stage.
type Options struct {
	Hosts int
	// Fabric is a fabric file; empty means a fat tree.
	Fabric string
	// Dir is an absolute folder for everything.
	Dir string
	// Fabricd is the program to run.
	Fabricd string
	// SlackListen is where the emulator's page is; empty picks a port.
	SlackListen string
	// UIPort is the port of the engine's web page; 0 leaves it off.
	UIPort int
	Log    func(format string, args ...any)
}

// Stage is a product that runs.
type Stage struct {
	Lab   *lab.Lab
	Slack *slackemu.Server
	Dir   string

	o      Options
	mu     sync.Mutex
	daemon *exec.Cmd
	ended  chan struct{}
}

// Up builds the lab and the emulator and starts fabricd.
func Up(ctx context.Context, o Options) (*Stage, error) {
	if o.Log == nil {
		o.Log = func(string, ...any) {}
	}
	if err := os.MkdirAll(o.Dir, 0o755); err != nil {
		return nil, err
	}
	s := &Stage{o: o, Dir: o.Dir}
	var err error
	if s.Slack, err = slackemu.New(slackemu.Options{Listen: o.SlackListen}); err != nil {
		return nil, fmt.Errorf("starting the Slack emulator: %w", err)
	}
	o.Log("the Slack emulator listens at %s", s.Slack.URL())
	if s.Lab, err = lab.Start(ctx, lab.Options{Hosts: o.Hosts, FabricFile: o.Fabric, Dir: filepath.Join(o.Dir, "lab"), Log: o.Log}); err != nil {
		return nil, errors.Join(err, s.Down())
	}
	if err := s.writeConfig(); err != nil {
		return nil, errors.Join(err, s.Down())
	}
	o.Log("starting fabricd")
	if err := s.StartDaemon(ctx); err != nil {
		return nil, errors.Join(err, s.Down())
	}
	return s, nil
}

// Config is the configuration file of the stage's site.
func (s *Stage) Config() string { return filepath.Join(s.Dir, "fabricbot.yaml") }

// DaemonLog is where fabricd's log goes.
func (s *Stage) DaemonLog() string { return filepath.Join(s.Dir, "fabricd.log") }

// EngineDir is the data directory of the embedded engine.
func (s *Stage) EngineDir() string { return filepath.Join(s.Dir, "data", "temporal") }

// StartDaemon starts fabricd and waits until it listens to Slack.
func (s *Stage) StartDaemon(ctx context.Context) error {
	if err := s.Launch(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	early := s.Ended()
	listening := make(chan error, 1)
	go func() { listening <- s.Slack.Wait(ctx, func(st slackemu.State) bool { return st.Sockets > 0 }) }()
	select {
	case err := <-listening:
		if err != nil {
			return fmt.Errorf("fabricd does not listen to Slack within a minute:\n%s", s.tail())
		}
		return nil
	case <-early:
		return fmt.Errorf("fabricd ended while starting:\n%s", s.tail())
	}
}

// Launch starts fabricd without waiting for anything.
func (s *Stage) Launch() error {
	log, err := os.OpenFile(s.DaemonLog(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	cmd := exec.Command(s.o.Fabricd, "-config", s.Config())
	cmd.Env = append(os.Environ(), "FABRICBOT_SLACK_BOT_TOKEN="+s.Slack.BotToken(), "FABRICBOT_SLACK_APP_TOKEN="+s.Slack.AppToken())
	cmd.Stdout, cmd.Stderr = log, log
	// fabricd must not outlive the stage, however that ends.
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		return errors.Join(fmt.Errorf("starting fabricd: %w", err), log.Close())
	}
	ended := make(chan struct{})
	s.mu.Lock()
	s.daemon, s.ended = cmd, ended
	s.mu.Unlock()
	go func() {
		_ = cmd.Wait()
		_ = log.Close()
		close(ended)
	}()
	return nil
}

// Ended is closed when the present fabricd has ended.
func (s *Stage) Ended() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ended
}

// PID is the process id of the present fabricd, or of the last one.
func (s *Stage) PID() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.daemon == nil {
		return 0
	}
	return s.daemon.Process.Pid
}

// Kill ends fabricd with SIGKILL, and waits until it is gone.
func (s *Stage) Kill() { s.end(syscall.SIGKILL) }

// StopDaemon ends fabricd in order.
func (s *Stage) StopDaemon() { s.end(syscall.SIGTERM) }

func (s *Stage) end(sig syscall.Signal) {
	s.mu.Lock()
	cmd, ended := s.daemon, s.ended
	s.mu.Unlock()
	if cmd == nil {
		return
	}
	_ = cmd.Process.Signal(sig)
	select {
	case <-ended:
	case <-time.After(30 * time.Second):
		_ = cmd.Process.Kill()
		<-ended
	}
}

// Down ends everything.
func (s *Stage) Down() error {
	s.StopDaemon()
	var errs []error
	if s.Lab != nil {
		errs = append(errs, s.Lab.Stop())
	}
	if s.Slack != nil {
		errs = append(errs, s.Slack.Close())
	}
	return errors.Join(errs...)
}

// tail is the end of fabricd's log.
func (s *Stage) tail() string {
	f, err := os.Open(s.DaemonLog())
	if err != nil {
		return err.Error()
	}
	defer f.Close()
	if st, err := f.Stat(); err == nil && st.Size() > 4000 {
		_, _ = f.Seek(-4000, io.SeekEnd)
	}
	b, _ := io.ReadAll(f)
	return string(b)
}
