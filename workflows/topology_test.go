package workflows

import (
	"slices"
	"strings"
	"testing"

	"github.com/fabricbot/fabricbot/activities"
)

// result unpacks what a run that had to end in state found.
func result[Out any](t *testing.T, out activities.Outcome, state activities.State) Out {
	t.Helper()
	if out.State != state {
		t.Fatalf("ended %s: %s; want %s", out.State, out.Error, state)
	}
	var r Out
	if err := out.Result.Unpack(&r); err != nil {
		t.Fatal(err)
	}
	return r
}

func fileNames(v activities.View) []string {
	var names []string
	for _, f := range v.Files {
		names = append(names, f.Name)
	}
	return names
}

func TestTopologyBackup(t *testing.T) {
	first := newStory(t)
	res := result[TopologyBackupResult](t, first.runAs("aaaa000001", "topology backup", "{}"), activities.Done)
	if res.Commit != "c1" || res.Answered != 3 || !strings.Contains(res.Summary, "first backup") {
		t.Errorf("first backup: %+v", res)
	}
	files := first.site.stored[0].Files
	for _, name := range []string{"ibnetdiscover.txt", "iblinkinfo.txt", "hosts/node003/ibstat.txt", "SHA256SUMS"} {
		if len(files[name]) == 0 {
			t.Errorf("the archive has no %s", name)
		}
	}
	if len(first.site.started) > 0 {
		t.Errorf("a read-only run gave orders: %v", first.site.started)
	}

	first.site.dead = map[string]bool{"node003": true}
	second := newStoryAt(t, first.site)
	res = result[TopologyBackupResult](t, second.runAs("aaaa000002", "topology backup", "{}"), activities.Partly)
	if len(res.Silent) != 1 || res.Silent[0].Host != "node003" {
		t.Errorf("silent hosts %v, want node003 named", res.Silent)
	}
	if res.Delta.Since != "c1" || len(res.Delta.Lines) != 0 {
		t.Errorf("an unchanged fabric differs from its backup: %+v", res.Delta)
	}
}

func TestTopologyDiff(t *testing.T) {
	none := newStory(t)
	if out := none.run("topology diff", "{}"); out.State != activities.Failed || !strings.Contains(out.Error, "backup") {
		t.Errorf("diff without a backup ended %s: %q; want a failure that says what is missing", out.State, out.Error)
	}

	before := newStory(t)
	result[TopologyBackupResult](t, before.runAs("aaaa000001", "topology backup", "{}"), activities.Done)
	before.site.cut = map[string]bool{"node003": true}
	after := newStoryAt(t, before.site)
	res := result[TopologyDiffResult](t, after.runAs("aaaa000002", "topology diff", `{"from":"aaaa000001"}`), activities.Done)
	if !res.Live || !slices.ContainsFunc(res.Delta.Lines, func(l string) bool { return strings.Contains(l, "node003") && strings.Contains(l, "lost") }) {
		t.Errorf("the lost host is not named: %+v", res.Delta)
	}
}

func TestTopologyDraw(t *testing.T) {
	s := newStory(t)
	res := result[TopologyDrawResult](t, s.run("topology draw", "{}"), activities.Done)
	if got := fileNames(s.view()); !slices.Equal(got, []string{"topology.png", "topology.svg"}) {
		t.Errorf("files %v, want the picture twice", got)
	}
	if !strings.Contains(res.Summary, "4 nodes") {
		t.Errorf("summary %q does not say what the picture shows", res.Summary)
	}
}

func TestHostInspect(t *testing.T) {
	s := newStory(t)
	s.site.dead = map[string]bool{"node002": true}
	res := result[HostInspectResult](t, s.run("host inspect", `{"hosts":"node[001-003]"}`), activities.Partly)
	if res.Hosts != 3 || res.Good != 2 || res.Ports != 2 || res.Active != 2 {
		t.Errorf("counts %+v, want 2 of 3 hosts with one Active port each", res)
	}
	if len(res.Silent) != 1 || res.Silent[0].Host != "node002" {
		t.Errorf("silent hosts %v, want node002", res.Silent)
	}
	if len(fileNames(s.view())) == 0 {
		t.Error("no table was attached")
	}
	unknown := newStory(t)
	if out := unknown.run("host inspect", `{"hosts":"node999"}`); out.State != activities.Failed || !strings.Contains(out.Error, "node999") {
		t.Errorf("an unknown host ended %s: %q", out.State, out.Error)
	}
}
