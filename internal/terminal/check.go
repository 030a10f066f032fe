package terminal

import (
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/fabricbot/fabricbot/activities"
	"github.com/fabricbot/fabricbot/internal/config"
	"github.com/fabricbot/fabricbot/internal/site"
)

// check judges the configuration in use, the inventory, and the files that
// both name. Warnings are what a site may want but seldom means.
func (c *command) check() int {
	s, err := c.site()
	if err != nil {
		return c.fail(err)
	}
	var warnings []string
	if err := s.Config.SSH.CheckLogin(); err != nil {
		warnings = append(warnings, err.Error()+" (needed where fabricd or fabricworker runs)")
	}
	if !managed(s) {
		warnings = append(warnings, "inventory: no host has role "+activities.RoleSM+"; give it to those that run a subnet manager by plan, or sm operations look for managers on the fabric alone")
	}
	for _, id := range s.Config.Placeholders() {
		warnings = append(warnings, id+" is an id of the example; put in your own")
	}
	if os.Getuid() == 0 {
		warnings = append(warnings, "checked as root, who may read everything; the service runs as another user: check as that one too, such as with sudo -u fabricbot")
	}
	for _, w := range warnings {
		fmt.Fprintln(c.Err, "warning:", w)
	}
	problems := checkFiles(s.Config.SSH)
	for _, p := range problems {
		fmt.Fprintln(c.Err, "fabricctl:", p)
	}
	if len(problems) > 0 {
		return ExitFailed
	}
	fmt.Fprintf(c.Out, "cluster %s: %d hosts in %d groups; the configuration is good", s.Config.Cluster.Name, len(s.Inventory.Names()), len(s.Inventory.Groups()))
	if len(warnings) > 0 {
		fmt.Fprintf(c.Out, ", with %d warnings", len(warnings))
	}
	fmt.Fprintln(c.Out)
	return ExitOK
}

// managed says whether a host runs a subnet manager by plan.
func managed(s *site.Site) bool {
	for _, name := range s.Inventory.Names() {
		if h, _ := s.Inventory.Info(name); h.Role == activities.RoleSM {
			return true
		}
	}
	return false
}

// checkFiles opens what logging in needs. A private key must be its owner's
// alone, as ssh itself demands.
func checkFiles(ssh config.SSH) (problems []string) {
	look := func(key, path string, forbidden fs.FileMode) {
		f, err := os.Open(path)
		if err != nil {
			problems = append(problems, key+": "+err.Error())
			return
		}
		defer f.Close()
		info, err := f.Stat()
		switch {
		case err != nil:
			problems = append(problems, key+": "+err.Error())
		case !info.Mode().IsRegular():
			problems = append(problems, fmt.Sprintf("%s: %s is not a file", key, path))
		case info.Size() == 0:
			problems = append(problems, fmt.Sprintf("%s: %s is empty", key, path))
		case info.Mode().Perm()&forbidden != 0:
			problems = append(problems, fmt.Sprintf("%s: %s has mode %#o, so others may read it; run chmod 600 %[2]s", key, path, info.Mode().Perm()))
		}
	}
	for _, files := range []struct {
		key       string
		paths     []string
		forbidden fs.FileMode
	}{
		{"ssh.keys", ssh.Keys, 0o077}, {"ssh.certificates", ssh.Certificates, 0},
		{"ssh.known_hosts", ssh.KnownHosts, 0}, {"ssh.host_ca", ssh.HostCA, 0}, {"ssh.ssh_config", strings.Fields(ssh.SSHConfig), 0},
	} {
		for _, path := range files.paths {
			look(files.key, path, files.forbidden)
		}
	}
	return problems
}
