package activities

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/fabricbot/fabricbot/fabric"
)

// JudgeSMs turns a survey into findings. planned are the hosts with the role of
// a subnet manager. No finding above info means: one living
// master, and a standby where one is planned.
func JudgeSMs(s SMSurvey, planned []string) []Finding {
	var found []Finding
	add := func(sev Severity, action, format string, args ...any) {
		found = append(found, Finding{Severity: sev, Text: fmt.Sprintf(format, args...), Action: action})
	}
	masters, standbys := s.Masters(), s.Standbys()
	switch {
	case len(masters) == 0 && s.From.State != fabric.PortActive:
		add(Fail, "sm restart", "no subnet manager: none answers and port %s is %s", s.From, s.From.State)
	case len(masters) == 0:
		add(Fail, "sm restart", "no subnet manager answers as master")
	case len(masters) > 1:
		add(Fail, "compare sm_key on all of them, then stop all but one", "two masters: %s; they do not see each other, which happens when their sm_key differs or the fabric is cut", names(masters))
	}
	for _, m := range masters {
		if !m.Growing {
			add(Fail, "sm restart", "%s is master but its activity count stands at %d: it hangs", m.Name(), m.Activity)
		}
	}
	if len(masters) == 1 && s.Believed != 0 && s.Believed != masters[0].GUID {
		add(Warn, "", "port %s still believes in %s, which is not the master", s.From, s.Believed)
	}
	if missing := unseen(s, planned); len(missing) > 0 && len(masters) > 0 {
		add(Warn, "look at opensm there", "no subnet manager answers on %s, where one is planned", strings.Join(missing, ", "))
	} else if len(planned) <= 1 && len(standbys) == 0 && len(masters) == 1 {
		add(Warn, "", "no standby: when %s stops, nothing configures the fabric", masters[0].Name())
	}
	for _, m := range s.SMs {
		if !m.Planned {
			add(Warn, "stop it, or give the host role: sm in the inventory", "stray subnet manager on %s (%s, priority %d)", m.Name(), m.State, m.Priority)
		}
	}
	byPriority := map[uint8][]SMSeen{}
	for _, m := range s.SMs {
		byPriority[m.Priority] = append(byPriority[m.Priority], m)
	}
	priorities := make([]int, 0, len(byPriority))
	for p := range byPriority {
		priorities = append(priorities, int(p))
	}
	sort.Ints(priorities)
	for _, p := range priorities {
		if same := byPriority[uint8(p)]; len(same) > 1 {
			add(Warn, "give each its own priority", "equal priority %d on %s: the lowest GUID wins, and a reboot makes mastership hop", p, names(same))
		}
	}
	if len(masters) == 1 {
		for _, m := range standbys {
			if m.Priority > masters[0].Priority {
				add(Warn, "", "%s (priority %d) stands by below master %s (priority %d)", m.Name(), m.Priority, masters[0].Name(), masters[0].Priority)
			}
		}
	}
	if s.Trouble != "" {
		add(Unknown, "", "the list may lack some: %s", s.Trouble)
	}
	return found
}

// unseen are the planned hosts on which no manager was found.
func unseen(s SMSurvey, planned []string) []string {
	var missing []string
	for _, host := range planned {
		if !slices.ContainsFunc(s.SMs, func(m SMSeen) bool { return m.Host == host }) {
			missing = append(missing, host)
		}
	}
	return missing
}

func names(sms []SMSeen) string {
	list := make([]string, len(sms))
	for i, m := range sms {
		list[i] = m.Name()
	}
	return strings.Join(list, ", ")
}
