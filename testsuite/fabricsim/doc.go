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
// # What it does not play
//
// Data: no queue pairs, no IPoIB, no RDMA. Virtual lanes, credits and time on
// the wire. Router ports answer as adapters do.
package fabricsim
