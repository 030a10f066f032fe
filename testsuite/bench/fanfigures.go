package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/fabricbot/fabricbot/testsuite/bench/farm"
	"github.com/fabricbot/fabricbot/testsuite/bench/figure"
)

// The limits of the fan-out: times faster than the peer.
const (
	coldLeast    = 5
	warmLeast    = 35
	ansibleLeast = 15
)

func (b *bench) fanFigures(taken map[string][]figure.Sample) {
	rows := []struct {
		name, ours, peer string
		least            float64
		note             string
	}{
		{"fan-out cold, whole program", byFabricctl, byPdsh, coldLeast, ""},
		{"fan-out cold, whole program", byFabricctl, byClush, coldLeast, ""},
		{"fan-out cold, in process", byPool, byPdsh, coldLeast, ""},
		{"fan-out cold, in process", byPool, byClush, coldLeast, ""},
		{"fan-out cold, whole program", byFabricctl, byPdshSame, 0, "without OpenSSH's costlier default key exchange; the servers' own work bounds the ratio"},
		{"fan-out warm, in process", byWarmPool, byPdsh, warmLeast, ""},
		{"fan-out warm, in process", byWarmPool, byAnsible, ansibleLeast, ""},
		{"fan-out warm, in process", byWarmPool, byBare, 0, "what is lost to bare sessions; the rest is the servers' own work on the same processors"},
	}
	for _, r := range rows {
		ours, peers := taken[r.ours], taken[r.peer]
		if len(ours) == 0 || len(peers) == 0 {
			continue // said where the contender was found missing
		}
		f := figure.Faster(r.name, r.peer, figure.Walls(ours), figure.Walls(peers), r.least)
		f.Note = r.note
		b.sheet.Put(f)
	}
	for _, peer := range []string{byPdsh, byPdshSame, byClush} {
		if ours, peers := taken[byFabricctl], taken[peer]; len(ours) > 0 && len(peers) > 0 {
			f := figure.Faster("fan-out cold, processor time of the client", peer, figure.CPUs(ours), figure.CPUs(peers), 0)
			f.Note = "what is left of the comparison where hosts have processors of their own"
			b.sheet.Put(f)
		}
	}
}

func hostRange(n int) string { return fmt.Sprintf("node[001-%03d]", n) }

// fanConfig writes the configuration and inventory for fabricctl.
func (b *bench) fanConfig(f *farm.Farm) (string, error) {
	config := filepath.Join(b.dir, "fanout.yaml")
	inventory := filepath.Join(b.dir, "fanout-hosts.yaml")
	hosts := fmt.Sprintf("hosts:\n  - name: %s\n    address: 127.78.0.[1-%d]\n    port: %d\n    user: %s\n", hostRange(f.Hosts), f.Hosts, f.Port, farm.User)
	text := fmt.Sprintf(`cluster: {name: bench}
temporal: {embedded: {data_dir: unused}}
ssh: {user: %s, keys: [%q], known_hosts: [%q], overall: %d, connect_timeout: 60s}
inventory: %q
data_dir: fanout-data
access: {rules: [{operations: ["*"], who: [team]}]}
`, farm.User, f.Key, f.KnownHosts, fanAtOnce, inventory)
	for path, content := range map[string]string{config: text, inventory: hosts} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			return "", fmt.Errorf("writing the fan-out's settings: %w", err)
		}
	}
	return config, nil
}
