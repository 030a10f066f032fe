package runs

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fabricbot/fabricbot/activities"
	"github.com/fabricbot/fabricbot/workflows"
)

// Reply is the answer to a control word.
type Reply struct {
	// Text is one or more plain lines.
	Text string `json:"text,omitempty"`
	// View is a run to show in full.
	View *activities.View `json:"view,omitempty"`
	// Views are runs to list.
	Views []activities.View `json:"views,omitempty"`
}

// Control carries out a control word other than approve, deny and help, whose
// answers need to know who asks in which surface.
func (c *Client) Control(ctx context.Context, by activities.Person, place activities.Place, operation string, input any) (Reply, error) {
	steer := func(f func(context.Context, string, workflows.Steer) error, done string) (Reply, error) {
		in := input.(workflows.RunInput)
		if err := f(ctx, in.Run, workflows.Steer{By: by, Reason: in.Reason}); err != nil {
			return Reply{}, err
		}
		return Reply{Text: fmt.Sprintf("run %s %s", in.Run, done)}, nil
	}
	switch operation {
	case "runs list":
		in := input.(workflows.ListInput)
		views, err := c.List(ctx, in.State, in.Most)
		return Reply{Views: views}, err
	case "runs show":
		v, err := c.View(ctx, input.(workflows.RunInput).Run)
		if err != nil {
			return Reply{}, err
		}
		return Reply{View: &v}, nil
	case "runs cancel":
		return steer(c.Cancel, "stops at its next safe point")
	case "runs pause":
		return steer(c.Pause, "pauses at its next safe point")
	case "runs resume":
		return steer(c.Resume, "goes on")
	case "freeze":
		if err := c.Freeze(ctx, by, input.(workflows.ReasonInput).Reason); err != nil {
			return Reply{}, err
		}
		return Reply{Text: "the site is frozen: no change begins until `unfreeze`"}, nil
	case "unfreeze":
		if err := c.Unfreeze(ctx, by); err != nil {
			return Reply{}, err
		}
		return Reply{Text: "changes are allowed again"}, nil
	case "hosts":
		return c.hosts(input.(workflows.HostsInput))
	}
	return Reply{}, fmt.Errorf("%s is not a control word", operation)
}

// hostsMost bounds the lines of one answer.
const hostsMost = 60

func (c *Client) hosts(in workflows.HostsInput) (Reply, error) {
	var b strings.Builder
	if in.Hosts == "" {
		fmt.Fprintf(&b, "%s\n", hostCount(len(c.Inventory.Names())))
		for _, g := range groupNames(c.Inventory.Groups()) {
			members, _ := c.Inventory.Group(g)
			fmt.Fprintf(&b, "@%s: %d\n", g, len(members))
		}
		return Reply{Text: b.String()}, nil
	}
	set, err := in.Hosts.Resolve(c.Inventory)
	if err != nil {
		return Reply{}, err
	}
	fmt.Fprintf(&b, "%s: %s\n", hostCount(set.Len()), set)
	for i, name := range set.Names() {
		if i == hostsMost {
			fmt.Fprintf(&b, "… and %d more\n", set.Len()-i)
			break
		}
		h, _ := c.Inventory.Info(name)
		fmt.Fprintf(&b, "%s rack %s leaf %s role %s\n", name, dash(h.Rack), dash(h.Leaf), dash(h.Role))
	}
	return Reply{Text: b.String()}, nil
}

func hostCount(n int) string {
	if n == 1 {
		return "1 host"
	}
	return fmt.Sprintf("%d hosts", n)
}

// groupNames leaves out the long name of a group (rack:r7) where the short one
// (r7) names it as well.
func groupNames(all []string) []string {
	var kept []string
	for _, g := range all {
		if _, short, ok := strings.Cut(g, ":"); !ok || !slices.Contains(all, short) {
			kept = append(kept, g)
		}
	}
	return kept
}

func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// Now is the time a request is stamped with.
func Now() time.Time { return time.Now().UTC() }
