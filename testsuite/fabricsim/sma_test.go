package fabricsim

import (
	"strings"
	"testing"

	"github.com/fabricbot/fabricbot/testsuite/fabricsim/mad"
)

// tiny is one switch with two adapters, without any tool.
func tiny(t testing.TB) *Fabric {
	t.Helper()
	plan, err := ReadPlan(strings.NewReader("Switch 4 \"sw\"\n[1] \"a\"[1]\n[2] \"b\"[1]\nCa 1 \"a\"\n[1] \"sw\"[1]\nCa 1 \"b\"\n[1] \"sw\"[2]\n"))
	if err != nil {
		t.Fatal(err)
	}
	f, err := New(plan)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Close)
	return f
}

// ask sends an SMP along a directed route from adapter a's port and returns
// the response; nil when there is none.
func ask(f *Fabric, m mad.MAD, hops ...uint8) mad.MAD {
	m.SetDrLIDs(mad.LIDPermissive, mad.LIDPermissive)
	m.SetHops(len(hops), 0)
	for i, h := range hops {
		m.SetInitialPath(i+1, h)
	}
	p := &packet{mad: m, length: mad.Bytes, dlid: mad.LIDPermissive}
	from := f.byName["a"].ports[1]
	f.lock()
	defer f.unlock()
	at := f.directed(&trip{packets: 1, vl15: true}, from, p)
	if at == nil || !f.answerSMP(at, m) {
		return nil
	}
	m.SetReturning()
	if back := f.directed(&trip{packets: 1, vl15: true}, at.node.manager(at), p); back != from {
		return nil
	}
	return m
}

func get(attr uint16, mod uint32) mad.MAD {
	return mad.New(mad.ClassSubnDirect, mad.MethodGet, attr, mod)
}

func setPort(info mad.PortInfo, port uint32) mad.MAD {
	m := mad.New(mad.ClassSubnDirect, mad.MethodSet, mad.AttrPortInfo, port)
	info.Encode(m.SMPData())
	return m
}

func portOf(m mad.MAD) (i mad.PortInfo) {
	i.Decode(m.SMPData())
	return i
}

func TestDirectedRoute(t *testing.T) {
	f := tiny(t)
	for _, c := range []struct {
		hops  []uint8
		node  string
		local uint8
	}{{nil, "a", 1}, {[]uint8{1}, "sw", 1}, {[]uint8{1, 2}, "b", 1}, {[]uint8{1, 1}, "a", 1}, {[]uint8{2}, "", 0}, {[]uint8{1, 3}, "", 0}, {[]uint8{1, 0}, "", 0}, {[]uint8{1, 2, 1}, "", 0}} {
		m := ask(f, get(mad.AttrNodeInfo, 0), c.hops...)
		if c.node == "" {
			if m != nil {
				t.Errorf("route %v leads somewhere", c.hops)
			}
			continue
		}
		if m == nil {
			t.Errorf("route %v: no answer", c.hops)
			continue
		}
		var info mad.NodeInfo
		info.Decode(m.SMPData())
		if info.NodeGUID != f.byName[c.node].info.NodeGUID || info.LocalPort != c.local || m.Method() != mad.MethodGetResp || m.Status() != mad.StatusOK {
			t.Errorf("route %v: %+v, status %#x", c.hops, info, m.Status())
		}
	}
}

// TestOnlyUpwards walks the port states: Active only by way of Armed, nothing
// by order from Initialize to Active.
func TestOnlyUpwards(t *testing.T) {
	f := tiny(t)
	state := func(want uint8) uint16 {
		m := ask(f, setPort(mad.PortInfo{State: want}, 2), 1)
		return m.Status()
	}
	now := func() uint8 { return portOf(ask(f, get(mad.AttrPortInfo, 2), 1)).State }
	if now() != mad.PortInit {
		t.Fatalf("state %d after power on, want Initialize", now())
	}
	if s := state(mad.PortActive); s != mad.StatusInvalidValue || now() != mad.PortInit {
		t.Errorf("Initialize to Active: status %#x, state %d", s, now())
	}
	if s := state(mad.PortArmed); s != 0 || now() != mad.PortArmed {
		t.Errorf("to Armed: status %#x, state %d", s, now())
	}
	if s := state(mad.PortActive); s != 0 || now() != mad.PortActive {
		t.Errorf("to Active: status %#x, state %d", s, now())
	}
	if s := state(mad.PortArmed); s != mad.StatusInvalidValue || now() != mad.PortActive {
		t.Errorf("Active to Armed: status %#x, state %d", s, now())
	}
	if s := state(mad.PortDown); s != 0 || now() != mad.PortInit {
		t.Errorf("to Down: status %#x, state %d after training", s, now())
	}
	if s := ask(f, setPort(mad.PortInfo{Phys: mad.PhysDisabled}, 2), 1).Status(); s != 0 || now() != mad.PortDown {
		t.Errorf("disabled: status %#x, state %d", s, now())
	}
	if ask(f, get(mad.AttrNodeInfo, 0), 1, 2) != nil {
		t.Error("a disabled port lets an SMP through")
	}
	var info mad.SwitchInfo
	info.Decode(ask(f, get(mad.AttrSwitchInfo, 0), 1).SMPData())
	if !info.PortStateChange {
		t.Error("PortStateChange is not set")
	}
	m := mad.New(mad.ClassSubnDirect, mad.MethodSet, mad.AttrSwitchInfo, 0)
	info.Encode(m.SMPData())
	info.Decode(ask(f, m, 1).SMPData())
	if info.PortStateChange {
		t.Error("writing a one does not clear PortStateChange")
	}
}

func TestMKey(t *testing.T) {
	f := tiny(t)
	locked := mad.PortInfo{MKey: 7, LID: 3, MKeyProtect: 1}
	if ask(f, setPort(locked, 0)) == nil {
		t.Fatal("the first key is not taken")
	}
	if m := ask(f, get(mad.AttrPortInfo, 0)); m == nil || portOf(m).MKey != 0 {
		t.Error("with protection 1 a Get without key has to pass and not show it")
	}
	if ask(f, setPort(mad.PortInfo{LID: 9}, 0)) != nil {
		t.Error("a Set without key was answered")
	}
	withKey := get(mad.AttrPortInfo, 0)
	withKey.SetMKey(7)
	if i := portOf(ask(f, withKey)); i.LID != 3 || i.MKey != 7 || i.MKeyViolations != 1 {
		t.Errorf("after a violation: %+v", i)
	}
	locked.MKeyProtect = 2
	m := setPort(locked, 0)
	m.SetMKey(7)
	if ask(f, m) == nil || ask(f, get(mad.AttrPortInfo, 0)) != nil {
		t.Error("with protection 2 a Get without key was answered")
	}
}

func TestTables(t *testing.T) {
	f := tiny(t)
	m := mad.New(mad.ClassSubnDirect, mad.MethodSet, mad.AttrLinearFDB, 1)
	m.SMPData()[6] = 2 // LID 70 through port 2
	if ask(f, m, 1) == nil || f.byName["sw"].forward(70) != f.byName["sw"].ports[2] || f.byName["sw"].forward(5) != nil {
		t.Error("a block of the forwarding table was not taken over")
	}
	for _, c := range []struct {
		attr   uint16
		mod    uint32
		hops   []uint8
		status uint16
	}{
		{mad.AttrLinearFDB, 768, []uint8{1}, mad.StatusInvalidValue}, {mad.AttrLinearFDB, 767, []uint8{1}, 0}, {mad.AttrLinearFDB, 0, nil, mad.StatusUnsupportedAttr},
		{mad.AttrMulticastFDB, 127, []uint8{1}, 0}, {mad.AttrMulticastFDB, 128, []uint8{1}, mad.StatusInvalidValue}, {mad.AttrMulticastFDB, 1 << 28, []uint8{1}, mad.StatusInvalidValue},
		{mad.AttrPKeyTable, 3, nil, 0}, {mad.AttrPKeyTable, 4, nil, mad.StatusInvalidValue}, {mad.AttrPKeyTable, 4 << 16, []uint8{1}, 0}, {mad.AttrPKeyTable, 5 << 16, []uint8{1}, mad.StatusInvalidValue},
		{mad.AttrVLArbitration, 5 << 16, nil, mad.StatusInvalidValue}, {mad.AttrVLArbitration, 1<<16 | 4, []uint8{1}, 0},
		{mad.AttrSLToVL, 5, []uint8{1}, mad.StatusInvalidValue}, {mad.AttrGUIDInfo, 0, nil, 0}, {mad.AttrGUIDInfo, 1, nil, mad.StatusInvalidValue},
		{mad.AttrPortInfo, 5, []uint8{1}, mad.StatusInvalidValue}, {mad.AttrSwitchInfo, 0, nil, mad.StatusUnsupportedAttr}, {0x7777, 0, nil, mad.StatusUnsupportedAttr},
		{mad.AttrMlnxExtPortInfo, 0, nil, 0}, {mad.AttrMlnxExtPortInfo, 9, []uint8{1}, mad.StatusInvalidValue},
	} {
		if m := ask(f, get(c.attr, c.mod), c.hops...); m == nil || m.Status() != c.status {
			t.Errorf("attribute %#x, modifier %#x at %v: %v, want status %#x", c.attr, c.mod, c.hops, m != nil, c.status)
		}
	}
}

// FuzzSMP sends any SMP through the fabric: no panic, and an answer is a
// response to what was asked.
func FuzzSMP(f *testing.F) {
	seed := get(mad.AttrPortInfo, 1)
	seed.SetDrLIDs(mad.LIDPermissive, mad.LIDPermissive)
	f.Add([]byte(seed))
	f.Add([]byte(mad.New(mad.ClassPerf, mad.MethodSet, mad.AttrPortCounters, 0)))
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) < mad.Bytes || data[0] != 1 {
			return
		}
		fabric := tiny(t)
		m := mad.MAD(append([]byte(nil), data...))
		fabric.locked(func() {
			fabric.send(fabric.byName["a"].ports[1], &packet{mad: m, length: len(m), dlid: mad.LIDPermissive})
		})
	})
}
