// Package lab builds the place in which the product is proved: an InfiniBand
// fabric without hardware, two real opensm, and hosts that are reached with
// real SSH and answer with the real tools of Debian.
//
// Start reading at Start in lab.go; a person uses it through cmd/fabriclab. It
// is test material: it may not import anything of the product, and the product
// may not import it. It needs root and the packages of packages.txt.
//
// # How it is made
//
// A host is a process tree in mount, uts and pid namespaces of its own, with
// an init of ours (init.go) that keeps an OpenSSH or Dropbear server, reaps,
// and obeys reboot and poweroff. Its root is an overlay over the machine's;
// /etc, /var, /opt, /root, /home, boot id, accounts, host key, and
// /sys/class/infiniband are its own. Hosts share the machine's network: each
// SSH server listens on 127.77.x.y, and the world talks to a proxy on
// 127.78.x.y that can be partitioned, slowed and reset. A second lab on the
// machine takes 127.79 and 127.80, and so on.
//
// Everything is started from one thread with its own mount namespace
// (spawn.go): all of it ends, and all mounts vanish, with the process that
// called Start, even by kill -9.
//
// The fabric is package fabricsim, which runs inside the process that called
// Start. Each host has its own /dev/infiniband and /sys/class/infiniband from
// it, and the packaged tools find them through a small preloaded library. The
// stock ibsim behind a relay (relay.go) can be chosen instead; any other
// simulator takes their place by implementing Fabric.
//
// # What was measured
//
// With opensm 3.3.23, sminfo_polling_timeout 1000, polling_retry_number 2,
// priorities 14 and 13 (two cores, Debian 12, opensm 3.3.23):
//
//   - 16 hosts up, all ports Active: under 2 s; 16 ibstat at once over SSH: 1.3 s
//   - master stopped or killed, standby is MASTER: 3.0–5.4 s
//   - old master started, MASTER again and the other STANDBY: 0.4–1.2 s, rarely 4.6 s
//   - opensmd restart on the master, MASTER again: 0.8–1.3 s, rarely 4.5 s
//
// # What it cannot show
//
// There is no data on the fabric: no IPoIB, no verbs, no RDMA. Every adapter
// sits in the same PCI slot of the same model. Hosts share the kernel: uptime,
// load and modules are the machine's. Their root could leave its namespaces; a
// lab is no place for hostile code.
package lab
