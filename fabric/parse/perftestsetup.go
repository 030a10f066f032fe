package parse

import (
	"encoding/json"
	"strconv"
	"strings"
)

// PerftestSetup is the block that perftest prints before it measures. A nil
// number is one that the text does not have: an option's value of 0 is
// something else.
type PerftestSetup struct {
	Device           string    `json:"device,omitempty"`
	QPs              *PerfQPs  `json:"qps,omitempty"`
	Transport        string    `json:"transport,omitempty"`
	Connection       string    `json:"connection,omitempty"` // RC, UC, UD, XRC, DC, SRD
	DualPort         string    `json:"dual_port,omitempty"`
	SRQ              string    `json:"srq,omitempty"`
	PCIeRelaxedOrder string    `json:"pcie_relax_order,omitempty"`
	IBVWrAPI         string    `json:"ibv_wr_api,omitempty"`
	TXDepth          *int      `json:"tx_depth,omitempty"`
	RXDepth          *int      `json:"rx_depth,omitempty"`
	PostList         *int      `json:"post_list,omitempty"`
	CQModeration     *int      `json:"cq_moderation,omitempty"`
	CQEPollBatch     string    `json:"cqe_poll_batch,omitempty"` // a number or Dynamic
	MTU              *int      `json:"mtu,omitempty"`            // octets
	Link             string    `json:"link,omitempty"`           // IB or Ethernet
	GIDIndex         *int      `json:"gid_index,omitempty"`
	MaxInline        *int      `json:"max_inline,omitempty"` // octets
	OutstandingReads *int      `json:"outstanding_reads,omitempty"`
	RDMACM           string    `json:"rdma_cm,omitempty"`
	DataExchange     string    `json:"data_exchange,omitempty"`
	TOS              *int      `json:"tos,omitempty"`
	Local            *PerfSide `json:"-"`
	Remote           *PerfSide `json:"-"`
}

// PerfQPs is the number of queue pairs of a test that was set up, or the
// numbers of those that could not be connected.
type PerfQPs struct {
	Count        int
	NotConnected []string
}

// MarshalJSON writes the one or the other.
func (q PerfQPs) MarshalJSON() ([]byte, error) {
	if q.NotConnected != nil {
		return json.Marshal(q.NotConnected)
	}
	return json.Marshal(q.Count)
}

// PerfSide is the first address line of one side, as text: LID 0x01, QPN,
// PSN, RKey, VAddr and GID.
type PerfSide struct {
	LID  string `json:"lid,omitempty"`
	QPN  string `json:"qpn,omitempty"`
	PSN  string `json:"psn,omitempty"`
	RKey string `json:"rkey,omitempty"`
	GID  string `json:"gid,omitempty"`
}

// setup reads " Number of qps   : 1            Transport type : IB", one or
// two labels a line with one word each.
func (rep *PerftestReport) setup(text string) bool {
	known := false
	for range 3 {
		label, rest, ok := strings.Cut(text, ":")
		if !ok {
			break
		}
		rest = strings.TrimSpace(rest)
		value, tail := rest, ""
		if i := strings.IndexAny(rest, " \t"); i >= 0 {
			value, tail = rest[:i], strings.TrimSpace(rest[i:])
		}
		if !rep.label(strings.TrimSpace(label), value) {
			break
		}
		known, text = true, tail
	}
	return known
}

func (rep *PerftestReport) label(label, value string) bool {
	words := map[string]*string{
		"Device": &rep.Device, "Transport type": &rep.Transport, "Connection type": &rep.Connection, "Dual-port": &rep.DualPort,
		"Using SRQ": &rep.SRQ, "PCIe relax order": &rep.PCIeRelaxedOrder, "ibv_wr* API": &rep.IBVWrAPI, "CQE Poll Batch": &rep.CQEPollBatch,
		"Link type": &rep.Link, "rdma_cm QPs": &rep.RDMACM, "Data ex. method": &rep.DataExchange,
	}
	if to, ok := words[label]; ok {
		*to = value
		return true
	}
	numbers := map[string]**int{
		"TX depth": &rep.TXDepth, "RX depth": &rep.RXDepth, "Post List": &rep.PostList, "CQ Moderation": &rep.CQModeration, "Mtu": &rep.MTU,
		"GID index": &rep.GIDIndex, "Max inline data": &rep.MaxInline, "Outstand reads": &rep.OutstandingReads, "TOS": &rep.TOS,
	}
	n := optionalInt(strings.TrimSuffix(value, "[B]"))
	if to, ok := numbers[label]; ok {
		*to = n
		return true
	}
	switch label {
	case "Number of qps":
		if n != nil {
			rep.QPs = &PerfQPs{Count: *n}
		}
	case "Lock-free", "Using Enhanced Reorder", "GID index2", "Use ROCm memory", "NUMA node", "Buffer size", "Recv Post List", "Using DDP":
	default:
		return false
	}
	return true
}

// address reads
//
//	local address: LID 0x01 QPN 0x004a PSN 0xbe352e RKey 0x1fff00 VAddr 0x007e6f4ed11000
func (rep *PerftestReport) address(text string) {
	side, rest, _ := strings.Cut(text, " address:")
	rep.lastSide = side
	count, to := &rep.LocalAddresses, &rep.Local
	if side == "remote" {
		count, to = &rep.RemoteAddresses, &rep.Remote
	}
	*count++
	if *to != nil {
		return
	}
	a := &PerfSide{}
	*to = a
	w := strings.Fields(rest)
	for i := 0; i+1 < len(w); i += 2 {
		switch w[i] {
		case "LID":
			a.LID = w[i+1]
		case "QPN":
			a.QPN = w[i+1]
		case "PSN":
			a.PSN = w[i+1]
		case "RKey":
			a.RKey = w[i+1]
		}
	}
}

func (rep *PerftestReport) gid(value string) {
	side := rep.Local
	if rep.lastSide == "remote" {
		side = rep.Remote
	}
	if side != nil && side.GID == "" {
		side.GID = value
	}
}

// MarshalJSON flattens the report and names each side's fields by the side.
func (rep PerftestReport) MarshalJSON() ([]byte, error) {
	type plain PerftestReport // without this method
	out := struct {
		plain
		Rows      []PerfRow `json:"rows"`
		RowCount  int       `json:"row_count"`
		FirstRow  PerfRow   `json:"first_row,omitempty"`
		LastRow   PerfRow   `json:"last_row,omitempty"`
		LocalLID  string    `json:"local_lid,omitempty"`
		LocalQPN  string    `json:"local_qpn,omitempty"`
		LocalPSN  string    `json:"local_psn,omitempty"`
		LocalGID  string    `json:"local_gid,omitempty"`
		RemoteLID string    `json:"remote_lid,omitempty"`
		RemoteQPN string    `json:"remote_qpn,omitempty"`
		RemotePSN string    `json:"remote_psn,omitempty"`
		RemoteGID string    `json:"remote_gid,omitempty"`
	}{plain: plain(rep), Rows: rep.Rows, RowCount: len(rep.Rows)}
	if n := len(rep.Rows); n > 0 {
		out.FirstRow, out.LastRow = rep.Rows[0], rep.Rows[n-1]
	}
	if a := rep.Local; a != nil {
		out.LocalLID, out.LocalQPN, out.LocalPSN, out.LocalGID = a.LID, a.QPN, a.PSN, a.GID
	}
	if a := rep.Remote; a != nil {
		out.RemoteLID, out.RemoteQPN, out.RemotePSN, out.RemoteGID = a.LID, a.QPN, a.PSN, a.GID
	}
	return json.Marshal(out)
}

// optionalInt reads a number that a message names.
func optionalInt(s string) *int {
	n, err := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(s), "."))
	if err != nil {
		return nil
	}
	return &n
}
