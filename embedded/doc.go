// Package embedded holds a whole Temporal server and its web UI inside one process, on a SQLite file: the engine of a
// small site and of the demo. It is a module of its own, so that everything else builds without the server.
//
// It may not know operations, Slack or SSH, and nothing but a program that wants the server inside may import it.
// Clients in other processes use internal/engine, which also defines the lay-out of the data directory.
//
//	s, err := embedded.Start(ctx, embedded.Options{
//		DataDir: "/var/lib/fabricbot/engine",
//		UIPort:  8233,
//		SearchAttributes: map[string]enumspb.IndexedValueType{
//			"FabricOp": enumspb.INDEXED_VALUE_TYPE_KEYWORD,
//		},
//		Log: log,
//	})
//	if err != nil {
//		return err // one sentence that says what to do
//	}
//	defer s.Stop()
//	c, err := client.Dial(s.ClientOptions())
//
// # Who may do what
//
// Everything listens on 127.0.0.1, where every local user can connect. Therefore all four gRPC ports speak mutual TLS
// under an authority kept in DataDir/tls, and the name in a certificate decides the rights (access.go): the server
// itself administrates, clients work, the web UI reads. Whoever can read DataDir/tls/client.key can approve changes;
// the directory has mode 0700, and Start refuses one that is more open.
//
// The web UI cannot ask a browser for a certificate without one being installed there, so it asks for a token: a
// browser is signed in by the link UISignIn. Behind it the UI holds the read-only certificate, so that even a fault
// in the UI could not write. (There is one: ui-server 2.55.0 takes a signal whose name contains "/query/" for a query.)
// Browsers do not keep cookies apart by port, so a page another local user serves on 127.0.0.1 could learn the token,
// and with it read; do not open such pages in the same browser profile. Its pages about remote clusters and Nexus endpoints show "unauthorized", since those ask
// for administration.
//
// The temporal command line works with the same files, as far as the client's rights go:
//
//	temporal workflow list --namespace fabricbot --address 127.0.0.1:PORT --tls-ca-path DataDir/tls/ca.crt \
//	  --tls-cert-path DataDir/tls/client.crt --tls-key-path DataDir/tls/client.key
//
// # What is in the data directory
//
//	lock            flock, with the pid of the holder
//	meta.json       versions, ports, dates: engine.Meta
//	engine.sqlite   the database, with -wal and -shm beside it while running
//	engine.sqlite.before-VERSION.DATE   copies made before an upgrade; remove them when you trust it
//	engine.log      errors of the server, at most three files of 10 MiB
//	tls/            authority, client certificate, token of the web UI
//
// Back it up with the server running by VACUUM INTO (never by copying engine.sqlite alone) together with meta.json,
// or stopped by copying the directory.
//
// # Figures
//
// Taken 2026-12-01 on two quiet cores (AMD EPYC, Go 1.26.8, ext4), stripped binary with one worker and
// the web UI in the same process, mutual TLS on:
//
//	first start of a directory            2.1 s (2 s of it until a new search attribute is known)
//	later starts                          0.28 s
//	stop                                  1.0 s
//	memory, idle, fresh                   154 MB resident
//	memory after the runs below           227 MB resident
//	processor, idle                       0.2 % of a core
//	a host as an activity in a sweep      1.6 ms, 2.4 ms of processor (1,000 hosts, 50 at once)
//	a host as a child workflow            14 ms, 18 ms of processor (300 hosts, 50 at once)
//	a binary with all of it               155 MB
//
// Start at [Start].
package embedded
