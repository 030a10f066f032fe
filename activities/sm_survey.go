package activities

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.temporal.io/sdk/activity"

	"github.com/fabricbot/fabricbot/fabric"
	"github.com/fabricbot/fabricbot/fabric/parse"
)

// SMSeen is one subnet manager as the fabric shows it.
type SMSeen struct {
	GUID     fabric.GUID    `json:"guid"`
	LID      fabric.LID     `json:"lid"`
	Priority uint8          `json:"priority"`
	State    fabric.SMState `json:"state"`
	// Activity is the activity count at the last reading; Growing says that it
	// grew between two readings.
	Activity uint64 `json:"activity"`
	Growing  bool   `json:"growing"`
	// Node is the node description, Host the inventory's name for it.
	Node string `json:"node"`
	Host string `json:"host,omitempty"`
	// Planned says that the inventory gives the host the role of an SM.
	Planned bool `json:"planned"`
}

// Name is the best name for people.
func (s SMSeen) Name() string {
	if s.Host != "" {
		return s.Host
	}
	if s.Node != "" {
		return s.Node
	}
	return s.GUID.String()
}

// SMSurvey is every subnet manager of one subnet.
type SMSurvey struct {
	From Vantage  `json:"from"`
	SMs  []SMSeen `json:"sms"`
	// Believed is the manager that the vantage's port believes in.
	Believed fabric.GUID `json:"believed"`
	// Trouble says what could not be asked; the list may then lack some.
	Trouble string `json:"trouble,omitempty"`
}

// Masters returns those in state MASTER.
func (s SMSurvey) Masters() []SMSeen { return s.in(fabric.SMMaster) }

// Standbys returns those in state STANDBY.
func (s SMSurvey) Standbys() []SMSeen { return s.in(fabric.SMStandby) }

func (s SMSurvey) in(state fabric.SMState) []SMSeen {
	var found []SMSeen
	for _, m := range s.SMs {
		if m.State == state {
			found = append(found, m)
		}
	}
	return found
}

const (
	// madWithin bounds one query by management datagrams: the tools' own
	// time-out is one second times three tries per hop.
	madWithin = 30 * time.Second
	// growthPause lies between the two readings of an activity count. OpenSM
	// counts up with every sweep and every poll of a standby; domain practice
	// is 10 s at default settings, so one that did not grow is read again for
	// up to growthLimit.
	growthPause = 2 * time.Second
	growthLimit = 12 * time.Second
)

// SurveySMs finds every subnet manager: the port's own master, all ports that
// the subnet administrator lists with the IsSM capability, and the ports of the
// hosts that run one by plan (a port that went down and came back can have lost
// the capability while its manager lives). Each is asked directly. Only looks.
func (h *Hosts) SurveySMs(ctx context.Context, from Vantage) (SMSurvey, error) {
	defer beat(ctx)()
	s := SMSurvey{From: from}
	own, err := h.askSM(ctx, from, 0)
	if err != nil {
		return s, err
	}
	// True means that somebody says there is a manager.
	lids := map[fabric.LID]bool{}
	if own != nil {
		s.Believed = own.GUID
		lids[own.LID] = true
	}
	found, trouble, err := h.smPorts(ctx, from)
	if err != nil {
		return s, err
	}
	s.Trouble = trouble
	for _, lid := range found {
		lids[lid] = true
	}
	for _, lid := range h.plannedPorts(ctx) {
		if _, known := lids[lid]; !known {
			lids[lid] = false
		}
	}
	order := make([]fabric.LID, 0, len(lids))
	for lid := range lids {
		order = append(order, lid)
	}
	slices.Sort(order)
	for _, lid := range order {
		sm, err := h.askSM(ctx, from, lid)
		if err != nil {
			return s, err
		}
		if sm == nil && !lids[lid] {
			continue
		}
		if sm == nil {
			s.Trouble = strings.TrimPrefix(s.Trouble+fmt.Sprintf("; the SM port with LID %d does not answer", lid), "; ")
			continue
		}
		seen := SMSeen{GUID: sm.GUID, LID: sm.LID, Priority: sm.Priority, State: sm.State, Activity: sm.ActivityCount}
		seen.Node = h.nodeDescription(ctx, from, lid)
		seen.Host = h.hostNamed(seen.Node)
		if info, ok := h.Site.Info(seen.Host); ok {
			seen.Planned = info.Role == RoleSM
		}
		s.SMs = append(s.SMs, seen)
	}
	h.watchGrowth(ctx, &s)
	return s, nil
}

// plannedPorts are the LIDs of the ports of planned managers. A host without an
// answer has none.
func (h *Hosts) plannedPorts(ctx context.Context) []fabric.LID {
	var lids []fabric.LID
	for _, v := range onEach(ctx, h.plannedSMs(), vantageWidth, func(ctx context.Context, host string) *Vantage {
		v, _ := h.portOf(ctx, host)
		return v
	}) {
		if v != nil && v.LID != 0 {
			lids = append(lids, v.LID)
		}
	}
	return lids
}

// watchGrowth reads the activity counts again until those of all masters have
// grown or the limit is over. What a standby counts says little, so nobody waits
// for it, but it is read along.
func (h *Hosts) watchGrowth(ctx context.Context, s *SMSurvey) {
	for until := h.clock().Now().Add(growthLimit); ; {
		select {
		case <-ctx.Done():
			return
		case <-h.clock().After(growthPause):
		}
		waiting := false
		for i := range s.SMs {
			m := &s.SMs[i]
			if m.Growing {
				continue
			}
			if again, err := h.askSM(ctx, s.From, m.LID); err == nil && again != nil && again.ActivityCount != m.Activity {
				m.Activity, m.Growing = again.ActivityCount, true
			}
			waiting = waiting || m.State == fabric.SMMaster && !m.Growing
		}
		if !waiting || !h.clock().Now().Before(until) {
			return
		}
	}
}

// askSM asks the SM behind a LID, or the port's own one for LID 0. No SM there
// is nil without an error.
func (h *Hosts) askSM(ctx context.Context, from Vantage, lid fabric.LID) (*fabric.SM, error) {
	argv := from.tool("sminfo")
	if lid != 0 {
		argv = append(argv, fmt.Sprint(uint16(lid)))
	}
	res, err := h.look(ctx, from.Host, madWithin, argv...)
	if err != nil {
		return nil, err
	}
	rep, err := parse.SMInfo(bytes.NewReader(res.Stdout))
	if err != nil || len(rep.SMs) == 0 {
		activity.GetLogger(ctx).Debug("no subnet manager answers", "host", from.Host, "argv", argv, "said", lastLines(res.Stderr, 2))
		return nil, nil
	}
	sm := rep.SMs[0].SM()
	return &sm, nil
}

// smPorts asks the subnet administrator for all ports with an SM. Without one
// there is no list, which is trouble but no error.
func (h *Hosts) smPorts(ctx context.Context, from Vantage) ([]fabric.LID, string, error) {
	res, err := h.look(ctx, from.Host, madWithin, from.tool("saquery", "-s")...)
	if err != nil {
		return nil, "", err
	}
	rep, err := parse.SAQuery(bytes.NewReader(append(res.Stdout, res.Stderr...)))
	if err != nil || len(rep.SMPorts) == 0 {
		return nil, "the subnet administrator does not answer, so managers that are not master may be missing", nil
	}
	return rep.SMPorts, "", nil
}

func (h *Hosts) nodeDescription(ctx context.Context, from Vantage, lid fabric.LID) string {
	res, err := h.look(ctx, from.Host, madWithin, from.tool("smpquery", "nodedesc", fmt.Sprint(uint16(lid)))...)
	if err != nil {
		return ""
	}
	_, desc, ok := strings.Cut(string(res.Stdout), "Node Description:")
	if !ok {
		return ""
	}
	return strings.TrimSpace(strings.TrimLeft(strings.TrimSpace(desc), "."))
}

// hostNamed finds the inventory's host for a node description such as
// "node001 HCA-1", by its first word without a domain.
func (h *Hosts) hostNamed(description string) string {
	first, _, _ := strings.Cut(strings.TrimSpace(description), " ")
	for _, name := range []string{first, strings.SplitN(first, ".", 2)[0]} {
		if name != "" && h.Site.Host(name) {
			return name
		}
	}
	return ""
}
