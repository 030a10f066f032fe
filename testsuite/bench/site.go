package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/fabricbot/fabricbot/testsuite/slackemu"
)

const (
	channel  = "C07FABOPS"
	operator = "U07OPERA"
	// siteOverall is above all that the runs here ask at once.
	siteOverall = 1000
	// readyWithin bounds fabricd's start: 2 s on a quiet machine.
	readyWithin = 2 * time.Minute
)

// site is fabricd as one process, with an emulated Slack workspace.
type site struct {
	slack *slackemu.Server
	cmd   *exec.Cmd
	said  *lockedBuffer
	gone  chan struct{}
}

// hostLine is one entry of the inventory.
type hostLine struct {
	name, address string
	port          int
}

// sshFiles are what the site logs in with.
type sshFiles struct {
	user             string
	keys, knownHosts []string
}

// startSite builds fabricd, starts it and waits until it listens to Slack.
func (b *bench) startSite(ctx context.Context, hosts []hostLine, login sshFiles) (*site, error) {
	if err := b.build(ctx, "embedded", "./cmd/fabricd"); err != nil {
		return nil, err
	}
	slack, err := slackemu.New(slackemu.Options{})
	if err != nil {
		return nil, fmt.Errorf("starting the emulated workspace: %w", err)
	}
	s := &site{slack: slack, said: &lockedBuffer{}, gone: make(chan struct{})}
	config, err := b.siteConfig(hosts, login, slack)
	if err != nil {
		s.close()
		return nil, err
	}
	s.cmd = exec.CommandContext(ctx, filepath.Join(b.bin, "fabricd"), "-config", config)
	ownGroup(s.cmd)
	s.cmd.Env = append(os.Environ(), "FABRICBOT_SLACK_BOT_TOKEN="+slack.BotToken(), "FABRICBOT_SLACK_APP_TOKEN="+slack.AppToken())
	s.cmd.Stdout, s.cmd.Stderr = s.said, s.said
	if err := s.cmd.Start(); err != nil {
		s.cmd = nil
		s.close()
		return nil, fmt.Errorf("starting fabricd: %w", err)
	}
	go func() { _ = s.cmd.Wait(); close(s.gone) }()
	waiting, cancel := context.WithTimeout(ctx, readyWithin)
	defer cancel()
	go func() {
		select {
		case <-s.gone:
			cancel()
		case <-waiting.Done():
		}
	}()
	if err := slack.Wait(waiting, func(st slackemu.State) bool { return st.Sockets > 0 }); err != nil {
		err = fmt.Errorf("waiting for fabricd to listen: %w; it said: %s", err, s.said.tail(800))
		s.close()
		return nil, err
	}
	return s, nil
}

// close ends fabricd, by force if need be, and the workspace.
func (s *site) close() {
	if s.cmd != nil {
		_ = s.cmd.Cancel()
		select {
		case <-s.gone:
		case <-time.After(2 * grace):
			_ = s.cmd.Process.Kill()
			<-s.gone
		}
	}
	_ = s.slack.Close()
}

func (b *bench) siteConfig(hosts []hostLine, login sshFiles, slack *slackemu.Server) (string, error) {
	dir := filepath.Join(b.dir, "site")
	if err := os.MkdirAll(filepath.Join(dir, "data"), 0o700); err != nil {
		return "", fmt.Errorf("making the site's folder: %w", err)
	}
	var inventory strings.Builder
	inventory.WriteString("hosts:\n")
	for _, h := range hosts {
		fmt.Fprintf(&inventory, "  - {name: %s, address: %s, port: %d, user: %s}\n", h.name, h.address, h.port, login.user)
	}
	text := fmt.Sprintf(`cluster: {name: bench}
slack:
  api_url: %s
  team_id: %s
  channels: {%s: fabric-ops}
temporal: {embedded: {data_dir: engine, ui_port: 0}}
ssh: {user: %s, keys: [%s], known_hosts: [%s], overall: %d, connect_timeout: 60s}
inventory: hosts.yaml
data_dir: data
archive: data/archive
audit: data/audit.jsonl
access:
  rules:
    - {operations: ["*"], who: [team]}
    - {operations: ["*"], classes: [control], who: [team]}
limits: {max_hosts_per_run: 10000, read_only_concurrent: 1000}
`, slack.APIURL(), slackemu.DemoWorkspace().TeamID, channel, login.user, strings.Join(login.keys, ", "), strings.Join(login.knownHosts, ", "), siteOverall)
	config := filepath.Join(dir, "fabricbot.yaml")
	for path, content := range map[string]string{config: text, filepath.Join(dir, "hosts.yaml"): inventory.String()} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			return "", fmt.Errorf("writing the site's settings: %w", err)
		}
	}
	return config, nil
}

// peakMB is the largest resident memory fabricd had, in MB.
func (s *site) peakMB() (float64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	if err != nil {
		return 0, fmt.Errorf("reading fabricd's memory: %w", err)
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kib, err := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")), 64)
			return kib * 1024 / 1e6, err
		}
	}
	return 0, errors.New("reading fabricd's memory: the kernel does not say VmHWM")
}

// lockedBuffer takes a program's output while others look at it.
type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *lockedBuffer) tail(n int) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return string(tail(l.buf.Bytes(), n))
}
