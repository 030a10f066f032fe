// Package engine connects a program to the Temporal cluster that carries its workflows: an external one named by
// configuration, or the one that a fabricd on this machine has embedded.
//
// It may not hold a server (that is the nested module embedded), know operations, or resolve secrets: an API key
// comes in as a function that yields its value, and is asked for again on every call, so that a rotated key needs no
// restart.
//
// The embedded server writes [Meta] into its data directory and keeps certificates beside it; [FromDataDir] reads
// both. That makes this package the one place where the lay-out of a data directory is defined.
//
// Start at [Dial].
package engine
