// Package runs starts, shows and steers runs for everyone who speaks to
// people: the Slack side and the terminal use the same client, so both say and
// allow the same. It talks to the workflow engine only and touches no host.
package runs
