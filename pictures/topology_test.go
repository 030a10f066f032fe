package pictures

import (
	"bytes"
	"encoding/xml"
	"flag"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fabricbot/fabricbot/fabric"
	"github.com/fabricbot/fabricbot/fabric/fabrictest"
	"github.com/fabricbot/fabricbot/fabric/layout"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func hostGUID(i int) fabric.GUID  { return fabric.GUID(0x10001 + i) }
func leafGUID(i int) fabric.GUID  { return fabric.GUID(0x20001 + i) }
func spineGUID(i int) fabric.GUID { return fabric.GUID(0x30001 + i) }

// tree is a two-level fat tree with two cables between leaf and spine.
func tree(leaves, perLeaf, spines int) *fabric.Topology {
	const parallel = 2
	var nodes []fabric.Node
	cable := func(g fabric.GUID, port, num int) fabric.Port {
		return fabric.Port{Num: fabric.PortNum(num), Peer: fabric.PortRef{Node: g, Port: fabric.PortNum(port)}, PeerKnown: true,
			Width: 4, Speed: fabric.HDR, State: fabric.PortActive}
	}
	for l := range leaves {
		leaf := fabric.Node{GUID: leafGUID(l), Type: fabric.NodeSwitch, NumPorts: 40, Description: fmt.Sprintf("MF0;leaf%02d:MQM8700/U1", l+1)}
		for h := range perLeaf {
			at := l*perLeaf + h
			leaf.Ports = append(leaf.Ports, cable(hostGUID(at), 1, h+1))
			nodes = append(nodes, fabric.Node{GUID: hostGUID(at), Type: fabric.NodeCA, NumPorts: 1,
				Description: fmt.Sprintf("node%03d HCA-1", at+1), Ports: []fabric.Port{cable(leafGUID(l), h+1, 1)}})
		}
		for up := range spines * parallel {
			leaf.Ports = append(leaf.Ports, cable(spineGUID(up/parallel), l*parallel+up%parallel+1, perLeaf+up+1))
		}
		nodes = append(nodes, leaf)
	}
	for s := range spines {
		spine := fabric.Node{GUID: spineGUID(s), Type: fabric.NodeSwitch, NumPorts: 40, Description: fmt.Sprintf("MF0;spine%02d:MQM8700/U1", s+1)}
		for down := range leaves * parallel {
			spine.Ports = append(spine.Ports, cable(leafGUID(down/parallel), perLeaf+s*parallel+down%parallel+1, down+1))
		}
		nodes = append(nodes, spine)
	}
	return fabric.NewTopology(nodes)
}

func clone(t *fabric.Topology) *fabric.Topology {
	nodes := make([]fabric.Node, len(t.Nodes))
	for i, n := range t.Nodes {
		n.Ports = append([]fabric.Port(nil), n.Ports...)
		nodes[i] = n
	}
	return fabric.NewTopology(nodes)
}

// unplug leaves the ports in place without a peer.
func unplug(t *fabric.Topology, node fabric.GUID, port fabric.PortNum) {
	p := t.Port(fabric.PortRef{Node: node, Port: port})
	if q := t.Port(p.Peer); q != nil {
		q.Peer, q.PeerKnown = fabric.PortRef{}, false
	}
	p.Peer, p.PeerKnown = fabric.PortRef{}, false
}

func remove(t *fabric.Topology, g fabric.GUID) {
	for _, p := range t.Node(g).Ports {
		if p.PeerKnown {
			unplug(t, g, p.Num)
		}
	}
	var rest []fabric.Node
	for _, n := range t.Nodes {
		if n.GUID != g {
			rest = append(rest, n)
		}
	}
	t.Nodes = rest
}

func narrow(t *fabric.Topology, node fabric.GUID, port fabric.PortNum) {
	p := t.Port(fabric.PortRef{Node: node, Port: port})
	p.Width, t.Port(p.Peer).Width = 1, 1
}

func draw(t testing.TB, top *fabric.Topology, o Options) Picture {
	t.Helper()
	o.Fabric = "alpha"
	o.Taken = time.Date(2026, 3, 1, 6, 0, 0, 0, time.UTC)
	pic, err := Topology(top, o)
	if err != nil {
		t.Fatal(err)
	}
	return pic
}

// damaged has one host lost, one cable lost, one link slow and a host new.
func damaged(old *fabric.Topology) *fabric.Topology {
	now := clone(old)
	remove(now, hostGUID(14))
	unplug(now, leafGUID(0), 5)
	narrow(now, hostGUID(6), 1)
	port := func(g fabric.GUID, port, num fabric.PortNum) fabric.Port {
		return fabric.Port{Num: num, Peer: fabric.PortRef{Node: g, Port: port}, PeerKnown: true, Width: 4, Speed: fabric.HDR, State: fabric.PortActive}
	}
	leaf := now.Node(leafGUID(1))
	leaf.Ports = append(leaf.Ports, port(0x19999, 1, 30))
	return fabric.NewTopology(append(now.Nodes, fabric.Node{GUID: 0x19999, Type: fabric.NodeCA, NumPorts: 1, Description: "fresh001 HCA-1",
		Ports: []fabric.Port{port(leafGUID(1), 30, 1)}}))
}

func cases() map[string]func() (*fabric.Topology, Options) {
	return map[string]func() (*fabric.Topology, Options){
		"hosts2":  func() (*fabric.Topology, Options) { return tree(1, 2, 0), Options{} },
		"hosts16": func() (*fabric.Topology, Options) { return tree(4, 4, 2), Options{} },
		"hosts16_slow": func() (*fabric.Topology, Options) {
			t := tree(4, 4, 2)
			narrow(t, hostGUID(6), 1)
			return t, Options{}
		},
		"hosts16_diff": func() (*fabric.Topology, Options) {
			old := tree(4, 4, 2)
			now := damaged(old)
			return now, Options{Old: old, Diff: fabric.Compare(old, now, fabric.DiffOptions{})}
		},
		"hosts324_diff": func() (*fabric.Topology, Options) {
			old := tree(18, 18, 9)
			now := clone(old)
			remove(now, hostGUID(200))
			narrow(now, hostGUID(6), 1)
			return now, Options{Old: old, Diff: fabric.Compare(old, now, fabric.DiffOptions{})}
		},
	}
}

func TestGoldenSVG(t *testing.T) {
	for name, make := range cases() {
		t.Run(name, func(t *testing.T) {
			top, o := make()
			got := draw(t, top, o).SVG
			file := filepath.Join("testdata", name+".svg")
			if *update {
				if err := os.WriteFile(file, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) {
				t.Errorf("%s differs from what is drawn; look at both, then go test ./pictures -update", file)
			}
		})
	}
}

func TestAltSaysTheFinding(t *testing.T) {
	for name, want := range map[string]string{
		"hosts2":       "Fabric alpha: 2 hosts on 1 switch; no link is slow",
		"hosts16":      "Fabric alpha: 16 hosts on 4 leaves and 2 spines; no link is slow",
		"hosts16_slow": "Fabric alpha: 16 hosts on 4 leaves and 2 spines; 1 link slow: node007–leaf02 4X → 1X",
		"hosts16_diff": "Fabric alpha: 16 hosts on 4 leaves and 2 spines; compared with before: 1 host lost, 1 cable lost, 1 link slower, 1 host new " +
			"(node015 lost (was at leaf04 port 3); cable lost: leaf01 port 5 – spine01 port 1; node007 – leaf02 port 3 slower: 4X HDR → 1X HDR; fresh001 new at leaf02 port 30)",
	} {
		top, o := cases()[name]()
		if got := draw(t, top, o).Alt; got != want {
			t.Errorf("%s: got\n%s\nwant\n%s", name, got, want)
		}
	}
}

func TestDownIsAFinding(t *testing.T) {
	top := tree(4, 4, 2)
	top.Port(fabric.PortRef{Node: hostGUID(3), Port: 1}).State = fabric.PortInitializing
	pic := draw(t, top, Options{})
	if !strings.HasSuffix(pic.Alt, "1 link not active: node004–leaf01 Initializing") || !bytes.Contains(pic.SVG, []byte("node004: Initializing")) {
		t.Error(pic.Alt)
	}
}

func TestSuspiciousIsSaidFirst(t *testing.T) {
	old := tree(4, 4, 2)
	now := fabric.NewTopology(clone(old).Nodes[:4])
	pic := draw(t, now, Options{Old: old, Diff: fabric.Compare(old, now, fabric.DiffOptions{})})
	if !strings.Contains(pic.Alt, "the new discovery found 4 of 22 nodes") {
		t.Error(pic.Alt)
	}
}

// TestMixedRatesAreNotSlow: half of the hosts with an older card is a choice.
func TestMixedRatesAreNotSlow(t *testing.T) {
	top := tree(4, 4, 2)
	for i := range 8 {
		p := top.Port(fabric.PortRef{Node: hostGUID(i), Port: 1})
		p.Speed, top.Port(p.Peer).Speed = fabric.EDR, fabric.EDR
	}
	if pic := draw(t, top, Options{}); !strings.HasSuffix(pic.Alt, "no link is slow") {
		t.Error(pic.Alt)
	}
}

func TestPNGDecodesAndFits(t *testing.T) {
	tops := map[string]*fabric.Topology{"empty": {}, "5000": fabrictest.FatTree(5000)}
	for name, make := range cases() {
		tops[name], _ = make()
	}
	for name, top := range tops {
		pic := draw(t, top, Options{})
		img, err := png.Decode(bytes.NewReader(pic.PNG))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if b := img.Bounds(); b.Dx() > 4000 || b.Dx() < 700 || len(pic.PNG) > 2<<20 {
			t.Errorf("%s: %d by %d pixels, %d bytes", name, b.Dx(), b.Dy(), len(pic.PNG))
		}
		if name != "empty" && !drawnIn(img, layout.Plain) {
			t.Errorf("%s: no line is drawn", name)
		}
	}
}

// TestMarksAreInBothFormats looks for the colours of the marks in the pixels
// and for the dashes in the SVG.
func TestMarksAreInBothFormats(t *testing.T) {
	top, o := cases()["hosts16_diff"]()
	pic := draw(t, top, o)
	img, err := png.Decode(bytes.NewReader(pic.PNG))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range []layout.Mark{layout.Lost, layout.Slow, layout.New} {
		c := looks[m].color
		if !drawnIn(img, m) || !bytes.Contains(pic.SVG, fmt.Appendf(nil, "#%02X%02X%02X", c.R, c.G, c.B)) {
			t.Errorf("the colour of %q is missing", looks[m].word)
		}
	}
	for _, words := range []string{"stroke-dasharray", "node015: lost", "node007: 4X → 1X", "fresh001: new", "cable lost (1 of 2)"} {
		if !bytes.Contains(pic.SVG, []byte(words)) {
			t.Errorf("the SVG lacks %q", words)
		}
	}
}

func drawnIn(img image.Image, m layout.Mark) bool {
	want := looks[m].color
	b := img.Bounds()
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			if c := color.NRGBAModel.Convert(img.At(x, y)).(color.NRGBA); c == want {
				return true
			}
		}
	}
	return false
}

// TestHostileNamesStayText: node descriptions come from anybody with a root shell.
func TestHostileNamesStayText(t *testing.T) {
	top := tree(1, 2, 0)
	top.Node(hostGUID(0)).Description = `<script>alert("x")</script>&amp;`
	pic := draw(t, top, Options{})
	if bytes.Contains(pic.SVG, []byte("<script")) {
		t.Error("a name became markup")
	}
	d := xml.NewDecoder(bytes.NewReader(pic.SVG))
	for {
		if _, err := d.Token(); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

func BenchmarkTopology(b *testing.B) {
	for _, hosts := range []int{1000, 10000} {
		top := fabrictest.FatTree(hosts)
		b.Run(fmt.Sprint(hosts), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				draw(b, top, Options{})
			}
		})
	}
}
