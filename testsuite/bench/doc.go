// Command bench measures what the design promises and prints one JSON line per
// figure: value, unit, the peer it was measured against, ratio, limit, and
// whether it holds. What cannot be measured here is a line with "skipped" and
// why. It exits with 1 when a figure misses its limit. It is no test: its
// numbers depend on the machine and on who else uses it.
//
//	go run ./testsuite/bench [-only fanout,topology,chat,sweep] [-rounds 5]
//
// # How
//
// Ratios are of medians over rounds in which all contenders take turns, each
// round beginning with another one; every turn checks that all the work was
// done. It starts only its own processes, on loopback, and ends them all, also
// on Ctrl-C and when it is killed.
//
// # fanout
//
// hostname on 128 endpoints of real OpenSSH servers (package farm), 64 at
// once, by: bin/fabricctl host run as a whole program, the pool in process,
// the same with connections open, pdsh, clush, and Ansible's raw module with
// open ControlPersist connections. All use the same keys, known_hosts and
// servers; OpenSSH clients have their default algorithms.
//
// Two things to know when reading it. OpenSSH's default key exchange here,
// sntrup761x25519, costs its client 50 ms of processor, and the Go library has
// none of that name: it agrees on curve25519, which does not resist quantum
// computers, with servers as old as 9.2. A row with curve25519 on both sides
// shows the difference. And servers and clients share the processors, so the
// servers' work (15 ms a login, 2.5 ms a command) bounds every ratio; the row
// of processor time leaves it out, and the row against bare sessions shows
// what the pool itself adds.
//
// # topology
//
// The text of ibnetdiscover for a fat tree of 10,000 hosts: parse, compare
// with a fabric in which every hundredth adapter is narrow, draw.
//
// # chat and sweep
//
// bin/fabricd as one process with its embedded engine, an emulated Slack
// workspace and in-process SSH servers that answer at once. chat times
// acknowledgement and first message of commands, one at a time at the pace
// Slack allows in a channel, alone and beside 50 runs that stay alive. sweep
// times whole runs over many hosts.
package main
