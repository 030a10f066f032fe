package config

import (
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/fabricbot/fabricbot/internal/strictyaml"
)

// PathVariable names the file where -config does not.
const PathVariable = "FABRICBOT_CONFIG"

// maxFile bounds the file, in octets.
const maxFile = 1 << 20

//go:embed example.yaml
var example string

// Example is a complete configuration with remarks.
func Example() string { return example }

// Path chooses the file: what -config says or, where that is empty, what FABRICBOT_CONFIG says.
func Path(flag string) (string, error) {
	if flag != "" {
		return flag, nil
	}
	if path := os.Getenv(PathVariable); path != "" {
		return path, nil
	}
	return "", errors.New("no configuration: name the file with -config or in " + PathVariable)
}

// Load reads and checks the file at path; the error has one line for every mistake. operations are the names of all there are,
// with which the patterns under access are compared; nil leaves that out.
func Load(path string, operations []string) (*Config, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("reading configuration: %w", err)
	}
	if info.Size() > maxFile {
		return nil, fmt.Errorf("configuration %s: %d octets, at most %d are allowed", path, info.Size(), maxFile)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading configuration: %w", err)
	}
	dir, err := filepath.Abs(filepath.Dir(path))
	if err != nil {
		return nil, fmt.Errorf("reading configuration: %w", err)
	}
	return parse(path, text, dir, operations)
}

// parse reads the text of the file called name as if it lay in dir.
func parse(name string, text []byte, dir string, operations []string) (*Config, error) {
	doc, err := strictyaml.Parse(name, text)
	if err != nil {
		return nil, err
	}
	config := Default()
	if doc.Has("temporal.embedded") {
		// Given in part, it keeps the defaults of the rest.
		config.Temporal.Embedded = &Embedded{UIPort: defaultUIPort}
	}
	if err := doc.Decode(&config); err != nil {
		return nil, err
	}
	config.complete(dir)
	found := config.check(operations)
	for i, err := range found {
		var at *fieldError
		if errors.As(err, &at) {
			found[i] = doc.Errorf(at.path, "%s", at.reason)
		}
	}
	if err := errors.Join(found...); err != nil {
		return nil, err
	}
	return &config, nil
}

// complete derives what depends on other values and makes all paths absolute.
func (c *Config) complete(dir string) {
	if c.Temporal.Embedded == nil && c.Temporal.Address == "" {
		c.Temporal.Embedded = &Embedded{UIPort: defaultUIPort}
	}
	c.DataDir = below(dir, c.DataDir)
	c.Inventory = below(dir, c.Inventory)
	c.Archive = below(dir, orElse(c.Archive, filepath.Join(c.DataDir, "archive")))
	c.Audit = below(dir, orElse(c.Audit, filepath.Join(c.DataDir, "audit.jsonl")))
	if e := c.Temporal.Embedded; e != nil {
		e.DataDir = below(dir, orElse(e.DataDir, filepath.Join(c.DataDir, "temporal")))
	}
	for _, path := range []*string{&c.SSH.SSHConfig, &c.Temporal.TLS.CA, &c.Temporal.TLS.Cert, &c.Temporal.TLS.Key} {
		*path = below(dir, *path)
	}
	for _, paths := range [][]string{c.SSH.Keys, c.SSH.Certificates, c.SSH.KnownHosts, c.SSH.HostCA} {
		for i := range paths {
			paths[i] = below(dir, paths[i])
		}
	}
	for _, secret := range []*Secret{&c.Slack.BotToken, &c.Slack.AppToken, &c.Slack.SigningSecret, &c.Temporal.APIKey} {
		*secret = secret.below(dir)
	}
}

func below(dir, path string) string {
	if path == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

func orElse(value, otherwise string) string {
	if value == "" {
		return otherwise
	}
	return value
}
