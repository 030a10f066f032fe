package inventory

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFromAnsible(t *testing.T) {
	jump := []string{"admin@gate.example:2022"}
	want := File{
		Hosts: []Host{
			{Name: "disk-a", User: "store", Site: "north"},
			{Name: "disk-b", User: "store", Site: "north"},
			{Name: "disk-c", User: "store", Site: "north"},
			{Name: "disk-x", User: "store", Site: "north", Port: 2022},
			{Name: "lone.example", Address: "192.0.2.7"},
			{Name: "node01", User: "fabric", Site: "north", Rack: "r1", Port: 2200, Jump: jump},
			{Name: "node02", User: "fabric", Site: "north", Rack: "r1", Port: 2200, Jump: jump},
			{Name: "node03", User: "fabric", Site: "north", Rack: "r1", Port: 2200, Jump: jump},
			{Name: "node09", User: "root", Site: "north", Address: "10.0.0.9", Jump: jump},
		},
		Groups: map[string][]string{
			"cluster": {"disk-a,disk-b,disk-c,disk-x,node[01-03,09]"},
			"compute": {"node[01-03,09]"},
			"storage": {"disk-a,disk-b,disk-c,disk-x"},
		},
	}
	for _, name := range []string{"hosts.ini", "hosts.yaml"} {
		t.Run(name, func(t *testing.T) {
			text, err := os.ReadFile(filepath.Join("testdata", name))
			if err != nil {
				t.Fatal(err)
			}
			got, err := FromAnsible(name, text)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got.File); diff != "" {
				t.Error(diff)
			}
			notes := strings.Join(got.Notes, "\n")
			for _, part := range []string{"bad_name", "group empty left out", "host disk-a: ansible_password left out", "only a jump host"} {
				if !strings.Contains(notes, part) {
					t.Errorf("no note about %s in:\n%s", part, notes)
				}
			}
			if strings.Contains(notes, "canary") {
				t.Errorf("a secret is in the notes:\n%s", notes)
			}
			written, err := got.File.YAML()
			if err != nil {
				t.Fatal(err)
			}
			inv, err := parse("imported.yaml", written)
			if err != nil {
				t.Fatalf("the imported file does not load: %v\n%s", err, written)
			}
			if inv.Len() != len(want.Hosts) {
				t.Errorf("%d hosts after loading, want %d", inv.Len(), len(want.Hosts))
			}
		})
	}
}

// Hosts by two names are one host, and the group's name says what its hosts are for.
func TestFromAnsibleManagersAndTwins(t *testing.T) {
	got, err := FromAnsible("hosts", []byte(`[opensm]
mgr1 ansible_host=10.0.0.1
mgr2 ansible_host=10.0.0.2 role=login
[compute]
node1 ansible_host=10.0.0.1
node2 ansible_host=10.0.0.1 ansible_port=2222
NODE2
alias ansible_host=node3
node3
`))
	if err != nil {
		t.Fatal(err)
	}
	want := File{
		Hosts: []Host{
			{Name: "NODE2"},
			{Name: "alias", Address: "node3"},
			{Name: "mgr1", Address: "10.0.0.1", Role: "sm"},
			{Name: "mgr2", Address: "10.0.0.2", Role: "login"},
		},
		Groups: map[string][]string{"compute": {"NODE2,alias"}, "opensm": {"mgr[1-2]"}},
	}
	if diff := cmp.Diff(want, got.File); diff != "" {
		t.Error(diff)
	}
	if notes := strings.Join(got.Notes, "\n"); !strings.Contains(notes, "host node1 left out: it has the name or the address of mgr1") ||
		!strings.Contains(notes, "host node2 left out") || !strings.Contains(notes, "host node3 left out") {
		t.Errorf("notes: %s", notes)
	}
	written, err := got.File.YAML()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := parse("imported.yaml", written); err != nil {
		t.Errorf("the imported file does not load: %v", err)
	}
}

func TestFromAnsibleRefuses(t *testing.T) {
	tests := []struct{ name, file, text, want string }{
		{"empty", "hosts", "", "no host found"},
		{"section", "hosts", "[a:b]\nx\n", "line 1: section"},
		{"no_value", "hosts", "[a]\nx ansible_host\n", "line 2: word 1"},
		{"quote", "hosts", "x a='b\n", "line 1: a quotation"},
		{"variable", "hosts", "[a:vars]\nx\n", "line 2: a variable"},
		{"circle", "hosts", "[a:children]\nb\n[b:children]\na\n", "in a circle"},
		{"backwards", "hosts", "n[9:1]\n", "runs backwards"},
		{"step", "hosts", "n[1:9:0]\n", "a step of 0"},
		{"mixed", "hosts", "n[1:f]\n", "not of numbers"},
		{"too_many", "hosts", "n[1:999][1:999]\n", "more than"},
		{"huge", "hosts", "n[1:4000000000]\n", "more than"},
		{"yaml", "hosts.yml", "all: [\n", "YAML:1:"},
		{"yaml_shape", "hosts.yml", "all: {hosts: [a, b]}\n", "YAML:1:"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got, err := FromAnsible(tt.file, []byte(tt.text)); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %+v, error %v, want …%s…", got, err, tt.want)
			}
		})
	}
}

func TestJumpOf(t *testing.T) {
	for args, want := range map[string]string{
		"-J gate": "gate", "-Jgate": "gate", "-o ProxyJump=gate": "gate", "-oProxyJump=gate": "gate", `-o "ProxyJump=a,root@b:22"`: "a root@b:22",
		"-o proxyjump=gate": "gate", "-o ProxyCommand='ssh -W %h:%p gate'": "", "-J '$(reboot)'": "", "": "", "-J": "",
	} {
		hops, ok := jumpOf(args)
		if got := strings.Join(hops, " "); got != want || ok != (want != "") {
			t.Errorf("%q: got %q, %v, want %q", args, got, ok, want)
		}
	}
}

func TestFromNodeDescriptions(t *testing.T) {
	got, err := FromNodeDescriptions([]string{
		"node010 HCA-1", "node002 mlx5_1", "node002 mlx5_0", "node002 mlx5_0", "login1.example mlx5_bond_0",
		"MT4123 ConnectX6   Mellanox Technologies", "Mellanox Technologies Aggregation Node", "localhost mlx5_0", "node_1 mlx5_0", "", "node003",
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []Host{
		{Name: "login1.example", Devices: []Device{{Name: "mlx5_bond_0"}}},
		{Name: "node002", Devices: []Device{{Name: "mlx5_0"}, {Name: "mlx5_1"}}},
		{Name: "node010"},
	}
	if diff := cmp.Diff(want, got.File.Hosts); diff != "" {
		t.Error(diff)
	}
	if len(got.Notes) != 6 {
		t.Errorf("got %d notes, want 6:\n%s", len(got.Notes), strings.Join(got.Notes, "\n"))
	}
	if _, err := FromNodeDescriptions([]string{"Switch"}); err == nil {
		t.Error("no host at all gave no error")
	}
}

func FuzzFromAnsible(f *testing.F) {
	for _, name := range []string{"hosts.ini", "hosts.yaml"} {
		text, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(name, text)
	}
	f.Fuzz(func(t *testing.T, name string, text []byte) {
		got, err := FromAnsible(name, text)
		if err != nil {
			return
		}
		for _, h := range got.File.Hosts {
			if err := h.check("imported"); err != nil {
				// Only the address may be left for the file to fill in.
				filled := h
				filled.Address = firstOf(h.Address, h.Name)
				if err := filled.check("imported"); err != nil {
					t.Fatal(err)
				}
			}
		}
	})
}
