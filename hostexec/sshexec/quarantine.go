package sshexec

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fabricbot/fabricbot/hostexec"
)

// Quarantine is a host that showed another key than the recorded one.
type Quarantine struct {
	Host    string
	Address string
	Got     string   // kind and SHA-256 fingerprint
	Want    []string // the same of the recorded keys
	Since   time.Time

	names []string // under which its keys are recorded
}

// ward holds the quarantined hosts. Only a person empties it, by Release or by
// recording other keys for the host: one that shows its old key again
// afterwards is no less suspicious.
type ward struct {
	mu    sync.Mutex
	hosts map[string]Quarantine
}

func (w *ward) add(q Quarantine) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, ok := w.hosts[q.Host]; !ok {
		w.hosts[q.Host] = q
	}
}

// afterChange is what to do about a changed key.
const afterChange = "find out why the key changed, then record the right one in known_hosts; that ends the quarantine"

// inWard returns the refusal for a quarantined host. Keys recorded anew since
// release it.
func (p *Pool) inWard(host, act string) error {
	p.ward.mu.Lock()
	q, ok := p.ward.hosts[host]
	p.ward.mu.Unlock()
	if !ok {
		return nil
	}
	if files, err := p.keys.load(); err == nil {
		plain, _ := p.keys.recorded(files, q.names)
		if now := fingerprints(plain); len(now) > 0 && !slices.Equal(now, q.Want) {
			p.Release(host)
			return nil
		}
	}
	return refused(host, act, "host key",
		fmt.Sprintf("%s showed key %s at %s, recorded is %s", q.Address, q.Got, q.Since.UTC().Format(time.RFC3339), strings.Join(q.Want, ", ")),
		afterChange, hostexec.ErrQuarantined)
}

// Quarantined lists the hosts whose key changed, sorted by name. Nothing runs
// on them until Release.
func (p *Pool) Quarantined() []Quarantine {
	p.ward.mu.Lock()
	defer p.ward.mu.Unlock()
	var out []Quarantine
	for _, q := range p.ward.hosts {
		out = append(out, q)
	}
	slices.SortFunc(out, func(a, b Quarantine) int { return strings.Compare(a.Host, b.Host) })
	return out
}

// Release ends a host's quarantine, after a person has looked. The key is
// verified again at the next connection; ok is false if it was not quarantined.
func (p *Pool) Release(host string) (ok bool) {
	p.ward.mu.Lock()
	_, ok = p.ward.hosts[host]
	delete(p.ward.hosts, host)
	p.ward.mu.Unlock()
	if ok {
		p.opt.Event(Event{Kind: "released", Host: host})
	}
	return ok
}
