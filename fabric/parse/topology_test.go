package parse

import (
	"bytes"
	"errors"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/fabricbot/fabricbot/fabric"
	"github.com/fabricbot/fabricbot/fabric/fabrictest"
)

func fatTreeText(tb testing.TB, hosts int) (*fabric.Topology, []byte) {
	tb.Helper()
	top := fabrictest.FatTree(hosts)
	var b bytes.Buffer
	if err := fabrictest.WriteIBNetDiscover(&b, top); err != nil {
		tb.Fatal(err)
	}
	return top, b.Bytes()
}

func TestTopologySurvivesItsText(t *testing.T) {
	for _, hosts := range []int{1, 20, 401} {
		want, text := fatTreeText(t, hosts)
		got, err := IBNetDiscover(bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		if got.Incomplete || len(got.Nodes) != len(want.Nodes) {
			t.Fatalf("%d hosts: incomplete %v, %d nodes of %d", hosts, got.Incomplete, len(got.Nodes), len(want.Nodes))
		}
		for i := range want.Nodes {
			if !reflect.DeepEqual(got.Nodes[i], want.Nodes[i]) {
				t.Fatalf("%d hosts: got %+v, want %+v", hosts, got.Nodes[i], want.Nodes[i])
			}
		}
		if got.Generated != want.Generated || got.FromNode != want.FromNode || got.FromPort != want.FromPort {
			t.Errorf("%d hosts: the heading is lost: %q %v %v", hosts, got.Generated, got.FromNode, got.FromPort)
		}
	}
}

// Wherever the text is cut, the topology must not look whole.
func TestEveryCutIsNoticed(t *testing.T) {
	_, text := fatTreeText(t, 21)
	for at := 0; at < len(text)-1; at += 97 {
		top, err := IBNetDiscover(bytes.NewReader(text[:at]))
		if err == nil && !top.Incomplete {
			t.Errorf("the first %d of %d bytes passed as a whole topology", at, len(text))
		}
	}
}

// The memory promise: reading never allocates more than five times the text,
// all garbage included, so that is also a bound for what is alive at once.
func TestIBNetDiscoverMemory(t *testing.T) {
	_, text := fatTreeText(t, 2000)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	top, err := IBNetDiscover(bytes.NewReader(text))
	runtime.ReadMemStats(&after)
	if err != nil {
		t.Fatal(err)
	}
	if used := after.TotalAlloc - before.TotalAlloc; used > 5*uint64(len(text)) {
		t.Errorf("allocated %d bytes for a text of %d", used, len(text))
	}
	runtime.KeepAlive(top)
}

func TestFailureIsNoEmptyFabric(t *testing.T) {
	var failure *ToolError
	top, err := IBNetDiscover(strings.NewReader("ibnetdiscover: iberror: failed: can't init UMAD library\n"))
	if top != nil || !errors.As(err, &failure) || failure.Reason != "can't init UMAD library" {
		t.Errorf("got %v, %v", top, err)
	}
}

func TestPartialTopologyIsStillUseful(t *testing.T) {
	text := "vendid=0x2c9\ndevid=0xd2f0\nswitchguid=0x20(20)\nSwitch\t41 \"S-0000000000000020\"\t\t# \"leaf\" base port 0 lid 2 lmc 0\n[1]\t\"H-0000000000000010\"[1](10) \t\t# \"n1\" lid 9 4xHDR\n[2]\t\"H-00000"
	top, err := IBNetDiscover(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	want := fabric.Link{A: fabric.PortRef{Node: 0x10, Port: 1}, B: fabric.PortRef{Node: 0x20, Port: 1}, Width: 4, Speed: fabric.HDR}
	if links := top.Links(); !top.Incomplete || len(links) != 1 || links[0] != want {
		t.Errorf("got incomplete %v, links %v", top.Incomplete, links)
	}
}

func BenchmarkIBNetDiscover(b *testing.B) {
	_, text := fatTreeText(b, 10000)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := IBNetDiscover(bytes.NewReader(text)); err != nil {
			b.Fatal(err)
		}
	}
}
