package activities

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/fabricbot/fabricbot/fabric"
)

// FindSMTrouble judges a survey against the inventory's plan. Computes only.
func (h *Hosts) FindSMTrouble(_ context.Context, s SMSurvey) ([]Finding, error) {
	return JudgeSMs(s, h.plannedSMs()), nil
}

// plannedSMs are the hosts that run a subnet manager by plan and are not in
// maintenance.
func (h *Hosts) plannedSMs() []string {
	var planned []string
	for _, n := range h.Site.Names() {
		if info, ok := h.Site.Info(n); ok && info.Role == RoleSM && !info.Maintenance {
			planned = append(planned, n)
		}
	}
	return planned
}

// Agreement is whom hosts in different places believe to be the master.
type Agreement struct {
	// Answers maps a host to the master's GUID, zero when it had no answer.
	Answers []HostMaster `json:"answers"`
}

// HostMaster is one host's belief.
type HostMaster struct {
	Host   string      `json:"host"`
	Master fabric.GUID `json:"master"`
}

// One reports whether at least one host answered and all named the same.
func (a Agreement) One() bool {
	if len(a.Answers) == 0 {
		return false
	}
	for _, x := range a.Answers {
		if x.Master == 0 || x.Master != a.Answers[0].Master {
			return false
		}
	}
	return true
}

// String says it in words.
func (a Agreement) String() string {
	if a.One() {
		return fmt.Sprintf("%d hosts name %s", len(a.Answers), a.Answers[0].Master)
	}
	parts := make([]string, len(a.Answers))
	for i, x := range a.Answers {
		parts[i] = x.Host + " names " + x.Master.String()
		if x.Master == 0 {
			parts[i] = x.Host + " has no master"
		}
	}
	return strings.Join(parts, ", ")
}

// aroundMost bounds the hosts asked: two prove it, a few more cost nothing.
const aroundMost = 4

// AskAround asks hosts on different leaves for their master. Hosts that cannot
// be reached are passed over. Only looks.
func (h *Hosts) AskAround(ctx context.Context, from Vantage) (Agreement, error) {
	defer beat(ctx)()
	var leaves, picked []string
	for _, n := range append([]string{from.Host}, h.Site.Names()...) {
		info, _ := h.Site.Info(n)
		if len(picked) == aroundMost || info.Maintenance || slices.Contains(picked, n) || info.Leaf != "" && slices.Contains(leaves, info.Leaf) {
			continue
		}
		leaves = append(leaves, info.Leaf)
		picked = append(picked, n)
	}
	var a Agreement
	for _, host := range picked {
		v, _ := h.portOf(ctx, host)
		if v == nil {
			continue
		}
		sm, err := h.askSM(ctx, *v, 0)
		if err != nil {
			continue
		}
		believes := HostMaster{Host: host}
		if sm != nil && sm.State == fabric.SMMaster {
			believes.Master = sm.GUID
		}
		a.Answers = append(a.Answers, believes)
	}
	return a, nil
}
