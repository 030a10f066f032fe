package lab

import (
	"context"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestCablePull(t *testing.T) {
	l := needLab(t)
	link := func() string {
		for _, line := range strings.Split(mustSSH(t, l, "node001", "iblinkinfo -l"), "\n") {
			if strings.Contains(line, `node006 HCA-1"`) && strings.Contains(line, `"leaf02"`) {
				return line
			}
		}
		return ""
	}
	if !strings.Contains(link(), "Active/  LinkUp") {
		t.Fatalf("the link of node006 is not up before: %q", link())
	}
	must(t)(l.Fault(context.Background(), "cable-pull", "node006[1]"))
	if got := link(); got != "" {
		t.Errorf("the link is still seen: %q", got)
	}
	if out := mustSSH(t, l, "node006", "ibstat"); !strings.Contains(out, "State: Down") {
		t.Errorf("node006 does not notice:\n%s", out)
	}
	eventually(t, 5*time.Second, "sysfs says down", func() bool {
		return strings.HasPrefix(mustSSH(t, l, "node006", "cat /sys/class/infiniband/mlx5_0/ports/1/state"), "1: DOWN")
	})
	must(t)(l.Fault(context.Background(), "cable-plug", "node006[1]"))
	eventually(t, 20*time.Second, "link active again", func() bool { return strings.Contains(link(), "Active/  LinkUp") })
	if _, err := l.Fault(context.Background(), "cable-pull", "leaf01[99]"); err == nil {
		t.Error("pulled a cable from a port that is not there")
	}
}

func TestCounters(t *testing.T) {
	l := needLab(t)
	must(t)(l.Fault(context.Background(), "counters", "node005[1]", "PortCounters.SymbolErrorCounter=120"))
	if out := mustSSH(t, l, "node005", "perfquery"); !regexp.MustCompile(`SymbolErrorCounter:\.+120`).MatchString(out) {
		t.Errorf("perfquery does not show it:\n%s", out)
	}
	must(t)(l.Heal(context.Background(), "counters", "node005[1]"))
	if out := mustSSH(t, l, "node005", "perfquery"); !regexp.MustCompile(`SymbolErrorCounter:\.+0`).MatchString(out) {
		t.Errorf("not healed:\n%s", out)
	}
}

func TestReboot(t *testing.T) {
	l := needLab(t)
	for _, c := range []struct{ host, how string }{{"node003", "fault"}, {"node006", "ssh"}, {"node008", "fault"}} {
		t.Run(c.host, func(t *testing.T) {
			state := mustSSH(t, l, c.host, "sh -c 'echo kept > /root/kept; echo gone > /tmp/gone; cat /proc/sys/kernel/random/boot_id; sleep 1000 </dev/null >/dev/null 2>&1 &'")
			if c.how == "ssh" {
				sshTo(l, c.host, "root", "reboot; sleep 20") // cut off by the reboot
			} else {
				must(t)(l.Fault(context.Background(), "reboot", c.host))
			}
			// A shell that reboots its own host may be gone before the listener.
			eventually(t, time.Second, c.host+" away", func() bool {
				_, err := sshTo(l, c.host, "root", "true")
				return err != nil
			})
			var out string
			eventually(t, 20*time.Second, c.host+" back", func() bool {
				var err error
				out, err = sshTo(l, c.host, "root", "cat /proc/sys/kernel/random/boot_id /root/kept; ls /tmp; pgrep -c sleep")
				return err == nil || strings.Contains(out, "kept")
			})
			if !strings.Contains(out, "kept\n0") || strings.Contains(out, "gone") || strings.Contains(out, strings.TrimSpace(state)) {
				t.Errorf("after reboot: %q (boot id before %q)", out, state)
			}
		})
	}
}

func TestPartitionAndSlow(t *testing.T) {
	l := needLab(t)
	ctx := context.Background()
	must(t)(l.Fault(ctx, "partition", "node004"))
	if _, err := sshTo(l, "node004", "root", "true"); err == nil || !strings.Contains(err.Error(), "timed out") {
		t.Errorf("a partitioned host: got %v, want a connect that times out", err)
	}
	must(t)(l.Heal(ctx, "partition", "node004"))
	mustSSH(t, l, "node004", "true")
	must(t)(l.Fault(ctx, "slow", "node004", "400"))
	since := time.Now()
	mustSSH(t, l, "node004", "true")
	if d := time.Since(since); d < 400*time.Millisecond {
		t.Errorf("a host slowed by 400 ms answered a whole command in %v", d)
	}
	must(t)(l.Heal(ctx, "slow", "node004"))
}

func TestPartitionHoldsOpenConnection(t *testing.T) {
	l := needLab(t)
	ctx := context.Background()
	done := make(chan error, 1)
	var out string
	go func() {
		var err error
		out, err = sshTo(l, "node004", "root", "sleep 1; echo through")
		done <- err
	}()
	time.Sleep(500 * time.Millisecond)
	must(t)(l.Fault(ctx, "partition", "node004"))
	select {
	case err := <-done:
		t.Errorf("the command ended through a partition: %v", err)
	case <-time.After(2 * time.Second):
	}
	must(t)(l.Heal(ctx, "partition", "node004"))
	if err := <-done; err != nil || out != "through\n" {
		t.Errorf("after healing: %q, %v", out, err)
	}
	go func() { _, err := sshTo(l, "node004", "root", "sleep 20"); done <- err }()
	time.Sleep(500 * time.Millisecond)
	must(t)(l.Fault(ctx, "reset", "node004"))
	select {
	case err := <-done:
		if err == nil {
			t.Error("a reset connection ended well")
		}
	case <-time.After(5 * time.Second):
		t.Error("the connection survived a reset")
	}
}

func TestDiskFull(t *testing.T) {
	l := needLab(t)
	ctx := context.Background()
	must(t)(l.Fault(ctx, "disk-full", "node003"))
	out, err := sshTo(l, "node003", "root", "dd if=/dev/zero of=/var/tmp/x bs=64k count=1")
	if err == nil || !strings.Contains(out, "No space left on device") {
		t.Errorf("writing to a full /var: %q, %v", out, err)
	}
	must(t)(l.Heal(ctx, "disk-full", "node003"))
	mustSSH(t, l, "node003", "echo x > /var/tmp/x")
}

func TestClock(t *testing.T) {
	l := needLab(t)
	for _, host := range []string{"node003", "node008"} {
		off := func() time.Duration {
			sec, err := strconv.ParseInt(strings.TrimSpace(mustSSH(t, l, host, "date +%s")), 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			return time.Until(time.Unix(sec, 0))
		}
		must(t)(l.Fault(context.Background(), "clock", host, "+2h"))
		if d := off(); d < 119*time.Minute || d > 121*time.Minute {
			t.Errorf("%s is %v off, want 2 h", host, d)
		}
		mustSSH(t, l, host, "sminfo")
		must(t)(l.Heal(context.Background(), "clock", host))
		if d := off(); d.Abs() > time.Minute {
			t.Errorf("%s is still %v off", host, d)
		}
	}
}

func TestHostKey(t *testing.T) {
	l := needLab(t)
	for _, host := range []string{"node003", "node008"} {
		must(t)(l.Fault(context.Background(), "hostkey", host))
		if _, err := sshTo(l, host, "root", "true"); err == nil || !strings.Contains(err.Error(), "IDENTIFICATION HAS CHANGED") {
			t.Errorf("%s: a new host key went unnoticed: %v", host, err)
		}
		must(t)(l.Heal(context.Background(), "hostkey", host))
		mustSSH(t, l, host, "true")
	}
}

func TestDownAndUp(t *testing.T) {
	l := needLab(t)
	must(t)(l.Fault(context.Background(), "down", "node007"))
	if _, err := sshTo(l, "node007", "root", "true"); err == nil {
		t.Error("a host that is down answers")
	}
	must(t)(l.Heal(context.Background(), "down", "node007"))
	mustSSH(t, l, "node007", "true")
}

func TestUnknownFault(t *testing.T) {
	l := needLab(t)
	for _, words := range [][]string{nil, {"flood"}, {"reboot"}, {"reboot", "node999"}, {"slow", "node001"}, {"clock", "node001", "later"}, {"sm-kill", "node003"}} {
		if _, err := l.Fault(context.Background(), words...); err == nil {
			t.Errorf("fault %v was made", words)
		}
	}
}
