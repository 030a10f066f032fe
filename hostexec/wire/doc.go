// Package wire is what goes over a host's exec channel: one constant request,
// a small POSIX shell script on standard input, and a marker line that begins
// the answer.
//
// The request is the same for every command and means the same to sh, bash,
// rbash, csh, tcsh, fish, zsh and mksh, so no argument ever passes through the
// user's login shell. Arguments travel inside the script, in single quotes.
// Whatever start-up files print comes before the marker and is dropped.
//
// It writes and reads these texts and does nothing else; sshexec sends them,
// hosttest answers them. Start reading at script.go, then scripts/.
package wire
