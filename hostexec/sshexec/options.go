package sshexec

import (
	"fmt"
	"slices"
	"time"

	"github.com/fabricbot/fabricbot/hostexec"
)

// Endpoint is where and as whom to log in.
type Endpoint struct {
	Address string // name or IP address; empty is the host's own name
	Port    int    // 0 is 22
	User    string // empty is Options.User
	// HostKeyAlias is the name to look up in known_hosts instead of Address.
	HostKeyAlias string
	// Jump is the chain of hosts to pass through, first hop first.
	Jump []Endpoint
	// Keys are private key files to offer before those of Options.
	Keys []string
	// StateDir is where the journal of jobs and leases lies on the host. Empty
	// is /var/lib/fabricbot for root and ~/.fabricbot for others. Hosts that
	// share a file system need one each.
	StateDir string
}

// Options are the settings of a Pool. Zero values are usable except where said.
type Options struct {
	// Resolve turns a host's name into its endpoint; nil logs in to the name
	// itself. It is asked at every new connection.
	Resolve func(host string) (Endpoint, error)
	// User logs in where the endpoint names none; empty is "root".
	User string

	// KnownHosts are files in known_hosts format; "@cert-authority" and
	// "@revoked" lines count. Either these or HostCAs must be given.
	KnownHosts []string
	// HostCAs are files with public keys, one a line, whose host certificates
	// are accepted for every host (the principal must still be the host's).
	HostCAs []string

	// Keys are private key files; a certificate beside it (KEY-cert.pub) is used.
	Keys []string
	// Certificates are further user certificate files, matched to keys by content.
	Certificates []string
	// Agent offers the keys of the agent at AgentSocket as well.
	Agent bool
	// AgentSocket is a Unix socket path; with Agent it must be given.
	AgentSocket string
	// Passphrase is asked for the passphrase of an encrypted key file.
	Passphrase func(path string) ([]byte, error)

	ConnectTimeout time.Duration // each hop: TCP, key exchange and login; 0 is 15 s
	StartTimeout   time.Duration // from the request until the host's shell answers; 0 is 20 s
	KeepAlive      time.Duration // between probes; three unanswered end the connection; 0 is 15 s
	IdleClose      time.Duration // an unused connection is closed after this; 0 is 10 min

	PerHost int // commands at once on one host; 0 is 4 (sshd's MaxSessions is 10)
	Overall int // commands and log-ins at once; 0 is 64

	// SpillDir takes output beyond Command.MaxOutput, mode 0600; empty drops it.
	SpillDir string
	// MaxSpill bounds each spill file in bytes; 0 is 1 GiB. More is dropped.
	MaxSpill int64

	// Event, if set, is told what a log should have. It must not block.
	Event func(Event)
}

// Event is something an operator asks about later.
type Event struct {
	Kind   string // connected, closed, quarantined, released, killed, fenced
	Host   string
	Detail string
}

func (o Options) withDefaults() (Options, error) {
	if len(o.KnownHosts) == 0 && len(o.HostCAs) == 0 {
		return o, fmt.Errorf("opening ssh: no known_hosts file and no host authority are set; name one, host keys are always verified")
	}
	if o.Agent && o.AgentSocket == "" {
		return o, fmt.Errorf("opening ssh: the key agent is asked for but its socket is not set; set it or switch the agent off")
	}
	durations := []struct {
		d *time.Duration
		v time.Duration
	}{{&o.ConnectTimeout, 15 * time.Second}, {&o.StartTimeout, 20 * time.Second}, {&o.KeepAlive, 15 * time.Second}, {&o.IdleClose, 10 * time.Minute}}
	for _, d := range durations {
		if *d.d <= 0 {
			*d.d = d.v
		}
	}
	if o.PerHost <= 0 {
		o.PerHost = 4
	}
	if o.Overall <= 0 {
		o.Overall = 64
	}
	if o.MaxSpill <= 0 {
		o.MaxSpill = 1 << 30
	}
	if o.User == "" {
		o.User = "root"
	}
	if o.Resolve == nil {
		o.Resolve = func(host string) (Endpoint, error) { return Endpoint{Address: host}, nil }
	}
	if o.Event == nil {
		o.Event = func(Event) {}
	}
	return o, nil
}

func (o Options) complete(ep Endpoint, host string) (Endpoint, error) {
	if ep.Address == "" {
		ep.Address = host
	}
	if ep.Port == 0 {
		ep.Port = 22
	}
	if ep.User == "" {
		ep.User = o.User
	}
	if ep.StateDir == "" && ep.User == "root" {
		ep.StateDir = "/var/lib/fabricbot"
	}
	if ep.Port < 0 || ep.Port > 65535 {
		return ep, fmt.Errorf("endpoint of %s: port %d", host, ep.Port)
	}
	ep.Jump = slices.Clone(ep.Jump) // the resolver may hand out the same slice again
	for i, j := range ep.Jump {
		j, err := o.complete(j, j.Address)
		if err != nil {
			return ep, err
		}
		if len(j.Jump) > 0 {
			return ep, fmt.Errorf("endpoint of %s: jump host %s names jump hosts of its own; write the whole chain", host, j.Address)
		}
		ep.Jump[i] = j
	}
	return ep, nil
}

func refused(host, act, step, detail, next string, err error) error {
	return &hostexec.Error{Host: host, Act: act, Step: step, Outcome: hostexec.Refused, Detail: detail, Next: next, Err: err}
}
