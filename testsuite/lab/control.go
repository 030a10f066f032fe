package lab

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// order is one request on the control socket: one JSON object each way per
// connection.
type order struct {
	Words []string `json:"words"` // "fault reboot node003", "heal …", "status", "down"
}

type answer struct {
	Text   string `json:"text,omitempty"`
	Error  string `json:"error,omitempty"`
	Status *state `json:"status,omitempty"`
}

// orderTakes bounds one order; the slowest, a reboot, takes seconds.
const orderTakes = 2 * time.Minute

func (l *Lab) openControl() error {
	path := filepath.Join(l.Dir, "control.sock")
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	ln, err := net.Listen("unix", path)
	if err != nil {
		return fmt.Errorf("opening control socket: %w", err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return err
	}
	l.control = ln
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			go l.obey(c)
		}
	}()
	return nil
}

func (l *Lab) obey(c net.Conn) {
	defer c.Close()
	ctx, cancel := context.WithTimeout(l.ctx, orderTakes)
	defer cancel()
	var o order
	if err := json.NewDecoder(c).Decode(&o); err != nil || len(o.Words) == 0 {
		json.NewEncoder(c).Encode(answer{Error: "the order is not JSON with words"})
		return
	}
	var a answer
	var err error
	switch o.Words[0] {
	case "fault":
		a.Text, err = l.Fault(ctx, o.Words[1:]...)
	case "heal":
		a.Text, err = l.Heal(ctx, o.Words[1:]...)
	case "status":
		s := l.state()
		a.Status = &s
	case "down":
		a.Text = "stopping"
		json.NewEncoder(c).Encode(a)
		l.cancel()
		return
	default:
		err = fmt.Errorf("unknown order %q", o.Words[0])
	}
	if err != nil {
		a.Error = err.Error()
	}
	json.NewEncoder(c).Encode(a)
}

// Done is closed when the lab was told to stop through its control socket.
func (l *Lab) Done() <-chan struct{} { return l.ctx.Done() }

// ask sends an order to the lab in dir.
func ask(dir string, words ...string) (answer, error) {
	c, err := net.DialTimeout("unix", filepath.Join(dir, "control.sock"), 5*time.Second)
	if err != nil {
		return answer{}, fmt.Errorf("asking the lab in %s: %w", dir, err)
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(orderTakes + 10*time.Second))
	if err := json.NewEncoder(c).Encode(order{words}); err != nil {
		return answer{}, fmt.Errorf("asking the lab in %s: %w", dir, err)
	}
	var a answer
	if err := json.NewDecoder(c).Decode(&a); err != nil {
		return answer{}, fmt.Errorf("asking the lab in %s: %w", dir, err)
	}
	if a.Error != "" {
		return a, errors.New(a.Error)
	}
	return a, nil
}

// Down stops the lab in dir, running or dead, and removes what it left.
func Down(dir string) error {
	text, err := os.ReadFile(filepath.Join(dir, "lab.json"))
	if errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("stopping lab: no lab in %s", dir)
	}
	if err != nil {
		return fmt.Errorf("stopping lab: %w", err)
	}
	var s state
	if err := json.Unmarshal(text, &s); err != nil {
		return fmt.Errorf("stopping lab: reading lab.json: %w", err)
	}
	if _, err := ask(dir, "down"); err == nil {
		if waitGone(s.PID, 20*time.Second) {
			return nil
		}
	}
	// The lab is dead or deaf. Its hosts went with it; only files remain.
	if isLab(s.PID, dir) {
		syscall.Kill(s.PID, syscall.SIGKILL)
		if !waitGone(s.PID, 10*time.Second) {
			return fmt.Errorf("stopping lab: process %d does not end", s.PID)
		}
	}
	return removeFiles(dir)
}

// isLab tells whether the process still is the lab that wrote lab.json: its
// hosts' tmpfs is mounted in the namespace of one of its threads.
func isLab(pid int, dir string) bool {
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/mountinfo", pid))
	for _, t := range tasks {
		if text, err := os.ReadFile(t); err == nil && strings.Contains(string(text), " "+filepath.Join(dir, "hosts")+" ") {
			return true
		}
	}
	return false
}

func waitGone(pid int, within time.Duration) bool {
	for deadline := time.Now().Add(within); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil || strings.Contains(string(text), ") Z ") {
			return true
		}
	}
	return false
}
