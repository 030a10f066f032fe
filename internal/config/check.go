package config

import (
	"fmt"
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

func (c *Config) check() error {
	if !clusterName.MatchString(c.Cluster.Name) {
		return wrong("cluster.name", "%.40q is not a name; use small letters, digits and hyphens, at most 63", c.Cluster.Name)
	}
	for path, value := range map[string]string{"inventory": c.Inventory, "data_dir": c.DataDir} {
		if value == "" {
			return wrong(path, "it must not be empty")
		}
	}
	for _, check := range []func() error{c.Slack.check, c.Temporal.check, c.SSH.check, c.Limits.check, c.Freeze.check} {
		if err := check(); err != nil {
			return err
		}
	}
	if _, err := access.New(c.Access, c.Slack.TeamID, nil); err != nil {
		path, reason, _ := strings.Cut(err.Error(), ": ")
		return wrong(path, "%s", reason)
	}
	for i, pattern := range c.Redact.Patterns {
		if _, err := redact.New(pattern); err != nil {
			return wrong(fmt.Sprintf("redact.patterns[%d]", i), "%s", err)
		}
	}
	return nil
}

func (s *Slack) check() error {
	if s.Mode != "socket" && s.Mode != "http" {
		return wrong("slack.mode", "%.40q is neither socket nor http", s.Mode)
	}
	if s.Mode == "http" {
		if s.SigningSecret.IsZero() {
			return wrong("slack.signing_secret", "mode http needs it, for without it anybody could speak for Slack")
		}
		if err := checkAddress("slack.listen", s.Listen); err != nil {
			return err
		}
	}
	for id := range s.Channels {
		if !channelID.MatchString(id) {
			return wrong("slack.channels", "%.40q is not a channel id such as C024BE91L; write id: name", id)
		}
	}
	api, err := url.Parse(s.APIURL)
	switch {
	case err != nil || api.Host == "":
		return wrong("slack.api_url", "not a URL such as https://slack.com/api/")
	case api.User != nil || api.RawQuery != "" || api.Fragment != "":
		return wrong("slack.api_url", "a user, a query or a fragment does not belong in it")
	case api.Scheme != "https" && (api.Scheme != "http" || !isLoopback(api.Hostname())):
		return wrong("slack.api_url", "it must begin with https://, since tokens travel over it; plain http is accepted for loopback only")
	}
	// slack-go appends method names, so the slash is needed.
	s.APIURL = strings.TrimRight(s.APIURL, "/") + "/"
	return nil
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

func (t *Temporal) check() error {
	if t.Embedded != nil && t.Address != "" {
		return wrong("temporal.address", "give either an address or the section embedded")
	}
	if t.Namespace == "" {
		return wrong("temporal.namespace", "it must not be empty")
	}
	if t.Embedded != nil {
		if t.Embedded.UIPort < 0 || t.Embedded.UIPort > 65535 {
			return wrong("temporal.embedded.ui_port", "%d is not a port", t.Embedded.UIPort)
		}
		return nil
	}
	if err := checkAddress("temporal.address", t.Address); err != nil {
		return err
	}
	if (t.TLS.Cert == "") != (t.TLS.Key == "") {
		return wrong("temporal.tls", "cert and key belong together")
	}
	if !t.TLS.Enabled && t.TLS != (TLS{}) {
		return wrong("temporal.tls.enabled", "files are given, but it is not true")
	}
	if host, _, _ := net.SplitHostPort(t.Address); !t.TLS.Enabled && !t.APIKey.IsZero() && !isLoopback(host) {
		return wrong("temporal.api_key", "it would travel in the clear; set temporal.tls.enabled: true")
	}
	return nil
}

func (s *SSH) check() error {
	if !userName.MatchString(s.User) {
		return wrong("ssh.user", "%.40q is not a user name", s.User)
	}
	for i, hop := range s.Jump {
		if err := checkHop(hop); err != nil {
			return wrong(fmt.Sprintf("ssh.jump[%d]", i), "%s", err)
		}
	}
	if s.ConnectTimeout <= 0 {
		return wrong("ssh.connect_timeout", "%v must be positive", s.ConnectTimeout)
	}
	if s.PerHost < 1 {
		return wrong("ssh.per_host", "%d must be at least 1", s.PerHost)
	}
	if s.Overall < 1 {
		return wrong("ssh.overall", "%d must be at least 1", s.Overall)
	}
	return nil
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

func (l *Limits) check() error {
	for _, limit := range []struct {
		key         string
		value, most int
	}{
		{"max_hosts_per_run", l.MaxHostsPerRun, fabric.MaxHosts}, {"confirm_above", l.ConfirmAbove, fabric.MaxHosts},
	} {
		if limit.value < 1 || limit.value > limit.most {
			return wrong("limits."+limit.key, "%d is not between 1 and %d; there is no value for unlimited", limit.value, limit.most)
		}
	}
	if l.ApprovalWindow < time.Minute || l.ApprovalWindow > maxApprovalWindow {
		return wrong("limits.approval_window", "%v is not between 1m and %v", l.ApprovalWindow, maxApprovalWindow)
	}
	return nil
}

func (f *Freeze) check() error {
	for i, w := range f.Windows {
		place := fmt.Sprintf("freeze.windows[%d]", i)
		switch {
		case w.From.IsZero() || w.Until.IsZero():
			return wrong(place, "from and until are both needed, as 2026-12-20T00:00:00Z")
		case !w.From.Before(w.Until):
			return wrong(place+".until", "it does not lie after from")
		case w.Reason == "":
			return wrong(place, "a reason is needed; people will ask")
		}
	}
	slices.SortFunc(f.Windows, func(a, b FreezeWindow) int { return a.From.Compare(b.From) })
	return nil
}

func checkAddress(path, address string) error {
	_, port, err := net.SplitHostPort(address)
	if err == nil {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	if err != nil {
		return wrong(path, "%.80q is not of the form host:port", address)
	}
	return nil
}
