package parse

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

// fuzz runs one parser on mutations of all fixtures of its tool in all its
// calls ("ibstat", "ibstat -p"). Whatever the text, the parser returns a
// value that is one JSON object, or an error, and never more than a bounded
// multiple of the text.
func fuzz(f *testing.F, tool string) {
	p, ok := Tool(tool)
	if !ok {
		f.Fatalf("no parser for %s", tool)
	}
	word, _, _ := strings.Cut(tool, " ")
	for _, name := range Tools() {
		if name == tool || strings.HasPrefix(name, word+" ") {
			for _, text := range fixtures(f, name) {
				f.Add(text)
			}
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		v, err := p(bytes.NewReader(text))
		if err != nil {
			return
		}
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		if len(b) == 0 || b[0] != '{' {
			t.Fatalf("not an object: %.80s", b)
		}
		if len(b) > 100*len(text)+10000 {
			t.Fatalf("%d bytes of report for %d bytes of text", len(b), len(text))
		}
	})
}

func FuzzIBNetDiscover(f *testing.F)         { fuzz(f, "ibnetdiscover") }
func FuzzIBNetDiscoverPortList(f *testing.F) { fuzz(f, "ibnetdiscover -p") }
func FuzzIBStat(f *testing.F)                { fuzz(f, "ibstat") }
func FuzzIBStatus(f *testing.F)              { fuzz(f, "ibstatus") }
func FuzzIBLinkInfo(f *testing.F)            { fuzz(f, "iblinkinfo") }
func FuzzSMInfo(f *testing.F)                { fuzz(f, "sminfo") }
func FuzzSAQuery(f *testing.F)               { fuzz(f, "saquery") }
func FuzzSMPQuery(f *testing.F)              { fuzz(f, "smpquery") }
func FuzzIBNodes(f *testing.F)               { fuzz(f, "ibhosts") }
func FuzzIBDev2Netdev(f *testing.F)          { fuzz(f, "ibdev2netdev") }
func FuzzLSPCI(f *testing.F)                 { fuzz(f, "lspci") }
func FuzzOFEDInfo(f *testing.F)              { fuzz(f, "ofed_info") }
func FuzzOpenSMConf(f *testing.F)            { fuzz(f, "opensm.conf") }
func FuzzPartitionsConf(f *testing.F)        { fuzz(f, "partitions.conf") }
func FuzzIBVDevInfo(f *testing.F)            { fuzz(f, "ibv_devinfo") }
func FuzzIBQueryErrors(f *testing.F)         { fuzz(f, "ibqueryerrors") }
func FuzzPerfQuery(f *testing.F)             { fuzz(f, "perfquery") }
func FuzzIBPortState(f *testing.F)           { fuzz(f, "ibportstate") }
func FuzzOpenSMLog(f *testing.F)             { fuzz(f, "opensm log") }
func FuzzRDMALinks(f *testing.F)             { fuzz(f, "rdma link") }
func FuzzRDMAResources(f *testing.F)         { fuzz(f, "rdma res") }
func FuzzShowGIDs(f *testing.F)              { fuzz(f, "show_gids") }
func FuzzDmesg(f *testing.F)                 { fuzz(f, "dmesg") }
func FuzzFlint(f *testing.F)                 { fuzz(f, "flint") }
func FuzzPerftest(f *testing.F)              { fuzz(f, "perftest") }
func FuzzMLXConfig(f *testing.F)             { fuzz(f, "mlxconfig") }
func FuzzMLXFWManager(f *testing.F)          { fuzz(f, "mlxfwmanager") }
func FuzzMLXFWReset(f *testing.F)            { fuzz(f, "mlxfwreset") }
func FuzzMLXLink(f *testing.F)               { fuzz(f, "mlxlink") }
func FuzzMST(f *testing.F)                   { fuzz(f, "mst") }
func FuzzMLXCables(f *testing.F)             { fuzz(f, "mlxcables") }
func FuzzMGetTemp(f *testing.F)              { fuzz(f, "mget_temp") }
func FuzzOFEDInstall(f *testing.F)           { fuzz(f, "mlnxofedinstall") }
func FuzzDKMS(f *testing.F)                  { fuzz(f, "dkms") }
func FuzzDOCAPackages(f *testing.F)          { fuzz(f, "doca_packages") }
func FuzzEthtoolInfo(f *testing.F)           { fuzz(f, "ethtool_i") }
func FuzzModinfo(f *testing.F)               { fuzz(f, "modinfo") }
func FuzzOpenIBD(f *testing.F)               { fuzz(f, "openibd") }
func FuzzSystemctlStatus(f *testing.F)       { fuzz(f, "systemctl_openibd") }
func FuzzGPUTopo(f *testing.F)               { fuzz(f, "nvidia-smi_topo") }
func FuzzIBDiagnet(f *testing.F)             { fuzz(f, "ibdiagnet") }
func FuzzQPerf(f *testing.F)                 { fuzz(f, "qperf") }
func FuzzRPing(f *testing.F)                 { fuzz(f, "rping") }
func FuzzULimit(f *testing.F)                { fuzz(f, "ulimit") }
