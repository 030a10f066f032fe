// Package access answers who may do what: may this person start this operation here, approve it, steer it. Everything is
// denied that no rule allows, and every answer carries a sentence that can be shown.
//
// A person is a Slack team id with a user id, or a user of a machine; display names never count, because anyone may choose
// them. The package reads no file and talks to nobody: the [Policy] comes from the configuration and the members of user groups
// through [Groups], and a group that cannot be read has no members.
//
// Start at [Access.Decide].
package access
