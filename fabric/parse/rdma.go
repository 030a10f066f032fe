package parse

import (
	"io"
	"slices"
	"strings"

	"github.com/fabricbot/fabricbot/fabric"
)

// RDMALinkReport is what `rdma link show` prints.
type RDMALinkReport struct {
	Trouble
	Links  []RDMALink `json:"links"`
	Active int        `json:"active"`
	Down   int        `json:"down"`
}

// RDMALink is one port. More holds what -d adds.
type RDMALink struct {
	Device        string `json:"device"`
	Port          int    `json:"port"`
	State         string `json:"state"`
	PhysicalState string `json:"physical_state"`
	Netdev        string `json:"netdev,omitempty"`
	More          Fields `json:"more,omitempty"`
}

// RDMALinks reads
//
//	link mlx5_0/1 state ACTIVE physical_state LINK_UP netdev ens7f0np0
//
// and the form of iproute2 before 5.0 with an index: "1/1: mlx5_0/1: state …".
func RDMALinks(r io.Reader) (*RDMALinkReport, error) {
	s := newLines(r)
	rep := &RDMALinkReport{Links: []RDMALink{}}
	rows := rdmaRows(s, &rep.Trouble)
	for _, words := range rows {
		device, port, pairs, ok := rdmaPort(words)
		if !ok {
			continue
		}
		l := RDMALink{Device: device, Port: port}
		for i := 0; i+1 < len(pairs); i += 2 {
			switch pairs[i] {
			case "state":
				l.State = pairs[i+1]
			case "physical_state":
				l.PhysicalState = pairs[i+1]
			case "netdev":
				l.Netdev = pairs[i+1]
			default:
				l.More = append(l.More, Field{pairs[i], pairs[i+1]})
			}
		}
		switch st, _ := fabric.ParsePortState(l.State); st {
		case fabric.PortActive:
			rep.Active++
		case fabric.PortDown:
			rep.Down++
		}
		if l.State == "" {
			rep.Incomplete = true
		}
		rep.Links = append(rep.Links, l)
	}
	if s.n == 0 && s.err == nil {
		rep.Error = "no RDMA device found: rdma printed nothing"
	}
	return rep, rep.ended(s, len(rep.Links) > 0 || len(rows) > 0 && len(rows[0]) == 0)
}

var _ = tool(RDMALinks, "rdma link")

// rdmaPort takes "link", an index and "mlx5_0/1" from the front of a row.
func rdmaPort(w []string) (device string, port int, rest []string, ok bool) {
	if len(w) > 0 && w[0] == "link" {
		w = w[1:]
	}
	for len(w) > 0 {
		name, num, found := strings.Cut(strings.TrimSuffix(w[0], ":"), "/")
		if !found {
			break
		}
		if num == "-" {
			num = "0"
		}
		n, isNumber := smallNumber(num)
		if !isNumber || !isDeviceName(name) {
			break
		}
		device, port, ok = name, n, true
		w = w[1:]
	}
	return device, port, w, ok
}

// RDMAResReport is what `rdma resource show` prints for qp, cq, mr, pd, cm_id
// or ctx. Queue pairs that a library made through the driver's own interface
// (DEVX) are not among them, so an empty list does not prove an idle host.
type RDMAResReport struct {
	Trouble
	QPs        int            `json:"qps,omitempty"`
	CQs        int            `json:"cqs,omitempty"`
	MRs        int            `json:"mrs,omitempty"`
	PDs        int            `json:"pds,omitempty"`
	CMIDs      int            `json:"cm_ids,omitempty"`
	ByType     map[string]int `json:"by_type,omitempty"`
	LQPNs      []int          `json:"lqpns,omitempty"`
	AllState   string         `json:"all_state,omitempty"`
	Devices    []string       `json:"devices"`
	CQEValues  []int          `json:"cqe_values,omitempty"`
	UsersTotal int            `json:"users_total,omitempty"`
	Rows       []RDMAResource `json:"rows"`
}

// RDMAResource is one row. PID is 0 and Comm names the kernel module where
// the kernel itself is the owner.
type RDMAResource struct {
	Device string `json:"device"`
	Port   int    `json:"port,omitempty"`
	PID    int    `json:"pid,omitempty"`
	Comm   string `json:"comm,omitempty"`
	Fields Fields `json:"fields"`
}

// RDMAResources reads the output of `rdma resource show TYPE`.
func RDMAResources(r io.Reader) (*RDMAResReport, error) {
	s := newLines(r)
	rep := &RDMAResReport{Devices: []string{}, Rows: []RDMAResource{}}
	states := map[string]bool{}
	empty := false
	for _, words := range rdmaRows(s, &rep.Trouble) {
		row, ok := rdmaResource(words)
		if !ok {
			empty = empty || len(words) == 0
			continue
		}
		rep.Rows = append(rep.Rows, row)
		if !slices.Contains(rep.Devices, row.Device) {
			rep.Devices = append(rep.Devices, row.Device)
		}
		if st, ok := row.Fields.Get("state"); ok {
			states[st] = true
			rep.AllState = st
		}
		rep.count(row.Fields)
	}
	if len(states) != 1 {
		rep.AllState = ""
	}
	return rep, rep.ended(s, len(rep.Rows) > 0 || empty)
}

var _ = tool(RDMAResources, "rdma res", "rdma resource")

func (rep *RDMAResReport) count(f Fields) {
	number := func(name string) (int, bool) {
		v, _ := f.Get(name)
		return largeNumber(v)
	}
	if n, ok := number("lqpn"); ok {
		rep.QPs++
		rep.LQPNs = append(rep.LQPNs, n)
		if kind, ok := f.Get("type"); ok {
			if rep.ByType == nil {
				rep.ByType = map[string]int{}
			}
			rep.ByType[kind]++
		}
	}
	if n, ok := number("cqe"); ok {
		rep.CQs++
		if !slices.Contains(rep.CQEValues, n) && len(rep.CQEValues) < mostMessages {
			rep.CQEValues = append(rep.CQEValues, n)
		}
	}
	if n, ok := number("users"); ok {
		rep.UsersTotal += n
	}
	for _, kind := range []struct {
		name  string
		count *int
	}{{"mrn", &rep.MRs}, {"pdn", &rep.PDs}, {"cm-idn", &rep.CMIDs}} {
		if _, ok := f.Get(kind.name); ok {
			*kind.count++
		}
	}
}

// rdmaResource reads a row of pairs behind "link DEV/PORT", "dev DEV" or
// "ifindex N ifname DEV".
func rdmaResource(w []string) (RDMAResource, bool) {
	var row RDMAResource
	row.Fields = Fields{}
	var ok bool
	if len(w) > 1 && w[0] == "dev" {
		row.Device, w, ok = strings.TrimSuffix(w[1], ":"), w[2:], true
	} else if row.Device, row.Port, w, ok = rdmaPort(w); !ok && len(w) > 3 && w[0] == "ifindex" && w[2] == "ifname" {
		row.Device, w, ok = w[3], w[4:], true
	}
	if !ok || !isDeviceName(row.Device) {
		return row, false
	}
	for i := 0; i+1 < len(w); i += 2 {
		switch w[i] {
		case "pid":
			row.PID, _ = largeNumber(w[i+1])
		case "comm":
			row.Comm = strings.Join(w[i+1:], " ")
			return row, true
		}
		row.Fields = append(row.Fields, Field{w[i], w[i+1]})
	}
	return row, true
}
