package parse

import (
	"io"
	"slices"
	"strings"
)

// LSPCIReport is what lspci prints with any of -D, -nn, -k, -v to -vvv, or a
// part of it that grep left over. The summary speaks of Mellanox/NVIDIA
// network functions; Functions has every function. Where the text is about
// one function, its fields stand at the top level as well.
type LSPCIReport struct {
	Trouble
	*PCIFunction
	Outcome       string         `json:"outcome"`
	Class         string         `json:"class"`
	Lines         int            `json:"lines"`
	Mellanox      int            `json:"mellanox"`
	ByClass       map[string]int `json:"mellanox_by_class,omitempty"`
	FunctionCount int            `json:"function_count"`
	Chip          string         `json:"chip,omitempty"`
	Chips         []string       `json:"chips,omitempty"`
	Ethernet      []string       `json:"ethernet,omitempty"`
	InfiniBand    []string       `json:"infiniband,omitempty"`
	IBEthernet    []PCIIdentity  `json:"ib_or_eth_controllers,omitempty"`
	Functions     []PCIFunction  `json:"functions"`
	NoneListed    bool           `json:"no_devices,omitempty"`
}

// PCIIdentity is a function's headline.
type PCIIdentity struct {
	BDF    string `json:"bdf"`
	Class  string `json:"class"`
	Device string `json:"device"`
}

// PCIFunction is one function. Cap and Sta are nil where the text does not
// hold LnkCap or LnkSta, which needs -vv and root; Complete is false where it
// holds the one and was cut before the other. NUMANode is nil unless printed.
type PCIFunction struct {
	BDF           string   `json:"bdf,omitempty"`
	PCIClass      string   `json:"pci_class,omitempty"`
	ClassID       string   `json:"class_id,omitempty"`
	Device        string   `json:"device,omitempty"`
	VendorID      string   `json:"vendor_id,omitempty"`
	DeviceID      string   `json:"device_id,omitempty"`
	Rev           string   `json:"rev,omitempty"`
	Subsystem     string   `json:"subsystem,omitempty"`
	Virtual       bool     `json:"virtual_function"`
	FlashRecovery bool     `json:"flash_recovery,omitempty"`
	Driver        string   `json:"driver,omitempty"`
	Modules       []string `json:"modules,omitempty"`
	NUMANode      *int     `json:"numa_node,omitempty"`
	PartNumber    string   `json:"part_number,omitempty"`
	EC            string   `json:"ec,omitempty"`
	Serial        string   `json:"serial_number,omitempty"`
	Cap           *PCILink `json:"cap,omitempty"`
	Sta           *PCILink `json:"sta"`
	Downgraded    *bool    `json:"downgraded,omitempty"`
	Complete      *bool    `json:"complete,omitempty"`
	AccessDenied  bool     `json:"access_denied,omitempty"`
}

// LSPCI reads the output of lspci. No output at all is lspci's way to say
// that nothing matches its selection.
func LSPCI(r io.Reader) (*LSPCIReport, error) {
	s := newLines(r)
	rep := &LSPCIReport{Functions: []PCIFunction{}}
	known := false
	for line, ok := s.text(); ok; line, ok = s.text() {
		if f, ok := pciHeadline(line); ok {
			rep.Functions = append(rep.Functions, f)
			rep.Lines++
			known = true
			continue
		}
		if f := rep.detail(); f.detail(strings.TrimSpace(line)) {
			if len(rep.Functions) == 0 && f.telling() {
				rep.Functions = append(rep.Functions, *f)
			}
			known = known || len(rep.Functions) > 0
			continue
		}
		rep.complained(line)
	}
	for i := range rep.Functions {
		rep.Functions[i].close()
	}
	rep.summarise()
	if s.n == 0 && s.err == nil {
		rep.NoneListed, rep.Class, rep.Error = true, "no_devices", "no matching PCI function found: lspci printed nothing"
	}
	if rep.Error != "" {
		rep.Outcome = "failure"
	}
	return rep, rep.ended(s, known)
}

var _ = tool(LSPCI, "lspci", "lspci -k", "lspci -nn", "lspci -vv", "lspci -vvv")

// detail returns the function that an indented line belongs to; a text whose
// headlines were filtered out has one without a name.
func (rep *LSPCIReport) detail() *PCIFunction {
	if n := len(rep.Functions); n > 0 {
		return &rep.Functions[n-1]
	}
	return &PCIFunction{}
}

// telling reports whether a detail line alone proves that the text is
// lspci's; words like "Status:" do not.
func (f *PCIFunction) telling() bool {
	return f.Cap != nil || f.Sta != nil || f.Driver != "" || f.PartNumber != "" || f.NUMANode != nil
}

func (rep *LSPCIReport) summarise() {
	rep.Outcome, rep.Class = "success", "pci_list"
	for i := range rep.Functions {
		f := &rep.Functions[i]
		if !f.mellanox() {
			continue
		}
		rep.Mellanox++
		if rep.ByClass == nil {
			rep.ByClass = map[string]int{}
		}
		rep.ByClass[f.PCIClass]++
		switch f.PCIClass {
		case "Infiniband controller":
			rep.InfiniBand = append(rep.InfiniBand, f.BDF)
		case "Ethernet controller":
			rep.Ethernet = append(rep.Ethernet, f.BDF)
		case "Network controller":
		default:
			continue
		}
		rep.FunctionCount++
		rep.IBEthernet = append(rep.IBEthernet, PCIIdentity{f.BDF, f.PCIClass, f.Device})
		if c := f.chip(); !slices.Contains(rep.Chips, c) {
			rep.Chips = append(rep.Chips, c)
		}
	}
	if len(rep.Chips) == 1 {
		rep.Chip = rep.Chips[0]
	}
	if len(rep.Functions) == 1 {
		rep.PCIFunction = &rep.Functions[0]
	}
}

func (f *PCIFunction) mellanox() bool {
	return f.VendorID == "15b3" || strings.Contains(f.Device, "Mellanox")
}

// chip is the device without vendor, ids and revision.
func (f *PCIFunction) chip() string {
	c := strings.TrimSpace(strings.TrimPrefix(f.Device, "Mellanox Technologies"))
	if i := strings.LastIndex(c, " (rev "); i >= 0 {
		c = c[:i]
	}
	return c
}

// pciHeadline reads
//
//	0000:c1:00.0 Infiniband controller [0207]: Mellanox Technologies MT28908 Family [ConnectX-6] [15b3:101b] (rev 01)
func pciHeadline(line string) (PCIFunction, bool) {
	var f PCIFunction
	bdf, rest, ok := strings.Cut(line, " ")
	if !ok || !isBDF(bdf) {
		return f, false
	}
	class, device, ok := strings.Cut(rest, ": ")
	if !ok {
		return f, false
	}
	f.BDF, f.PCIClass, f.Device = bdf, class, strings.TrimSpace(device)
	if i := strings.LastIndex(class, " ["); i >= 0 && strings.HasSuffix(class, "]") {
		f.PCIClass, f.ClassID = class[:i], strings.Trim(class[i+1:], "[]")
	}
	if vendor, dev, ok := strings.Cut(device, ":"); ok && isHex(class) && len(class) == 4 && len(dev) >= 4 { // lspci -n
		f.ClassID, f.VendorID, f.DeviceID = class, strings.TrimSpace(vendor), dev[:4]
		if name, ok := pciClasses[class]; ok {
			f.PCIClass = name
		}
	}
	if rev, ok := between(device, "(rev ", ")"); ok {
		f.Rev = rev
	}
	for at := strings.LastIndexByte(device, '['); at >= 0; at = strings.LastIndexByte(device[:at], '[') {
		id, rest, closed := strings.Cut(device[at+1:], "]")
		if vendor, dev, ok := strings.Cut(id, ":"); ok && closed && len(vendor) == 4 && len(dev) == 4 {
			f.VendorID, f.DeviceID = vendor, dev
			f.Device = strings.TrimSpace(device[:at]) + strings.TrimSuffix(rest, " ")
			break
		}
	}
	f.Virtual = strings.Contains(device, "Virtual Function")
	f.FlashRecovery = strings.Contains(device, "Flash Recovery")
	return f, true
}

// pciClasses names the classes of network adapters as pci.ids does.
var pciClasses = map[string]string{"0200": "Ethernet controller", "0207": "Infiniband controller", "0280": "Network controller"}

// isBDF accepts bus:device.function with an optional domain of 4 to 8 digits.
func isBDF(s string) bool {
	parts := strings.Split(s, ":")
	if len(parts) == 3 {
		if n := len(parts[0]); n < 4 || n > 8 || !isHex(parts[0]) {
			return false
		}
		parts = parts[1:]
	}
	if len(parts) != 2 || len(parts[0]) != 2 || !isHex(parts[0]) {
		return false
	}
	dev, fn, ok := strings.Cut(parts[1], ".")
	return ok && len(dev) == 2 && isHex(dev) && len(fn) == 1 && fn >= "0" && fn <= "7"
}

func isHex(s string) bool {
	_, rest, ok := digits([]byte(s), 16)
	return ok && len(rest) == 0
}
