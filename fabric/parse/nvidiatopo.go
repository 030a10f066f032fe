package parse

import (
	"io"
	"regexp"
	"slices"
	"strings"
)

// GPUTopology is the matrix of nvidia-smi topo -m: how GPUs and NICs reach
// each other.
type GPUTopology struct {
	Trouble
	Verdict
	GPUs []string `json:"gpus,omitempty"`
	NICs []string `json:"nics,omitempty"` // as the columns name them
	// GPUCount and NICCount count the rows; NICs that the tool does not see
	// are not there.
	GPUCount int `json:"gpu_count"`
	NICCount int `json:"nic_count"`
	// NICMap maps NIC0 to its RDMA device where the matrix does not name it.
	NICMap map[string]string `json:"nic_map,omitempty"`
	// Pairs maps "GPU0-NIC1" to the connection, each pair once, in the
	// matrix's order.
	Pairs map[string]string `json:"pairs,omitempty"`
	// GPUGPU is the connection between all GPUs where it is the same.
	GPUGPU string `json:"gpu_gpu,omitempty"`
	// NearestNICs maps each GPU to the NICs that are closest to it, and
	// NearestLink is their connection where it is the same for all GPUs.
	NearestNICs  map[string][]string `json:"nearest_nics,omitempty"`
	NearestLink  string              `json:"nearest_link,omitempty"`
	CPUAffinity  map[string]string   `json:"cpu_affinity,omitempty"`
	NUMAAffinity map[string]string   `json:"numa_affinity,omitempty"`
	columns      []string
	hasCPU       bool
	hasNUMA      bool
}

// GPUTopo reads the output of nvidia-smi topo -m.
func GPUTopo(r io.Reader) (*GPUTopology, error) {
	s := newLines(r)
	rep := &GPUTopology{}
	for line, ok := s.text(); ok; line, ok = s.text() {
		words := strings.Fields(line)
		switch {
		case len(words) > 0 && len(rep.columns) == 0 && isGPU(words[0]) && rep.heading(line, words):
		case len(rep.columns) > 0 && rep.row(words):
		case len(words) == 2 && strings.HasPrefix(words[0], "NIC") && strings.HasSuffix(words[0], ":") && len(words[0]) < 12:
			put(&rep.NICMap, strings.TrimSuffix(words[0], ":"), words[1])
		case strings.HasPrefix(line, "NVIDIA-SMI has failed"), strings.Contains(line, "No devices were found"):
			rep.Error = strings.TrimSpace(line)
			rep.keep(rep.Error)
		default:
			rep.complained(line)
		}
	}
	rep.summarise()
	return rep, rep.ended(s, len(rep.columns) > 0)
}

var _ = tool(GPUTopo, "nvidia-smi_topo", "nvidia-smi topo -m")

// topoName is a row's or column's name; the length is bounded because names
// are multiplied in Pairs.
var topoName = regexp.MustCompile(`^(?:GPU\d{1,3}|NIC\d{1,3}|[a-z][\w.-]{1,20})$`)

// topoLink is a cell. NV# counts bonded NVLinks, X is the device itself.
var topoLink = regexp.MustCompile(`^(?:X|NV\d{1,3}|PIX|PXB|PHB|NODE|SYS|SOC|C2C|N/A)$`)

// topoRank orders connections by their length; SOC is SYS in old drivers.
var topoRank = []string{"NV", "C2C", "PIX", "PXB", "PHB", "NODE", "SYS", "SOC"}

// mostColumns bounds the matrix; a host of today has 8 GPUs and 18 NICs.
const mostColumns = 256

func isGPU(s string) bool { return strings.HasPrefix(s, "GPU") && isNumber(s[3:]) }

// heading reads the first line, whose last columns have names of two words.
func (rep *GPUTopology) heading(line string, words []string) bool {
	rep.hasCPU = strings.Contains(line, "CPU Affinity")
	rep.hasNUMA = strings.Contains(line, "NUMA Affinity")
	for _, w := range words {
		if len(rep.columns) == mostColumns || w == "CPU" || w == "NUMA" || w == "GPU" || !topoName.MatchString(w) {
			break
		}
		rep.columns = append(rep.columns, w)
	}
	return len(rep.columns) > 0
}

func (rep *GPUTopology) row(words []string) bool {
	if len(words) < 2 || !topoName.MatchString(words[0]) || !topoLink.MatchString(words[1]) {
		return false
	}
	name, cells := words[0], words[1:]
	at := slices.Index(rep.columns, name)
	if at < 0 || slices.Contains(rep.GPUs, name) || slices.Contains(rep.NICs, name) {
		return false
	}
	if isGPU(name) {
		rep.GPUs = append(rep.GPUs, name)
	} else {
		rep.NICs = append(rep.NICs, name)
	}
	n := min(len(cells), len(rep.columns))
	for i := range n {
		if !topoLink.MatchString(cells[i]) {
			n = i
			break
		}
		if i > at {
			if rep.Pairs == nil {
				rep.Pairs = map[string]string{}
			}
			rep.Pairs[name+"-"+rep.columns[i]] = cells[i]
		}
	}
	if n < len(rep.columns) {
		rep.Incomplete = true
		return true
	}
	rest := cells[n:]
	if rep.hasCPU && len(rest) > 0 {
		put(&rep.CPUAffinity, name, rest[0])
	}
	if rep.hasNUMA && len(rest) > 1 {
		put(&rep.NUMAAffinity, name, rest[1])
	}
	return true
}

// Link returns the connection between two devices, in either order.
func (rep *GPUTopology) Link(a, b string) (string, bool) {
	if l, ok := rep.Pairs[a+"-"+b]; ok {
		return l, true
	}
	l, ok := rep.Pairs[b+"-"+a]
	return l, ok
}

func rankOf(link string) int {
	if strings.HasPrefix(link, "NV") {
		link = "NV"
	}
	if i := slices.Index(topoRank, link); i >= 0 {
		return i
	}
	return len(topoRank)
}

func (rep *GPUTopology) summarise() {
	rep.GPUCount, rep.NICCount = len(rep.GPUs), len(rep.NICs)
	if len(rep.columns) > rep.GPUCount+rep.NICCount {
		rep.Incomplete = true
	}
	switch {
	case rep.GPUCount > 0 && !rep.Incomplete:
		rep.is(Informed, "")
	case rep.Error != "":
		rep.is(Failed, "error")
	default:
		rep.is(Truncated, "")
	}
	rep.GPUGPU = rep.common(func(yield func(string)) {
		for i, a := range rep.GPUs {
			for _, b := range rep.GPUs[i+1:] {
				l, _ := rep.Link(a, b)
				yield(l)
			}
		}
	})
	for _, g := range rep.GPUs {
		best := len(topoRank)
		var near []string
		for _, n := range rep.NICs {
			l, ok := rep.Link(g, n)
			switch r := rankOf(l); {
			case !ok || r > best:
			case r < best:
				best, near = r, []string{n}
			default:
				near = append(near, n)
			}
		}
		if near != nil {
			if rep.NearestNICs == nil {
				rep.NearestNICs = map[string][]string{}
			}
			rep.NearestNICs[g] = near
		}
	}
	rep.NearestLink = rep.common(func(yield func(string)) {
		for g, near := range rep.NearestNICs {
			l, _ := rep.Link(g, near[0])
			yield(l)
		}
	})
}

// common returns what all of a sequence are, or nothing.
func (rep *GPUTopology) common(each func(yield func(string))) string {
	first, same, any := "", true, false
	each(func(s string) {
		if !any {
			first, any = s, true
		}
		same = same && s == first
	})
	if !same {
		return ""
	}
	return first
}
