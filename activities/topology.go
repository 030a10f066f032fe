package activities

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
	"time"

	"github.com/fabricbot/fabricbot/fabric"
	"github.com/fabricbot/fabricbot/fabric/parse"
)

// TopologyKind is the archive's kind of fabric snapshots, and discoverFile the
// text in it from which a snapshot is read again.
const (
	TopologyKind = "topology"
	discoverFile = "ibnetdiscover.txt"
)

// TextBlob is one text of a snapshot: where it goes and its content's hash.
type TextBlob struct {
	Path string `json:"path"`
	Blob string `json:"blob"`
}

// Records are further texts about a fabric, as far as they could be had.
type Records struct {
	Texts   []TextBlob `json:"texts"`
	Missing []string   `json:"missing,omitempty"`
}

// recordTools are what a backup keeps beside the discovery (domain H.2).
var recordTools = []struct {
	file string
	argv []string
}{
	{"ibnetdiscover-ports.txt", []string{"ibnetdiscover", "-p"}},
	{"node-records.txt", []string{"saquery", "NR"}},
	{"sm-records.txt", []string{"saquery", "SMIR"}},
	{"multicast-groups.txt", []string{"saquery", "-g"}},
}

// SweepRecords asks the subnet administrator for its records. A record that
// cannot be had is named, not fatal. Only looks.
func (h *Hosts) SweepRecords(ctx context.Context, from Vantage) (Records, error) {
	defer beat(ctx)()
	var r Records
	for _, t := range recordTools {
		res, err := h.lookWide(ctx, from.Host, from.tool(t.argv[0], t.argv[1:]...)...)
		if err != nil {
			return r, err
		}
		if len(bytes.TrimSpace(res.Stdout)) == 0 {
			r.Missing = append(r.Missing, t.file+": "+lastLines(res.Stderr, 1))
			continue
		}
		if err := h.keep(ctx, &r.Texts, t.file, res.Stdout); err != nil {
			return r, err
		}
	}
	return r, nil
}

func (h *Hosts) keep(ctx context.Context, to *[]TextBlob, file string, text []byte) error {
	blob, _, err := h.Archive.PutBlob(ctx, bytes.NewReader(text))
	*to = append(*to, TextBlob{file, blob})
	return err
}

// HostPorts is what ibstat says on many hosts.
type HostPorts struct {
	Answered int `json:"answered"`
	// Silent lists hosts without an answer, with the reason.
	Silent []HostTrouble `json:"silent,omitempty"`
	// Texts is a blob: JSON object from host to the text of ibstat.
	Texts string `json:"texts"`
}

// HostTrouble is what is wrong with one host.
type HostTrouble struct {
	Host string `json:"host"`
	Text string `json:"text"`
}

// hostWidth is how many hosts of a batch are asked at once; the pool of
// connections has its own bound over all batches.
const hostWidth = 32

// AskHostPorts runs ibstat on a batch of hosts. Only looks.
func (h *Hosts) AskHostPorts(ctx context.Context, hosts []string) (HostPorts, error) {
	defer beat(ctx)()
	type answer struct{ text, trouble string }
	texts := map[string]string{}
	var p HostPorts
	for i, a := range onEach(ctx, hosts, hostWidth, func(ctx context.Context, host string) answer {
		res, err := h.look(ctx, host, ibstatWithin, "ibstat")
		switch {
		case err != nil:
			return answer{trouble: plain(err)}
		case len(bytes.TrimSpace(res.Stdout)) == 0:
			return answer{trouble: "ibstat shows no device"}
		}
		return answer{text: string(res.Stdout)}
	}) {
		if a.trouble != "" {
			p.Silent = append(p.Silent, HostTrouble{hosts[i], a.trouble})
			continue
		}
		p.Answered++
		texts[hosts[i]] = a.text
	}
	b, err := json.Marshal(texts)
	if err != nil {
		return p, err
	}
	p.Texts, _, err = h.Archive.PutBlob(ctx, bytes.NewReader(b))
	return p, err
}

// SMFiles reads the subnet managers' configuration with every key withheld:
// secrets do not go into the archive. Only looks.
func (h *Hosts) SMFiles(ctx context.Context) (Records, error) {
	defer beat(ctx)()
	var r Records
	for _, host := range h.plannedSMs() {
		had := len(r.Texts)
		for _, file := range []string{"/etc/opensm/opensm.conf", "/etc/rdma/opensm.conf", "/etc/opensm/partitions.conf", "/etc/rdma/partitions.conf", "/var/cache/opensm/guid2lid"} {
			text, err := h.Look.Get(ctx, host, file, maxConf)
			if err != nil {
				continue
			}
			if err := h.keep(ctx, &r.Texts, path.Join("sm", host, path.Base(file)), withholdKeys(text)); err != nil {
				return r, err
			}
		}
		if len(r.Texts) == had {
			r.Missing = append(r.Missing, host+": no opensm.conf could be read")
		}
	}
	return r, nil
}

// withholdKeys blanks the values of settings that hold a key.
func withholdKeys(conf []byte) []byte {
	rep, err := parse.OpenSMConf(bytes.NewReader(conf))
	if err != nil || len(rep.Secrets) == 0 {
		return conf
	}
	secret := map[string]bool{}
	for _, s := range rep.Secrets {
		secret[s] = true
	}
	var out bytes.Buffer
	for line := range strings.Lines(string(conf)) {
		if f := strings.Fields(line); len(f) > 1 && secret[f[0]] {
			line = f[0] + " (withheld)\n"
		}
		out.WriteString(line)
	}
	return out.Bytes()
}

// StoreInput is everything of one backup.
type StoreInput struct {
	Run     string      `json:"run"`
	Cluster string      `json:"cluster"`
	By      Person      `json:"by"`
	State   FabricState `json:"state"`
	Texts   []TextBlob  `json:"texts"`
	Hosts   []string    `json:"hosts"` // blobs of HostPorts.Texts
	// Smaller accepts a fabric much smaller than the last one.
	Smaller bool `json:"smaller"`
}

// StoreDone is where a backup went and what changed since the last one.
type StoreDone struct {
	Commit string        `json:"commit"`
	Files  int           `json:"files"`
	Delta  TopologyDelta `json:"delta"`
}

// StoreTopology commits a backup and compares it with the one before.
// Idempotent: the archive has one commit per run.
func (h *Hosts) StoreTopology(ctx context.Context, in StoreInput) (StoreDone, error) {
	defer beat(ctx)()
	var done StoreDone
	now, err := h.topologyBlob(ctx, in.State.Discover)
	if err != nil {
		return done, err
	}
	last, at, ok, err := h.Archive.Last(ctx, TopologyKind, in.Run)
	if err != nil {
		return done, err
	}
	if ok {
		if done.Delta, err = h.deltaSince(ctx, last, at, now); err != nil {
			return done, err
		}
		if done.Delta.Suspicious != "" && !in.Smaller {
			return done, final("%s; not stored, since a cut or half-finished discovery would look just so. When the fabric really shrank, repeat with -smaller", done.Delta.Suspicious)
		}
	}
	files, err := h.filesOf(ctx, in)
	if err != nil {
		return done, err
	}
	stored, err := h.Archive.Commit(ctx, Snapshot{Run: in.Run, Kind: TopologyKind, Files: files,
		Message: fmt.Sprintf("topology of %s: %d adapters, %d switches, %d links", in.Cluster, in.State.Counts.CAs, in.State.Counts.Switches, in.State.Counts.Links)})
	if err != nil {
		return done, err
	}
	done.Commit, done.Files = stored.ID, len(files)
	return done, nil
}

// filesOf collects the snapshot's files and adds their checksums.
func (h *Hosts) filesOf(ctx context.Context, in StoreInput) (map[string][]byte, error) {
	files := map[string][]byte{}
	add := func(name, blob string) error {
		b, err := h.readBlob(ctx, blob)
		files[name] = withoutDate(b)
		return err
	}
	err := errors.Join(add(discoverFile, in.State.Discover), add("iblinkinfo.txt", in.State.LinkInfo))
	for _, t := range in.Texts {
		err = errors.Join(err, add(t.Path, t.Blob))
	}
	for _, blob := range in.Hosts {
		b, e := h.readBlob(ctx, blob)
		texts := map[string]string{}
		if e == nil {
			e = json.Unmarshal(b, &texts)
		}
		err = errors.Join(err, e)
		for host, text := range texts {
			files[path.Join("hosts", host, "ibstat.txt")] = []byte(text)
		}
	}
	var sums strings.Builder
	for _, name := range sortedKeys(files) {
		fmt.Fprintf(&sums, "%s  %s\n", sum(files[name]), name)
	}
	files["SHA256SUMS"] = []byte(sums.String())
	return files, err
}

// withoutDate drops the line with which ibnetdiscover dates its output, so
// that an unchanged fabric is an unchanged file.
func withoutDate(text []byte) []byte {
	if !bytes.Contains(text[:min(len(text), 400)], []byte("generated on")) {
		return text
	}
	var out bytes.Buffer
	for line := range bytes.Lines(text) {
		if !bytes.HasPrefix(line, []byte("# Topology file: generated on")) {
			out.Write(line)
		}
	}
	return out.Bytes()
}

func (h *Hosts) readBlob(ctx context.Context, blob string) ([]byte, error) {
	r, err := h.Archive.Blob(ctx, blob)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(r)
}

// TopologyDelta is what changed between two snapshots, ready for people.
type TopologyDelta struct {
	// Since is the older snapshot, empty when there is none.
	Since   string    `json:"since,omitempty"`
	SinceAt time.Time `json:"since_at,omitzero"`
	// Summary is one sentence; Lines are the changes, the most important
	// first, at most deltaMost, and More counts the rest.
	Summary string            `json:"summary"`
	Lines   []string          `json:"lines,omitempty"`
	More    int               `json:"more,omitempty"`
	Counts  fabric.DiffCounts `json:"counts"`
	// Suspicious says why the newer one may be half a discovery.
	Suspicious string `json:"suspicious,omitempty"`
	// Text is the blob of the full list when it is longer than Lines.
	Text string `json:"text,omitempty"`
}

// deltaMost bounds the lines that travel through a run's history and message.
const deltaMost = 40

func (h *Hosts) deltaSince(ctx context.Context, id string, at time.Time, now *fabric.Topology) (TopologyDelta, error) {
	old, err := h.storedTopology(ctx, id)
	if err != nil {
		return TopologyDelta{}, err
	}
	return h.delta(ctx, id, at, old, now)
}

func (h *Hosts) storedTopology(ctx context.Context, id string) (*fabric.Topology, error) {
	b, err := h.Archive.Read(ctx, id, discoverFile)
	if err != nil {
		return nil, err
	}
	topo, err := parse.IBNetDiscover(bytes.NewReader(b))
	if err != nil {
		return nil, fmt.Errorf("reading snapshot %.12s: %w", id, err)
	}
	return topo, nil
}

func (h *Hosts) delta(ctx context.Context, id string, at time.Time, old, now *fabric.Topology) (TopologyDelta, error) {
	d := fabric.Compare(old, now, fabric.DiffOptions{InMaintenance: func(host string) bool {
		info, ok := h.Site.Info(host)
		return ok && info.Maintenance
	}})
	out := TopologyDelta{Since: id, SinceAt: at, Summary: d.Summary(), Counts: d.Counts, Suspicious: d.Suspicious}
	for i, c := range d.Changes {
		if i == deltaMost {
			out.More = len(d.Changes) - i
			var all strings.Builder
			for _, c := range d.Changes {
				all.WriteString(c.Text + "\n")
			}
			var err error
			out.Text, _, err = h.Archive.PutBlob(ctx, strings.NewReader(all.String()))
			return out, err
		}
		out.Lines = append(out.Lines, c.Text)
	}
	return out, nil
}

// DiffInput names two pictures of the fabric: What of an archive snapshot (a
// commit, a run, a date; empty for the newest), or the blob of a sweep.
type DiffInput struct {
	Run     string `json:"run"`
	From    string `json:"from,omitempty"`
	To      string `json:"to,omitempty"`
	ToSweep string `json:"to_sweep,omitempty"`
}

// DiffTopology compares two pictures. Only looks.
func (h *Hosts) DiffTopology(ctx context.Context, in DiffInput) (TopologyDelta, error) {
	id, at, err := h.snapshot(ctx, in.Run, in.From)
	if err != nil {
		return TopologyDelta{}, err
	}
	var now *fabric.Topology
	if in.ToSweep != "" {
		now, err = h.topologyBlob(ctx, in.ToSweep)
	} else {
		var to string
		if to, _, err = h.snapshot(ctx, in.Run, in.To); err == nil {
			now, err = h.storedTopology(ctx, to)
		}
	}
	if err != nil {
		return TopologyDelta{}, err
	}
	return h.deltaSince(ctx, id, at, now)
}

// snapshot finds the stored snapshot that a person means.
func (h *Hosts) snapshot(ctx context.Context, run, what string) (string, time.Time, error) {
	if what != "" {
		id, at, err := h.Archive.Find(ctx, TopologyKind, what)
		if err != nil {
			return "", at, final("%v", err)
		}
		return id, at, nil
	}
	id, at, ok, err := h.Archive.Last(ctx, TopologyKind, run)
	if err == nil && !ok {
		err = final("there is no backup of this fabric yet; run `topology backup` first")
	}
	return id, at, err
}

// CheckArchive fails before any work when nothing could be stored.
func (h *Hosts) CheckArchive(context.Context) error {
	if err := h.Archive.Check(); err != nil {
		return final("the archive cannot be written: %v", err)
	}
	return nil
}
