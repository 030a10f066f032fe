package parse

import (
	"io"
	"strings"
)

// IBDev2NetdevReport is what ibdev2netdev prints, with or without -v.
type IBDev2NetdevReport struct {
	Trouble
	Rows int         `json:"rows"`
	Up   int         `json:"up"`
	Down int         `json:"down"`
	Map  []NetdevRow `json:"map"`
}

// NetdevRow pairs an RDMA port with its network interface. The fields from
// PCI on exist with -v only; Part is what the card's product data gives,
// sometimes a serial number or "NA".
type NetdevRow struct {
	Device      string `json:"device"`
	Port        int    `json:"port"`
	Netdev      string `json:"netdev"`
	NetdevState string `json:"netdev_state"`
	*NetdevCard
}

// NetdevCard is what -v adds.
type NetdevCard struct {
	PCI         string `json:"pci"`
	Chip        string `json:"chip"`
	Part        string `json:"part"`
	Description string `json:"description"`
	Firmware    string `json:"fw"`
	IBState     string `json:"ib_state"`
}

// IBDev2Netdev reads
//
//	mlx5_0 port 1 ==> ib0 (Up)
//	0000:0d:00.0 mlx5_0 (MT41692 - PART) description (with brackets) fw 32.42.1000 port 1 (ACTIVE) ==> ib0 (Up)
func IBDev2Netdev(r io.Reader) (*IBDev2NetdevReport, error) {
	s := newLines(r)
	rep := &IBDev2NetdevReport{Map: []NetdevRow{}}
	for line, ok := s.text(); ok; line, ok = s.text() {
		left, right, ok := strings.Cut(line, " ==>")
		if !ok {
			rep.complained(line)
			continue
		}
		row, ok := netdevRow(strings.TrimSpace(left), strings.TrimSpace(right))
		if !ok {
			rep.Incomplete = true
			continue
		}
		rep.Rows++
		switch row.NetdevState {
		case "Up":
			rep.Up++
		case "Down":
			rep.Down++
		}
		rep.Map = append(rep.Map, row)
	}
	if s.n == 0 && s.err == nil {
		rep.Error = "no RDMA device found: ibdev2netdev printed nothing"
	}
	return rep, rep.ended(s, rep.Rows > 0 || rep.Incomplete)
}

var _ = tool(IBDev2Netdev, "ibdev2netdev", "ibdev2netdev -v")

func netdevRow(left, right string) (NetdevRow, bool) {
	var row NetdevRow
	open := strings.LastIndexByte(right, '(')
	if open < 0 {
		return row, false
	}
	// A port without an interface is printed as "()".
	row.Netdev, row.NetdevState = strings.TrimSpace(right[:open]), strings.TrimRight(right[open+1:], ") ")
	at := strings.LastIndex(left, " port ")
	if at < 0 {
		return row, false
	}
	head, tail := strings.TrimSpace(left[:at]), strings.TrimSpace(left[at+len(" port "):])
	number, ibState, _ := strings.Cut(tail, " ")
	port, ok := smallNumber(number)
	if !ok {
		return row, false
	}
	row.Port = port
	if isDeviceName(head) {
		row.Device = head
		return row, true
	}
	card := &NetdevCard{IBState: strings.TrimSpace(strings.Trim(strings.TrimSpace(ibState), "()"))}
	pci, rest, ok1 := strings.Cut(head, " ")
	device, rest, ok2 := strings.Cut(strings.TrimSpace(rest), " ")
	identity, ok3 := between(rest, "(", ")")
	_, rest, _ = strings.Cut(rest, ")")
	if !ok1 || !ok2 || !ok3 {
		return row, false
	}
	chip, part, _ := strings.Cut(identity, " - ")
	row.Device = device
	card.PCI, card.Chip, card.Part = pci, strings.TrimSpace(chip), strings.TrimSpace(part)
	if fw := strings.LastIndex(rest, " fw "); fw >= 0 {
		card.Firmware = strings.TrimSpace(rest[fw+len(" fw "):])
		rest = rest[:fw]
	}
	card.Description = strings.TrimSpace(rest)
	row.NetdevCard = card
	return row, isDeviceName(device)
}
