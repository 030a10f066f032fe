package site

import (
	"context"
	"fmt"
	"os"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/fabricbot/fabricbot/internal/access"
	"github.com/fabricbot/fabricbot/internal/config"
	"github.com/fabricbot/fabricbot/internal/inventory"
	"github.com/fabricbot/fabricbot/internal/redact"
	"github.com/fabricbot/fabricbot/workflows"
)

// Site is what every program of a site opens first.
type Site struct {
	Config    *config.Config
	Redact    *redact.Redactor
	Inventory Inventory
	Log       *zap.Logger
}

// Open reads configuration and inventory and makes the log, through which no
// secret passes.
func Open(configPath string, level zapcore.Level) (*Site, error) {
	path, err := config.Path(configPath)
	if err != nil {
		return nil, err
	}
	catalog, err := workflows.Index()
	if err != nil {
		return nil, err
	}
	var operations []string
	for _, e := range catalog.Entries() {
		operations = append(operations, e.Name)
	}
	cfg, err := config.Load(path, operations)
	if err != nil {
		return nil, err
	}
	r, err := redact.New(cfg.Redact.Patterns...)
	if err != nil {
		return nil, err
	}
	live, err := inventory.Open(cfg.Inventory)
	if err != nil {
		return nil, err
	}
	return &Site{Config: cfg, Redact: r, Inventory: Inventory{live}, Log: newLog(r, level)}, nil
}

// Level is how much a program logs: info and worse, or everything.
func Level(verbose bool) zapcore.Level {
	if verbose {
		return zapcore.DebugLevel
	}
	return zapcore.InfoLevel
}

func newLog(r *redact.Redactor, level zapcore.Level) *zap.Logger {
	enc := zap.NewProductionEncoderConfig()
	enc.EncodeTime = zapcore.RFC3339TimeEncoder
	return zap.New(r.Core(zapcore.NewCore(zapcore.NewConsoleEncoder(enc), zapcore.Lock(os.Stderr), level)))
}

// Secret resolves a secret and teaches it to the redaction, so that it never
// shows afterwards.
func (s *Site) Secret(name string, ref config.Secret) (string, error) {
	value, err := s.Redact.Resolve(ref.Resolve)
	if err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	return value, nil
}

// Access is the site's rules; groups may be nil where there is no Slack.
func (s *Site) Access(groups access.Groups) (*access.Access, error) {
	return access.New(s.Config.Access, s.Config.Slack.TeamID, groups)
}

// OpenArchive opens the archive for reading and writing.
func (s *Site) OpenArchive(ctx context.Context) (*Archive, error) {
	return openArchive(ctx, s.Config.Archive, s.Config.Cluster.Name, s.Redact)
}
