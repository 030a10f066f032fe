package workflows

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"github.com/fabricbot/fabricbot/activities"
)

var asker = activities.Person{ID: "T1:UASK", Name: "asker"}
var boss = activities.Person{ID: "T1:UBOSS", Name: "boss"}

// story runs one operation on the fake site; steps are played at their times
// after the start.
type story struct {
	t    *testing.T
	site *fakeSite
	env  *testsuite.TestWorkflowEnvironment
}

func newStory(t *testing.T) *story { return newStoryAt(t, newFakeSite()) }

// newStoryAt goes on at a site where something has happened.
func newStoryAt(t *testing.T, site *fakeSite) *story {
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(quiet{})
	s := &story{t: t, site: site, env: suite.NewTestWorkflowEnvironment()}
	s.env.SetTestTimeout(time.Minute)
	Register(s.env)
	s.env.RegisterActivity(s.site.hosts())
	s.env.RegisterActivity(&activities.Chat{Voice: s.site})
	return s
}

type quiet struct{}

func (quiet) Debug(string, ...any) {}
func (quiet) Info(string, ...any)  {}
func (quiet) Warn(string, ...any)  {}
func (quiet) Error(string, ...any) {}

func (s *story) run(operation, input string) activities.Outcome {
	s.t.Helper()
	return s.runAs("4f2c09a1d3", operation, input)
}

func (s *story) runAs(run, operation, input string) activities.Outcome {
	s.t.Helper()
	s.env.ExecuteWorkflow(operation, activities.Request{
		Run: run, Op: operation, Input: activities.Data(input), Words: operation, By: asker,
		Place: activities.Place{Team: "T1", Channel: "C1"}, At: time.Now(), Same: "same",
	})
	if !s.env.IsWorkflowCompleted() {
		s.t.Fatal("the run did not end")
	}
	if err := s.env.GetWorkflowError(); err != nil {
		s.t.Fatal(err)
	}
	var out activities.Outcome
	if err := s.env.GetWorkflowResult(&out); err != nil {
		s.t.Fatal(err)
	}
	return out
}

// vote plays a decision and returns where its refusal will be.
func (s *story) vote(at time.Duration, d activities.Decision) *error {
	answer := new(error)
	*answer = errors.New("no answer")
	s.env.RegisterDelayedCallback(func() {
		if d.Hash == "" {
			if g := s.view().Gate; g != nil {
				d.Hash = g.Hash
			}
		}
		s.env.UpdateWorkflow(UpdateDecide, "", &testsuite.TestUpdateCallback{
			OnReject:   func(err error) { *answer = err },
			OnAccept:   func() {},
			OnComplete: func(_ any, err error) { *answer = err },
		}, d)
	}, at)
	return answer
}

func (s *story) view() activities.View {
	var v activities.View
	answer, err := s.env.QueryWorkflow(QueryView)
	if err != nil {
		s.t.Fatal(err)
	}
	if err := answer.Get(&v); err != nil {
		s.t.Fatal(err)
	}
	return v
}

func wantRefused(t *testing.T, who string, answer *error, text string) {
	t.Helper()
	if *answer == nil || !strings.Contains((*answer).Error(), text) {
		t.Errorf("%s: answer %v, want a refusal with %q", who, *answer, text)
	}
}

func TestSMRestart(t *testing.T) {
	s := newStory(t)
	own := s.vote(30*time.Second, activities.Decision{By: asker, Yes: true})
	outsider := s.vote(31*time.Second, activities.Decision{By: activities.Person{ID: "T1:UX"}, Yes: true})
	stale := s.vote(32*time.Second, activities.Decision{By: boss, Yes: true, Hash: "old"})
	yes := s.vote(33*time.Second, activities.Decision{By: boss, Yes: true})
	late := s.vote(33*time.Second+time.Millisecond, activities.Decision{By: boss, Yes: true})
	out := s.run("sm restart", "{}")
	wantRefused(t, "requester", own, "somebody else has to approve")
	wantRefused(t, "outsider", outsider, "not among the approvers")
	wantRefused(t, "stale click", stale, "plan has changed")
	if *yes != nil {
		t.Errorf("approver refused: %v", *yes)
	}
	if *late == nil {
		t.Error("a second click was taken as a second decision")
	}
	if out.State != activities.Done {
		t.Fatalf("ended %s: %s", out.State, out.Error)
	}
	var res SMRestartResult
	if err := out.Result.Unpack(&res); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(res.Restarted, []string{"node002", "node001"}) {
		t.Errorf("restarted %v, want the standby first", res.Restarted)
	}
	if got := s.site.started; !slices.Equal(got["node001"], []string{"stop", "start"}) || !slices.Equal(got["node002"], []string{"restart"}) {
		t.Errorf("orders to the services: %v", got)
	}
	if len(res.Handovers) != 2 || res.Handovers[0].To != "node002" || res.Handovers[1].To != "node001" {
		t.Errorf("hand-overs %+v, want to node002 and back", res.Handovers)
	}
	if !res.LIDs.Identical() || res.LIDs.Same != 4 || res.After.Active != 3 {
		t.Errorf("LIDs %+v, after %+v", res.LIDs, res.After)
	}
	if got, want := s.site.events(), "requested, planned, approved, ended done"; got != want {
		t.Errorf("audit log %q, want %q", got, want)
	}
	last := s.site.views[len(s.site.views)-1]
	if last.State != activities.Done || last.Gate != nil || len(last.Result) == 0 {
		t.Errorf("the last view shown is %s with gate %v", last.State, last.Gate)
	}
	for i := 1; i < len(s.site.views); i++ {
		if s.site.views[i].Seq < s.site.views[i-1].Seq {
			t.Errorf("view %d went back in time", i)
		}
	}
	if !slices.Equal(s.site.notices, []string{"ask-g1", "decided-g1"}) {
		t.Errorf("notices %v", s.site.notices)
	}
}

// Two approvers and one who denies at the same moment: the first word counts,
// the others are told, and the log has exactly what counted.
func TestDecisionsAtOneMoment(t *testing.T) {
	s := newStory(t)
	s.site.policy.Users = append(s.site.policy.Users, "T1:UCHIEF")
	chief := activities.Person{ID: "T1:UCHIEF", Name: "chief"}
	answers := make([]error, 3)
	s.env.RegisterDelayedCallback(func() {
		hash := s.view().Gate.Hash
		for i, d := range []activities.Decision{{By: boss, Yes: true, Hash: hash}, {By: chief, Yes: true, Hash: hash}, {By: chief, Hash: hash}} {
			s.env.UpdateWorkflow(UpdateDecide, "", &testsuite.TestUpdateCallback{
				OnReject: func(err error) { answers[i] = err }, OnAccept: func() {}, OnComplete: func(any, error) {},
			}, d)
		}
	}, 30*time.Second)
	out := s.run("sm restart", `{"hosts":"node002"}`)
	if out.State != activities.Done || answers[0] != nil {
		t.Errorf("ended %s: %s; the first approver was told %v", out.State, out.Error, answers[0])
	}
	wantRefused(t, "second approver", &answers[1], "decided already (approved by boss")
	wantRefused(t, "late denial", &answers[2], "decided already (approved by boss")
	if got, want := s.site.events(), "requested, planned, approved, ended done"; got != want {
		t.Errorf("audit log %q, want %q", got, want)
	}
}

func TestSMRestartEnds(t *testing.T) {
	approve := func(s *story) { s.vote(30*time.Second, activities.Decision{By: boss, Yes: true}) }
	tests := []struct {
		name  string
		input string
		setup func(s *story)
		state activities.State
		text  string
		// orders is what the services were told, all hosts together.
		orders int
	}{
		{"denied", "{}", func(s *story) {
			s.vote(30*time.Second, activities.Decision{By: boss, Reason: "not today"})
		}, activities.Denied, "not today", 0},
		{"withdrawn_by_requester", "{}", func(s *story) { s.vote(30*time.Second, activities.Decision{By: asker}) }, activities.Denied, "asker", 0},
		{"expired", "{}", func(*story) {}, activities.Expired, "nobody approved", 0},
		{"by_group_member", `{"hosts":"node002"}`, func(s *story) {
			s.vote(30*time.Second, activities.Decision{By: activities.Person{ID: "T1:UMEMBER"}, Via: "S1", Yes: true})
		}, activities.Done, "", 1},
		{"frozen", "{}", func(s *story) {
			s.site.held["freeze"] = activities.Holder{Op: "freeze", By: boss, Why: "deadline"}
		}, activities.Failed, "frozen: boss froze it (deadline)", 0},
		{"frozen_while_waiting", "{}", func(s *story) {
			approve(s)
			s.env.RegisterDelayedCallback(func() {
				s.site.held["freeze"] = activities.Holder{Op: "freeze", By: boss, Why: "deadline"}
			}, 29*time.Second)
		}, activities.Failed, "frozen: boss froze it (deadline)", 0},
		{"nobody_may_approve", "{}", func(s *story) { s.site.policy = activities.Policy{} }, activities.Failed, "names nobody who may approve", 0},
		{"own_terminal", "{}", func(s *story) {
			s.site.policy.Users = append(s.site.policy.Users, "local:1000@admin1")
			s.vote(30*time.Second, activities.Decision{By: activities.Person{ID: "local:1000@admin1"}, Yes: true})
		}, activities.Expired, "nobody approved", 0},
		{"no_sm", "{}", func(s *story) { s.site.sms["node001"].running, s.site.sms["node002"].running = false, false }, activities.Failed, "no subnet manager answers", 0},
		{"no_standby", "{}", func(s *story) { s.site.sms["node002"].running = false }, activities.Failed, "no healthy standby", 0},
		{"no_standby_alone", `{"alone":true}`, func(s *story) { s.site.sms["node002"].running = false; approve(s) }, activities.Done, "", 1},
		{"restart_alone_lies", `{"alone":true}`, func(s *story) {
			s.site.sms["node002"].running, s.site.lies = false, map[string]int{"restart": 1}
			approve(s)
		}, activities.Failed, "/etc/init.d/opensmd restart on node001 ended with status 1", 2},
		{"different_keys", "{}", func(s *story) {
			s.site.conf["node002"] = "sm_priority 13\nsm_key 0x0000000000000007\n"
		}, activities.Failed, "sm_key", 0},
		{"standby_dies", "{}", func(s *story) { s.site.brokenStart["node002"] = true; approve(s) }, activities.Failed, "the master was not touched", 1},
		{"standby_dies_after_it_looked_well", "{}", func(s *story) { s.site.shortLife["node002"] = 4; approve(s) }, activities.Failed, "ended again", 1},
		{"unknown_host", `{"hosts":"node017"}`, func(*story) {}, activities.Failed, "node017", 0},
		{"not_an_sm", `{"hosts":"node003"}`, func(*story) {}, activities.Failed, "runs no planned subnet manager", 0},
		{"input_of_another_version", `{"surprise":1}`, func(*story) {}, activities.Failed, "does not fit", 0},
		{"world_changed", "{}", func(s *story) {
			approve(s)
			s.env.RegisterDelayedCallback(func() { s.site.conf["node001"] = "sm_priority 14\n# changed\n" }, 29*time.Second)
		}, activities.Failed, "changed between the approval and the start", 0},
		{"stop_lies", "{}", func(s *story) {
			s.site.lies = map[string]int{"stop": 1}
			approve(s)
		}, activities.Failed, "/etc/init.d/opensmd stop on node001 ended with status 1", 3},
		{"cancelled_while_waiting", "{}", func(s *story) {
			s.env.RegisterDelayedCallback(func() {
				s.env.UpdateWorkflowNoRejection(UpdateCancel, "", s.t, Steer{By: boss, Reason: "wrong cluster"})
			}, time.Minute)
		}, activities.Cancelled, "boss: wrong cluster", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newStory(t)
			tt.setup(s)
			out := s.run("sm restart", tt.input)
			if out.State != tt.state || !strings.Contains(out.Error, tt.text) {
				t.Errorf("ended %q: %q, want %q with %q", out.State, out.Error, tt.state, tt.text)
			}
			orders := 0
			for _, o := range s.site.started {
				orders += len(o)
			}
			if orders != tt.orders {
				t.Errorf("services were ordered %d times (%v), want %d", orders, s.site.started, tt.orders)
			}
			if !strings.HasSuffix(s.site.events(), "ended "+string(tt.state)) {
				t.Errorf("audit log %q does not end with the outcome", s.site.events())
			}
		})
	}
}

// A cancel that comes while the master stops must not leave it stopped: what
// was ordered is seen to its end, and the manager is started again.
func TestSMRestartCancelledWhileStopping(t *testing.T) {
	s := newStory(t)
	s.vote(30*time.Second, activities.Decision{By: boss, Yes: true})
	s.site.onOrder = func(_, verb string) {
		if verb != "stop" {
			return
		}
		heard := make(chan struct{})
		s.env.UpdateWorkflow(UpdateCancel, "", &testsuite.TestUpdateCallback{
			OnReject: func(err error) { t.Error(err) }, OnAccept: func() {}, OnComplete: func(any, error) { close(heard) },
		}, Steer{By: boss, Reason: "changed my mind"})
		<-heard
	}
	out := s.run("sm restart", "{}")
	if out.State != activities.Cancelled || out.Error != "cancelled by boss: changed my mind" {
		t.Errorf("ended %q: %q", out.State, out.Error)
	}
	if got := s.site.started["node001"]; !slices.Equal(got, []string{"stop", "start"}) || !s.site.sms["node001"].running {
		t.Errorf("node001 was told %v, running %v; a cancel must not leave the fabric with one manager fewer", got, s.site.sms["node001"].running)
	}
	for _, step := range s.view().Steps {
		if step.Text == "stop the master" && step.State != activities.StepOK {
			t.Errorf("the stop is shown as %s (%s), although it was done", step.State, step.Detail)
		}
	}
}

// A requester of whom only a local id is known could be the approver.
func TestSMRestartOfAnUnlinkedRequester(t *testing.T) {
	s := newStory(t)
	s.site.unlinked = true
	yes := s.vote(30*time.Second, activities.Decision{By: boss, Yes: true})
	s.vote(31*time.Second, activities.Decision{By: boss, Reason: "link first"})
	s.env.ExecuteWorkflow("sm restart", activities.Request{
		Run: "4f2c09a1d3", Op: "sm restart", Input: activities.Data("{}"), Words: "sm restart",
		By: activities.Person{ID: "local:1001@admin1"}, At: time.Now(), Same: "same",
	})
	wantRefused(t, "approver", yes, "link the local id under access.people")
	if len(s.site.started) != 0 {
		t.Errorf("services were ordered: %v", s.site.started)
	}
}

// Two runs on different hosts must not stop master and standby at once.
func TestSMRestartHoldsTheSubnet(t *testing.T) {
	s := newStory(t)
	s.vote(30*time.Second, activities.Decision{By: boss, Yes: true})
	var held []string
	s.env.SetOnChildWorkflowStartedListener(func(info *workflow.Info, _ workflow.Context, _ converter.EncodedValues) {
		held = append(held, info.WorkflowExecution.ID)
	})
	s.run("sm restart", `{"hosts":"node002"}`)
	subnet, host := slices.Index(held, "subnet/test"), slices.Index(held, "host/node002")
	if subnet < 0 || host < subnet {
		t.Errorf("held %q, want the subnet before the host", held)
	}
}

func TestSMStatus(t *testing.T) {
	tests := []struct {
		name  string
		setup func(*fakeSite)
		want  []string
	}{
		{"healthy", func(*fakeSite) {}, nil},
		{"no_standby", func(f *fakeSite) { f.sms["node002"].running = false }, []string{"no subnet manager answers on node002"}},
		{"equal_priorities", func(f *fakeSite) { f.sms["node002"].priority = 14 }, []string{"equal priority 14"}},
		{"stray", func(f *fakeSite) {
			f.sms["node002"].running = false
			f.lids["node003"], f.lids["node002"] = 2, 3
		}, []string{"no subnet manager answers on node002"}},
		{"none", func(f *fakeSite) { f.sms["node001"].running, f.sms["node002"].running = false, false }, []string{"no subnet manager answers as master"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newStory(t)
			tt.setup(s.site)
			out := s.run("sm status", "{}")
			if out.State != activities.Done {
				t.Fatalf("ended %s: %s", out.State, out.Error)
			}
			var res SMStatusResult
			if err := out.Result.Unpack(&res); err != nil {
				t.Fatal(err)
			}
			var all []string
			for _, f := range res.Findings {
				all = append(all, f.Text)
			}
			text := strings.Join(all, "\n")
			for _, w := range tt.want {
				if !strings.Contains(text, w) {
					t.Errorf("findings %q lack %q", text, w)
				}
			}
			if tt.want == nil && text != "" {
				t.Errorf("a healthy subnet has findings: %s", text)
			}
		})
	}
}
