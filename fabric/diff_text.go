package fabric

import (
	"fmt"
	"strings"
)

// Lines returns at most most sentences, the most important first, when there are
// more with a last one that says what was left out; most <= 0 means all. A
// suspicious discovery is said first and hosts in maintenance last.
func (d *Diff) Lines(most int) []string {
	var first, last []string
	if d.Suspicious != "" {
		first = append(first, d.Suspicious)
	}
	if n := d.Counts.InMaintenance; n > 0 {
		last = append(last, fmt.Sprintf("%s at %s in maintenance not listed: %s", count(n, "change"), count(len(d.Maintenance), "host"), foldNames(d.Maintenance)))
	}
	room := len(d.Changes)
	if most > 0 && len(first)+room+len(last) > most {
		room = max(0, most-len(first)-len(last)-1)
	}
	lines := first
	for i := range d.Changes[:room] {
		lines = append(lines, d.Changes[i].Text)
	}
	if rest := d.Changes[room:]; len(rest) > 0 {
		var left DiffCounts
		for i := range rest {
			left.count(&rest[i])
		}
		lines = append(lines, fmt.Sprintf("… and %d more: %s", len(rest), left.words()))
	}
	return append(lines, last...)
}

// Summary is one sentence without a full stop: "2 cables lost, 1 host new".
func (d *Diff) Summary() string {
	text := d.Counts.words()
	hosts := count(len(d.Maintenance), "host")
	switch {
	case text == "" && len(d.Maintenance) > 0:
		text = "nothing changed but at " + hosts + " in maintenance"
	case text == "":
		text = "nothing changed"
	case len(d.Maintenance) > 0:
		text += ", and changes at " + hosts + " in maintenance"
	}
	if d.Suspicious != "" {
		text = "suspicious discovery: " + text
	}
	return text
}

func (n DiffCounts) words() string {
	var parts []string
	say := func(number int, noun, what string) {
		if number > 0 {
			parts = append(parts, count(number, noun)+" "+what)
		}
	}
	say(n.SwitchesLost, "switch", "lost")
	say(n.HostsLost, "host", "lost")
	say(n.AdaptersLost, "adapter", "lost")
	say(n.OthersLost, "other node", "lost")
	say(n.CablesLost, "cable", "lost")
	say(n.Slower, "link", "slower")
	say(n.States, "port", "in another state")
	say(n.HostsMoved, "host", "moved")
	say(n.CablesMoved, "cable", "moved")
	say(n.Replaced, "node", "replaced")
	say(n.SwitchesNew, "switch", "new")
	say(n.HostsNew, "host", "new")
	say(n.AdaptersNew, "adapter", "new")
	say(n.OthersNew, "other node", "new")
	say(n.CablesNew, "cable", "new")
	say(n.Faster, "link", "faster")
	say(n.Renamed, "node", "renamed")
	say(n.LIDs, "LID", "changed")
	return strings.Join(parts, ", ")
}
