package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Names inside the data directory of an embedded server.
const (
	MetaFile       = "meta.json"
	TLSDir         = "tls"
	CAFile         = "ca.crt"     // in TLSDir
	ClientCertFile = "client.crt" // in TLSDir
	ClientKeyFile  = "client.key" // in TLSDir
	UITokenFile    = "ui.token"   // in TLSDir; whoever has it may read in the web UI
)

// MetaFormat is the newest lay-out of meta.json this program understands.
const MetaFormat = 1

// Meta is what an embedded server records about its data directory, in meta.json. It holds no secret.
type Meta struct {
	Format              int       `json:"format"`                // lay-out of this file, see MetaFormat
	ServerVersion       string    `json:"server_version"`        // Temporal server that last opened the file
	SQLiteSchema        string    `json:"sqlite_schema"`         // version of the main schema in the file
	VisibilitySchemaMD5 string    `json:"visibility_schema_md5"` // of the visibility schema, which has no version of its own
	HistoryShards       int32     `json:"history_shards"`        // fixed when the file was made
	Namespace           string    `json:"namespace"`             //
	FrontendPort        int       `json:"frontend_port"`         // on 127.0.0.1
	UIPort              int       `json:"ui_port,omitempty"`     // on 127.0.0.1; 0 when the web UI is off
	Created             time.Time `json:"created"`               // first start, UTC
	LastStarted         time.Time `json:"last_started"`          // UTC
}

// ReadMeta reads meta.json of a data directory. The error wraps fs.ErrNotExist when there is none.
func ReadMeta(dir string) (Meta, error) {
	path := filepath.Join(dir, MetaFile)
	b, err := os.ReadFile(path)
	if err != nil {
		return Meta{}, fmt.Errorf("reading engine record: %w", err)
	}
	var m Meta
	if err := json.Unmarshal(b, &m); err != nil {
		return Meta{}, fmt.Errorf("reading engine record %s: %w: restore it from a backup of the directory", path, err)
	}
	if m.Format < 1 {
		return Meta{}, fmt.Errorf("reading engine record %s: it names no format: restore it from a backup of the directory", path)
	}
	if m.Format > MetaFormat {
		return Meta{}, fmt.Errorf("reading engine record %s: it has format %d and this program knows up to %d: use the newer fabricbot that wrote it",
			path, m.Format, MetaFormat)
	}
	return m, nil
}

// FromDataDir returns the configuration for talking to the server that a fabricd with this data directory has
// embedded. It does not connect; an unreadable directory usually means another user's.
func FromDataDir(dir string) (Config, error) {
	m, err := ReadMeta(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Config{}, fmt.Errorf("%w: no fabricd has run with data directory %s yet; start it, or name its directory", err, dir)
	case errors.Is(err, fs.ErrPermission):
		return Config{}, fmt.Errorf("%w: only the user who runs fabricd may connect to it; run as that user", err)
	case err != nil:
		return Config{}, err
	}
	if m.FrontendPort < 1 || m.FrontendPort > 65535 {
		return Config{}, fmt.Errorf("engine record of %s names port %d: start fabricd once more to write it anew", dir, m.FrontendPort)
	}
	in := func(name string) string { return filepath.Join(dir, TLSDir, name) }
	return Config{
		Address:   net.JoinHostPort("127.0.0.1", strconv.Itoa(m.FrontendPort)),
		Namespace: m.Namespace,
		TLS:       &TLS{CAFile: in(CAFile), CertFile: in(ClientCertFile), KeyFile: in(ClientKeyFile)},
		dataDir:   dir,
	}, nil
}

// UISignIn is the link that signs a browser in to the web UI of the server with this data directory. It is a secret: it
// belongs on the terminal of who asks, never in a log or a channel. The link works while that fabricd runs.
func UISignIn(dir string) (string, error) {
	m, err := ReadMeta(dir)
	if errors.Is(err, fs.ErrPermission) {
		return "", fmt.Errorf("%w: only the user who runs fabricd may open its page; run as that user", err)
	}
	if err != nil {
		return "", err
	}
	if m.UIPort == 0 {
		return "", errors.New("the engine's web page is off: set temporal.embedded.ui_port, such as 8233, and start fabricd again")
	}
	token, err := os.ReadFile(filepath.Join(dir, TLSDir, UITokenFile))
	if err != nil {
		return "", fmt.Errorf("reading the token of the engine's web page: %w", err)
	}
	return UILink(m.UIPort, strings.TrimSpace(string(token))), nil
}

// UILink is the sign-in link for a port of 127.0.0.1 and a token.
func UILink(port int, token string) string {
	return "http://" + net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) + "/?token=" + token
}
