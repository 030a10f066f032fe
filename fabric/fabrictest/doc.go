// Package fabrictest makes fabrics for tests and benchmarks: topologies of
// any size, and the text in which ibnetdiscover would print them. It is for
// tests only and talks to nothing. Start at [FatTree].
package fabrictest
