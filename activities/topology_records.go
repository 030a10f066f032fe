package activities

import (
	"bytes"
	"context"
	"encoding/json"
	"path"
	"strings"

	"github.com/fabricbot/fabricbot/fabric/parse"
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
