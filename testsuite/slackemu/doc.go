// Package slackemu is a Slack workspace on loopback: the real slack-go client
// talks to it over the Web API, Socket Mode or signed HTTP, and a person talks
// to the same bot through the web page it serves.
//
// It is at least as strict as Slack: limits, scopes, membership, trigger and
// response_url rules are enforced, and outages, rate limits and delivery faults
// can be switched on (Inject). It may not know anything of the bot under test
// and must never be linked into a product binary; it listens on loopback only.
//
// Start reading at New in server.go, then transport.go (how a call becomes an
// answer), delivery.go (how an event becomes an acknowledged envelope) and
// interactions.go (what people can do).
package slackemu
