// Package activities holds the acts that workflows order: one look or one
// change on one host (or one fabric sweep), one message to the channel.
//
// Rules of the room: an activity is idempotent and its comment says how; it
// looks, decides, acts and looks again; anything over ten seconds heartbeats;
// anything that changes a host and is not safe to repeat runs as a detached
// job that can be re-attached to. The package declares the hands, voice and
// archive it needs as small interfaces and owns none of them: programs supply
// them. Start reading at [Hosts] and [Chat].
package activities
