// Package shim builds the library that is preloaded into a host's programs so
// that they find the simulated adapter behind /dev/infiniband/umadN: an
// unmodified opensm or ibnetdiscover then works as on a real host.
//
// It holds the C source and a way to compile it; it starts nothing. Start at
// [Build].
package shim
