package site

import (
	"slices"
	"strings"
	"time"

	"github.com/fabricbot/fabricbot/activities"
	"github.com/fabricbot/fabricbot/internal/access"
	"github.com/fabricbot/fabricbot/internal/config"
	"github.com/fabricbot/fabricbot/workflows"
)

// Rules is the configuration as runs ask it.
type Rules struct {
	cfg    *config.Config
	access *access.Access
}

// Rules makes the rules for runs.
func (s *Site) Rules(a *access.Access) Rules { return Rules{s.Config, a} }

// Policy is who may approve an operation. Where the configuration names
// nobody, nobody can.
func (r Rules) Policy(operation string) activities.Policy {
	e, ok := workflows.Lookup(operation)
	if !ok {
		return activities.Policy{}
	}
	need, ok := r.access.Approval(operation, e.Class)
	if !ok {
		return activities.Policy{}
	}
	p := activities.Policy{Groups: need.Groups, Count: need.Count}
	for _, u := range need.Users {
		p.Users = append(p.Users, string(u))
	}
	if need.Team {
		p.Groups = append(p.Groups, activities.TeamGroup)
	}
	return p
}

// ApprovalWindow is how long an approval may wait.
func (r Rules) ApprovalWindow() time.Duration { return r.cfg.Limits.ApprovalWindow }

// Cluster is the site's name.
func (r Rules) Cluster() string { return r.cfg.Cluster.Name }

// MaxHosts is the most hosts one changing run may touch.
func (r Rules) MaxHosts() int { return r.cfg.Limits.MaxHostsPerRun }

// Aliases lists all ids of the human who has this one, itself included.
func (r Rules) Aliases(id string) []string {
	for _, p := range r.cfg.Access.People {
		ids := append([]string{r.cfg.Slack.TeamID + ":" + p.Slack}, p.Local...)
		if slices.Contains(ids, id) {
			return ids
		}
	}
	return []string{id}
}

// Frozen says why nothing may be changed now by the calendar; empty when
// changes are allowed.
func (r Rules) Frozen(at time.Time) string {
	w, frozen := r.cfg.Freeze.At(at)
	if !frozen {
		return ""
	}
	return strings.TrimSpace("the calendar until " + w.Until.UTC().Format("2006-01-02 15:04 MST") + " " + w.Reason)
}
