// Package hosttest is a host for tests and benchmarks: an SSH server inside the
// process that answers commands from recorded transcripts (argv to stdout,
// stderr, exit status), or hands them to a real shell.
//
// It speaks the scripts of hostexec/wire, so the real sshexec is what talks to
// it. It checks keys like a real host and listens on loopback only. It is never
// linked into a program but the lab.
//
// Start reading at fleet.go (Start), then transcript.go.
package hosttest
