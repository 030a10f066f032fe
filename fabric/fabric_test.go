package fabric

import (
	"encoding/json"
	"math"
	"reflect"
	"testing"
)

func TestParseGUID(t *testing.T) {
	for in, want := range map[string]GUID{
		"0x0c42a103009f2650":  0x0c42a103009f2650,
		"0C42A103009F2650":    0x0c42a103009f2650,
		"0c42:a103:009f:2650": 0x0c42a103009f2650,
		"0x2000001":           0x2000001,
		"0":                   0,
	} {
		got, err := ParseGUID(in)
		if err != nil || got != want {
			t.Errorf("ParseGUID(%q) = %v, %v; want %v", in, got, err, want)
		}
	}
	for _, in := range []string{"", "0x", "-1", "+5", "1_0", "0x00c42a103009f26501", "0c42:a103:009f", "0c42:a103:009f:26500", "0x12:1:1:1", "xyz"} {
		if got, err := ParseGUID(in); err == nil {
			t.Errorf("ParseGUID(%q) = %v, want an error", in, got)
		}
	}
}

func TestGUIDIsTextInJSON(t *testing.T) {
	b, err := json.Marshal(map[GUID]GUID{1: 0x506b4b03005e1a0f})
	if err != nil || string(b) != `{"0x0000000000000001":"0x506b4b03005e1a0f"}` {
		t.Fatalf("got %s, %v", b, err)
	}
	var back map[GUID]GUID
	if err := json.Unmarshal(b, &back); err != nil || back[1] != 0x506b4b03005e1a0f {
		t.Fatalf("got %v, %v", back, err)
	}
}

func TestStates(t *testing.T) {
	for in, want := range map[string]PortState{
		"Active": PortActive, "4: ACTIVE": PortActive, "PORT_ACTIVE (4)": PortActive, "ACTIVE": PortActive,
		"Initialize": PortInitializing, "Initializing": PortInitializing, "2: INIT": PortInitializing, "PORT_INIT (2)": PortInitializing,
		"1: DOWN": PortDown, "Armed": PortArmed, "5: ACTIVE_DEFER": PortActiveDefer,
	} {
		if got, err := ParsePortState(in); err != nil || got != want {
			t.Errorf("ParsePortState(%q) = %v, %v; want %v", in, got, err, want)
		}
	}
	for in, want := range map[string]PhysState{
		"LinkUp": PhysLinkUp, "5: LinkUp": PhysLinkUp, "LINK_UP (5)": PhysLinkUp, "LINK_UP": PhysLinkUp,
		"7: Phy Test": PhysPhyTest, "PhyTest": PhysPhyTest, "4: PortConfigurationTraining": PhysTraining,
		"Disabled": PhysDisabled, "POLLING": PhysPolling, "LINK_ERROR_RECOVER": PhysLinkErrorRecovery,
	} {
		if got, err := ParsePhysState(in); err != nil || got != want {
			t.Errorf("ParsePhysState(%q) = %v, %v; want %v", in, got, err, want)
		}
	}
	if _, err := ParsePortState("Activ"); err == nil {
		t.Error("a misspelt state was accepted")
	}
}

func TestSpeedTexts(t *testing.T) {
	for in, want := range map[string]Speed{
		"HDR": HDR, "hdr": HDR, "(FDR10)": FDR10, "10.3125 Gbps": FDR10, "10.0 Gbps": QDR, "10.0 Gbps (FDR10)": FDR10,
		"53.125 Gbps": HDR, "106.25 Gbps": NDR, "212.5 Gbps": XDR, "2.5 Gbps": SDR, "5.0 Gbps": DDR, "25.78125 Gbps": EDR, "14.0625 Gbps": FDR,
	} {
		if got, err := ParseSpeed(in); err != nil || got != want {
			t.Errorf("ParseSpeed(%q) = %v, %v; want %v", in, got, err, want)
		}
	}
	for in, want := range map[string]struct {
		w Width
		s Speed
	}{
		"4xHDR": {4, HDR}, "4X NDR": {4, NDR}, "200 Gb/sec (4X HDR)": {4, HDR}, "100 Gb/sec (2X HDR)": {2, HDR},
		"10 Gb/sec (4X)": {4, SDR}, "2.5 Gb/sec (1X)": {1, SDR}, "12xSDR": {12, SDR},
	} {
		w, s, err := ParseLinkRate(in)
		if err != nil || w != want.w || s != want.s {
			t.Errorf("ParseLinkRate(%q) = %v %v, %v; want %v", in, w, s, err, want)
		}
	}
	for _, in := range []string{"", "4x", "3xHDR", "HDR", "4x???"} {
		if w, s, err := ParseLinkRate(in); err == nil {
			t.Errorf("ParseLinkRate(%q) = %v %v, want an error", in, w, s)
		}
	}
}

func TestDataRates(t *testing.T) {
	for s, want := range map[Speed]float64{SDR: 8, DDR: 16, QDR: 32, FDR10: 40, FDR: 54.5454, EDR: 100, HDR: 200, NDR: 400, XDR: 800} {
		if got := float64(s.Data(4)); math.Abs(got-want) > 1e-3 {
			t.Errorf("%v at 4X carries %v, want %v", s, got, want)
		}
	}
	if got := HDR.KernelRate(2); got != 100 {
		t.Errorf("2X HDR reads %v in sysfs, want 100", got)
	}
}

func pair() *Topology {
	return NewTopology([]Node{
		{GUID: 9, Type: NodeSwitch, NumPorts: 4, LID: 1, Ports: []Port{
			{Num: 2, Width: 4, Speed: HDR, Peer: PortRef{7, 1}, PeerKnown: true},
			{Num: 1, Width: 4, Speed: HDR, Peer: PortRef{5, 1}, PeerKnown: true},
		}},
		{GUID: 5, Type: NodeCA, NumPorts: 1, Ports: []Port{{Num: 1, LID: 2, Width: 4, Speed: HDR, Peer: PortRef{9, 1}, PeerKnown: true}}},
	})
}

func TestLinksOnceAndOrdered(t *testing.T) {
	want := []Link{
		{PortRef{5, 1}, PortRef{9, 1}, 4, HDR},
		{PortRef{7, 1}, PortRef{9, 2}, 4, HDR}, // known from its larger end only
	}
	top := pair()
	if got := top.Links(); !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got, want := top.Counts(), (Counts{CAs: 1, Switches: 1, Links: 2}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if top.Node(7) != nil || top.Node(5).Port(1).LID != 2 || top.Node(9).Ports[0].Num != 1 {
		t.Error("index is wrong")
	}
}

func TestValidate(t *testing.T) {
	top := pair()
	top.Nodes[0].Ports[0].LID = 1 // the switch's
	top.Nodes[0].Ports[0].Speed = EDR
	var kinds []ProblemKind
	for _, p := range top.Validate() {
		kinds = append(kinds, p.Kind)
	}
	want := []ProblemKind{UnequalLink, DuplicateLID, MissingPeer}
	if !reflect.DeepEqual(kinds, want) {
		t.Errorf("got %v, want %v", kinds, want)
	}
}

func TestTopologySurvivesJSON(t *testing.T) {
	top := pair()
	b, err := json.Marshal(top)
	if err != nil {
		t.Fatal(err)
	}
	var back Topology
	if err := json.Unmarshal(b, &back); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(&back, top) {
		t.Errorf("got %+v, want %+v", back, *top)
	}
}

func TestMergesRepeatedNodes(t *testing.T) {
	top := NewTopology([]Node{
		{GUID: 5, Type: NodeCA, Ports: []Port{{Num: 2}}},
		{GUID: 5, Description: "h", NumPorts: 2, Ports: []Port{{Num: 1}, {Num: 2, LID: 9}}},
	})
	if len(top.Nodes) != 1 || len(top.Nodes[0].Ports) != 2 || top.Nodes[0].Description != "h" || top.Nodes[0].Ports[1].LID != 0 {
		t.Errorf("got %+v", top.Nodes)
	}
}
