package parse

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/fabricbot/fabricbot/fabric"
)

func TestSMInfoAsNoun(t *testing.T) {
	rep, err := SMInfo(strings.NewReader("sminfo: sm lid 16 sm guid 0xc42a103000a0b10, activity count 788120 priority 14 state 3 SMINFO_MASTER\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := fabric.SM{GUID: 0xc42a103000a0b10, LID: 16, Priority: 14, ActivityCount: 788120, State: fabric.SMMaster}
	if got := rep.SMs[0].SM(); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestToolsFailureIsAnError(t *testing.T) {
	rep, err := SMInfo(strings.NewReader("sminfo: iberror: failed: query\n"))
	if err != nil || rep.Failed() == nil {
		t.Errorf("got %v and %v, want an understood text that reports failure", err, rep.Failed())
	}
}

func TestSpeedOfPort(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want fabric.Speed
	}{
		"extended_wins":    {"LinkSpeedActive:...10.0 Gbps\nLinkSpeedExtActive:...106.25 Gbps\n", fabric.NDR},
		"extended2_wins":   {"LinkSpeedActive:...10.0 Gbps\nLinkSpeedExtActive:...106.25 Gbps\nLinkSpeedExtActive2:...212.5 Gbps\n", fabric.XDR},
		"no_extended":      {"LinkSpeedActive:...10.0 Gbps\nLinkSpeedExtActive:...No Extended Speed\n", fabric.QDR},
		"nothing_readable": {"LinkSpeedActive:...undefined (0) (IBA extension)\n", fabric.SpeedUnknown},
	} {
		rep, err := SMPQuery(strings.NewReader("# Port info: Lid 9 port 1\n" + c.text))
		if err != nil {
			t.Fatal(err)
		}
		if got := rep.Sections[0].Fields.PortInfo().Speed; got != c.want {
			t.Errorf("%s: got %v, want %v", name, got, c.want)
		}
	}
}

func TestNodeRecordAsNoun(t *testing.T) {
	rep, err := SAQuery(strings.NewReader("NodeRecord dump:\n\t\tlid.....................9\n\t\tnode_type...............Channel Adapter\n" +
		"\t\tnum_ports...............2\n\t\tnode_guid...............0x0c42a10300000010\n\t\tport_guid...............0x0c42a10300000012\n" +
		"\t\tport_num................2\n\t\tvendor_id...............0x2C9\n\t\tNodeDescription.........node00001 HCA-1\n"))
	if err != nil {
		t.Fatal(err)
	}
	got, ok := rep.List[0].Node()
	want := fabric.Node{GUID: 0x0c42a10300000010, Type: fabric.NodeCA, Description: "node00001 HCA-1", VendorID: 0x2c9, NumPorts: 2,
		Ports: []fabric.Port{{Num: 2, GUID: 0x0c42a10300000012, LID: 9}}}
	if !ok || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestOpenSMTakesTheLastValue(t *testing.T) {
	rep, err := OpenSMConf(strings.NewReader("sm_priority 3\nsm_priority 14\n"))
	if err != nil {
		t.Fatal(err)
	}
	if got, ok := rep.Get("sm_priority"); !ok || got != "14" {
		t.Errorf("got %q, want 14", got)
	}
}

func TestOnlyASummaryProvesACleanFabric(t *testing.T) {
	const summary = "## Summary: 5 nodes checked, 0 bad nodes found\n##          19 ports checked, 0 ports have errors beyond threshold\n"
	for text, want := range map[string]bool{
		summary: true,
		"## Summary: 5 nodes checked, 0 bad nodes found\n":                               false,
		"Query SA failed: Connection timed out\n" + summary:                              false,
		strings.Replace(summary, "5 nodes checked", "0 nodes checked", 1):                false,
		"ibwarn: [1] query_and_dump: PortX query failed on n1, Lid 9 port 1\n" + summary: false,
	} {
		rep, err := IBQueryErrors(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		if rep.Clean != want {
			t.Errorf("clean is %v for %q", rep.Clean, text)
		}
	}
}

func TestPartitionTraps(t *testing.T) {
	for text, want := range map[string][]string{
		"Default=0x7fff : ALL=full ;":                               nil,
		"Default=0x7fff : ALL, SELF=full ;":                         {TrapDefaultLimited},
		"Default : ALL=full ; a : 0x1 ; a : 0x2 ;":                  {TrapSplit},
		"x=0x10 : ALL=full ;":                                       {TrapNoDefault},
		"Default=0xffff : ALL=full ; a=0x8001:; b=1:;":              {TrapSamePKey},
		"Default=0x7fff : ALL_SWITCHES=full ;":                      {TrapSelfMissing, TrapDefaultLimited},
		"Default=0x7fff : ALL=full ; a=0x20 : 0c42a10300000010 ;":   {TrapGUID},
		"Default=0x7fff : ALL=full ; a=0x8000 : ALL ; lost=0x9 : A": {TrapUnfinished, TrapPKey},
	} {
		rep, err := PartitionsConf(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range rep.Findings {
			got = append(got, f.Trap)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %v, want %v", text, got, want)
		}
	}
}

func TestPerftestAsNumbers(t *testing.T) {
	rep, err := Perftest(strings.NewReader(" #bytes     #iterations    BW peak[MiB/sec]    BW average[MiB/sec]   MsgRate[Mpps]\n 65536      5000             0.00            11920.93 		     0.190735\n"))
	if err != nil {
		t.Fatal(err)
	}
	got := rep.Results()[0]
	if got.Octets != 65536 || got.Iterations != 5000 || got.BWAverage < 99.999 || got.BWAverage > 100.001 {
		t.Errorf("got %+v, want 64 KiB at 100 Gb/s: 11920.93 MiB of 2^20 octets", got)
	}
	rep, err = Perftest(strings.NewReader(" #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]\n 2       1000          1.25           4.50         1.50\n"))
	if err != nil {
		t.Fatal(err)
	}
	if got := rep.Results()[0]; got.Min != 1250*time.Nanosecond || got.Max != 4500*time.Nanosecond || got.Typical != 1500*time.Nanosecond {
		t.Errorf("got %+v, want 1.25, 4.5 and 1.5 µs", got)
	}
}

func TestBitErrorRatios(t *testing.T) {
	for text, want := range map[string]float64{"2E-9": 2e-9, "15E-255": 0, "0": 0} {
		if got, ok := BER(text); !ok || got != want {
			t.Errorf("%s: got %v and %v, want %v", text, got, ok, want)
		}
	}
	for _, text := range []string{"N/A", "", "-1E-3", "nan", "inf"} {
		if got, ok := BER(text); ok {
			t.Errorf("%q: got %v, want none", text, got)
		}
	}
	if got := PerLane("4294967296, 22"); !reflect.DeepEqual(got, []uint64{1 << 32, 22}) {
		t.Errorf("got %v lanes", got)
	}
	if got := LanePowers("1.400,-0.900 [-9.6..6]"); !reflect.DeepEqual(got, []float64{1.4, -0.9}) {
		t.Errorf("got %v dBm", got)
	}
}
