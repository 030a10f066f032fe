package lab

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// removeFiles deletes what a lab wrote into its directory, logs excepted.
func removeFiles(dir string) error {
	var errs []error
	for _, p := range []string{"lab.json", "control.sock", "inventory.yaml", "ssh/id_ed25519", "ssh/id_ed25519.pub", "ssh/known_hosts", "ssh", "witness/opensm-starts", "witness", "hosts"} {
		if err := os.Remove(filepath.Join(dir, p)); err != nil && !errors.Is(err, os.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

func (l *Lab) witnessFile() string { return filepath.Join(l.Dir, "witness", "opensm-starts") }

// SMStarts counts the starts of subnet managers: all, or those on one host.
// Each start is written to disk before the start script returns.
func (l *Lab) SMStarts(host string) (int, error) {
	text, err := os.ReadFile(l.witnessFile())
	if err != nil {
		return 0, fmt.Errorf("counting SM starts: %w", err)
	}
	n := 0
	for _, line := range strings.Split(string(text), "\n") {
		f := strings.Fields(line)
		if len(f) == 3 && (host == "" || f[0] == host) {
			n++
		}
	}
	return n, nil
}

// state is the content of lab.json.
type state struct {
	PID        int               `json:"pid"`
	Started    time.Time         `json:"started"`
	Instance   int               `json:"instance"`
	Dir        string            `json:"dir"`
	Control    string            `json:"control"`
	Inventory  string            `json:"inventory"`
	Key        string            `json:"key"`
	KnownHosts string            `json:"known_hosts"`
	Witness    string            `json:"witness"`
	Addresses  map[string]string `json:"addresses,omitempty"`
	Hosts      []hostState       `json:"hosts"`
}

type hostState struct {
	Name     string `json:"name"`
	Address  string `json:"address"`
	Port     int    `json:"port"`
	Role     string `json:"role"`
	Leaf     string `json:"leaf"`
	Daemon   string `json:"daemon"`
	Shell    string `json:"shell"`
	PortGUID string `json:"port_guid"`
	Up       bool   `json:"up"`
}

func (l *Lab) state() state {
	in := func(p string) string { return filepath.Join(l.Dir, p) }
	s := state{
		PID: os.Getpid(), Started: l.started, Instance: l.instance, Dir: l.Dir, Control: in("control.sock"),
		Inventory: in("inventory.yaml"), Key: in("ssh/id_ed25519"), KnownHosts: in("ssh/known_hosts"), Witness: l.witnessFile(), Addresses: l.Addresses,
	}
	for _, h := range l.Hosts {
		s.Hosts = append(s.Hosts, hostState{h.Name, h.Address, h.Port, h.Role, h.Leaf, h.Daemon, h.Shell, fmt.Sprintf("0x%016x", h.PortGUID), h.Up()})
	}
	return s
}

func (l *Lab) writeState() error {
	text, err := json.MarshalIndent(l.state(), "", "  ")
	if err != nil {
		return err
	}
	tmp := filepath.Join(l.Dir, "lab.json.new")
	if err := os.WriteFile(tmp, append(text, '\n'), 0o644); err != nil {
		return fmt.Errorf("writing lab.json: %w", err)
	}
	return os.Rename(tmp, filepath.Join(l.Dir, "lab.json"))
}
