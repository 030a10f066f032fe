package fabricsim

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/fabricbot/fabricbot/testsuite/fabricsim/mad"
)

func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// linkOf is iblinkinfo's line of a host's link, as the switch sees it.
func (h *host) linkOf(node string) string {
	for _, line := range strings.Split(h.must(nil, "iblinkinfo", "-l"), "\n") {
		if strings.Contains(line, `"`+node+` HCA-1"`) && strings.Contains(line, "MF0;leaf") {
			return line
		}
	}
	return ""
}

// errors is ibqueryerrors, which exits with 1 when it finds any.
func (h *host) errors(args ...string) string {
	out, _ := h.run(append([]string{"ibqueryerrors"}, args...)...)
	return out
}

func healthy(f *Fabric) func() bool {
	return func() bool { return f.NotActive() == 0 && unreachable(f) == 0 }
}

func TestLinkFaults(t *testing.T) {
	f, sm, other := small(t)
	t.Run("pull", func(t *testing.T) {
		if l := sm.linkOf("node00005"); !strings.Contains(l, "Active/  LinkUp") {
			t.Fatalf("not up before: %q", l)
		}
		ok(t, f.Pull("node00005", 1))
		if l := sm.linkOf("node00005"); strings.Contains(l, "LinkUp") {
			t.Errorf("still up: %s", l)
		}
		ok(t, f.Reseat("node00005", 1))
		eventually(t, 15*time.Second, "link back", healthy(f))
	})
	t.Run("degrade", func(t *testing.T) {
		ok(t, f.Degrade("leaf-p01-01", 25, 1, mad.EDR))
		eventually(t, 15*time.Second, "trained", healthy(f))
		out := sm.must([]string{"Could be 53.125 Gbps", "Could be 4X"}, "iblinkinfo")
		if !regexp.MustCompile(`1X\s+25\.78125 Gbps Active`).MatchString(out) {
			t.Error("iblinkinfo shows no link of 1X EDR")
		}
		ok(t, f.Degrade("leaf-p01-01", 25, 0, 0))
		eventually(t, 15*time.Second, "trained again", healthy(f))
		if out := sm.must(nil, "iblinkinfo"); strings.Contains(out, "Could be") {
			t.Error("a link is still not what it could be")
		}
	})
	t.Run("build", func(t *testing.T) {
		for _, n := range []string{"leaf-p01-02", "node00030"} {
			ok(t, f.Build(n, map[string]int{"leaf-p01-02": 10, "node00030": 1}[n], 4, mad.NDR))
		}
		eventually(t, 15*time.Second, "trained", healthy(f))
		other.must([]string{"Rate: 400"}, "ibstat")
		other.must([]string{"LinkSpeedExtActive:..............106.25 Gbps"}, "smpquery", "-D", "portinfo", "0")
	})
	t.Run("flap", func(t *testing.T) {
		ok(t, f.Flap("node00007", 1, 100*time.Millisecond))
		time.Sleep(time.Second)
		ok(t, f.Steady("node00007", 1))
		// After a dozen traps opensm hears no more of them, and a change
		// between its reading a port and clearing PortStateChange is lost.
		sm.hup()
		eventually(t, 15*time.Second, "link steady", healthy(f))
		if out := sm.errors(); !strings.Contains(out, "LinkDownedCounter ==") {
			t.Errorf("no link went down: %s", out)
		}
	})
	t.Run("swap", func(t *testing.T) {
		before := sm.linkOf("node00003")
		ok(t, f.Swap("leaf-p01-01", 3, "leaf-p01-02", 3))
		eventually(t, 15*time.Second, "wired anew", healthy(f))
		if after := sm.linkOf("node00003"); !strings.Contains(after, "leaf-p01-02") || after == before {
			t.Errorf("node00003 is at %q, was at %q", after, before)
		}
		ok(t, f.Swap("leaf-p01-01", 3, "leaf-p01-02", 3))
		eventually(t, 15*time.Second, "wired as before", healthy(f))
		if after := sm.linkOf("node00003"); !strings.Contains(after, "leaf-p01-01") {
			t.Errorf("node00003 is at %q", after)
		}
	})
	t.Run("counters", func(t *testing.T) {
		sm.errors("-k", "-K")
		ok(t, f.SetCounter("node00030", 1, "SymbolErrorCounter", 70000))
		other.must([]string{"SymbolErrorCounter:..............65535"}, "perfquery")
		other.must([]string{"SymbolErrorCounter:..............70000"}, "perfquery", "-x")
		if v, err := os.ReadFile(filepath.Join(other.dir, "infiniband/mlx5_0/ports/1/counters/symbol_error")); err != nil || string(v) != "70000\n" {
			t.Errorf("sysfs says %q, %v", v, err)
		}
		sm.errors("-k", "-K")
		other.must([]string{"SymbolErrorCounter:..............0"}, "perfquery", "-x")
		ok(t, f.Grow("leaf-p01-02", 10, "PortRcvErrors", 1000))
		time.Sleep(300 * time.Millisecond)
		ok(t, f.Grow("leaf-p01-02", 10, "PortRcvErrors", 0))
		out := sm.errors()
		if n := strings.Count(out, "PortRcvErrors =="); n != 2 { // the port and the sum of its switch
			t.Errorf("%d lines of errors, want those of one side:\n%s", n, out)
		}
	})
	t.Run("trap", func(t *testing.T) {
		ok(t, f.SetCounter("leaf-p01-02", 10, "LocalLinkIntegrityErrors", 1))
		sm.waitLog("num:129")
		ok(t, f.SetCounter("node00030", 1, "ExcessiveBufferOverrunErrors", 1))
		sm.waitLog("num:130")
	})
	t.Run("reading", func(t *testing.T) {
		ok(t, f.SetReading("node00030", 1, "temperature_c", 82.5))
		if v, err := os.ReadFile(filepath.Join(other.dir, "readings/mlx5_0/1")); err != nil || string(v) != "temperature_c 82.5\n" {
			t.Errorf("reading %q, %v", v, err)
		}
	})
}

func TestNodeFaults(t *testing.T) {
	f, sm, _ := small(t)
	t.Run("dead leaf", func(t *testing.T) {
		ok(t, f.PowerOff("leaf-p01-02"))
		if out := sm.must(nil, "ibnetdiscover"); strings.Contains(out, "node00030") {
			t.Error("a host behind a dead leaf is still seen")
		}
		ok(t, f.PowerOn("leaf-p01-02"))
		eventually(t, 20*time.Second, "leaf back", healthy(f))
	})
	t.Run("reboot", func(t *testing.T) {
		ok(t, f.Reboot("spine-p01-07", 300*time.Millisecond))
		eventually(t, 20*time.Second, "without it", func() bool { return unreachable(f) == 0 })
		eventually(t, 20*time.Second, "with it", healthy(f))
	})
	t.Run("slow", func(t *testing.T) {
		ok(t, f.Delay("leaf-p01-02", 50*time.Millisecond))
		since := time.Now()
		sm.must([]string{"leaf-p01-02"}, "smpquery", "nodedesc", lidOf(f, "leaf-p01-02"))
		if d := time.Since(since); d < 50*time.Millisecond {
			t.Errorf("a node slowed by 50 ms answered in %v", d)
		}
		ok(t, f.Delay("leaf-p01-02", 0))
	})
	t.Run("drop", func(t *testing.T) {
		ok(t, f.Drop("node00005", 0.4))
		sm.must([]string{"node00005"}, "smpquery", "-t", "50", "nodedesc", lidOf(f, "node00005"))
		ok(t, f.Drop("node00005", 1))
		if out, err := sm.run("smpquery", "-t", "50", "nodedesc", lidOf(f, "node00005")); err == nil {
			t.Errorf("a node that drops everything answers: %s", out)
		}
		ok(t, f.Drop("node00005", 0))
	})
	t.Run("lost LID", func(t *testing.T) {
		lid := lidOf(f, "node00009")
		ok(t, f.SetLID("node00009", 1, 0))
		if out, err := sm.run("smpquery", "-t", "50", "nodedesc", lid); err == nil {
			t.Errorf("a node without LID answers: %s", out)
		}
		sm.hup()
		eventually(t, 15*time.Second, "LID given again", func() bool { return lidOf(f, "node00009") == lid && healthy(f)() })
	})
	t.Run("clone", func(t *testing.T) {
		ok(t, f.CloneGUID("node00004", "node00006"))
		sm.hup()
		eventually(t, 15*time.Second, "opensm sees the clone", func() bool {
			text, _ := os.ReadFile(filepath.Join(sm.dir, "opensm.log"))
			return regexp.MustCompile(`(?i)duplicate`).Match(text)
		})
		ok(t, f.CloneGUID("node00004", "node00004"))
		sm.hup()
		eventually(t, 30*time.Second, "the clone is forgotten", healthy(f))
	})
	for _, err := range []error{f.Pull("node00001", 2), f.Pull("nowhere", 1), f.Drop("node00001", 2), f.SetLID("leaf-p01-01", 1, 5),
		f.CloneGUID("node00001", "leaf-p01-01"), f.Swap("node00001", 1, "leaf-p01-01", 1), f.SetCounter("node00001", 1, "Errors", 1),
		f.Flap("node00001", 1, time.Millisecond), f.Pull("leaf-p01-01", 0)} {
		if err == nil {
			t.Error("a fault that makes no sense was made")
		}
	}
}

func lidOf(f *Fabric, node string) string {
	for _, p := range f.Ports() {
		if p.Node == node {
			return strconv.Itoa(p.LID)
		}
	}
	return ""
}

// hup lets the host's subnet manager sweep.
func (h *host) hup() {
	if h.sm != nil {
		h.sm.Process.Signal(syscall.SIGHUP)
	}
}
