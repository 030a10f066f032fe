package slackemu

import "time"

// Options set up a Server. The zero value is a demo workspace on free ports.
type Options struct {
	Listen    string // page and control API; default 127.0.0.1:0; loopback only
	APIListen string // Web API, sockets and uploads; default 127.0.0.1:0; loopback only

	Workspace Workspace // default DemoWorkspace()

	BotToken, AppToken, SigningSecret string // default: invented ones

	Scopes      []string // of the bot token; default DefaultScopes
	Events      []string // subscribed bot events; default DefaultEvents
	Commands    []string // registered slash commands; default /fabric
	EscapeSlash bool     // turn @name and #channel in slash text into <@U…|name>
	NoHomeTab   bool     // views.publish answers not_enabled
	FreePlan    bool     // usergroups methods answer plan_upgrade_required

	RealRateLimits bool // per-method token buckets of Slack's tiers from the start
	Timing         Timing
}

// Timing holds Slack's clocks; tests shorten what they wait for.
type Timing struct {
	AckDeadline     time.Duration    // 3 s: docs.slack.dev/interactivity/handling-user-interaction
	PingEvery       time.Duration    // 5 s; clients give up after 30 s without a ping
	TriggerLife     time.Duration    // 3 s
	ResponseURLLife time.Duration    // 30 min
	EventRetry      [3]time.Duration // 0, 1 min, 5 min: docs.slack.dev/apis/events-api
	FileProcessing  time.Duration    // until shares appear in files.info; 50 ms
}

// DefaultScopes are those a fabric bot asks for, without chat:write.public.
var DefaultScopes = []string{
	"app_mentions:read", "channels:history", "channels:join", "channels:read", "chat:write", "commands",
	"files:read", "files:write", "groups:history", "groups:read", "im:history", "im:read", "im:write", "pins:write",
	"reactions:write", "usergroups:read", "users:read", "users:read.email",
}

// DefaultEvents are the bot events delivered unless Options.Events says otherwise.
var DefaultEvents = []string{"app_home_opened", "app_mention", "message.im"}

// Workspace is the team as the tests find it.
type Workspace struct {
	TeamID, Domain, Name string
	AppID, BotID         string // "A…", "B…"
	BotUserID, BotName   string
	Users                []User
	Groups               []Group
	Channels             []Channel
}

// User is a person, or a person of a foreign team in a shared channel.
type User struct {
	ID       string `json:"id"`
	Name     string `json:"name"`
	Display  string `json:"display"`
	RealName string `json:"real_name"`
	Email    string `json:"email,omitempty"`
	TZ       string `json:"tz"`
	TeamID   string `json:"team_id"` // empty: the workspace's own
	Deleted  bool   `json:"deleted,omitempty"`
	IsBot    bool   `json:"is_bot,omitempty"`
	Admin    bool   `json:"admin,omitempty"`
}

// Group is a user group (@handle).
type Group struct {
	ID       string   `json:"id"`
	Handle   string   `json:"handle"`
	Name     string   `json:"name"`
	Users    []string `json:"users"`
	Disabled bool     `json:"disabled,omitempty"`
}

// Channel is a conversation. Members of public channels are listed too; an
// empty list in a public or DM-less channel of the options means everybody.
type Channel struct {
	ID          string   `json:"id"`
	Name        string   `json:"name"`
	Topic       string   `json:"topic,omitempty"`
	Private     bool     `json:"private,omitempty"`
	IM          string   `json:"im,omitempty"` // the person on the other side of a DM with the bot
	Archived    bool     `json:"archived,omitempty"`
	BotMember   bool     `json:"bot_member"`
	Members     []string `json:"members"`
	SharedTeams []string `json:"shared_teams,omitempty"` // Slack Connect: foreign teams
}

// DemoWorkspace is the team used when the options name none.
func DemoWorkspace() Workspace {
	return Workspace{
		TeamID: "T07FABRIC", Domain: "fabric-lab", Name: "Fabric Lab",
		AppID: "A07FABRIC", BotID: "B07FABRIC", BotUserID: "U07FABBOT", BotName: "fabricbot",
		Users: []User{
			{ID: "U07OPERA", Name: "operator-a", Display: "operator-a", RealName: "Operator A", TZ: "Europe/Berlin"},
			{ID: "U07OPERB", Name: "operator-b", Display: "operator-b", RealName: "Operator B", TZ: "America/New_York"},
			{ID: "U07OPERC", Name: "operator-c", Display: "operator-c", RealName: "Operator C", TZ: "Asia/Tokyo"},
			{ID: "U07VIEWER", Name: "viewer", Display: "viewer", RealName: "Viewer", TZ: "Etc/UTC"},
			{ID: "U07ADMIN", Name: "admin", Display: "admin", RealName: "Admin", TZ: "Europe/Berlin", Admin: true},
			{ID: "U08GUEST", Name: "guest", Display: "guest", RealName: "Guest of a partner", TZ: "Etc/UTC", TeamID: "T08PARTNER"},
		},
		Groups: []Group{
			{ID: "S07APPROVE", Handle: "fabric-approvers", Name: "Fabric approvers", Users: []string{"U07OPERA", "U07OPERB"}},
			{ID: "S07ADMINS", Handle: "fabric-admins", Name: "Fabric admins", Users: []string{"U07ADMIN"}},
		},
		Channels: []Channel{
			{ID: "C07FABOPS", Name: "fabric-ops", Topic: "InfiniBand and RoCE operations", BotMember: true},
			{ID: "C07RANDOM", Name: "random", Topic: "Everything else"},
			{ID: "C07SECRET", Name: "incident-room", Private: true, Members: []string{"U07OPERA", "U07ADMIN"}},
			{ID: "C07SHARED", Name: "partner-shared", BotMember: true, SharedTeams: []string{"T08PARTNER"}},
		},
	}
}

func (o Options) withDefaults() Options {
	str := func(p *string, v string) {
		if *p == "" {
			*p = v
		}
	}
	dur := func(p *time.Duration, v time.Duration) {
		if *p == 0 {
			*p = v
		}
	}
	str(&o.Listen, "127.0.0.1:0")
	str(&o.APIListen, "127.0.0.1:0")
	str(&o.BotToken, "xoxb-emulated-bot-token")
	str(&o.AppToken, "xapp-emulated-app-token")
	str(&o.SigningSecret, "emulated-signing-secret")
	if o.Workspace.TeamID == "" {
		o.Workspace = DemoWorkspace()
	}
	if o.Scopes == nil {
		o.Scopes = DefaultScopes
	}
	if o.Events == nil {
		o.Events = DefaultEvents
	}
	if o.Commands == nil {
		o.Commands = []string{"/fabric"}
	}
	dur(&o.Timing.AckDeadline, 3*time.Second)
	dur(&o.Timing.PingEvery, 5*time.Second)
	dur(&o.Timing.TriggerLife, 3*time.Second)
	dur(&o.Timing.ResponseURLLife, 30*time.Minute)
	dur(&o.Timing.FileProcessing, 50*time.Millisecond)
	if o.Timing.EventRetry == [3]time.Duration{} {
		o.Timing.EventRetry = [3]time.Duration{10 * time.Millisecond, time.Minute, 5 * time.Minute}
	}
	return o
}
