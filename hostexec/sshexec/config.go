package sshexec

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/kevinburke/ssh_config"
)

// ConfigResolver returns a Resolve function that reads HostName, Port, User,
// ProxyJump, HostKeyAlias and IdentityFile from an ssh_config file. Everything
// else in it is ignored, StrictHostKeyChecking first of all. home stands for
// "~" in file names.
func ConfigResolver(path, home string) (func(host string) (Endpoint, error), error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("reading ssh_config: %w", err)
	}
	defer f.Close()
	cfg, err := ssh_config.Decode(f)
	if err != nil {
		return nil, fmt.Errorf("reading ssh_config %s: %w", path, err)
	}
	c := configFile{cfg, path, home}
	return func(host string) (Endpoint, error) { return c.resolve(host, true) }, nil
}

type configFile struct {
	cfg        *ssh_config.Config
	path, home string
}

func (c configFile) resolve(host string, jumps bool) (Endpoint, error) {
	bad := func(key string, err error) (Endpoint, error) {
		return Endpoint{}, fmt.Errorf("reading %s of %s in %s: %w", key, host, c.path, err)
	}
	ep := Endpoint{Address: host}
	for key, to := range map[string]*string{"HostName": &ep.Address, "User": &ep.User, "HostKeyAlias": &ep.HostKeyAlias} {
		v, err := c.cfg.Get(host, key)
		if err != nil {
			return bad(key, err)
		}
		if v != "" {
			*to = strings.ReplaceAll(v, "%h", host)
		}
	}
	port, err := c.cfg.Get(host, "Port")
	if err != nil {
		return bad("Port", err)
	}
	if port != "" {
		if ep.Port, err = strconv.Atoi(port); err != nil {
			return bad("Port", err)
		}
	}
	files, err := c.cfg.GetAll(host, "IdentityFile")
	if err != nil {
		return bad("IdentityFile", err)
	}
	for _, name := range files {
		name = os.Expand(strings.ReplaceAll(name, "%d", c.home), func(v string) string { return os.Getenv(v) })
		if rest, ok := strings.CutPrefix(name, "~/"); ok {
			name = filepath.Join(c.home, rest)
		}
		// ssh skips a listed key that is not there.
		if _, err := os.Stat(name); err == nil {
			ep.Keys = append(ep.Keys, name)
		}
	}
	if !jumps {
		return ep, nil
	}
	chain, err := c.cfg.Get(host, "ProxyJump")
	if err != nil {
		return bad("ProxyJump", err)
	}
	if chain == "" || strings.EqualFold(chain, "none") {
		return ep, nil
	}
	for hop := range strings.SplitSeq(chain, ",") {
		j, err := c.hop(strings.TrimSpace(hop))
		if err != nil {
			return bad("ProxyJump", err)
		}
		ep.Jump = append(ep.Jump, j)
	}
	return ep, nil
}

// hop reads [user@]host[:port]; the rest comes from the host's own section.
func (c configFile) hop(s string) (Endpoint, error) {
	s = strings.TrimPrefix(s, "ssh://")
	user, name, ok := strings.Cut(s, "@")
	if !ok {
		user, name = "", s
	}
	name, port, _ := strings.Cut(name, ":")
	ep, err := c.resolve(name, false)
	if err != nil {
		return ep, err
	}
	if user != "" {
		ep.User = user
	}
	if port != "" {
		if ep.Port, err = strconv.Atoi(port); err != nil {
			return ep, err
		}
	}
	return ep, nil
}
