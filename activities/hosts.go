package activities

import (
	"context"
	"io"
	"io/fs"
	"time"

	"go.uber.org/zap"

	"github.com/fabricbot/fabricbot/fabric"
	"github.com/fabricbot/fabricbot/hostexec"
)

// Looker runs commands that only look.
type Looker interface {
	Look(ctx context.Context, host string, cmd hostexec.Command) (hostexec.Result, error)
	Get(ctx context.Context, host, path string, most int64) ([]byte, error)
}

// Changer has the power to alter hosts. It is apart from Looker so that every
// use of it stands out; each call carries the lease that allows it.
type Changer interface {
	// Fence draws the next lease token of a host for a run, from the host
	// itself; the same run draws the same token again.
	Fence(ctx context.Context, host, run string) (hostexec.Lease, error)
	Put(ctx context.Context, host string, lease hostexec.Lease, path string, mode fs.FileMode, content []byte) error
	StartJob(ctx context.Context, host string, lease hostexec.Lease, job hostexec.Job) (hostexec.JobStatus, error)
	PollJob(ctx context.Context, host, jobID string, offset int64) (hostexec.JobStatus, error)
}

// HostInfo is what the inventory says about a host.
type HostInfo struct {
	Name, Site, Rack, Leaf, Role string
	// Maintenance hosts are expected to be away.
	Maintenance bool
}

// Inventory knows the site's hosts and groups.
type Inventory interface {
	fabric.HostSource
	Info(host string) (HostInfo, bool)
}

// Snapshot is one commit of the archive.
type Snapshot struct {
	Run, Kind string
	Message   string
	Files     map[string][]byte
}

// Stored says where a snapshot went.
type Stored struct {
	ID        string
	Unchanged bool
}

// Archive keeps text snapshots in history and blobs by content.
type Archive interface {
	// Check fails when nothing could be stored now.
	Check() error
	// Commit is idempotent per run and kind.
	Commit(ctx context.Context, s Snapshot) (Stored, error)
	// Last returns the newest commit of a kind made by another run than the
	// given one; ok is false when there is none.
	Last(ctx context.Context, kind, notRun string) (id string, at time.Time, ok bool, err error)
	// Find resolves a commit id or its beginning, a run id, or a time such as
	// 2026-11-30 (the newest commit not after it).
	Find(ctx context.Context, kind, what string) (id string, at time.Time, err error)
	Read(ctx context.Context, id, path string) ([]byte, error)
	PutBlob(ctx context.Context, r io.Reader) (sha256 string, size int64, err error)
	Blob(ctx context.Context, sha256 string) (io.ReadCloser, error)
}

// Holder is who holds a named thing.
type Holder struct {
	Run string `json:"run"`
	Op  string `json:"op"`
	By  Person `json:"by"`
	Why string `json:"why,omitempty"`
}

// Engine answers who holds a named thing; the zero Holder means nobody.
type Engine interface {
	Holder(ctx context.Context, id string) (Holder, error)
}

// AuditEntry is one line of the audit log.
type AuditEntry struct {
	Run     string    `json:"run"`
	Op      string    `json:"op"`
	Event   string    `json:"event"`
	At      time.Time `json:"at"`
	By      Person    `json:"by"`
	Via     string    `json:"via,omitempty"`
	Words   string    `json:"words,omitempty"`
	Hash    string    `json:"hash,omitempty"`
	Targets []string  `json:"targets,omitempty"`
	Result  string    `json:"result,omitempty"`
	Reason  string    `json:"reason,omitempty"`
	// Number with Run and Event makes the entry unique, so that a repeated
	// append after a crash is recognised.
	Number int `json:"number"`
}

// AuditLog is append-only; an entry that is already there (same run, event and
// number) is not appended again.
type AuditLog interface {
	Append(ctx context.Context, e AuditEntry) error
}

// Rules is the site's configuration as far as acts need it.
type Rules interface {
	// Policy is who may approve an operation.
	Policy(operation string) Policy
	// ApprovalWindow is the time after which an undecided request is denied.
	ApprovalWindow() time.Duration
	// Cluster is the site's name in every message.
	Cluster() string
	// Aliases lists all ids of the human who has this one, itself included.
	Aliases(id string) []string
	// Frozen says why the calendar forbids changes; empty when it does not.
	Frozen(at time.Time) string
	// MaxHosts is the most hosts one changing run may touch.
	MaxHosts() int
}

// Hosts holds the acts on the hosts queue.
type Hosts struct {
	Look    Looker
	Change  Changer
	Site    Inventory
	Archive Archive
	Engine  Engine
	Log     AuditLog
	Rules   Rules
	Artist  Artist
	Zap     *zap.Logger
	// Clean takes out of a host's text what nobody can see and every secret, as
	// the archive does, so that what is compared with the archive is alike. Nil
	// leaves texts as they are.
	Clean func([]byte) []byte
	// Clock is nil outside tests.
	Clock Clock
}
