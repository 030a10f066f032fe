package site

import (
	"context"

	"go.temporal.io/sdk/client"

	"github.com/fabricbot/fabricbot/internal/engine"
)

// Engine is how to reach the workflow engine: the cluster of the
// configuration, or the one that fabricd has embedded.
func (s *Site) Engine() (engine.Config, error) {
	t := s.Config.Temporal
	if t.Address == "" {
		c, err := engine.FromDataDir(t.Embedded.DataDir)
		c.Log = s.Log
		return c, err
	}
	c := engine.Config{Address: t.Address, Namespace: t.Namespace, Log: s.Log}
	if t.TLS.Enabled {
		c.TLS = &engine.TLS{CAFile: t.TLS.CA, CertFile: t.TLS.Cert, KeyFile: t.TLS.Key, ServerName: t.TLS.ServerName}
	}
	if !t.APIKey.IsZero() {
		c.APIKey = func(context.Context) (string, error) { return s.Secret("temporal.api_key", t.APIKey) }
	}
	return c, c.Check()
}

// Dial connects to the workflow engine.
func (s *Site) Dial(ctx context.Context) (client.Client, error) {
	c, err := s.Engine()
	if err != nil {
		return nil, err
	}
	return engine.Dial(ctx, c)
}
