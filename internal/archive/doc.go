// Package archive keeps what runs found: text snapshots in a git repository, one commit per run, and binary results beside it by
// the hash of their content.
//
// The folder is itself a bare git repository, so "git log" works in it; everything in it can be read without this program. A
// commit's tree holds the latest snapshot of every kind and fabric under KIND/FABRIC/. Which run a commit belongs to is written
// in its trailers, and these are the only index there is: a copy of the repository is a whole archive.
//
// Objects are on disk before the branch moves, and the branch moves by a rename; a process killed at any moment leaves the
// archive as it was before or after its commit. The package knows nothing of what the texts mean.
//
// Start at [Open] and [Archive.Commit].
package archive
