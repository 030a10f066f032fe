// Package sshexec runs the commands of hostexec on hosts over SSH. It is the
// only room that can log in.
//
// It keeps one connection per host open and gives each command one channel. It
// may not weaken what hostexec decides: the allow list is asked before anything
// is sent, a change needs a lease, and host keys are always verified; there is
// no switch to turn that off.
//
// Start reading at pool.go (Look, Change), then session.go (one command), then
// hostkeys.go; files.go and jobs.go are the other two kinds of work.
package sshexec
