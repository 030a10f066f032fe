package fabricsim

import (
	"strings"
	"testing"

	"github.com/fabricbot/fabricbot/testsuite/fabricsim/mad"
)

const netText = `#
# Topology file: generated on Tue Mar  4 05:06:07 2025
#
vendid=0x2c9
devid=0xd2f2
sysimgguid=0xfc6a1c0300000100
switchguid=0xfc6a1c0300000100(fc6a1c0300000100)
Switch	65 "S-fc6a1c0300000100"		# "MF0;leaf-a:MQM9700/U1" enhanced port 0 lid 4 lmc 0
[1]	"H-e8ebd30300000200"[1](e8ebd30300000201) 		# "db01 HCA-1" lid 7 4xNDR
[2]	"H-e8ebd30300000300"[1](e8ebd30300000300) 		# "db02 HCA-1" lid 8 2xHDR
[3]	"S-fc6a1c03000fffff"[9]		# "a switch the text does not describe" lid 9 4xNDR

vendid=0x2c9
devid=0x1021
sysimgguid=0xe8ebd30300000200
caguid=0xe8ebd30300000200
Ca	1 "H-e8ebd30300000200"		# "db01 HCA-1"
[1](e8ebd30300000201) 	"S-fc6a1c0300000100"[1]		# lid 7 lmc 0 "MF0;leaf-a:MQM9700/U1" lid 4 4xNDR

vendid=0x2c9
devid=0x1021
caguid=0xe8ebd30300000300
Ca	2 "H-e8ebd30300000300"		# "db02 HCA-1"
[1](e8ebd30300000300) 	"S-fc6a1c0300000100"[2]		# lid 8 lmc 0 "MF0;leaf-a:MQM9700/U1" lid 4 2xHDR
`

func TestReadPlan(t *testing.T) {
	plan, err := ReadPlan(strings.NewReader(netText))
	if err != nil {
		t.Fatal(err)
	}
	if len(plan.Nodes) != 3 || len(plan.Cables) != 2 {
		t.Fatalf("%d nodes and %d cables, want 3 and 2: %+v", len(plan.Nodes), len(plan.Cables), plan)
	}
	n := plan.Nodes[1]
	if n.GUID != 0xe8ebd30300000200 || n.PortGUIDs[1] != 0xe8ebd30300000201 || n.DeviceID != 0x1021 || n.Kind != KindCA || n.Ports != 1 {
		t.Errorf("adapter %+v", n)
	}
	if c := plan.Cables[1]; c.Width != 2 || c.Speed != mad.HDR || c.A.Port != 2 || c.B != (CableEnd{"H-e8ebd30300000300", 1}) {
		t.Errorf("cable %+v", c)
	}
	f, err := New(plan)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	want := []PortStatus{
		{Node: "leaf-a", Port: 1, GUID: 0xfc6a1c0300000100, Cabled: true, Peer: "db01[1]", State: "Init", Phys: "LinkUp", Width: 4, Speed: mad.NDR},
		{Node: "leaf-a", Port: 2, GUID: 0xfc6a1c0300000100, Cabled: true, Peer: "db02[1]", State: "Init", Phys: "LinkUp", Width: 2, Speed: mad.HDR},
	}
	for i, p := range f.Ports()[:2] {
		if p != want[i] {
			t.Errorf("got %+v, want %+v", p, want[i])
		}
	}
	if got := strings.Join(f.Nodes(0), " "); got != "leaf-a db01 db02" {
		t.Errorf("nodes %s", got)
	}
}

// TestShortForm reads the form without GUIDs, speeds and comments.
func TestShortForm(t *testing.T) {
	plan, err := ReadPlan(strings.NewReader("Switch 8 \"edge\"\n[1] \"h1\"[2]\n[2] \"h2\"\n\nHca 2 \"h1\"\n[2] \"edge\"[1]\n\nHca 1 \"h2\"\n[1] \"edge\"[2]\n"))
	if err != nil {
		t.Fatal(err)
	}
	f, err := New(plan)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	p := f.Ports()
	if p[0].Peer != "h1[2]" || p[1].Peer != "h2[1]" || p[0].Speed != mad.HDR || p[0].GUID == 0 || len(plan.Cables) != 2 {
		t.Errorf("ports %+v, cables %+v", p[:2], plan.Cables)
	}
}

func TestPlansThatCannotBe(t *testing.T) {
	for name, text := range map[string]string{
		"empty":          "",
		"port first":     "[1] \"a\"[1]\n",
		"twice":          "Ca 1 \"a\"\nCa 1 \"a\"\n",
		"too many ports": "Switch 255 \"a\"\n",
		"no such port":   "Ca 1 \"a\"\n[2] \"b\"[1]\n",
		"two cables":     "Switch 4 \"s\"\n[1] \"a\"[1]\n[2] \"a\"[1]\nCa 1 \"a\"\n",
		"to itself":      "Switch 4 \"s\"\n[1] \"s\"[1]\n",
	} {
		plan, err := ReadPlan(strings.NewReader(text))
		if err == nil {
			_, err = New(plan)
		}
		if err == nil {
			t.Errorf("%s: built", name)
		}
	}
}

// FuzzReadPlan reads anything: no panic, and what was read either builds a
// fabric or says why not.
func FuzzReadPlan(f *testing.F) {
	f.Add(netText)
	f.Add("Switch 8 \"a\"\n[1] \"b\"[1]\nHca 2 \"b\"\n[1] \"a\"[1]\n")
	f.Fuzz(func(t *testing.T, text string) {
		plan, err := ReadPlan(strings.NewReader(text))
		if err != nil || len(plan.Nodes) > 50 {
			return
		}
		if fabric, err := New(plan); err == nil {
			fabric.Close()
		}
	})
}
