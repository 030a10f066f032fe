package embedded

import (
	"path/filepath"
	"strconv"
	"time"

	"go.temporal.io/server/common/authorization"
	"go.temporal.io/server/common/cluster"
	"go.temporal.io/server/common/config"
	"go.temporal.io/server/common/dynamicconfig"
	"go.temporal.io/server/common/membership/static"
	sqliteplugin "go.temporal.io/server/common/persistence/sql/sqlplugin/sqlite"
	"go.temporal.io/server/common/primitives"
	"go.temporal.io/server/common/rpc/encryption"
	"go.temporal.io/server/temporal"
)

// clusterName is recorded in every namespace; it cannot change once a file exists.
const clusterName = "active"

// shardTimeout is how long a shard waits for the one SQLite connection. The server's 5 s is reached from about a
// thousand workflows at once (temporal issue 9686); the work then still completes, but noisily.
const shardTimeout = 30 * time.Second

// newServer wires the four services of one process: fixed hosts instead of gossip, one SQLite file, mutual TLS.
func newServer(o Options, m Meta, inner []int, tlsConfig encryption.TLSConfigProvider, l *serverLog) (temporal.Server, error) {
	services := []primitives.ServiceName{primitives.FrontendService, primitives.HistoryService, primitives.MatchingService, primitives.WorkerService}
	ports := append([]int{m.FrontendPort}, inner...)
	hosts := map[primitives.ServiceName]static.Hosts{}
	rpc := map[string]config.Service{}
	for i, s := range services {
		hosts[s] = static.Hosts{Self: hostPort(ports[i]), All: []string{hostPort(ports[i])}}
		rpc[string(s)] = config.Service{RPC: config.RPC{GRPCPort: ports[i], BindOnIP: loopback}}
	}
	cfg := &config.Config{
		Global:      config.Global{Membership: config.Membership{MaxJoinDuration: 30 * time.Second, BroadcastAddress: loopback}},
		Persistence: storage(filepath.Join(o.DataDir, databaseFile), m.HistoryShards),
		ClusterMetadata: &cluster.Config{
			FailoverVersionIncrement: 10,
			MasterClusterName:        clusterName,
			CurrentClusterName:       clusterName,
			ClusterInformation: map[string]cluster.ClusterInformation{
				clusterName: {Enabled: true, InitialFailoverVersion: 1, RPCAddress: hostPort(m.FrontendPort)},
			},
		},
		DCRedirectionPolicy: config.DCRedirectionPolicy{Policy: "noop"},
		Services:            rpc,
		Archival: config.Archival{
			History:    config.HistoryArchival{State: "disabled"},
			Visibility: config.VisibilityArchival{State: "disabled"},
		},
		NamespaceDefaults: config.NamespaceDefaults{Archival: config.ArchivalNamespaceDefaults{
			History:    config.HistoryArchivalNamespaceDefaults{State: "disabled"},
			Visibility: config.VisibilityArchivalNamespaceDefaults{State: "disabled"},
		}},
		PublicClient: config.PublicClient{HostPort: hostPort(m.FrontendPort)},
	}
	return temporal.NewServer(
		temporal.WithConfig(cfg),
		temporal.ForServices(temporal.DefaultServices), // with the worker service: schedules and deletion run in it
		temporal.WithStaticHosts(hosts),
		temporal.WithLogger(l),
		temporal.WithAuthorizer(authorization.NewDefaultAuthorizer()),
		temporal.WithClaimMapper(func(*config.Config) authorization.ClaimMapper { return access{} }),
		temporal.WithTLSConfigFactory(tlsConfig),
		temporal.WithDynamicConfigClient(dynamicconfig.StaticClient{
			// One process gains nothing from spreading a queue; four partitions cost a tenth more CPU (measured 2026-12).
			dynamicconfig.MakeKey("matching.numTaskqueueReadPartitions"):  1,
			dynamicconfig.MakeKey("matching.numTaskqueueWritePartitions"): 1,
			dynamicconfig.MakeKey("history.shardIOTimeout"):               shardTimeout,
			// Lists and counts share a limit of 10 a second, which a browser tab and one "runs list" reach together; the
			// callers here are few and known.
			dynamicconfig.MakeKey("frontend.namespaceRPS.visibility"): 100,
			// The server would otherwise report its version to its makers once in a while.
			dynamicconfig.MakeKey("frontend.enableServerVersionCheck"): false,
		}),
	)
}

// storage is one SQLite connection with a write-ahead log and a sync at every commit: an approval that was
// acknowledged must survive a power cut. More connections make "database is locked" out of load (measured 2026-12).
func storage(path string, shards int32) config.Persistence {
	return config.Persistence{
		DefaultStore:     sqliteplugin.PluginName,
		VisibilityStore:  sqliteplugin.PluginName,
		NumHistoryShards: shards,
		DataStores: map[string]config.DataStore{sqliteplugin.PluginName: {SQL: &config.SQL{
			PluginName:   sqliteplugin.PluginName,
			DatabaseName: uriPath(path),
			MaxConns:     1,
			ConnectAttributes: map[string]string{
				"mode":         "rw", // never make an empty file where the database was expected
				"journal_mode": "wal",
				"synchronous":  "full",
				"busy_timeout": strconv.Itoa(busyTimeoutMS),
			},
		}}},
	}
}
