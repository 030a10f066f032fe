package config

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fabricbot/fabricbot/internal/strictyaml"
	"github.com/google/go-cmp/cmp"
)

func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "fabricbot.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestExampleLoads(t *testing.T) {
	path := write(t, Example())
	config, err := Load(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Dir(path)
	if want := filepath.Join(dir, "data", "archive"); config.Archive != want {
		t.Errorf("archive is %s, want %s", config.Archive, want)
	}
	if got := config.Slack.Channels["C024BE91L"]; got != "fabric-ops" {
		t.Errorf("channel name %q, want fabric-ops", got)
	}
	if diff := cmp.Diff(slices.Sorted(slices.Values(placeholders)), config.Placeholders()); diff != "" {
		t.Errorf("the ids of the example are not known as such:\n%s", diff)
	}
	if len(config.Secrets()) != 3 {
		t.Errorf("got secrets %v, want three", config.Secrets())
	}
}

// The example shows every key there is, with its default.
func TestExampleIsComplete(t *testing.T) {
	doc, err := strictyaml.Parse("example.yaml", []byte(Example()))
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range strictyaml.Keys(Config{}) {
		if !doc.Has(key) && !strings.Contains(Example(), "#   "+key[strings.LastIndex(key, ".")+1:]+":") && !strings.HasPrefix(key, "temporal.tls.") {
			t.Errorf("the example does not show %s", key)
		}
	}
	shown, err := parse("example.yaml", []byte(Example()), "/site", nil)
	if err != nil {
		t.Fatal(err)
	}
	bare, err := parse("bare.yaml", []byte("cluster: {name: alpha}\n"), "/site", nil)
	if err != nil {
		t.Fatal(err)
	}
	// These have no default, as the example says.
	shown.Slack.SigningSecret, shown.Slack.TeamID, shown.Slack.Channels = Secret{}, "", nil
	shown.SSH.Keys, shown.SSH.KnownHosts, shown.SSH.Jump, shown.SSH.Certificates, shown.SSH.HostCA = nil, nil, nil, nil, nil
	shown.Access, shown.Freeze, shown.Redact = bare.Access, bare.Freeze, bare.Redact
	if diff := cmp.Diff(bare, shown, cmp.AllowUnexported(Secret{})); diff != "" {
		t.Errorf("defaults (-) and example (+) differ:\n%s", diff)
	}
}

func TestLoadRefuses(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"empty", "", `cluster.name: "" is not a name`},
		{"cluster_name", "cluster: {name: My Site}\n", "fabricbot.yaml:1:17: cluster.name"},
		{"unknown_section", "clutser: {name: a}\n", `fabricbot.yaml:1:1: unknown key "clutser", did you mean cluster?`},
		{"unknown_key", "slack:\n  bot_tokne: env:A\n", `fabricbot.yaml:3:3: unknown key "bot_tokne", did you mean bot_token?`},
		{"mode", "slack: {mode: rtm}\n", "slack.mode: \"rtm\" is neither"},
		{"http_without_secret", "slack: {mode: http}\n", "slack.signing_secret: mode http needs it"},
		{"http_listen", "slack: {mode: http, signing_secret: env:S, listen: here}\n", "slack.listen: \"here\" is not of the form host:port"},
		{"plain_http", "slack: {api_url: 'http://slack.example/api/'}\n", "plain http is accepted for loopback only"},
		{"loopback_look_alike", "slack: {api_url: 'http://localhost.example/api/'}\n", "loopback only"},
		{"loopback_in_user", "slack: {api_url: 'http://127.0.0.1@evil.example/'}\n", "does not belong"},
		{"other_scheme", "slack: {api_url: 'ftp://127.0.0.1/'}\n", "https://"},
		{"no_url", "slack: {api_url: 'slack'}\n", "not a URL"},
		{"channel_name", "slack: {channels: {fabric: x}}\n", "is not a channel id"},
		{"team_name", "slack: {team_id: my-team}\n", "slack.team_id: \"my-team\" is not a team id"},
		{"both_engines", "temporal: {embedded: {}, address: 'a:1'}\n", "temporal.address: give either"},
		{"address", "temporal: {address: here}\n", "temporal.address: \"here\" is not of the form"},
		{"key_in_the_clear", "temporal: {address: 't.example:7233', api_key: env:K}\n", "in the clear"},
		{"half_pair", "temporal: {address: 'a:1', tls: {enabled: true, cert: c.pem}}\n", "cert and key belong together"},
		{"tls_off", "temporal: {address: 'a:1', tls: {ca: c.pem}}\n", "but it is not true"},
		{"ui_port", "temporal: {embedded: {ui_port: 99999}}\n", "is not a port"},
		{"ssh_user", "ssh: {user: '-oProxyCommand=x'}\n", "ssh.user"},
		{"hop", "ssh: {jump: [good, 'bad host']}\n", "fabricbot.yaml:2:20: ssh.jump[1]"},
		{"hop_port", "ssh: {jump: ['a:0']}\n", "is not a port"},
		{"no_timeout", "ssh: {connect_timeout: 0s}\n", "ssh.connect_timeout: 0s must be positive"},
		{"number_for_duration", "ssh: {connect_timeout: 10}\n", "fabricbot.yaml:2:24:"},
		{"zero_is_not_unlimited", "limits: {max_hosts_per_run: 0}\n", "limits.max_hosts_per_run: 0 is not between 1 and 100000"},
		{"negative", "limits: {confirm_above: -1}\n", "no value for unlimited"},
		{"approval_for_ever", "limits: {approval_window: 999h}\n", "limits.approval_window"},
		{"approval_at_once", "limits: {approval_window: 0s}\n", "limits.approval_window"},
		{"freeze_backwards", "freeze: {windows: [{from: 2027-01-02T00:00:00Z, until: 2027-01-01T00:00:00Z, reason: x}]}\n", "freeze.windows[0].until"},
		{"freeze_half", "freeze: {windows: [{from: 2027-01-02T00:00:00Z, reason: x}]}\n", "both needed"},
		{"freeze_reason", "freeze: {windows: [{from: 2027-01-01T00:00:00Z, until: 2027-01-02T00:00:00Z}]}\n", "a reason is needed"},
		{"access", "access: {rules: [{operations: ['*'], who: ['@anna']}]}\n", "access.rules[0].who: \"@anna\" is no id"},
		{"class", "access: {rules: [{operations: ['*'], who: [team], classes: [harmless]}]}\n", "unknown operation class"},
		{"pattern", "redact: {patterns: ['(']}\n", "fabricbot.yaml:2:21: redact.patterns[0]"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			text := tt.text
			if tt.name != "empty" && !strings.HasPrefix(text, "cl") {
				text = "cluster: {name: a}\n" + text
			}
			if _, err := Load(write(t, text), nil); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got error %v, want …%s…", err, tt.want)
			}
		})
	}
	if _, err := Load(filepath.Join(t.TempDir(), "none.yaml"), nil); err == nil {
		t.Error("a file that does not exist was loaded")
	}
}

// A token put where a reference belongs must not be shown again by the error.
func TestErrorsHoldNoSecret(t *testing.T) {
	const token = "canary-7f3a9c"
	for _, text := range []string{
		"slack: {bot_token: " + token + "}\n",
		"slack:\n  bot_token: [" + token + "]\n",
		"slack:\n  bot_token: {" + token + ": x}\n",
		"slack:\n  bot_token: 'xoxb:" + token + "'\n",
		"slack:\n  bot_token: \"" + token + "\n",
		"slack: {api_url: 'http://" + token + ":%zz'}\n",
	} {
		_, err := Load(write(t, "cluster: {name: a}\n"+text), nil)
		if err == nil || strings.Contains(err.Error(), token) {
			t.Errorf("%q: got error %v, want one without the token", text, err)
		}
	}
}

// Nobody should have to mend a file one run at a time.
func TestAllMistakesAtOnce(t *testing.T) {
	_, err := Load(write(t, "cluster: {nmae: a}\nslak: {}\n"), nil)
	if err == nil || strings.Count(err.Error(), "\n") != 1 || !strings.Contains(err.Error(), "did you mean slack") {
		t.Errorf("two unknown keys gave: %v", err)
	}
	_, err = Load(write(t, `cluster: {name: A}
ssh: {per_host: 0, overall: 0}
access:
  rules:
    - {operations: [hsots, "rusn *", "* restrat", "*"], who: [anna]}
  approvers:
    - {operations: ["driver *"], who: []}
`), []string{"hosts", "runs list", "sm restart"})
	for _, want := range []string{
		"1:17: cluster.name", "ssh.per_host", "ssh.overall",
		`5:21: access.rules[0].operations[0]: there is no operation "hsots", did you mean "hosts"?`, `did you mean "runs *"?`, `did you mean "* restart"?`,
		`access.rules[0].who: "anna" is no id`, "access.approvers[0].operations[0]: there is no operation \"driver *\"; `fabricctl help`", "access.approvers[0].who: nobody",
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("no line with %s in:\n%v", want, err)
		}
	}
	if lines := strings.Count(err.Error(), "\n") + 1; lines != 9 {
		t.Errorf("%d lines, want 9:\n%v", lines, err)
	}
}

func TestLoopbackAPI(t *testing.T) {
	for given, want := range map[string]string{
		"http://127.0.0.1:9000/api": "http://127.0.0.1:9000/api/", "http://[::1]:9000/api/": "http://[::1]:9000/api/",
		"http://localhost:1/x": "http://localhost:1/x/", "https://slack.example": "https://slack.example/",
	} {
		config, err := Load(write(t, "cluster: {name: a}\nslack: {api_url: '"+given+"'}\n"), nil)
		if err != nil || config.Slack.APIURL != want {
			t.Errorf("%s: got %v, want %s", given, err, want)
		}
	}
}

func TestPath(t *testing.T) {
	t.Setenv(PathVariable, "")
	if path, err := Path(""); err == nil {
		t.Errorf("got %q without flag and variable", path)
	}
	t.Setenv(PathVariable, "from-env.yaml")
	if path, err := Path(""); err != nil || path != "from-env.yaml" {
		t.Errorf("got %q, error %v", path, err)
	}
	if path, err := Path("from-flag.yaml"); err != nil || path != "from-flag.yaml" {
		t.Errorf("got %q, error %v", path, err)
	}
}

func TestCheckLogin(t *testing.T) {
	for name, ssh := range map[string]SSH{"no_host_keys": {Agent: true}, "no_key": {KnownHosts: []string{"k"}}} {
		if err := ssh.CheckLogin(); err == nil {
			t.Errorf("%s: enough to log in with, it says", name)
		}
	}
	for name, ssh := range map[string]SSH{"agent_and_ca": {Agent: true, HostCA: []string{"ca"}}, "files": {Keys: []string{"k"}, KnownHosts: []string{"k"}}} {
		if err := ssh.CheckLogin(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestFreezeAt(t *testing.T) {
	config, err := Load(write(t, Example()), nil)
	if err != nil {
		t.Fatal(err)
	}
	window := config.Freeze.Windows[0]
	for name, tt := range map[string]struct {
		at   time.Time
		want bool
	}{
		"before": {window.From.Add(-1), false}, "first": {window.From, true}, "last": {window.Until.Add(-1), true}, "after": {window.Until, false},
	} {
		if _, frozen := config.Freeze.At(tt.at); frozen != tt.want {
			t.Errorf("%s: frozen is %v", name, frozen)
		}
	}
}
