package workside

import (
	"fmt"
	"os"

	"github.com/fabricbot/fabricbot/hostexec/sshexec"
	"github.com/fabricbot/fabricbot/internal/config"
	"github.com/fabricbot/fabricbot/internal/inventory"
)

// sshPort is what an inventory means that names no port.
const sshPort = 22

// ways knows how to reach hosts: as the inventory says, then as the OpenSSH
// configuration file says, and always through the site's own hops first.
type ways struct {
	inventory func(host string) (inventory.Endpoint, error)
	file      func(host string) (sshexec.Endpoint, error) // nil without a file
	jump      []sshexec.Endpoint
}

func newWays(inv func(string) (inventory.Endpoint, error), c config.SSH) (ways, error) {
	w := ways{inventory: inv}
	for _, hop := range c.Jump {
		ep, err := inventory.ParseHop(hop)
		if err != nil {
			return ways{}, fmt.Errorf("ssh.jump: %w", err)
		}
		w.jump = append(w.jump, endpoint(ep))
	}
	if c.SSHConfig == "" {
		return w, nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return ways{}, fmt.Errorf("finding the home directory for %s: %w", c.SSHConfig, err)
	}
	w.file, err = sshexec.ConfigResolver(c.SSHConfig, home)
	return w, err
}

// to is the way to one host.
func (w ways) to(host string) (sshexec.Endpoint, error) {
	known, err := w.inventory(host)
	if err != nil {
		return sshexec.Endpoint{}, err
	}
	ep := endpoint(known)
	if w.file != nil {
		said, err := w.file(host)
		if err != nil {
			return sshexec.Endpoint{}, err
		}
		fill(&ep, said, host)
	}
	var jump []sshexec.Endpoint
	for _, hop := range w.jump {
		// The hop itself may be a host of the site.
		if hop.Address != ep.Address && hop.Address != host {
			jump = append(jump, hop)
		}
	}
	ep.Jump = append(jump, ep.Jump...)
	return ep, nil
}

// fill takes from the file what the inventory leaves open.
func fill(ep *sshexec.Endpoint, said sshexec.Endpoint, host string) {
	if ep.Address == host {
		ep.Address = said.Address
	}
	if ep.Port == sshPort && said.Port != 0 {
		ep.Port = said.Port
	}
	if ep.User == "" {
		ep.User = said.User
	}
	if len(ep.Jump) == 0 {
		ep.Jump = said.Jump
	}
	ep.Keys, ep.HostKeyAlias = said.Keys, said.HostKeyAlias
}

func endpoint(ep inventory.Endpoint) sshexec.Endpoint {
	out := sshexec.Endpoint{Address: ep.Address, Port: int(ep.Port), User: ep.User}
	for _, hop := range ep.Jump {
		out.Jump = append(out.Jump, endpoint(hop))
	}
	return out
}
