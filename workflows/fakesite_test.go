package workflows

import (
	"context"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fabricbot/fabricbot/activities"
	"github.com/fabricbot/fabricbot/fabric"
	"github.com/fabricbot/fabricbot/hostexec"
)

// fakeSite is a small site in memory: two hosts that may run a subnet manager
// and one that does not, on one switch. It answers the tools' command lines in
// the tools' own format and changes state as the services would.
type fakeSite struct {
	mu sync.Mutex
	// sms by host; a host not in it runs none.
	sms map[string]*fakeSM
	// lids by host.
	lids map[string]int
	jobs map[string]hostexec.JobStatus
	// started counts orders to the services by host.
	started map[string][]string
	audit   []activities.AuditEntry
	blobs   map[string][]byte
	// stored are the commits of the archive, oldest first.
	stored  []activities.Snapshot
	held    map[string]activities.Holder
	views   []activities.View
	notices []string
	policy  activities.Policy
	// conf overrides the opensm.conf of a host.
	conf map[string]string
	// brokenStart hosts exit right after a start.
	brokenStart map[string]bool
	// shortLife hosts exit after so many answers of a manager that was started.
	shortLife map[string]int
	// dead hosts do not answer.
	dead map[string]bool
	// cut hosts have no cable.
	cut map[string]bool
	// afterPlan runs once after the first plan, to change the world.
	onSMInfo func()
	// onOrder runs when a service has been told something, before that ends.
	onOrder func(host, verb string)
	// lies are exit statuses by verb, whatever the service did.
	lies map[string]int
	// unlinked people have no other ids.
	unlinked bool
}

type fakeSM struct {
	guid     fabric.GUID
	priority int
	running  bool
	activity int
	// left answers until it dies, when started with a short life.
	left int
}

func newFakeSite() *fakeSite {
	return &fakeSite{
		sms: map[string]*fakeSM{
			"node001": {guid: 0x100001, priority: 14, running: true},
			"node002": {guid: 0x100011, priority: 13, running: true},
		},
		lids: map[string]int{"node001": 1, "node002": 2, "node003": 3},
		jobs: map[string]hostexec.JobStatus{}, started: map[string][]string{}, blobs: map[string][]byte{}, held: map[string]activities.Holder{},
		policy: activities.Policy{Users: []string{"T1:UBOSS"}, Groups: []string{"S1"}}, conf: map[string]string{}, brokenStart: map[string]bool{}, shortLife: map[string]int{},
	}
}

func (f *fakeSite) hosts() *activities.Hosts {
	return &activities.Hosts{Look: f, Change: f, Site: f, Archive: f, Engine: f, Log: f, Rules: f, Artist: f, Clock: &hurry{now: time.Now()}}
}

// master is the election: higher priority, then lower GUID.
func (f *fakeSite) master() string {
	best := ""
	for _, h := range []string{"node001", "node002"} {
		sm := f.sms[h]
		if sm == nil || !sm.running {
			continue
		}
		if best == "" || sm.priority > f.sms[best].priority {
			best = h
		}
	}
	return best
}

func (f *fakeSite) hostOf(lid string) string {
	for h, l := range f.lids {
		if fmt.Sprint(l) == lid {
			return h
		}
	}
	return ""
}

func (f *fakeSite) Look(_ context.Context, host string, cmd hostexec.Command) (hostexec.Result, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.dead[host] {
		return hostexec.Result{}, &hostexec.Error{Host: host, Act: cmd.Argv[0], Step: "connect", Outcome: hostexec.Unreachable, Detail: "connection refused"}
	}
	if class, err := hostexec.Classify(cmd.Argv); err != nil || class != hostexec.Look {
		return hostexec.Result{}, &hostexec.Error{Host: host, Act: hostexec.Display(cmd.Argv), Outcome: hostexec.Refused, Detail: fmt.Sprintf("class %v: %v", class, err)}
	}
	out, exit := f.answer(host, cmd.Argv)
	return hostexec.Result{Host: host, Argv: cmd.Argv, Stdout: []byte(out), Exit: exit, Outcome: hostexec.OK}, nil
}

func (f *fakeSite) answer(host string, argv []string) (string, int) {
	last := argv[len(argv)-1]
	master := f.master()
	smlid := 0
	if master != "" {
		smlid = f.lids[master]
	}
	switch argv[0] {
	case "ibstat":
		return fmt.Sprintf("CA 'mlx5_0'\n\tCA type: MT4129\n\tNumber of ports: 1\n\tFirmware version: 28.43.2026\n\tHardware version: 0\n\tNode GUID: 0x%016x\n\tSystem image GUID: 0x%016x\n\tPort 1:\n\t\tState: Active\n\t\tPhysical state: LinkUp\n\t\tRate: 400\n\t\tBase lid: %d\n\t\tLMC: 0\n\t\tSM lid: %d\n\t\tCapability mask: 0x2651e848\n\t\tPort GUID: 0x%016x\n\t\tLink layer: InfiniBand\n",
			f.lids[host], f.lids[host], f.lids[host], smlid, f.lids[host]), 0
	case "sminfo":
		if f.onSMInfo != nil {
			f.onSMInfo()
		}
		asked := master
		if argv[len(argv)-2] != "-P" {
			asked = f.hostOf(last)
		}
		sm := f.sms[asked]
		if sm == nil || !sm.running {
			return "sminfo: iberror: failed: query\n", 255
		}
		if sm.left > 0 {
			sm.left--
			sm.running = sm.left > 0
		}
		state := "2 SMINFO_STANDBY"
		if asked == f.master() {
			state = "3 SMINFO_MASTER"
			sm.activity++
		}
		return fmt.Sprintf("sminfo: sm lid %d sm guid 0x%x, activity count %d priority %d state %s\n", f.lids[asked], uint64(sm.guid), sm.activity, sm.priority, state), 0
	case "saquery":
		if master == "" {
			return "", 255
		}
		out := "IsSM ports\n"
		for _, h := range []string{"node001", "node002"} {
			if sm := f.sms[h]; sm != nil && sm.running {
				out += fmt.Sprintf("PortInfoRecord dump:\n\t\tRID\n\t\tEndPortLid..............%d\n\t\tPortNum.................1\n\t\tLID.....................%d\n\t\tsmLid...................%d\n", f.lids[h], f.lids[h], smlid)
			}
		}
		return out + "\nIsSMdisabled ports\n", 0
	case "smpquery":
		return "Node Description:................" + f.hostOf(last) + " mlx5_0\n", 0
	case "test":
		return "", 1
	case "/etc/init.d/opensmd":
		switch sm := f.sms[host]; {
		case sm != nil && sm.running:
			return "opensm (pid 42) is running\n", 0
		case sm != nil && f.shortLife[host] > 0:
			return "opensm dead but pid file exists\n", 1
		}
		return "opensm is stopped\n", 3
	case "dpkg-query":
		return "opensm\t3.3.23-2\n", 0
	case "ibnetdiscover":
		return f.discovery(), 0
	case "iblinkinfo":
		out := ""
		for i, h := range []string{"node001", "node002", "node003"} {
			out += fmt.Sprintf("0x00000000000000%02x \"%33s\" %6d %4d[  ] ==( 4X          106.25 Gbps Active/  LinkUp)==>  0x0000000000200000     10 %4d[  ] \"leaf01\" ( )\n", f.lids[h], h+" mlx5_0", f.lids[h], 1, i+1)
		}
		return out, 0
	}
	return "command not found", 127
}

func (f *fakeSite) discovery() string {
	out := "vendid=0x2c9\ndevid=0xd2f2\nsysimgguid=0x200000\nswitchguid=0x200000(200000)\nSwitch\t64 \"S-0000000000200000\"\t\t# \"leaf01\" enhanced port 0 lid 10 lmc 0\n"
	for i, h := range []string{"node001", "node002", "node003"} {
		if f.cut[h] {
			continue
		}
		out += fmt.Sprintf("[%d]\t\"H-00000000000000%02x\"[1](%02x) \t\t# \"%s mlx5_0\" lid %d 4xNDR\n", i+1, i+1, i+1, h, f.lids[h])
	}
	for i, h := range []string{"node001", "node002", "node003"} {
		if f.cut[h] {
			continue
		}
		out += fmt.Sprintf("\nvendid=0x2c9\ndevid=0x1021\nsysimgguid=0x%02x\ncaguid=0x%02x\nCa\t1 \"H-00000000000000%02x\"\t\t# \"%s mlx5_0\"\n[1](%02x) \t\"S-0000000000200000\"[%d]\t\t# lid %d lmc 0 \"leaf01\" lid 10 4xNDR\n", i+1, i+1, i+1, h, i+1, i+1, f.lids[h])
	}
	return out
}

func (f *fakeSite) Get(_ context.Context, host, path string, _ int64) ([]byte, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch path {
	case "/etc/opensm/opensm.conf":
		if c, ok := f.conf[host]; ok {
			return []byte(c), nil
		}
		return fmt.Appendf(nil, "guid 0x%x\nsm_priority %d\nsminfo_polling_timeout 1000\npolling_retry_number 2\n", uint64(f.sms[host].guid), f.sms[host].priority), nil
	case "/etc/opensm/partitions.conf":
		return []byte("Default=0x7fff, ipoib : ALL=full, SELF=full, ALL_SWITCHES=full ;\n"), nil
	}
	return nil, fs.ErrNotExist
}

func (f *fakeSite) Fence(_ context.Context, host, run string) (hostexec.Lease, error) {
	return hostexec.Lease{Run: run, Token: 1}, nil
}

func (f *fakeSite) Put(context.Context, string, hostexec.Lease, string, fs.FileMode, []byte) error {
	return fs.ErrPermission
}

func (f *fakeSite) StartJob(_ context.Context, host string, lease hostexec.Lease, job hostexec.Job) (hostexec.JobStatus, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, err := hostexec.Classify(job.Command.Argv); err != nil {
		return hostexec.JobStatus{}, err
	}
	if st, ok := f.jobs[job.ID]; ok {
		return st, nil
	}
	verb := job.Command.Argv[len(job.Command.Argv)-1]
	f.started[host] = append(f.started[host], verb)
	sm := f.sms[host]
	switch verb {
	case "stop":
		sm.running = false
	case "start", "restart":
		sm.running = !f.brokenStart[host]
		sm.activity, sm.left = 0, f.shortLife[host]
	}
	st := hostexec.JobStatus{State: hostexec.Done, Exit: f.lies[verb]}
	f.jobs[job.ID] = st
	if f.onOrder != nil {
		f.mu.Unlock()
		f.onOrder(host, verb)
		f.mu.Lock()
	}
	return st, nil
}

func (f *fakeSite) PollJob(_ context.Context, host, id string, _ int64) (hostexec.JobStatus, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.jobs[id], nil
}

func (f *fakeSite) Names() []string { return []string{"node001", "node002", "node003"} }

func (f *fakeSite) Host(name string) bool { return slices.Contains(f.Names(), name) }

func (f *fakeSite) Group(string) ([]string, bool) { return nil, false }

func (f *fakeSite) Groups() []string { return nil }

func (f *fakeSite) Info(host string) (activities.HostInfo, bool) {
	if !f.Host(host) {
		return activities.HostInfo{}, false
	}
	info := activities.HostInfo{Name: host, Leaf: host, Role: "compute"}
	if host != "node003" {
		info.Role = activities.RoleSM
	}
	return info, true
}

func (f *fakeSite) Holder(_ context.Context, id string) (activities.Holder, error) {
	return f.held[id], nil
}

func (f *fakeSite) Append(_ context.Context, e activities.AuditEntry) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.audit = append(f.audit, e)
	return nil
}

func (f *fakeSite) Policy(string) activities.Policy { return f.policy }

func (f *fakeSite) ApprovalWindow() time.Duration { return 4 * time.Hour }

func (f *fakeSite) Aliases(id string) []string {
	if f.unlinked {
		return []string{id}
	}
	return []string{id, "local:1000@admin1"}
}

func (f *fakeSite) Frozen(time.Time) string { return "" }

func (f *fakeSite) MaxHosts() int { return 100 }

func (f *fakeSite) Cluster() string { return "test" }

// events lists the audit log in short: "approved T1:UBOSS".
func (f *fakeSite) events() string {
	var all []string
	for _, e := range f.audit {
		s := e.Event
		if e.Event == "ended" {
			s += " " + e.Result
		}
		all = append(all, s)
	}
	return strings.Join(all, ", ")
}

// The voice of the fake site remembers what was said.
func (f *fakeSite) Show(_ context.Context, v activities.View) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.views = append(f.views, v)
	return nil
}

func (f *fakeSite) Reply(_ context.Context, _ activities.View, n activities.Notice) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.notices = append(f.notices, n.Key)
	return nil
}

func (f *fakeSite) Attach(context.Context, activities.View, activities.File) error { return nil }

// hurry is a clock in which every wait is over at once.
type hurry struct {
	mu  sync.Mutex
	now time.Time
}

func (h *hurry) Now() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.now
}

func (h *hurry) After(d time.Duration) <-chan time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.now = h.now.Add(d)
	c := make(chan time.Time, 1)
	c <- h.now
	return c
}
