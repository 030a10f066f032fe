package inventory

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fabricbot/fabricbot/fabric"
	"github.com/google/go-cmp/cmp"
)

func site(t *testing.T) *Inventory {
	t.Helper()
	inv, err := Load(filepath.Join("testdata", "site.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	return inv
}

func TestTargets(t *testing.T) {
	inv := site(t)
	if inv.Len() != 11 {
		t.Errorf("%d hosts, want 11: %v", inv.Len(), inv.Names())
	}
	for expr, want := range map[string]string{
		"@rack:r1":         "node[001-004],sm1",
		"@rack7":           "node[005-008]", // short for rack:rack7
		"@leaf:leaf02":     "node[005-008]",
		"@role:compute":    "node[001-008]",
		"@compute":         "node[001-008]",
		"@small":           "node[001-002],sm1",
		"@big":             "gate1,node[003-008],spare1",
		"@everything,!sm1": "gate1,node[001-008],spare1",
	} {
		set, err := fabric.HostExpr(expr).Resolve(inv)
		if err != nil || set.String() != want {
			t.Errorf("%s: got %s, error %v, want %s", expr, set, err, want)
		}
	}
	for expr, want := range map[string]string{
		"@rack:r9": "unknown group @rack:r9, did you mean @rack:r1?",
		"@all":     "unknown group @all",
		"node17":   "unknown host node17",
		"node7":    "did you mean node007?",
	} {
		if set, err := fabric.HostExpr(expr).Resolve(inv); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %s, error %v, want …%s…", expr, set, err, want)
		}
	}
}

func TestEndpoint(t *testing.T) {
	inv := site(t)
	gate := Endpoint{Name: "gate1", Address: "192.0.2.10", Port: 22, User: "fabric"}
	for name, want := range map[string]Endpoint{
		"gate1":   gate,
		"node003": {Name: "node003", Address: "10.1.0.3", Port: 22, User: "fabric", Jump: []Endpoint{gate}},
		"spare1":  {Name: "spare1", Address: "spare1", Port: 22, User: "fabric"},
		"sm1": {Name: "sm1", Address: "sm1", Port: 2222, User: "root", Jump: []Endpoint{
			{Address: "hop.example", Port: 2022, User: "admin"}, gate,
		}},
	} {
		got, err := inv.Endpoint(name)
		if err != nil {
			t.Error(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
	}
	if _, err := inv.Endpoint("node3"); err == nil || !strings.Contains(err.Error(), "did you mean node003?") {
		t.Errorf("got error %v", err)
	}
	host, found := inv.Get("node002")
	if !found || host.Scheduler != "cn2" || host.Site != "north" || len(host.Devices) != 1 || host.Devices[0].RateGbPerSec != 200 {
		t.Errorf("got %+v, %v", host, found)
	}
	if host, _ := inv.Get("spare1"); !host.Maintenance || host.Scheduler != "spare1" {
		t.Errorf("got %+v", host)
	}
}

func TestLoadRefuses(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"empty", "", "hosts: no host is given"},
		{"unknown_key", "hosts:\n  - name: a\n    adress: b\n", `f.yaml:3:5: unknown key "adress", did you mean address?`},
		{"no_name", "hosts:\n  - address: b\n", "f.yaml:2:"},
		{"bad_name", "hosts:\n  - name: a_b\n", "f.yaml:2:11: hosts[0].name: host name \"a_b\""},
		{"option_name", "hosts:\n  - name: -oProxyCommand=x\n", "hosts[0].name"},
		{"twice", "hosts:\n  - name: a\n  - name: b\n  - name: A\n", "f.yaml:4:11: hosts[2].name: A is there already, as a"},
		{"twice_in_ranges", "hosts:\n  - name: n[1-4]\n  - name: n[4-5]\n", "n4 is there already"},
		{"same_address", "hosts:\n  - {name: a, address: 10.0.0.1}\n  - {name: b, address: 10.0.0.1}\n", "b has the address of a"},
		{"count_differs", "hosts:\n  - {name: 'n[1-4]', address: '10.0.0.[1-3]'}\n", "stands for 3, but the name n[1-4] stands for 4"},
		{"bad_address", "hosts:\n  - {name: a, address: 'b c'}\n", "hosts[0].address"},
		{"option_address", "hosts:\n  - {name: a, address: '-oProxyCommand'}\n", "hosts[0].address"},
		{"bad_user", "hosts:\n  - {name: a, user: 'x y'}\n", "hosts[0].user"},
		{"bad_port", "hosts:\n  - {name: a, port: 70000}\n", "f.yaml:2:21:"},
		{"bad_rack", "hosts:\n  - {name: a, rack: 'r 1'}\n", "hosts[0].rack"},
		{"bad_pci", "hosts:\n  - {name: a, devices: [{pci: 3b}]}\n", "hosts[0].devices[0].pci"},
		{"bad_jump", "hosts:\n  - {name: a, jump: ['x y']}\n", "host a: jump"},
		{"jump_port", "hosts:\n  - {name: a, jump: ['x:0']}\n", "is not a port"},
		{"jump_through_itself", "hosts:\n  - {name: a, jump: [a]}\n", "in a circle: a through a"},
		{"jump_circle", "hosts:\n  - {name: a, jump: [b]}\n  - {name: b, jump: [c]}\n  - {name: c, jump: [a]}\n", "in a circle: a through b through c through a"},
		{"default_name", "defaults: {name: x}\nhosts: [{name: a}]\n", "defaults: only"},
		{"group_name", "hosts: [{name: a}]\ngroups: {'a b': [a]}\n", "is not a name"},
		{"group_like_implicit", "hosts: [{name: a}]\ngroups: {'rack:r1': [a]}\n", "is not a name"},
		{"group_empty", "hosts: [{name: a}]\ngroups:\n  g: []\n", "groups.g: hosts \"\", column 1: no host given"},
		{"group_unknown_host", "hosts: [{name: node001}]\ngroups:\n  g: [node01]\n", "f.yaml:3:6: groups.g: hosts \"node01\", column 1: unknown host node01, did you mean node001?"},
		{"group_unknown_group", "hosts: [{name: a, rack: r1}]\ngroups:\n  g: ['@rack:r2']\n", "did you mean @rack:r1?"},
		{"group_circle", "hosts: [{name: a}]\ngroups:\n  g: ['@h']\n  h: [a, '@i']\n  i: ['@g']\n", "groups in a circle: g holds h holds i holds g"},
		{"too_many", "hosts:\n  - name: n[1-60000]\n  - name: m[1-60000]\n", "more than 100000 hosts"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := parse("f.yaml", []byte(tt.text)); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got error %v, want …%s…", err, tt.want)
			}
		})
	}
	if _, err := Load(filepath.Join(t.TempDir(), "none.yaml")); err == nil {
		t.Error("a file that does not exist was loaded")
	}
}

func TestShortFormMustBeClear(t *testing.T) {
	inv, err := parse("f.yaml", []byte("hosts:\n  - {name: a, rack: x}\n  - {name: b, leaf: x}\n  - {name: c, rack: z}\ngroups: {z: [a]}\n"))
	if err != nil {
		t.Fatal(err)
	}
	if members, found := inv.Group("x"); found {
		t.Errorf("@x may mean a rack and a leaf, but gave %v", members)
	}
	if members, _ := inv.Group("z"); len(members) != 1 || members[0] != "a" {
		t.Errorf("@z gave %v, want the group of the file", members)
	}
}

func TestSameAddressBehindOtherHops(t *testing.T) {
	const text = "hosts:\n  - {name: a, address: 10.0.0.1, jump: [east]}\n  - {name: b, address: 10.0.0.1, jump: [west]}\n"
	if _, err := parse("f.yaml", []byte(text)); err != nil {
		t.Errorf("two private networks: %v", err)
	}
}

func TestReload(t *testing.T) {
	path := filepath.Join(t.TempDir(), "inventory.yaml")
	write := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("hosts: [{name: a}]\n")
	live, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	first := live.Current()
	if changed, err := live.Reload(); changed || err != nil {
		t.Errorf("nothing changed: got %v, error %v", changed, err)
	}
	write("hosts: [{name: a}, {name: a}]\n")
	if changed, err := live.Reload(); changed || err == nil || !strings.Contains(err.Error(), "stays in use") {
		t.Errorf("a bad file: got %v, error %v", changed, err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if _, err := live.Reload(); err == nil {
		t.Error("a missing file gave no error")
	}
	if live.Current() != first {
		t.Error("a bad file replaced the inventory")
	}
	write("hosts: [{name: a}, {name: b}]\n")
	if changed, err := live.Reload(); !changed || err != nil || !live.Current().Host("b") {
		t.Errorf("a good file: got %v, error %v", changed, err)
	}
	if first.Host("b") {
		t.Error("the inventory that was taken before changed")
	}
}

func FuzzParse(f *testing.F) {
	text, err := os.ReadFile(filepath.Join("testdata", "site.yaml"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Fuzz(func(t *testing.T, text []byte) {
		inv, err := parse("f.yaml", text)
		if err != nil {
			return
		}
		for _, name := range inv.Names() {
			if _, err := inv.Endpoint(name); err != nil {
				t.Fatal(err)
			}
		}
	})
}
