// Package farm brings up many real OpenSSH servers' worth of endpoints on
// loopback, alike for every program that logs in to them: one user with
// /bin/sh and no start-up files, one client key, one known_hosts, one
// ssh_config.
//
// A few sshd processes serve all addresses, sixteen each (OpenSSH's limit of
// listening sockets). They run with -r: without it sshd executes itself anew
// for each connection, which costs the machine 5 ms of processor each time.
// In a cluster that work is the hosts' own, here it would be taken from the
// programs that are compared, the more the faster one is. The ratio of the
// cold fan-out depends on it: without -r six comparisons gave 3 to 4.9 instead
// of 4 to 6 (2026-12-01, two busy cores).
//
// It needs root, for a user that exists only in the servers' mount namespace,
// and may not touch the machine's accounts, network or services. Start at
// [Start].
package farm
