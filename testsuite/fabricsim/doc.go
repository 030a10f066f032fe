// Package fabricsim is an InfiniBand fabric without hardware: the management
// plane of switches, adapters and cables, good enough that the unmodified
// opensm and the packaged diagnostics take it for real.
//
// It plays what the nodes' firmware and the kernel's MAD layer do. Subnet
// management packets travel by directed route and by the forwarding tables the
// subnet manager wrote; a port comes from Initializing to Active only because
// a subnet manager says so; counters saturate where the specification says;
// other datagrams are carried between the hosts' programs along the same
// tables. No answer of a subnet manager is ever made up.
//
// Start at [ReadPlan] and [New], which build a [Fabric] from the text of
// ibnetdiscover, and [Fabric.Plug],
// which gives a host its device files and sysfs tree. The programs of a host
// reach their adapter through a small preloaded library, package shim.
// Everything a test or a person may do to the fabric is in faults.go.
//
// It is test material and runs inside the process that uses it: when that
// process ends, however it ends, nothing of the fabric remains.
//
// # What was measured
//
// opensm 3.3.23 on two busy cores, from its start until every port is Active,
// on three-level trees of 40-port switches; memory of the fabric and of opensm:
//
//	hosts  switches  first sweep  fabric  opensm
//	16     1         0.04 s       1 MB    4 MB
//	324    37        0.25 s       2 MB    12 MB
//	1,000  510       2 s          15 MB   111 MB
//	5,000  910       10 s         43 MB   307 MB
//
// 300 hand-overs in a row by priority, SIGTERM and SIGKILL, with polling every
// 200 ms: each under 2 s, no LID changed. All 5,910 node records of the largest
// in one answer: less than 4 s with the tool's own printing.
//
// # What it does not play
//
// Data: no queue pairs, no IPoIB, no RDMA. Virtual lanes, credits and time on
// the wire. Router ports answer as adapters do.
package fabricsim
