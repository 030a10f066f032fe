// Package stage puts the whole product up for a show: the lab's fabric and
// hosts, the Slack emulator, and the real fabricd between them as a process of
// its own that can be killed. The demo and the stories play on it. It touches
// nothing but loopback and its own folder.
package stage
