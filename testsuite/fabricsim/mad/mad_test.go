package mad

import (
	"bytes"
	"encoding/binary"
	"reflect"
	"testing"
	"testing/quick"
)

// attributes holds one fresh value of every attribute and the bytes of it that
// have a meaning: a set bit is carried through Decode and Encode.
func attributes() map[string]struct {
	fresh func() Attribute
	size  int
} {
	type entry = struct {
		fresh func() Attribute
		size  int
	}
	return map[string]entry{
		"NodeInfo":             {func() Attribute { return new(NodeInfo) }, nodeInfoBytes},
		"NodeDescription":      {func() Attribute { return new(NodeDescription) }, descriptionBytes},
		"SwitchInfo":           {func() Attribute { return new(SwitchInfo) }, switchInfoBytes},
		"SMInfo":               {func() Attribute { return new(SMInfo) }, smInfoBytes},
		"PortInfo":             {func() Attribute { return new(PortInfo) }, portInfoBytes},
		"MlnxExtPortInfo":      {func() Attribute { return new(MlnxExtPortInfo) }, mlnxExtBytes},
		"LinearFDBBlock":       {func() Attribute { return new(LinearFDBBlock) }, 64},
		"MulticastFDBBlock":    {func() Attribute { return new(MulticastFDBBlock) }, 64},
		"PKeyBlock":            {func() Attribute { return new(PKeyBlock) }, 64},
		"SLToVL":               {func() Attribute { return new(SLToVL) }, slToVLBytes},
		"VLArbBlock":           {func() Attribute { return new(VLArbBlock) }, 64},
		"GUIDBlock":            {func() Attribute { return new(GUIDBlock) }, 64},
		"Notice":               {func() Attribute { return new(Notice) }, 64},
		"ClassPortInfo":        {func() Attribute { return new(ClassPortInfo) }, classPortInfoBytes},
		"PortCounters":         {func() Attribute { return new(PortCounters) }, portCountersBytes},
		"PortCountersExtended": {func() Attribute { return new(PortCountersExtended) }, portCountersExtendedBytes},
	}
}

// TestRoundTrip decodes random bytes, encodes them and decodes again: the
// values have to be the same, and the second encoding has to be the first.
func TestRoundTrip(t *testing.T) {
	for name, a := range attributes() {
		t.Run(name, func(t *testing.T) {
			same := func(raw [192]byte) bool {
				first, second := a.fresh(), a.fresh()
				first.Decode(raw[:])
				once, twice := make([]byte, 192), make([]byte, 192)
				first.Encode(once)
				second.Decode(once)
				second.Encode(twice)
				return reflect.DeepEqual(first, second) && bytes.Equal(once, twice)
			}
			if err := quick.Check(same, nil); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestEncodeStaysInside checks that no attribute writes past its size, and
// that short input is read as if zeros followed.
func TestEncodeStaysInside(t *testing.T) {
	for name, a := range attributes() {
		v := a.fresh()
		v.Decode(bytes.Repeat([]byte{0xff}, 7))
		buf := bytes.Repeat([]byte{0xa5}, a.size+8)
		v.Encode(buf)
		if !bytes.Equal(buf[a.size:], bytes.Repeat([]byte{0xa5}, 8)) {
			t.Errorf("%s writes past its %d bytes", name, a.size)
		}
	}
}

// TestPortInfoLayout pins fields to the places IBTA 14.2.5.6 gives them,
// counted in bits from the beginning of the attribute.
func TestPortInfoLayout(t *testing.T) {
	p := PortInfo{
		MKey: 0x0102030405060708, GIDPrefix: 0xfe80000000000000, LID: 0x1234, MasterSMLID: 0x5678, CapabilityMask: CapIsSM | CapExtendedSpeeds,
		LocalPort: 7, WidthEnabled: 3, WidthSupported: 15, WidthActive: 2, SpeedSupported: 7, State: PortActive, Phys: PhysLinkUp, LinkDownDefault: 2,
		MKeyProtect: 1, LMC: 3, SpeedActive: 4, SpeedEnabled: 7, NeighborMTU: 5, MasterSMSL: 2, VLCap: 4, MTUCap: 5, OperationalVLs: 3,
		ClientReregister: true, SubnetTimeout: 18, RespTime: 16, CapabilityMask2: Cap2HDR, SpeedExtActive: 4, SpeedExtSupported: 7, SpeedExtEnabled: 7,
	}
	b := make([]byte, 64)
	p.Encode(b)
	for _, c := range []struct {
		field   string
		at, len int // bits
		want    uint64
	}{
		{"M_Key", 0, 64, 0x0102030405060708}, {"LID", 128, 16, 0x1234}, {"MasterSMLID", 144, 16, 0x5678}, {"CapabilityMask", 160, 32, 0x4002},
		{"LocalPortNum", 224, 8, 7}, {"LinkWidthActive", 248, 8, 2}, {"LinkSpeedSupported", 256, 4, 7}, {"PortState", 260, 4, 4},
		{"PortPhysicalState", 264, 4, 5}, {"LMC", 277, 3, 3}, {"LinkSpeedActive", 280, 4, 4}, {"NeighborMTU", 288, 4, 5}, {"MasterSMSL", 292, 4, 2},
		{"OperationalVLs", 344, 4, 3}, {"ClientReregister", 408, 1, 1}, {"SubnetTimeOut", 411, 5, 18}, {"RespTimeValue", 419, 5, 16},
		{"CapabilityMask2", 480, 16, 0x20}, {"LinkSpeedExtActive", 496, 4, 4}, {"LinkSpeedExtSupported", 500, 4, 7}, {"LinkSpeedExtEnabled", 507, 5, 7},
	} {
		var got uint64
		for i := c.at; i < c.at+c.len; i++ {
			got = got<<1 | uint64(b[i/8]>>(7-i%8)&1)
		}
		if got != c.want {
			t.Errorf("%s: got %#x at bit %d, want %#x", c.field, got, c.at, c.want)
		}
	}
}

func TestCountersStopAtTheirLimit(t *testing.T) {
	var p PortCounters
	p.Values[SymbolErrors], p.Values[LinkDowned], p.Values[LocalLinkIntegrityErrors], p.Values[XmitData] = 70000, 300, 16, 1<<40
	b := make([]byte, 44)
	p.Encode(b)
	if binary.BigEndian.Uint16(b[4:]) != 0xffff || b[7] != 0xff || b[19] != 0xf0 || binary.BigEndian.Uint32(b[24:]) != 0xffffffff {
		t.Errorf("the classic counters do not stop: % x", b)
	}
	all := PortCounters{Select: 0xffff, Select2: 3}
	ext := PortCountersExtended{Select: 0xff, Select2: 0x3fff}
	for c := range NumCounters {
		if !ext.Selects(c) {
			t.Errorf("no extended select bit clears %v", c)
		}
		if all.Selects(c) != (c < UnicastXmitPackets) {
			t.Errorf("classic select of %v is %v", c, all.Selects(c))
		}
		if got, ok := ParseCounter(c.String()); !ok || got != c {
			t.Errorf("ParseCounter(%v) = %v, %v", c, got, ok)
		}
	}
}

func TestSpeedsAndWidths(t *testing.T) {
	s := NewSpeedSet(HDR)
	if s.Legacy() != 7 || s.Mlnx() != 1 || s.Extended() != 7 || s.Best() != HDR {
		t.Errorf("up to HDR: %d %d %d %v", s.Legacy(), s.Mlnx(), s.Extended(), s.Best())
	}
	if got := SpeedSetOf(s.Legacy(), s.Mlnx(), s.Extended()); got != s {
		t.Errorf("joined masks are %b, want %b", got, s)
	}
	w := NewWidthSet(4)
	if lanes, bit := w.Best(); w != 1|16|2 || lanes != 4 || bit != 2 {
		t.Errorf("up to 4X: %b, best %d (%d)", w, lanes, bit)
	}
}

func TestRMPPMessage(t *testing.T) {
	m := append(New(ClassSubnAdm, 0x92, AttrNodeInfo, 0), make([]byte, 744)...)
	m[rmppFlags] = RMPPFlagActive
	if n := m.RMPPSegments(len(m)); n != 5 { // 1000-56 bytes of data, 200 a segment
		t.Fatalf("%d segments, want 5", n)
	}
	m.SealRMPP(len(m))
	if got, want := get32(m[rmppLength:]), uint32(944+5*20); got != want {
		t.Errorf("payload length %d, want %d: the data and a class header per segment", got, want)
	}
}

func TestDirectedStatus(t *testing.T) {
	m := New(ClassSubnDirect, MethodGet, AttrNodeInfo, 0)
	m.SetReturning()
	m.SetStatus(StatusUnsupportedAttr)
	if !m.Returning() || m.Status() != StatusUnsupportedAttr {
		t.Errorf("status %#x returning %v", m.Status(), m.Returning())
	}
}

// FuzzAttributes feeds any bytes to every attribute: no panic, and what was
// encoded decodes to the same.
func FuzzAttributes(f *testing.F) {
	f.Add([]byte{})
	f.Add(bytes.Repeat([]byte{0xff}, 192))
	f.Fuzz(func(t *testing.T, data []byte) {
		for name, a := range attributes() {
			first, second := a.fresh(), a.fresh()
			first.Decode(data)
			buf := make([]byte, 192)
			first.Encode(buf)
			second.Decode(buf)
			if !reflect.DeepEqual(first, second) {
				t.Errorf("%s: %+v became %+v", name, first, second)
			}
		}
	})
}
