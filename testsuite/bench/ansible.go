package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/fabricbot/fabricbot/testsuite/bench/farm"
	"github.com/fabricbot/fabricbot/testsuite/bench/figure"
)

// ansibleRun is Ansible in its quickest form: the raw module, which copies
// nothing and starts no Python on the hosts, no facts, connections kept by
// ControlPersist and already open.
type ansibleRun struct {
	farm      *farm.Farm
	dir       string
	inventory string
	env       []string
}

// ansible prepares it and opens the connections; nil where it is missing.
func (b *bench) ansible(ctx context.Context, f *farm.Farm) *ansibleRun {
	const row = "fan-out warm against " + byAnsible
	if _, err := exec.LookPath("ansible"); err != nil {
		b.sheet.Skip(row, "ansible is not installed (package ansible-core)")
		return nil
	}
	// Names of control sockets must be short: sun_path holds 108 bytes.
	dir, err := os.MkdirTemp("", "fbcp")
	if err != nil {
		b.sheet.Skip(row, err.Error())
		return nil
	}
	a := &ansibleRun{farm: f, dir: dir, inventory: filepath.Join(dir, "hosts")}
	a.env = []string{
		"ANSIBLE_CONFIG=" + filepath.Join(dir, "ansible.cfg"), "ANSIBLE_LOCAL_TEMP=" + dir, "ANSIBLE_HOST_KEY_CHECKING=True", "ANSIBLE_FORKS=" + strconv.Itoa(fanAtOnce),
		"ANSIBLE_SSH_ARGS=-F " + f.Config + " -o ControlMaster=auto -o ControlPersist=300s",
		"ANSIBLE_SSH_CONTROL_PATH_DIR=" + dir, "ANSIBLE_SSH_CONTROL_PATH=" + dir + "/%%C", "ANSIBLE_NOCOLOR=1", "HOME=" + dir,
	}
	err = os.WriteFile(a.inventory, []byte(strings.Join(f.Names(), "\n")+"\n"), 0o600)
	if err == nil { // nobody's settings
		err = os.WriteFile(filepath.Join(dir, "ansible.cfg"), []byte("[defaults]\n"), 0o600)
	}
	if err == nil {
		_, err = a.run(ctx)
	}
	if err != nil {
		a.close()
		b.sheet.Skip(row, fmt.Sprintf("ansible did not reach the hosts: %v", err))
		return nil
	}
	return a
}

func (a *ansibleRun) run(ctx context.Context) (figure.Sample, error) {
	out, s, err := execute(ctx, a.env, "ansible", "all", "-i", a.inventory, "-o", "-m", "raw", "-a", "hostname")
	if err == nil {
		err = answeredAll(out, " | CHANGED | rc=0 | ", a.farm.Names())
	}
	return s, err
}

// close ends the connections' masters through their control sockets.
func (a *ansibleRun) close() {
	sockets, _ := filepath.Glob(filepath.Join(a.dir, "*"))
	for _, s := range sockets {
		if st, err := os.Stat(s); err == nil && st.Mode()&os.ModeSocket != 0 {
			_ = exec.Command("ssh", "-o", "ControlPath="+s, "-O", "exit", "node001").Run()
		}
	}
	_ = os.RemoveAll(a.dir)
}
