package workside

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"os"

	"go.uber.org/zap"

	"github.com/fabricbot/fabricbot/hostexec"
	"github.com/fabricbot/fabricbot/hostexec/sshexec"
	"github.com/fabricbot/fabricbot/internal/site"
)

// Hands is the SSH pool as activities use it.
type Hands struct{ *sshexec.Pool }

// Put writes a file on a host, once: unchanged content is left alone.
func (h Hands) Put(ctx context.Context, host string, lease hostexec.Lease, path string, mode fs.FileMode, content []byte) error {
	sum := sha256.Sum256(content)
	return h.Pool.Put(ctx, host, lease, path, mode, bytes.NewReader(content), hex.EncodeToString(sum[:]))
}

// NewPool opens the pool of SSH connections that the configuration describes.
func NewPool(s *site.Site) (*sshexec.Pool, error) {
	c := s.Config.SSH
	if err := c.CheckLogin(); err != nil {
		return nil, err
	}
	ways, err := newWays(s.Inventory.Endpoint, c)
	if err != nil {
		return nil, err
	}
	// No SpillDir: nothing reads such files, and a host whose tool never stops
	// printing would fill the disk that the engine and the audit log live on.
	return sshexec.New(sshexec.Options{
		Resolve: ways.to,
		User:    c.User, KnownHosts: c.KnownHosts, HostCAs: c.HostCA, Keys: c.Keys, Certificates: c.Certificates,
		Agent: c.Agent, AgentSocket: os.Getenv("SSH_AUTH_SOCK"), ConnectTimeout: c.ConnectTimeout,
		PerHost: c.PerHost, Overall: c.Overall,
		Event: func(e sshexec.Event) { record(s.Log, e) },
	})
}

// record logs what happens to connections: the ordinary quietly, a changed
// host key loudly.
func record(log *zap.Logger, e sshexec.Event) {
	fields := []zap.Field{zap.String("host", e.Host), zap.String("kind", e.Kind), zap.String("detail", e.Detail)}
	switch e.Kind {
	case "connected", "closed":
		log.Debug("ssh connection", fields...)
	default:
		log.Warn("ssh connection", fields...)
	}
}
