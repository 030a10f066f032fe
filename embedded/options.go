package embedded

import (
	"errors"
	"fmt"
	"path/filepath"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.uber.org/zap"

	"github.com/fabricbot/fabricbot/internal/engine"
)

// DefaultRetention is how long closed workflows stay readable when Options.Retention is zero.
const DefaultRetention = 30 * 24 * time.Hour

// minRetention is the shortest retention accepted. The server would take an hour (v1.32.1 common/namespace/const.go); a
// day is ours, so that yesterday can always be looked at.
const minRetention = 24 * time.Hour

// startTimeout bounds everything between Start and a served namespace. Measured 2026-12: 2.7 s for the very first
// start of a directory, 0.6 s for later ones, on two cores.
const startTimeout = 90 * time.Second

// Options says where the server keeps its data and what it serves.
type Options struct {
	// DataDir holds the SQLite file, certificates, log and meta.json. It is made with mode 0700; an existing one must
	// not be open to other users. Required.
	DataDir string
	// FrontendPort is the port on 127.0.0.1 that clients dial; 0 picks a free one and keeps it over restarts.
	FrontendPort int
	// UIPort is the port of the web UI on 127.0.0.1; 0 leaves the UI off.
	UIPort int
	// Namespace is made at the first start; empty means engine.DefaultNamespace.
	Namespace string
	// Retention is how long closed workflows stay readable; zero means DefaultRetention, less than a day is refused.
	Retention time.Duration
	// SearchAttributes are made usable in the namespace before Start returns; a name once given cannot change type.
	SearchAttributes map[string]enumspb.IndexedValueType
	// Log receives the few events an operator asks about later; nil drops them. What the server itself says goes to
	// engine.log in DataDir.
	Log *zap.Logger
}

func (o Options) withDefaults() (Options, error) {
	if o.DataDir == "" {
		return o, errors.New("starting engine: no data directory is named")
	}
	dir, err := filepath.Abs(o.DataDir)
	if err != nil {
		return o, fmt.Errorf("starting engine: data directory %s: %w", o.DataDir, err)
	}
	o.DataDir = dir
	if o.Namespace == "" {
		o.Namespace = engine.DefaultNamespace
	}
	if o.Retention == 0 {
		o.Retention = DefaultRetention
	}
	if o.Retention < minRetention {
		return o, fmt.Errorf("starting engine: retention %s is shorter than a day; runs would vanish before anyone looks at them", o.Retention)
	}
	if o.Log == nil {
		o.Log = zap.NewNop()
	}
	for name, port := range map[string]int{"frontend": o.FrontendPort, "web UI": o.UIPort} {
		if port < 0 || port > 65535 {
			return o, fmt.Errorf("starting engine: %s port %d is not between 0 and 65535", name, port)
		}
	}
	if o.UIPort != 0 && o.UIPort == o.FrontendPort {
		return o, fmt.Errorf("starting engine: frontend and web UI cannot share port %d", o.UIPort)
	}
	return o, nil
}
