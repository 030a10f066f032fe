package lab

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

var sminfoLine = regexp.MustCompile(`sm guid (0x[0-9a-f]+), activity count \d+ priority (\d+) state \d (\w+)`)

// master asks from a third host who the subnet's master is.
func master(l *Lab) (host string) {
	out, err := sshTo(l, "node004", "root", "sminfo")
	m := sminfoLine.FindStringSubmatch(out)
	if err != nil || m == nil || m[3] != "SMINFO_MASTER" {
		return ""
	}
	for _, h := range l.Hosts {
		if m[1] == fmt.Sprintf("0x%x", h.PortGUID) {
			return h.Name
		}
	}
	return ""
}

// smState asks for the state of the SM on one host.
func smState(t *testing.T, l *Lab, host string) string {
	h, err := l.Host(host)
	if err != nil {
		t.Fatal(err)
	}
	ports, err := l.fabric.Ports()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range ports {
		if p.GUID == h.PortGUID {
			out, _ := sshTo(l, "node004", "root", fmt.Sprintf("sminfo %d", p.LID))
			if m := sminfoLine.FindStringSubmatch(out); m != nil {
				return m[3]
			}
		}
	}
	return ""
}

func smHosts(l *Lab) (first, second string) {
	for _, h := range l.Hosts {
		if h.Role == roleSM {
			first, second = second, h.Name
		}
	}
	return first, second
}

func TestMasterAndStandby(t *testing.T) {
	l := needLab(t)
	first, second := smHosts(l)
	eventually(t, 20*time.Second, first+" master", func() bool { return master(l) == first })
	eventually(t, 20*time.Second, second+" standby", func() bool { return smState(t, l, second) == "SMINFO_STANDBY" })
}

// TestHandOver stops, kills and restarts the master while tools of other hosts
// keep asking. FABRICLAB_ROUNDS asks for more rounds than the usual one,
// FABRICLAB_HOSTS for more hosts than eight.
func TestHandOver(t *testing.T) {
	l := needLab(t)
	rounds, err := strconv.Atoi(os.Getenv("FABRICLAB_ROUNDS"))
	if err != nil {
		rounds = 1
	}
	first, second := smHosts(l)
	busy, rest := context.WithCancel(context.Background())
	var tools sync.WaitGroup
	defer tools.Wait()
	defer rest()
	for _, name := range []string{"node002", "node006"} {
		h, err := l.Host(name)
		if err != nil {
			t.Fatal(err)
		}
		tools.Add(1)
		go func() {
			defer tools.Done()
			for busy.Err() == nil {
				h.Run(busy, "iblinkinfo") // what it says during a hand-over is not the point
				time.Sleep(200 * time.Millisecond)
			}
		}()
	}
	for round := range rounds {
		before, err := l.SMStarts(first)
		if err != nil {
			t.Fatal(err)
		}
		since := time.Now()
		lap := func() time.Duration {
			d := time.Since(since)
			since = time.Now()
			return d.Round(10 * time.Millisecond)
		}
		eventually(t, 20*time.Second, first+" master", func() bool { return master(l) == first })
		mustSSH(t, l, first, "/etc/init.d/opensmd stop")
		lap()
		eventually(t, 20*time.Second, second+" takes over from a stopped master", func() bool { return master(l) == second })
		over := lap()
		mustSSH(t, l, first, "/etc/init.d/opensmd start")
		lap()
		eventually(t, 20*time.Second, first+" master again", func() bool { return master(l) == first })
		eventually(t, 20*time.Second, second+" standby again", func() bool { return smState(t, l, second) == "SMINFO_STANDBY" })
		back := lap()
		if _, err := l.Fault(context.Background(), "sm-kill", first); err != nil {
			t.Fatal(err)
		}
		lap()
		eventually(t, 20*time.Second, second+" takes over from a killed master", func() bool { return master(l) == second })
		killed := lap()
		must(t)(l.Heal(context.Background(), "sm-kill", first))
		eventually(t, 20*time.Second, first+" master after the kill", func() bool { return master(l) == first })
		lap()
		if out := mustSSH(t, l, first, "/etc/init.d/opensmd restart"); !strings.Contains(out, "Stopping IB Subnet Manager") {
			t.Errorf("restart said %q", out)
		}
		eventually(t, 20*time.Second, first+" master after restart", func() bool { return master(l) == first })
		restart := lap()
		t.Logf("round %d: stop→standby master %v, start→back %v, kill→standby master %v, restart→master %v", round, over, back, killed, restart)
		after, err := l.SMStarts(first)
		if err != nil || after-before != 3 {
			t.Errorf("witness counts %d starts, %v, want 3", after-before, err)
		}
	}
}

func TestSMThatDies(t *testing.T) {
	l := needLab(t)
	ctx := context.Background()
	first, second := smHosts(l)
	must(t)(l.Fault(ctx, "sm-dies", first))
	mustSSH(t, l, first, "/etc/init.d/opensmd restart")
	eventually(t, 10*time.Second, "opensm dead", func() bool {
		_, err := sshTo(l, first, "root", "/etc/init.d/opensmd status")
		return err != nil && strings.Contains(err.Error(), "dead but pid file exists")
	})
	eventually(t, 20*time.Second, second+" master", func() bool { return master(l) == second })
	must(t)(l.Heal(ctx, "sm-dies", first))
	eventually(t, 20*time.Second, first+" master", func() bool { return master(l) == first })
}

func TestTwoMasters(t *testing.T) {
	l := needLab(t)
	ctx := context.Background()
	first, second := smHosts(l)
	must(t)(l.Fault(ctx, "two-masters"))
	eventually(t, 20*time.Second, "both master", func() bool {
		return smState(t, l, first) == "SMINFO_MASTER" && smState(t, l, second) == "SMINFO_MASTER"
	})
	must(t)(l.Heal(ctx, "two-masters"))
	eventually(t, 20*time.Second, first+" master", func() bool { return master(l) == first })
	eventually(t, 20*time.Second, second+" standby", func() bool { return smState(t, l, second) == "SMINFO_STANDBY" })
}
