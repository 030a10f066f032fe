package access

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/fabricbot/fabricbot/op"
)

const (
	anna  = Person("T0TEAM:U0ANNA")  // linked to local:1000@admin1, in S0FABRIC
	ben   = Person("T0TEAM:U0BEN")   // in S0FABRIC
	carla = Person("T0TEAM:U0CARLA") // named by id
	dora  = Person("T0TEAM:U0DORA")
	eve   = Person("T0TEAM:U0EVE")   // in the team only
	alien = Person("T0OTHER:U0ANNA") // the same user id in another team
	annaL = Person("local:1000@admin1")
	root  = Person("local:0@admin1") // linked to nobody, allowed to start by id
)

func policy() Policy {
	return Policy{
		Rules: []Rule{
			{Operations: []string{"*"}, Who: []string{"team", "local:0@admin1"}},
			{Operations: []string{"sm *"}, Classes: []op.Class{op.Changes, op.Dangerous}, Channels: []string{"C0FABRIC"}, Who: []string{"S0FABRIC", "U0CARLA"}},
			{Operations: []string{"firmware upgrade"}, Classes: []op.Class{op.Dangerous}, Who: []string{"S0BROKEN", "U0DORA", "local:0@admin1", "U0ANNA"}},
			{Operations: []string{"freeze", "unfreeze"}, Classes: []op.Class{op.Control}, Who: []string{"U0CARLA"}},
		},
		Approvers: []Approvers{
			{Operations: []string{"firmware *"}, Who: []string{"S0FABRIC"}, Count: 2},
			{Operations: []string{"sm *"}, Who: []string{"S0FABRIC", "U0CARLA"}},
			{Operations: []string{"driver *"}, Who: []string{"S0BROKEN", "U0CARLA"}},
		},
		People: []Identity{{Slack: "U0ANNA", Local: []string{"local:1000@admin1"}}},
	}
}

type groups map[string][]string

func (g groups) Members(_ context.Context, id string) ([]string, error) {
	members, found := g[id]
	if !found {
		return nil, errors.New("no_such_subteam")
	}
	return members, nil
}

func TestDecide(t *testing.T) {
	access, err := New(policy(), "T0TEAM", groups{"S0FABRIC": {"U0ANNA", "U0BEN"}})
	if err != nil {
		t.Fatal(err)
	}
	start := func(operation string, class op.Class, channel string) Action {
		return Action{Act: Start, Operation: operation, Class: class, Channel: channel}
	}
	approve := func(operation string, requester Person) Action {
		return Action{Act: Approve, Operation: operation, Class: op.Dangerous, Channel: "C0FABRIC", Requester: requester}
	}
	steer := func(operation string, class op.Class, requester Person) Action {
		return Action{Act: Steer, Operation: operation, Class: class, Channel: "C0OTHER", Requester: requester}
	}
	tests := []struct {
		name   string
		who    Person
		what   Action
		want   bool
		reason string
	}{
		{"look_from_anywhere", eve, start("sm status", op.ReadOnly, "C0OTHER"), true, "access rule 1 allows"},
		{"look_from_a_terminal", root, start("sm status", op.ReadOnly, ""), true, "access rule 1"},
		{"look_through_a_linked_id", annaL, start("sm status", op.ReadOnly, ""), true, "access rule 1"},
		{"stranger_on_a_machine", "local:1001@admin1", start("sm status", op.ReadOnly, ""), false, "no rule allows"},
		{"rule_without_class_gives_no_change", eve, start("sm restart", op.Dangerous, "C0FABRIC"), false, "no rule allows sm restart (dangerous) to T0TEAM:U0EVE in channel C0FABRIC"},
		{"by_group", ben, start("sm restart", op.Dangerous, "C0FABRIC"), true, "access rule 2"},
		{"by_id", carla, start("sm restart", op.Dangerous, "C0FABRIC"), true, "access rule 2"},
		{"wrong_channel", ben, start("sm restart", op.Dangerous, "C0OTHER"), false, "no rule allows"},
		{"channel_rule_and_terminal", annaL, start("sm restart", op.Dangerous, ""), false, "from a terminal"},
		{"control_is_spelled_out", eve, start("unfreeze", op.Control, "C0FABRIC"), false, "no rule allows unfreeze (control)"},
		{"control", carla, start("unfreeze", op.Control, "C0FABRIC"), true, "access rule 4"},
		{"other_noun", ben, start("driver install", op.Dangerous, "C0FABRIC"), false, "no rule allows"},
		{"other_verb", dora, start("firmware rollback", op.Dangerous, "C0FABRIC"), false, "no rule allows"},
		{"group_unreadable_but_named", dora, start("firmware upgrade", op.Dangerous, "C0FABRIC"), true, "access rule 3"},
		{"group_unreadable", ben, start("firmware upgrade", op.Dangerous, "C0FABRIC"), false, "no_such_subteam"},
		{"other_team", alien, start("sm status", op.ReadOnly, "C0FABRIC"), false, "another Slack team"},
		{"display_name", "anna", start("sm status", op.ReadOnly, "C0FABRIC"), false, "not known who asks"},
		{"nobody", "", start("sm status", op.ReadOnly, "C0FABRIC"), false, "not known who asks"},
		{"no_operation", anna, start("", op.ReadOnly, "C0FABRIC"), false, "no operation"},
		{"unknown_act", anna, Action{Act: 9, Operation: "sm status"}, false, "not known"},

		{"approve", ben, approve("sm restart", anna), true, "is an approver"},
		{"approve_own", anna, approve("sm restart", anna), false, "somebody else must approve"},
		{"approve_own_from_terminal", annaL, approve("sm restart", anna), false, "somebody else must approve"},
		{"approve_own_local_request", anna, approve("sm restart", annaL), false, "somebody else must approve"},
		{"approve_a_linked_request", ben, approve("sm restart", annaL), true, "is an approver"},
		{"approve_an_unlinked_request", ben, approve("sm restart", root), false, "link the local id"},
		{"start_denied_names_who_may", eve, start("sm restart", op.Dangerous, "C0OTHER"), false, "to T0TEAM:U0EVE in channel C0OTHER; allowed to T0TEAM:U0CARLA in channel C0FABRIC, user group S0FABRIC in channel C0FABRIC"},
		{"start_denied_to_all", eve, start("ipoib configure", op.Changes, "C0FABRIC"), false, "; nobody may"},
		{"start_denied_to_a_terminal", "local:7@admin1", start("freeze", op.Control, ""), false, "from a terminal; allowed to T0TEAM:U0CARLA; for this terminal's user, name local:7@admin1 (`fabricctl whoami`)"},
		{"approve_without_requester", ben, approve("sm restart", ""), false, "not known who asked"},
		{"approve_not_an_approver", eve, approve("sm restart", anna), false, "not among those who may approve"},
		{"approve_without_approvers", ben, approve("ipoib configure", anna), false, "access.approvers"},
		{"approve_group_unreadable", ben, approve("driver install", anna), false, "no_such_subteam"},
		{"approve_group_unreadable_but_named", carla, approve("driver install", anna), true, "is an approver"},
		{"approve_from_other_team", alien, approve("sm restart", ben), false, "another Slack team"},

		{"steer_own", eve, steer("firmware upgrade", op.Dangerous, eve), true, "asked for this run"},
		{"steer_own_after_losing_rights_elsewhere", annaL, steer("sm restart", op.Dangerous, anna), true, "asked for this run"},
		{"steer_as_approver", ben, steer("sm restart", op.Dangerous, carla), true, "is an approver"},
		{"steer_by_others", eve, steer("sm restart", op.Dangerous, carla), false, "no rule allows"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := access.Decide(t.Context(), tt.who, tt.what)
			if got.Allowed != tt.want || !strings.Contains(got.Reason, tt.reason) {
				t.Errorf("got %v: %s\nwant %v: …%s…", got.Allowed, got.Reason, tt.want, tt.reason)
			}
		})
	}
}

func TestDenyByDefault(t *testing.T) {
	access, err := New(Policy{}, "T0TEAM", nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, act := range []Act{Start, Approve, Steer} {
		if got := access.Decide(t.Context(), anna, Action{Act: act, Operation: "help", Class: op.Control, Requester: ben}); got.Allowed || got.Reason == "" {
			t.Errorf("act %d with an empty policy: %+v", act, got)
		}
	}
	if got := (Decision{}); got.Allowed {
		t.Error("the zero Decision allows")
	}
	noTeam, err := New(policy(), "", nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := noTeam.Decide(t.Context(), anna, Action{Operation: "sm status", Class: op.ReadOnly}); got.Allowed {
		t.Error("a Slack user is allowed although no team is configured")
	}
}

func TestApproval(t *testing.T) {
	access, err := New(policy(), "T0TEAM", nil)
	if err != nil {
		t.Fatal(err)
	}
	if need, ok := access.Approval("firmware upgrade", op.Dangerous); !ok || need.Count != 2 {
		t.Errorf("firmware upgrade: got %+v, %v, want 2 approvers", need, ok)
	}
	if need, ok := access.Approval("sm restart", op.Dangerous); !ok || need.Count != 1 || !slices.Equal(need.Users, []Person{carla}) || !slices.Equal(need.Groups, []string{"S0FABRIC"}) || need.Team {
		t.Errorf("sm restart: got %+v, %v, want 1 approver, carla or of one group", need, ok)
	}
	if need, ok := access.Approval("ipoib configure", op.Changes); ok {
		t.Errorf("ipoib configure: got %+v, want that nobody may approve it", need)
	}
	if need, ok := access.Approval("sm status", op.ReadOnly); !ok || need.Count != 0 {
		t.Errorf("sm status: got %+v, %v, want no approval", need, ok)
	}
}

func TestMatches(t *testing.T) {
	tests := []struct {
		pattern, operation string
		want               bool
	}{
		{"*", "sm restart", true}, {"*", "diagnose", true}, {"sm restart", "sm restart", true}, {"sm *", "sm restart", true},
		{"* status", "sm status", true}, {"* *", "sm status", true}, {"* *", "diagnose", false}, {"sm *", "sm", false},
		{"sm *", "smart list", false}, {"sm", "sm restart", false}, {"sm restart", "sm restart now", false}, {"diagnose", "diagnose", true},
	}
	for _, tt := range tests {
		if got := matches([]string{tt.pattern}, tt.operation); got != tt.want {
			t.Errorf("%q on %q: got %v, want %v", tt.pattern, tt.operation, got, tt.want)
		}
	}
}

func TestPolicyCheckRefuses(t *testing.T) {
	all, who := []string{"*"}, []string{"U0ANNA"}
	tests := map[string]struct {
		policy Policy
		want   string
	}{
		"no_operations":      {Policy{Rules: []Rule{{Who: who}}}, "access.rules[0].operations: none"},
		"bad_operation":      {Policy{Rules: []Rule{{Operations: []string{"sm re*"}, Who: who}}}, "is not a pattern"},
		"three_words":        {Policy{Rules: []Rule{{Operations: []string{"a b c"}, Who: who}}}, "is not a pattern"},
		"nobody":             {Policy{Rules: []Rule{{Operations: all}}}, "access.rules[0].who: nobody"},
		"display_name":       {Policy{Rules: []Rule{{Operations: all, Who: []string{"@anna"}}}}, "is no id"},
		"star":               {Policy{Rules: []Rule{{Operations: all, Who: []string{"*"}}}}, "is no id"},
		"team_and_user":      {Policy{Rules: []Rule{{Operations: all, Who: []string{"T0TEAM:U0ANNA"}}}}, "is no id"},
		"channel_name":       {Policy{Rules: []Rule{{Operations: all, Who: who, Channels: []string{"#fabric"}}}}, "is not a channel id"},
		"approver_nobody":    {Policy{Approvers: []Approvers{{Operations: all}}}, "access.approvers[0].who: nobody"},
		"approver_count":     {Policy{Approvers: []Approvers{{Operations: all, Who: who, Count: -1}}}, "negative"},
		"person_without_id":  {Policy{People: []Identity{{Slack: "anna"}}}, "is not a user id"},
		"person_not_local":   {Policy{People: []Identity{{Slack: "U0ANNA", Local: []string{"U0BEN"}}}}, "is not of the form"},
		"person_bad_machine": {Policy{People: []Identity{{Slack: "U0ANNA", Local: []string{"local:0@a b"}}}}, "is not of the form"},
		"two_humans_one_id":  {Policy{People: []Identity{{Slack: "U0ANNA", Local: []string{"local:0@a"}}, {Slack: "U0BEN", Local: []string{"local:0@a"}}}}, "somebody else"},
	}
	for name, tt := range tests {
		if _, err := New(tt.policy, "T0TEAM", nil); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got error %v, want …%s…", name, err, tt.want)
		}
	}
	if _, err := New(Policy{}, "my-team", nil); err == nil {
		t.Error("a team name was taken for an id")
	}
}

func TestParsePerson(t *testing.T) {
	for _, good := range []string{"T0TEAM:U0ANNA", "E0ORG:W0ANNA", "local:0@admin1", "local:1000@admin1.example"} {
		if person, err := ParsePerson(good); err != nil || person.String() != good {
			t.Errorf("%s: got %q, error %v", good, person, err)
		}
	}
	for _, bad := range []string{"", "anna", "U0ANNA", "T0TEAM", "T0TEAM:", "T0TEAM:anna", "T0TEAM:U0ANNA:x", "local:", "local:0@", "local:x@h", "local:0@h h", "local:-1@h", "T0TEAM:U0ANNA\n"} {
		if person, err := ParsePerson(bad); err == nil {
			t.Errorf("%q: got %q, want an error", bad, person)
		}
	}
	if person, err := LocalPerson(1000, "admin1"); err != nil || person != annaL || !person.Local() || person.Team() != "" {
		t.Errorf("got %q, error %v", person, err)
	}
}
