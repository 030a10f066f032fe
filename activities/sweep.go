package activities

import (
	"bytes"
	"context"
	"fmt"
	"sort"
	"strings"
	"time"

	"github.com/fabricbot/fabricbot/fabric"
	"github.com/fabricbot/fabricbot/fabric/parse"
)

// FabricState is one sweep of the fabric: counts here, the texts in the
// archive.
type FabricState struct {
	From   Vantage       `json:"from"`
	Counts fabric.Counts `json:"counts"`
	// Ports by logical state, of those that are cabled.
	Active       int `json:"active"`
	Initializing int `json:"initializing"`
	Armed        int `json:"armed"`
	// Discover and LinkInfo are the blobs of ibnetdiscover and iblinkinfo.
	Discover string `json:"discover"`
	LinkInfo string `json:"link_info"`
	// Trouble says why the sweep is partial.
	Trouble string `json:"trouble,omitempty"`
}

// sweepWithin bounds one tool that asks every node; 10,000 nodes take seconds,
// a fabric full of dead links minutes.
const sweepWithin = 8 * time.Minute

// Sweep discovers the fabric and stores the texts. An empty discovery is an
// error, never an empty fabric. Only looks; the blobs are stored by content.
func (h *Hosts) Sweep(ctx context.Context, from Vantage) (FabricState, error) {
	defer beat(ctx)()
	s := FabricState{From: from}
	topo, text, trouble, err := h.discover(ctx, from)
	if err != nil {
		return s, err
	}
	s.Counts, s.Trouble = topo.Counts(), trouble
	if s.Discover, _, err = h.Archive.PutBlob(ctx, bytes.NewReader(text)); err != nil {
		return s, err
	}
	res, err := h.lookWide(ctx, from.Host, from.tool("iblinkinfo", "-l")...)
	if err != nil {
		return s, err
	}
	rep, err := parse.IBLinkInfo(bytes.NewReader(res.Stdout))
	if err != nil {
		return s, final("iblinkinfo from %s printed nothing to read: %s", from, lastLines(res.Stderr, 2))
	}
	for _, row := range rep.UpLinks {
		state, _ := fabric.ParsePortState(row.State)
		switch state {
		case fabric.PortActive:
			s.Active++
		case fabric.PortInitializing:
			s.Initializing++
		case fabric.PortArmed:
			s.Armed++
		}
	}
	s.LinkInfo, _, err = h.Archive.PutBlob(ctx, bytes.NewReader(res.Stdout))
	return s, err
}

// discover runs ibnetdiscover and believes only what parses to a fabric.
func (h *Hosts) discover(ctx context.Context, from Vantage) (*fabric.Topology, []byte, string, error) {
	res, err := h.lookWide(ctx, from.Host, from.tool("ibnetdiscover")...)
	if err != nil {
		return nil, nil, "", err
	}
	text := res.Stdout
	if h.Clean != nil {
		text = h.Clean(text)
	}
	topo, err := parse.IBNetDiscover(bytes.NewReader(text))
	if err != nil || len(topo.Nodes) == 0 {
		return nil, nil, "", final("ibnetdiscover from %s found no fabric: %s", from, lastLines(append(res.Stderr, res.Stdout...), 2))
	}
	said := ""
	if topo.Incomplete {
		said = "the discovery ended in the middle: " + lastLines(res.Stderr, 2)
	}
	if res.Truncated {
		said = "the output was longer than the worker keeps"
	}
	return topo, text, said, nil
}

// LIDInput names two sweeps to compare.
type LIDInput struct{ Before, After string }

// LIDDelta is how the LIDs differ between two sweeps.
type LIDDelta struct {
	// Same counts ports whose LID is unchanged.
	Same int `json:"same"`
	// Changed, Lost and New list ports by name, at most listMost each.
	Changed []string `json:"changed,omitempty"`
	Lost    []string `json:"lost,omitempty"`
	New     []string `json:"new,omitempty"`
	// More counts those left out of the lists.
	More int `json:"more,omitempty"`
}

// listMost bounds the lists that travel through a run's history.
const listMost = 20

// Identical reports whether no LID changed and no port came or went.
func (d LIDDelta) Identical() bool {
	return len(d.Changed)+len(d.Lost)+len(d.New)+d.More == 0
}

// CompareLIDs compares the LID maps of two sweeps in the archive. Only looks.
func (h *Hosts) CompareLIDs(ctx context.Context, in LIDInput) (LIDDelta, error) {
	before, err := h.topologyBlob(ctx, in.Before)
	if err != nil {
		return LIDDelta{}, err
	}
	after, err := h.topologyBlob(ctx, in.After)
	if err != nil {
		return LIDDelta{}, err
	}
	var d LIDDelta
	add := func(list *[]string, s string) {
		if len(*list) < listMost {
			*list = append(*list, s)
		} else {
			d.More++
		}
	}
	old, now := lidMap(before), lidMap(after)
	for _, name := range sortedKeys(old) {
		lid, ok := now[name]
		switch {
		case !ok:
			add(&d.Lost, name)
		case lid != old[name]:
			add(&d.Changed, fmt.Sprintf("%s: %d → %d", name, old[name], lid))
		default:
			d.Same++
		}
	}
	for _, name := range sortedKeys(now) {
		if _, ok := old[name]; !ok {
			add(&d.New, name)
		}
	}
	return d, nil
}

func (h *Hosts) topologyBlob(ctx context.Context, blob string) (*fabric.Topology, error) {
	r, err := h.Archive.Blob(ctx, blob)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	topo, err := parse.IBNetDiscover(r)
	if err != nil {
		return nil, fmt.Errorf("reading the stored sweep %.12s: %w", blob, err)
	}
	return topo, nil
}

// lidMap maps every addressed port to its LID, by a name that is unique and
// readable: the description with the port's GUID or the switch's.
func lidMap(t *fabric.Topology) map[string]fabric.LID {
	m := map[string]fabric.LID{}
	for _, n := range t.Nodes {
		if n.Type == fabric.NodeSwitch {
			m[strings.TrimSpace(n.Description)+" "+n.GUID.String()] = n.LID
			continue
		}
		for _, p := range n.Ports {
			if p.LID != 0 {
				m[fmt.Sprintf("%s %s/%d", strings.TrimSpace(n.Description), n.GUID, p.Num)] = p.LID
			}
		}
	}
	return m
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}
