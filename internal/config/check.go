package config

import (
	"fmt"
	"maps"
	"net"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fabricbot/fabricbot/fabric"
	"github.com/fabricbot/fabricbot/internal/access"
	"github.com/fabricbot/fabricbot/internal/redact"
)

// fieldError is a mistake in the value of one key.
type fieldError struct{ path, reason string }

func (e *fieldError) Error() string { return e.path + ": " + e.reason }

func wrong(path, format string, args ...any) error {
	return &fieldError{path: path, reason: fmt.Sprintf(format, args...)}
}

var (
	clusterName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,62}$`)
	channelID   = regexp.MustCompile(`^[CGD][A-Z0-9]{2,20}$`)
	userName    = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.-]{0,31}$`)
)

// maxApprovalWindow keeps an approval from being given by somebody who no longer knows what for.
const maxApprovalWindow = 24 * time.Hour

// problems are all mistakes of a file, so that nobody mends them one run at a time.
type problems []error

func (p *problems) add(path, format string, args ...any) {
	*p = append(*p, wrong(path, format, args...))
}

// check returns every mistake; operations are the names that the patterns under access are compared with, nil for none.
func (c *Config) check(operations []string) problems {
	var p problems
	if !clusterName.MatchString(c.Cluster.Name) {
		p.add("cluster.name", "%.40q is not a name; use small letters, digits and hyphens, at most 63", c.Cluster.Name)
	}
	for _, needed := range []struct{ path, value string }{{"inventory", c.Inventory}, {"data_dir", c.DataDir}} {
		if needed.value == "" {
			p.add(needed.path, "it must not be empty")
		}
	}
	for _, check := range []func(*problems){c.Slack.check, c.Temporal.check, c.SSH.check, c.Limits.check, c.Freeze.check} {
		check(&p)
	}
	for _, err := range c.Access.Problems(operations) {
		path, reason, _ := strings.Cut(err.Error(), ": ")
		p.add(path, "%s", reason)
	}
	for i, pattern := range c.Redact.Patterns {
		if _, err := redact.New(pattern); err != nil {
			p.add(fmt.Sprintf("redact.patterns[%d]", i), "%s", err)
		}
	}
	return p
}

func (s *Slack) check(p *problems) {
	if s.Mode != "socket" && s.Mode != "http" {
		p.add("slack.mode", "%.40q is neither socket nor http", s.Mode)
	}
	if s.Mode == "http" {
		if s.SigningSecret.IsZero() {
			p.add("slack.signing_secret", "mode http needs it, for without it anybody could speak for Slack")
		}
		checkAddress(p, "slack.listen", s.Listen)
	}
	if err := access.CheckTeam(s.TeamID); err != nil {
		p.add("slack.team_id", "%s", err)
	}
	for _, id := range slices.Sorted(maps.Keys(s.Channels)) {
		if !channelID.MatchString(id) {
			p.add("slack.channels", "%.40q is not a channel id such as C024BE91L; write id: name", id)
		}
	}
	api, err := url.Parse(s.APIURL)
	switch {
	case err != nil || api.Host == "":
		p.add("slack.api_url", "not a URL such as https://slack.com/api/")
	case api.User != nil || api.RawQuery != "" || api.Fragment != "":
		p.add("slack.api_url", "a user, a query or a fragment does not belong in it")
	case api.Scheme != "https" && (api.Scheme != "http" || !isLoopback(api.Hostname())):
		p.add("slack.api_url", "it must begin with https://, since tokens travel over it; plain http is accepted for loopback only")
	}
	// slack-go appends method names, so the slash is needed.
	s.APIURL = strings.TrimRight(s.APIURL, "/") + "/"
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

func (t *Temporal) check(p *problems) {
	if t.Embedded != nil && t.Address != "" {
		p.add("temporal.address", "give either an address or the section embedded")
	}
	if t.Namespace == "" {
		p.add("temporal.namespace", "it must not be empty")
	}
	if t.Embedded != nil {
		if t.Embedded.UIPort < 0 || t.Embedded.UIPort > 65535 {
			p.add("temporal.embedded.ui_port", "%d is not a port", t.Embedded.UIPort)
		}
		return
	}
	checkAddress(p, "temporal.address", t.Address)
	if (t.TLS.Cert == "") != (t.TLS.Key == "") {
		p.add("temporal.tls", "cert and key belong together")
	}
	if !t.TLS.Enabled && t.TLS != (TLS{}) {
		p.add("temporal.tls.enabled", "files are given, but it is not true")
	}
	if host, _, _ := net.SplitHostPort(t.Address); !t.TLS.Enabled && !t.APIKey.IsZero() && !isLoopback(host) {
		p.add("temporal.api_key", "it would travel in the clear; set temporal.tls.enabled: true")
	}
}

func (s *SSH) check(p *problems) {
	if !userName.MatchString(s.User) {
		p.add("ssh.user", "%.40q is not a user name", s.User)
	}
	for i, hop := range s.Jump {
		if err := checkHop(hop); err != nil {
			p.add(fmt.Sprintf("ssh.jump[%d]", i), "%s", err)
		}
	}
	if s.ConnectTimeout <= 0 {
		p.add("ssh.connect_timeout", "%v must be positive", s.ConnectTimeout)
	}
	if s.PerHost < 1 {
		p.add("ssh.per_host", "%d must be at least 1", s.PerHost)
	}
	if s.Overall < 1 {
		p.add("ssh.overall", "%d must be at least 1", s.Overall)
	}
}

// CheckLogin says whether there is enough to log in with and to know the hosts by; programs that log in ask it when they start.
func (s *SSH) CheckLogin() error {
	if len(s.KnownHosts) == 0 && len(s.HostCA) == 0 {
		return wrong("ssh.known_hosts", "give known_hosts or host_ca; host keys are never accepted blindly")
	}
	if len(s.Keys) == 0 && !s.Agent {
		return wrong("ssh.keys", "give private key files, or agent: true")
	}
	return nil
}

// checkHop reads [user@]host[:port].
func checkHop(hop string) error {
	user, host, found := strings.Cut(hop, "@")
	if !found {
		user, host = "root", hop
	}
	if name, port, err := net.SplitHostPort(host); err == nil {
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
			return fmt.Errorf("%.20q is not a port", port)
		}
		host = name
	}
	if !userName.MatchString(user) {
		return fmt.Errorf("%.40q is not a user name", user)
	}
	if net.ParseIP(host) != nil {
		return nil
	}
	return fabric.CheckHostName(host)
}

func (l *Limits) check(p *problems) {
	for _, limit := range []struct {
		key         string
		value, most int
	}{
		{"max_hosts_per_run", l.MaxHostsPerRun, fabric.MaxHosts}, {"confirm_above", l.ConfirmAbove, fabric.MaxHosts},
	} {
		if limit.value < 1 || limit.value > limit.most {
			p.add("limits."+limit.key, "%d is not between 1 and %d; there is no value for unlimited", limit.value, limit.most)
		}
	}
	if l.ApprovalWindow < time.Minute || l.ApprovalWindow > maxApprovalWindow {
		p.add("limits.approval_window", "%v is not between 1m and %v", l.ApprovalWindow, maxApprovalWindow)
	}
}

func (f *Freeze) check(p *problems) {
	for i, w := range f.Windows {
		place := fmt.Sprintf("freeze.windows[%d]", i)
		switch {
		case w.From.IsZero() || w.Until.IsZero():
			p.add(place, "from and until are both needed, as 2026-12-20T00:00:00Z")
		case !w.From.Before(w.Until):
			p.add(place+".until", "it does not lie after from")
		case w.Reason == "":
			p.add(place, "a reason is needed; people will ask")
		}
	}
	slices.SortFunc(f.Windows, func(a, b FreezeWindow) int { return a.From.Compare(b.From) })
}

func checkAddress(p *problems, path, address string) {
	_, port, err := net.SplitHostPort(address)
	if err == nil {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	if err != nil {
		p.add(path, "%.80q is not of the form host:port", address)
	}
}
