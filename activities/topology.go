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
)

// TopologyKind is the archive's kind of fabric snapshots, and discoverFile the
// text in it from which a snapshot is read again.
const (
	TopologyKind = "topology"
	discoverFile = "ibnetdiscover.txt"
)

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

// CheckArchive fails before any work when nothing could be stored.
func (h *Hosts) CheckArchive(context.Context) error {
	if err := h.Archive.Check(); err != nil {
		return final("the archive cannot be written: %v", err)
	}
	return nil
}
