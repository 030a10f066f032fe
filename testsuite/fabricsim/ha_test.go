package fabricsim

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/fabricbot/fabricbot/fabric/fabrictest"
)

var handovers = flag.Int("handovers", 12, "how many hand-overs TestHandovers makes")

// manager is a host with a subnet manager that can be ended and started.
type manager struct {
	*host
	lid      string
	priority int
	key      string
	cmd      *exec.Cmd
}

func newManager(t *testing.T, f *Fabric, node string, priority int) *manager {
	return &manager{host: plugHost(t, f, node), priority: priority, key: "0x1"}
}

// settings make a standby notice a dead master within a second; opensm's own
// take most of a minute.
func (m *manager) settings() []string {
	return []string{
		fmt.Sprint("sm_priority ", m.priority), "sm_key " + m.key, "sminfo_polling_timeout 200", "polling_retry_number 2",
		"log_max_size 8",
	}
}

func (m *manager) start() { m.cmd = m.opensm(m.settings()...) }

func (m *manager) end(s syscall.Signal) {
	m.cmd.Process.Signal(s)
	m.cmd.Wait()
}

// reread writes the settings anew and lets the running manager read them.
func (m *manager) reread() {
	text := strings.Join(append([]string{"force_log_flush TRUE", "dump_files_dir " + m.dir}, m.settings()...), "\n") + "\n"
	if err := os.WriteFile(filepath.Join(m.dir, "opensm.conf"), []byte(text), 0o600); err != nil {
		m.t.Fatal(err)
	}
	m.cmd.Process.Signal(syscall.SIGHUP)
}

// says asks the manager for its state, from its own host; "" when it is
// silent.
func (m *manager) says() string {
	out, err := m.run("sminfo", "-t", "300", m.lid)
	if i := strings.Index(out, "SMINFO_"); err == nil && i >= 0 {
		return strings.TrimSpace(out[i+len("SMINFO_"):])
	}
	return ""
}

// tail shows the end of the manager's log.
func (m *manager) tail() {
	text, _ := os.ReadFile(filepath.Join(m.dir, "opensm.log"))
	lines := strings.Split(string(text), "\n")
	m.t.Logf("log of the manager at LID %s, which says %q:\n%s", m.lid, m.says(), strings.Join(lines[max(0, len(lines)-40):], "\n"))
}

func lids(f *Fabric) map[string]int {
	all := map[string]int{}
	for _, p := range f.Ports() {
		all[p.Node] = p.LID
	}
	return all
}

// pair brings up a fabric with two subnet managers, a in charge.
func pair(t *testing.T) (f *Fabric, a, b *manager) {
	needTools(t, "opensm", "sminfo")
	f = newTestFabric(t, fabrictest.FatTree(40))
	a, b = newManager(t, f, "node00001", 10), newManager(t, f, "node00030", 9)
	a.start()
	allActive(t, f, 20*time.Second)
	b.start()
	all := lids(f)
	a.lid, b.lid = fmt.Sprint(all["node00001"]), fmt.Sprint(all["node00030"])
	eventually(t, 20*time.Second, "a master and a standby", func() bool { return a.says() == "MASTER" && b.says() == "STANDBY" })
	return f, a, b
}

// TestHandovers changes the master over and over, by priority, by an orderly
// end and by kill -9. Every time the other one has to be master, every port
// has to follow it, and no LID may change.
func TestHandovers(t *testing.T) {
	f, master, standby := pair(t)
	before := lids(f)
	t.Cleanup(func() {
		if t.Failed() {
			master.tail()
			standby.tail()
		}
	})
	var took []time.Duration
	for round := range *handovers {
		since := time.Now()
		how := [...]string{"priority", "SIGTERM", "SIGKILL"}[round%3]
		switch how {
		case "priority":
			master.priority, standby.priority = standby.priority, master.priority
			standby.reread()
			master.reread()
		case "SIGTERM":
			master.end(syscall.SIGTERM)
		case "SIGKILL":
			master.end(syscall.SIGKILL)
		}
		eventually(t, 30*time.Second, fmt.Sprintf("round %d: %s: the other is master", round, how), func() bool { return standby.says() == "MASTER" })
		took = append(took, time.Since(since))
		if how != "priority" {
			// What comes back must be the weaker one, or it takes over at once.
			master.priority, standby.priority = 9, 10
			standby.reread()
			master.start()
		}
		eventually(t, 30*time.Second, fmt.Sprintf("round %d: %s: the first is standby", round, how), func() bool {
			return master.says() == "STANDBY" && standby.says() == "MASTER"
		})
		eventually(t, 30*time.Second, fmt.Sprintf("round %d: %s: every port follows", round, how), func() bool {
			for _, p := range f.Ports() {
				if p.Port == 1 && fmt.Sprint(p.SMLID) != standby.lid {
					return false
				}
			}
			return f.NotActive() == 0
		})
		master, standby = standby, master
	}
	for node, lid := range lids(f) {
		if before[node] != lid {
			t.Errorf("%s had LID %d and has %d", node, before[node], lid)
		}
	}
	t.Logf("%d hand-overs took %v", len(took), took)
}

// TestTwoMasters gives the standby another key, sees two masters, and heals.
func TestTwoMasters(t *testing.T) {
	_, a, b := pair(t)
	b.end(syscall.SIGTERM)
	b.key = "0xdeadbeef"
	b.start()
	eventually(t, 20*time.Second, "two masters", func() bool { return a.says() == "MASTER" && b.says() == "MASTER" })
	b.end(syscall.SIGTERM)
	b.key = "0x1"
	b.start()
	a.cmd.Process.Signal(syscall.SIGHUP)
	eventually(t, 20*time.Second, "one master and a standby", func() bool { return a.says() == "MASTER" && b.says() == "STANDBY" })
}
