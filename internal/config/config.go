package config

import (
	"slices"
	"time"

	"github.com/fabricbot/fabricbot/internal/access"
)

// Config is the whole file. Relative paths in it are seen from the folder of the file; Load makes them absolute.
type Config struct {
	Cluster   Cluster       `yaml:"cluster"`
	Slack     Slack         `yaml:"slack"`
	Temporal  Temporal      `yaml:"temporal"`
	SSH       SSH           `yaml:"ssh"`
	Inventory string        `yaml:"inventory"` // file of hosts and groups; default inventory.yaml
	DataDir   string        `yaml:"data_dir"`  // state of the programs; default data
	Archive   string        `yaml:"archive"`   // folder of the archive; default archive in data_dir
	Audit     string        `yaml:"audit"`     // file of the audit log; default audit.jsonl in data_dir
	Access    access.Policy `yaml:"access"`
	Limits    Limits        `yaml:"limits"`
	Freeze    Freeze        `yaml:"freeze"`
	Redact    Redact        `yaml:"redact"`
}

// Cluster is the site this bot serves. One bot serves one.
type Cluster struct {
	Name string `yaml:"name"` // shown in every message; required
}

// Slack is how the bot listens and speaks.
type Slack struct {
	Mode          string `yaml:"mode"`           // socket (default: the bot calls out) or http (Slack calls in)
	BotToken      Secret `yaml:"bot_token"`      // xoxb-…; default env:FABRICBOT_SLACK_BOT_TOKEN
	AppToken      Secret `yaml:"app_token"`      // xapp-…, for mode socket; default env:FABRICBOT_SLACK_APP_TOKEN
	SigningSecret Secret `yaml:"signing_secret"` // for mode http, where it is required
	APIURL        string `yaml:"api_url"`        // default https://slack.com/api/; plain http for loopback only
	Listen        string `yaml:"listen"`         // host:port for mode http; default 127.0.0.1:8080
	TeamID        string `yaml:"team_id"`        // T…; requests of other teams are refused, and without it all are
	// Channels the bot listens in, by id, each with the name people know it by. Empty means none.
	Channels map[string]string `yaml:"channels"`
}

// Temporal is the engine: embedded in fabricd, or a cluster at an address.
type Temporal struct {
	Embedded  *Embedded `yaml:"embedded"`  // default when no address is given
	Address   string    `yaml:"address"`   // host:port of a cluster's frontend
	Namespace string    `yaml:"namespace"` // default fabricbot
	TLS       TLS       `yaml:"tls"`
	APIKey    Secret    `yaml:"api_key"`
}

// Embedded is the engine inside fabricd.
type Embedded struct {
	DataDir string `yaml:"data_dir"` // default temporal in data_dir
	UIPort  int    `yaml:"ui_port"`  // web page on loopback; default 8233, 0 for none
}

// TLS of the connection to a cluster. CA, Cert and Key are paths of PEM files.
type TLS struct {
	Enabled    bool   `yaml:"enabled"`
	CA         string `yaml:"ca"`
	Cert       string `yaml:"cert"`
	Key        string `yaml:"key"`
	ServerName string `yaml:"server_name"`
}

// SSH is how the worker logs in. Host keys are always checked, against KnownHosts or HostCA.
type SSH struct {
	User           string        `yaml:"user"`            // default root; the inventory may say otherwise for a host
	Keys           []string      `yaml:"keys"`            // private key files
	Agent          bool          `yaml:"agent"`           // also ask the agent at SSH_AUTH_SOCK
	Certificates   []string      `yaml:"certificates"`    // user certificates for the keys
	KnownHosts     []string      `yaml:"known_hosts"`     // files in the format of OpenSSH
	HostCA         []string      `yaml:"host_ca"`         // files with public keys that sign host keys
	SSHConfig      string        `yaml:"ssh_config"`      // OpenSSH client configuration to take host settings from
	Jump           []string      `yaml:"jump"`            // [user@]host[:port] hops before every host, first one first
	ConnectTimeout time.Duration `yaml:"connect_timeout"` // per hop, default 10s
	PerHost        int           `yaml:"per_host"`        // sessions at once on one host, default 4 (sshd's MaxSessions is 10)
	Overall        int           `yaml:"overall"`         // hosts worked on at once, default 64
}

// Limits bound what one run may do. None of them can be lifted from the chat, and none may be 0: there is no "unlimited".
type Limits struct {
	MaxHostsPerRun int           `yaml:"max_hosts_per_run"` // hosts of a run that changes something, default 512
	ConfirmAbove   int           `yaml:"confirm_above"`     // more hosts need the count typed, default 8
	ApprovalWindow time.Duration `yaml:"approval_window"`   // then a request expires, which denies; default 4h, at most 24h
}

// Freeze is the calendar of times in which nothing may be changed.
type Freeze struct {
	Windows []FreezeWindow `yaml:"windows"`
}

// FreezeWindow forbids changes from From (included) to Until (excluded).
type FreezeWindow struct {
	From   time.Time `yaml:"from"`  // with a zone, as 2026-12-20T00:00:00Z
	Until  time.Time `yaml:"until"` // after From
	Reason string    `yaml:"reason"`
}

// Redact adds to what is hidden in every output.
type Redact struct {
	Patterns []string `yaml:"patterns"` // RE2; where one has groups, only what these match is hidden
}

// Default returns what holds for everything a file leaves out.
func Default() Config {
	return Config{
		Slack: Slack{
			Mode:     "socket",
			BotToken: Secret{ref: "env:FABRICBOT_SLACK_BOT_TOKEN"},
			AppToken: Secret{ref: "env:FABRICBOT_SLACK_APP_TOKEN"},
			APIURL:   "https://slack.com/api/",
			Listen:   "127.0.0.1:8080",
		},
		Temporal:  Temporal{Namespace: "fabricbot"},
		SSH:       SSH{User: "root", ConnectTimeout: 10 * time.Second, PerHost: 4, Overall: 64},
		Inventory: "inventory.yaml",
		DataDir:   "data",
		Limits: Limits{
			MaxHostsPerRun: 512, ConfirmAbove: 8, ApprovalWindow: 4 * time.Hour,
		},
	}
}

// defaultUIPort is where Temporal's own development server has its web page.
const defaultUIPort = 8233

// At returns the freeze that holds at the given time, if any.
func (f Freeze) At(at time.Time) (FreezeWindow, bool) {
	for _, w := range f.Windows {
		if !at.Before(w.From) && at.Before(w.Until) {
			return w, true
		}
	}
	return FreezeWindow{}, false
}

// Secrets lists every secret the configuration refers to.
func (c *Config) Secrets() []Secret {
	var given []Secret
	for _, s := range []Secret{c.Slack.BotToken, c.Slack.AppToken, c.Slack.SigningSecret, c.Temporal.APIKey} {
		if !s.IsZero() {
			given = append(given, s)
		}
	}
	return given
}

// Placeholders lists the ids in use that only stand as examples in example.yaml and deploy/fabricbot.yaml.
func (c *Config) Placeholders() []string {
	var used []string
	add := func(ids ...string) { used = append(used, ids...) }
	add(c.Slack.TeamID)
	for id := range c.Slack.Channels {
		add(id)
	}
	for _, r := range c.Access.Rules {
		add(r.Who...)
		add(r.Channels...)
	}
	for _, a := range c.Access.Approvers {
		add(a.Who...)
	}
	for _, p := range c.Access.People {
		add(p.Slack)
		add(p.Local...)
	}
	slices.Sort(used)
	return slices.DeleteFunc(slices.Compact(used), func(id string) bool { return !slices.Contains(placeholders, id) })
}

// placeholders are the ids of the examples.
var placeholders = []string{"T024BE7LD", "C024BE91L", "S0FABRICOPS", "U024BE7LH", "local:1000@admin1"}
