package activities

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/fabricbot/fabricbot/fabric"
	"github.com/fabricbot/fabricbot/fabric/parse"
	"github.com/fabricbot/fabricbot/hostexec"
)

// HostFacts is the RDMA hardware and software of one host. What a host does
// not say is empty, never a guess.
type HostFacts struct {
	Host   string     `json:"host"`
	OS     string     `json:"os,omitempty"`
	Kernel string     `json:"kernel,omitempty"`
	Driver string     `json:"driver,omitempty"`
	Cards  []CardFact `json:"cards,omitempty"`
	Ports  []PortFact `json:"ports,omitempty"`
	// Netdevs maps an RDMA port such as mlx5_0/1 to its network interface.
	Netdevs map[string]string `json:"netdevs,omitempty"`
	// Trouble says why the host could not be asked at all.
	Trouble string `json:"trouble,omitempty"`
	// Findings concern this host.
	Findings []Finding `json:"findings,omitempty"`
}

// CardFact is one PCI function of a network adapter.
type CardFact struct {
	BDF    string `json:"bdf"`
	Device string `json:"device"`
	// PCIe is the link as it runs, PCIeMost what the card can, such as
	// "16GT/s x16"; empty where lspci was not allowed to say.
	PCIe     string `json:"pcie,omitempty"`
	PCIeMost string `json:"pcie_most,omitempty"`
	NUMA     *int   `json:"numa,omitempty"`
	Driver   string `json:"driver,omitempty"`
}

// PortFact is one port of an RDMA device.
type PortFact struct {
	Device    string     `json:"device"`
	CAType    string     `json:"ca_type"`
	Firmware  string     `json:"firmware"`
	PSID      string     `json:"psid,omitempty"`
	Port      int        `json:"port"`
	State     string     `json:"state"`
	Physical  string     `json:"physical"`
	Rate      string     `json:"rate"`
	LID       fabric.LID `json:"lid"`
	PortGUID  string     `json:"port_guid"`
	LinkLayer string     `json:"link_layer"`
}

// InspectDone is a batch of hosts: counts and exceptions here, the rest in the
// archive.
type InspectDone struct {
	Facts  string        `json:"facts"` // blob: JSON list of HostFacts
	Good   int           `json:"good"`
	Cards  int           `json:"cards"`
	Ports  int           `json:"ports"`
	Active int           `json:"active"`
	Silent []HostTrouble `json:"silent,omitempty"`
	// Findings of all hosts, at most findingsMost; More counts the rest.
	Findings []Finding `json:"findings,omitempty"`
	More     int       `json:"more,omitempty"`
}

// findingsMost bounds the findings of a batch that travel through history.
const findingsMost = 20

// Inspect looks at a batch of hosts. A host's failure stays with that host.
// Only looks.
func (h *Hosts) Inspect(ctx context.Context, hosts []string) (InspectDone, error) {
	defer beat(ctx)()
	all := onEach(ctx, hosts, hostWidth, h.inspectOne)
	var d InspectDone
	for _, f := range all {
		if f.Trouble != "" {
			d.Silent = append(d.Silent, HostTrouble{f.Host, f.Trouble})
			continue
		}
		d.Good++
		d.Cards += len(f.Cards)
		d.Ports += len(f.Ports)
		for _, p := range f.Ports {
			if s, _ := fabric.ParsePortState(p.State); s == fabric.PortActive {
				d.Active++
			}
		}
		for _, x := range f.Findings {
			if len(d.Findings) == findingsMost {
				d.More++
				continue
			}
			d.Findings = append(d.Findings, x)
		}
	}
	b, err := json.Marshal(all)
	if err != nil {
		return d, err
	}
	d.Facts, _, err = h.Archive.PutBlob(ctx, bytes.NewReader(b))
	return d, err
}

func (h *Hosts) inspectOne(ctx context.Context, host string) HostFacts {
	f := HostFacts{Host: host}
	res, err := h.look(ctx, host, ibstatWithin, "ibstat")
	if err != nil {
		f.Trouble = plain(err)
		return f
	}
	h.portFacts(ctx, &f, res)
	h.cardFacts(ctx, &f)
	h.systemFacts(ctx, &f)
	return f
}

func (f *HostFacts) find(sev Severity, action, format string, args ...any) {
	f.Findings = append(f.Findings, Finding{Severity: sev, Text: f.Host + ": " + fmt.Sprintf(format, args...), Action: action})
}

func (h *Hosts) portFacts(ctx context.Context, f *HostFacts, res hostexec.Result) {
	rep, err := parse.IBStat(bytes.NewReader(res.Stdout))
	switch {
	case err != nil, len(rep.CAs) == 0 && !rep.NoDevices:
		f.find(Unknown, "", "ibstat said nothing that can be read: %s", lastLines(append(res.Stderr, res.Stdout...), 1))
		return
	case rep.NoDevices:
		f.find(Fail, "driver install", "no RDMA device: driver not loaded, or no card")
		return
	}
	var down []string
	active := false
	for _, ca := range rep.CAs {
		psid := h.firstLine(ctx, f.Host, "cat", "/sys/class/infiniband/"+ca.Name+"/board_id")
		for _, p := range ca.Ports {
			f.Ports = append(f.Ports, PortFact{Device: ca.Name, CAType: ca.CAType, Firmware: ca.Firmware, PSID: psid, Port: p.Port,
				State: p.State, Physical: p.PhysState, Rate: p.Rate, LID: p.BaseLID, PortGUID: p.PortGUID, LinkLayer: p.LinkLayer})
			switch {
			case p.Logical() == fabric.PortActive:
				active = true
			case p.Physical() == fabric.PhysLinkUp:
				f.find(Fail, "sm status", "%s/%d is up but %s: no subnet manager configures it", ca.Name, p.Port, p.State)
			default:
				down = append(down, fmt.Sprintf("%s/%d is %s (%s)", ca.Name, p.Port, p.State, p.PhysState))
			}
		}
	}
	// A second port without a cable is ordinary; a host without any port that
	// works is not.
	switch {
	case len(down) > 0 && !active:
		f.find(Warn, "check the cable and the port at its other end", "no port works: %s", strings.Join(down, ", "))
	case len(down) > 0:
		f.find(Info, "", "%s", strings.Join(down, ", "))
	}
}

func (h *Hosts) cardFacts(ctx context.Context, f *HostFacts) {
	res, err := h.look(ctx, f.Host, ibstatWithin, "lspci", "-D", "-nn", "-vvv", "-d", "15b3:")
	if err != nil || res.Exit == 127 {
		f.find(Unknown, "", "lspci could not be run")
		return
	}
	rep, err := parse.LSPCI(bytes.NewReader(res.Stdout))
	if err != nil {
		f.find(Unknown, "", "lspci said nothing that can be read")
		return
	}
	for _, c := range rep.Functions {
		card := CardFact{BDF: c.BDF, Device: c.Device, NUMA: c.NUMANode, Driver: c.Driver}
		if c.Sta != nil {
			card.PCIe = pcieWords(c.Sta)
		}
		if c.Cap != nil {
			card.PCIeMost = pcieWords(c.Cap)
		}
		f.Cards = append(f.Cards, card)
		if c.FlashRecovery {
			f.find(Fail, "", "card %s is in flash recovery mode", c.BDF)
		}
		if c.Downgraded != nil && *c.Downgraded && !c.Virtual {
			f.find(Warn, "", "card %s runs PCIe %s, it can %s", c.BDF, card.PCIe, card.PCIeMost)
		}
	}
}

func pcieWords(l *parse.PCILink) string {
	return fmt.Sprintf("%gGT/s x%d", l.SpeedGTs, l.Width)
}

func (h *Hosts) systemFacts(ctx context.Context, f *HostFacts) {
	f.Kernel = h.firstLine(ctx, f.Host, "uname", "-r")
	if res, err := h.look(ctx, f.Host, ibstatWithin, "cat", "/etc/os-release"); err == nil {
		for line := range strings.Lines(string(res.Stdout)) {
			if v, ok := strings.CutPrefix(strings.TrimSpace(line), "PRETTY_NAME="); ok {
				f.OS = strings.Trim(v, `"`)
			}
		}
	}
	if res, err := h.look(ctx, f.Host, ibstatWithin, "ofed_info", "-s"); err == nil && res.Exit == 0 {
		if rep, err := parse.OFEDInfo(bytes.NewReader(res.Stdout)); err == nil {
			f.Driver = rep.Version
		}
	}
	if f.Driver == "" {
		if v := h.firstLine(ctx, f.Host, "modinfo", "-F", "version", "mlx5_core"); v != "" {
			f.Driver = "mlx5_core " + v
		}
	}
	if res, err := h.look(ctx, f.Host, ibstatWithin, "ibdev2netdev"); err == nil && res.Exit == 0 {
		if rep, err := parse.IBDev2Netdev(bytes.NewReader(res.Stdout)); err == nil && len(rep.Map) > 0 {
			f.Netdevs = map[string]string{}
			for _, row := range rep.Map {
				f.Netdevs[row.Device+"/"+strconv.Itoa(row.Port)] = row.Netdev
			}
		}
	}
}

// firstLine is what a command that succeeds prints first, else empty.
func (h *Hosts) firstLine(ctx context.Context, host string, argv ...string) string {
	res, err := h.look(ctx, host, ibstatWithin, argv...)
	if err != nil || res.Exit != 0 {
		return ""
	}
	line, _, _ := strings.Cut(string(res.Stdout), "\n")
	return strings.TrimSpace(line)
}

// InspectFiles joins the batches into files for the thread: a table of ports
// and everything as JSON. Computes only; stored by content.
func (h *Hosts) InspectFiles(ctx context.Context, blobs []string) ([]File, error) {
	defer beat(ctx)()
	var all []HostFacts
	for _, blob := range blobs {
		b, err := h.readBlob(ctx, blob)
		if err != nil {
			return nil, err
		}
		var batch []HostFacts
		if err := json.Unmarshal(b, &batch); err != nil {
			return nil, fmt.Errorf("reading inspection %.12s: %w", blob, err)
		}
		all = append(all, batch...)
	}
	var table bytes.Buffer
	w := csv.NewWriter(&table)
	_ = w.Write([]string{"host", "os", "kernel", "driver", "device", "ca_type", "firmware", "psid", "port", "netdev", "link_layer", "state", "physical", "rate_gbps", "lid", "port_guid", "trouble"})
	for _, f := range all {
		if len(f.Ports) == 0 {
			_ = w.Write([]string{f.Host, f.OS, f.Kernel, f.Driver, "", "", "", "", "", "", "", "", "", "", "", "", f.Trouble})
		}
		for _, p := range f.Ports {
			port := strconv.Itoa(p.Port)
			_ = w.Write([]string{f.Host, f.OS, f.Kernel, f.Driver, p.Device, p.CAType, p.Firmware, p.PSID, port, f.Netdevs[p.Device+"/"+port],
				p.LinkLayer, p.State, p.Physical, p.Rate, strconv.Itoa(int(p.LID)), p.PortGUID, ""})
		}
	}
	if w.Flush(); w.Error() != nil {
		return nil, w.Error()
	}
	whole, err := json.MarshalIndent(all, "", " ")
	if err != nil {
		return nil, err
	}
	var files []File
	for _, f := range []struct {
		name, title string
		body        []byte
	}{{"ports.csv", "Ports of all hosts", table.Bytes()}, {"hosts.json", "Everything that was found", whole}} {
		blob, size, err := h.Archive.PutBlob(ctx, bytes.NewReader(f.body))
		if err != nil {
			return nil, err
		}
		files = append(files, File{Name: f.name, Title: f.title, Blob: blob, Bytes: size})
	}
	return files, nil
}
