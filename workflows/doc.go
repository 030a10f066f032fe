// Package workflows holds the order of things: every operation's declaration
// beside the workflow that performs it, and the frame around all of them (plan,
// gate, lease, audit, progress, final message).
//
// Code here is deterministic: time, chance and the outside world come through
// Temporal only. Bodies and plans are named top-level functions, because the
// determinism checker does not see into anonymous ones. An operation is one
// file ending in a call of declare; read sm_status.go first, then frame.go.
package workflows
