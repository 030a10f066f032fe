// Package audit keeps the record of who did what: an append-only file of JSON lines, each synced to disk before its act may
// begin and each holding the SHA-256 of the line before it, so that a line changed or taken out afterwards is noticed.
//
// It decides nothing and forgets nothing; it may not know Slack, Temporal or hosts. What the chain cannot show is that lines
// were cut off at the end of the file or that the whole file was replaced: for that, keep the [Receipt] of an entry elsewhere,
// as the archive's commits and the run's message do, and compare it with [Verify].
//
// Start at [Log.Append].
package audit
