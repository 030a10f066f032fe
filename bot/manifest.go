package bot

import (
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"

	"github.com/fabricbot/fabricbot/op"
)

// scopes of the bot token, each for what stands beside it.
var scopes = []string{
	"app_mentions:read", // the same words in a thread, where slash commands do not exist
	"channels:history",  // finding a message of ours after a crash
	"channels:read",     // is the bot in the channel, is the channel shared
	"chat:write",
	"commands",
	"files:write",    // plans, reports and pictures in the thread
	"groups:history", // as channels:history, in private channels
	"groups:read",
	"im:history",
	"im:read",
	"usergroups:read", // who may approve
	"users:read",      // is this a person of the workspace
}

// The manifest's form: docs.slack.dev/reference/app-manifest, in the schema of
// July 2026.
type manifest struct {
	Display struct {
		Name        string `yaml:"name"`
		Description string `yaml:"description"`
		Colour      string `yaml:"background_color"`
	} `yaml:"display_information"`
	Features struct {
		BotUser struct {
			Name   string `yaml:"display_name"`
			Online bool   `yaml:"always_online"`
		} `yaml:"bot_user"`
		Home struct {
			Home     bool `yaml:"home_tab_enabled"`
			Messages bool `yaml:"messages_tab_enabled"`
		} `yaml:"app_home"`
		Commands []manifestCommand `yaml:"slash_commands"`
	} `yaml:"features"`
	OAuth struct {
		Scopes struct {
			Bot []string `yaml:"bot"`
		} `yaml:"scopes"`
	} `yaml:"oauth_config"`
	Settings struct {
		Events struct {
			Bot []string `yaml:"bot_events"`
		} `yaml:"event_subscriptions"`
		Interactivity struct {
			Enabled bool `yaml:"is_enabled"`
		} `yaml:"interactivity"`
		OrgDeploy bool `yaml:"org_deploy_enabled"`
		Socket    bool `yaml:"socket_mode_enabled"`
		Rotation  bool `yaml:"token_rotation_enabled"`
	} `yaml:"settings"`
}

type manifestCommand struct {
	Command     string `yaml:"command"`
	Description string `yaml:"description"`
	Hint        string `yaml:"usage_hint"`
	Escape      bool   `yaml:"should_escape"`
}

// manifestHead explains the generated file to its reader.
const manifestHead = `# Slack app of fabricbot, for "Create an app" > "From a manifest".
# Generated from the catalog of operations; do not edit. For HTTP mode add the
# request URLs (/slack/command, /slack/interactive, /slack/events) and switch
# socket_mode_enabled off. Socket mode needs an app-level token with the scope
# connections:write besides the bot token.
`

// Manifest is the Slack app's manifest for the operations of the index.
func Manifest(x *op.Index) ([]byte, error) {
	var m manifest
	m.Display.Name = "fabricbot"
	m.Display.Description = "Runs an InfiniBand or RoCE fabric: looks, plans, asks for approval, acts, verifies."
	m.Display.Colour = "#1d3a5f"
	m.Features.BotUser.Name, m.Features.BotUser.Online = "fabricbot", true
	m.Features.Home.Home, m.Features.Home.Messages = true, true
	m.Features.Commands = []manifestCommand{{
		Command:     "/fabric",
		Description: fitPlain("Look at the fabric and change it with plan and approval; help lists everything", limitCommandDoc),
		Hint:        fitPlain(usageHint(x), limitHint),
	}}
	m.OAuth.Scopes.Bot = slices.Clone(scopes)
	m.Settings.Events.Bot = []string{"app_home_opened", "app_mention"}
	m.Settings.Interactivity.Enabled = true
	m.Settings.Socket = true
	body, err := yaml.MarshalWithOptions(m, yaml.IndentSequence(true))
	if err != nil {
		return nil, fmt.Errorf("writing the slack manifest: %w", err)
	}
	return append([]byte(manifestHead), body...), nil
}

// usageHint is what Slack shows while the command is typed: every noun with
// its verbs.
func usageHint(x *op.Index) string {
	var nouns []string
	verbs := map[string][]string{}
	for _, e := range x.Entries() {
		noun, verb, _ := strings.Cut(e.Name, " ")
		if !slices.Contains(nouns, noun) {
			nouns = append(nouns, noun)
		}
		if verb != "" {
			verbs[noun] = append(verbs[noun], verb)
		}
	}
	// help first: it leads to everything else.
	slices.SortStableFunc(nouns, func(a, b string) int {
		switch {
		case a == "help" && b != "help":
			return -1
		case b == "help" && a != "help":
			return 1
		}
		return strings.Compare(a, b)
	})
	for i, n := range nouns {
		if v := verbs[n]; len(v) > 0 {
			nouns[i] = n + " " + strings.Join(v, "|")
		}
	}
	return strings.Join(nouns, ", ")
}
