package slackemu

// method is one row of the Web API.
type method struct {
	name   string
	tier   tier
	scopes []string // any one of them suffices; none needed when empty
	app    bool     // wants the app-level token
	public bool     // wants no token
	run    func(*Server, *call) (answer, error)
}

// methods is the table of everything the emulator answers; all else is
// unknown_method. Tiers and scopes: docs.slack.dev/reference/methods/NAME.
var methods = map[string]method{}

func init() {
	read := []string{"channels:read", "groups:read", "im:read"}
	history := []string{"channels:history", "groups:history", "im:history"}
	for _, m := range []method{
		{name: "api.test", tier: tier4, public: true, run: (*Server).apiTest},
		{name: "auth.test", tier: tierSpecial, run: (*Server).authTest},
		{name: "apps.connections.open", tier: tier3, app: true, scopes: nil, run: (*Server).connectionsOpen},
		{name: "blocks.validate", tier: tier4, public: true, run: (*Server).blocksValidate},
		{name: "chat.postMessage", tier: tierSpecial, scopes: []string{"chat:write"}, run: (*Server).chatPostMessage},
		{name: "chat.postEphemeral", tier: tier4, scopes: []string{"chat:write"}, run: (*Server).chatPostEphemeral},
		{name: "chat.update", tier: tier3, scopes: []string{"chat:write"}, run: (*Server).chatUpdate},
		{name: "chat.delete", tier: tier3, scopes: []string{"chat:write"}, run: (*Server).chatDelete},
		{name: "chat.getPermalink", tier: tierSpecial, run: (*Server).chatGetPermalink},
		{name: "conversations.info", tier: tier3, scopes: read, run: (*Server).conversationsInfo},
		{name: "conversations.open", tier: tier3, scopes: []string{"im:write"}, run: (*Server).conversationsOpen},
		{name: "conversations.join", tier: tier3, scopes: []string{"channels:join"}, run: (*Server).conversationsJoin},
		{name: "conversations.members", tier: tier4, scopes: read, run: (*Server).conversationsMembers},
		{name: "conversations.list", tier: tier2, scopes: read, run: (*Server).conversationsList},
		{name: "conversations.history", tier: tier3, scopes: history, run: (*Server).conversationsHistory},
		{name: "conversations.replies", tier: tier3, scopes: history, run: (*Server).conversationsReplies},
		{name: "users.info", tier: tier4, scopes: []string{"users:read"}, run: (*Server).usersInfo},
		{name: "users.list", tier: tier2, scopes: []string{"users:read"}, run: (*Server).usersList},
		{name: "users.lookupByEmail", tier: tier3, scopes: []string{"users:read.email"}, run: (*Server).usersLookupByEmail},
		{name: "usergroups.list", tier: tier2, scopes: []string{"usergroups:read"}, run: (*Server).usergroupsList},
		{name: "usergroups.users.list", tier: tier2, scopes: []string{"usergroups:read"}, run: (*Server).usergroupsUsersList},
		{name: "reactions.add", tier: tier3, scopes: []string{"reactions:write"}, run: (*Server).reactionsAdd},
		{name: "reactions.remove", tier: tier2, scopes: []string{"reactions:write"}, run: (*Server).reactionsRemove},
		{name: "pins.add", tier: tier2, scopes: []string{"pins:write"}, run: (*Server).pinsAdd},
		{name: "views.open", tier: tier4, run: (*Server).viewsOpen},
		{name: "views.push", tier: tier4, run: (*Server).viewsPush},
		{name: "views.update", tier: tier4, run: (*Server).viewsUpdate},
		{name: "views.publish", tier: tier4, run: (*Server).viewsPublish},
		{name: "files.getUploadURLExternal", tier: tier4, scopes: []string{"files:write"}, run: (*Server).filesGetUploadURL},
		{name: "files.completeUploadExternal", tier: tier4, scopes: []string{"files:write"}, run: (*Server).filesComplete},
		{name: "files.info", tier: tier4, scopes: []string{"files:read"}, run: (*Server).filesInfo},
		{name: "files.delete", tier: tier3, scopes: []string{"files:write"}, run: (*Server).filesDelete},
	} {
		methods[m.name] = m
	}
}
