// Package hostexec holds the words for running a program on a host: what may
// run (Command, Classify), and what came back (Result, Outcome, Error).
//
// It has no transport and cannot reach a host; hostexec/sshexec does that. What
// it decides is binding for every transport: a program that Classify does not
// know is never sent, and a program that alters a host is sent only together
// with a Lease.
//
// Start reading at command.go, then allow.go (how the allow list is matched),
// allow_look.go and allow_change.go (the list itself).
package hostexec
