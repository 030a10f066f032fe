package activities

import (
	"crypto/sha256"
	"encoding/hex"
	"sort"
)

// Plan is what a run would change, computed by looking only. It holds nothing
// that changes by itself (no clocks, no counters), since its hash is what
// people approve.
type Plan struct {
	// Summary is one sentence: action, count, effect.
	Summary string `json:"summary"`
	// Changes lists every host and device that would be altered.
	Changes []PlanLine `json:"changes"`
	// Refused lists targets left out, with reasons.
	Refused []PlanLine `json:"refused,omitempty"`
	// Effects are sentences about what users will notice.
	Effects []string `json:"effects,omitempty"`
	// Warnings are sentences an approver must see.
	Warnings []string `json:"warnings,omitempty"`
	// Rollback says how to go back, or that there is no way back.
	Rollback string `json:"rollback"`
	// Facts are further values that must still be true when the run acts,
	// such as checksums of configuration files; shown in the plan file.
	Facts map[string]string `json:"facts,omitempty"`
	// Hash identifies the plan; set by Seal.
	Hash string `json:"hash"`
}

// PlanLine is one change of one thing.
type PlanLine struct {
	Host   string `json:"host"`
	Device string `json:"device,omitempty"`
	What   string `json:"what"`
	From   string `json:"from,omitempty"`
	To     string `json:"to,omitempty"`
	Note   string `json:"note,omitempty"`
}

// Seal sets the hash: SHA-256 over the JSON of all other fields, in hex.
func (p *Plan) Seal() error {
	p.Hash = ""
	d, err := Pack(p)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(d)
	p.Hash = hex.EncodeToString(sum[:])
	return nil
}

// Hosts lists the hosts the plan changes, sorted, each once.
func (p Plan) Hosts() []string {
	seen := map[string]bool{}
	var hosts []string
	for _, c := range p.Changes {
		if !seen[c.Host] {
			seen[c.Host] = true
			hosts = append(hosts, c.Host)
		}
	}
	sort.Strings(hosts)
	return hosts
}
