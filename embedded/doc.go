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
// in the UI could not write. Its pages about remote clusters and Nexus endpoints show "unauthorized", since those ask
// for administration.
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
// Start at [Start].
package embedded
