package lab

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// shared is the lab all tests of the package use; nil when it could not be built.
var shared *Lab

const cliEnv = "FABRICLAB_TEST_CLI"

func TestMain(m *testing.M) {
	HostMain()
	if os.Getenv(cliEnv) != "" {
		os.Exit(Program{Stdout: os.Stdout, Stderr: os.Stderr}.Run(context.Background(), os.Args[1:]))
	}
	os.Exit(run(m))
}

func run(m *testing.M) int {
	if Missing() != "" {
		return m.Run() // the tests that need the lab say what is missing
	}
	dir, err := os.MkdirTemp("", "fabriclab-test-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	shared, err = Start(ctx, Options{Hosts: 8, Dir: dir, Log: func(f string, a ...any) { fmt.Fprintf(os.Stderr, f+"\n", a...) }})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	code := m.Run()
	if err := shared.Stop(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

func needLab(t *testing.T) *Lab {
	t.Helper()
	if m := Missing(); m != "" {
		t.Skipf("the lab needs %s", m)
	}
	return shared
}

// sshTo runs the real ssh against a host, as its inventory says.
func sshTo(l *Lab, host, user, command string, opts ...string) (string, error) {
	h, err := l.Host(host)
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	args := append([]string{"-F", "none", "-i", filepath.Join(l.Dir, "ssh/id_ed25519"), "-o", "UserKnownHostsFile=" + filepath.Join(l.Dir, "ssh/known_hosts"),
		"-o", "StrictHostKeyChecking=yes", "-o", "BatchMode=yes", "-o", "ConnectTimeout=3"}, opts...)
	out, err := exec.CommandContext(ctx, "ssh", append(args, user+"@"+h.Address, command)...).CombinedOutput()
	if err != nil {
		err = fmt.Errorf("%w: %s", err, out)
	}
	return string(out), err
}

func mustSSH(t *testing.T, l *Lab, host, command string) string {
	t.Helper()
	out, err := sshTo(l, host, "root", command)
	if err != nil {
		t.Fatalf("ssh %s %s: %v", host, command, err)
	}
	return out
}

func eventually(t *testing.T, within time.Duration, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(within); ; time.Sleep(100 * time.Millisecond) {
		if ok() {
			return
		}
		if time.Now().After(deadline) {
			for _, h := range shared.Hosts {
				if h.Role == roleSM {
					out, _ := h.Run(context.Background(), "sh", "-c", "/etc/init.d/opensmd status; tail -n 25 /var/log/opensm.log; tail -n 3 /var/log/opensm.out")
					t.Logf("%s: %s", h.Name, out)
				}
			}
			t.Fatalf("%s: not within %v", what, within)
		}
	}
}

func must(t *testing.T) func(string, error) {
	return func(_ string, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestEveryHostIsItself(t *testing.T) {
	l := needLab(t)
	guid := regexp.MustCompile(`Port GUID: (0x[0-9a-f]+)`)
	var mu sync.Mutex
	guids, boots := map[string]string{}, map[string]string{}
	var wg sync.WaitGroup
	for _, h := range l.Hosts {
		wg.Add(1)
		go func() {
			defer wg.Done()
			out, err := sshTo(l, h.Name, "root", "hostname; cat /proc/sys/kernel/random/boot_id; ibstat; echo user=`id -un` shell=$0")
			if err != nil {
				t.Errorf("%s: %v", h.Name, err)
				return
			}
			lines := strings.Split(out, "\n")
			if h.Shell == "/bin/bash" {
				if !strings.HasPrefix(lines[0], "*** ") {
					t.Errorf("%s: no banner of its noisy shell in %q", h.Name, lines[0])
				}
				lines = lines[1:]
			}
			if lines[0] != h.Name {
				t.Errorf("%s calls itself %q", h.Name, lines[0])
			}
			m := guid.FindStringSubmatch(out)
			if m == nil || m[1] != fmt.Sprintf("0x%x", h.PortGUID) {
				t.Errorf("%s: port GUID %v, want 0x%x", h.Name, m, h.PortGUID)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			guids[m[1]], boots[lines[1]] = h.Name, h.Name
		}()
	}
	wg.Wait()
	if len(guids) != len(l.Hosts) || len(boots) != len(l.Hosts) {
		t.Errorf("%d hosts show %d adapters and %d boot ids", len(l.Hosts), len(guids), len(boots))
	}
}

func TestOpsMayUseSudo(t *testing.T) {
	l := needLab(t)
	out, err := sshTo(l, "node003", "ops", "id -un; sudo -n id -un; sudo -n ibstat -l")
	if want := "ops\nroot\nibsim0\n"; err != nil || out != want {
		t.Errorf("got %q, %v, want %q", out, err, want)
	}
}

func TestSixteenToolsAtOnce(t *testing.T) {
	l := needLab(t)
	var wg sync.WaitGroup
	for i := range 16 {
		host := l.Hosts[i%len(l.Hosts)]
		wg.Add(1)
		go func() {
			defer wg.Done()
			if out, err := host.Run(context.Background(), "iblinkinfo"); err != nil || !strings.Contains(out, "spine02") {
				t.Errorf("%s: %v", host.Name, err)
			}
		}()
	}
	wg.Wait()
}

func TestToolsAnswer(t *testing.T) {
	l := needLab(t)
	for _, c := range []struct{ command, want string }{
		{"ibnetdiscover", `"spine01"`},
		{"ibhosts", "node008 HCA-1"},
		{"ibswitches", "leaf02"},
		{"sminfo", "SMINFO_MASTER"},
		{"saquery -s", "IsSM"},
		{"smpquery -D nodedesc 0", "node003 HCA-1"},
		{"perfquery", "PortXmitData"},
		{"ibqueryerrors", "Summary"},
		{"ibstatus", "4: ACTIVE"},
		{"ibdev2netdev", "ibsim0 port 1 ==> ib0 (Up)"},
		{"ofed_info -s", "MLNX_OFED_LINUX-"},
		{"lspci -D -nn -d 15b3:", "0000:81:00.0 Infiniband controller [0207]: Mellanox Technologies MT28908 Family [ConnectX-6] [15b3:101b]"},
		{"lspci -vv -d 15b3:", "LnkSta:\tSpeed 16GT/s, Width x16"},
	} {
		t.Run(strings.Fields(c.command)[0], func(t *testing.T) {
			if out := mustSSH(t, l, "node003", c.command); !strings.Contains(out, c.want) {
				t.Errorf("%s: no %q in\n%s", c.command, c.want, out)
			}
		})
	}
	if out, err := sshTo(l, "node003", "root", "ofed_info --force"); err == nil {
		t.Errorf("ofed_info took an unknown option: %s", out)
	}
}

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

// TestHandOver stops, kills and restarts the master. FABRICLAB_ROUNDS asks for
// more rounds than the usual one.
func TestHandOver(t *testing.T) {
	l := needLab(t)
	rounds, err := strconv.Atoi(os.Getenv("FABRICLAB_ROUNDS"))
	if err != nil {
		rounds = 1
	}
	first, second := smHosts(l)
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
		return strings.HasPrefix(mustSSH(t, l, "node006", "cat /sys/class/infiniband/ibsim0/ports/1/state"), "1: DOWN")
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
	for _, c := range []struct{ host, how string }{{"node003", "fault"}, {"node005", "ssh"}, {"node008", "fault"}} {
		t.Run(c.host, func(t *testing.T) {
			state := mustSSH(t, l, c.host, "sh -c 'echo kept > /root/kept; echo gone > /tmp/gone; cat /proc/sys/kernel/random/boot_id; sleep 1000 </dev/null >/dev/null 2>&1 &'")
			if c.how == "ssh" {
				sshTo(l, c.host, "root", "reboot; sleep 20") // cut off by the reboot
			} else {
				must(t)(l.Fault(context.Background(), "reboot", c.host))
			}
			if _, err := sshTo(l, c.host, "root", "true"); err == nil {
				t.Error("answers while it reboots")
			}
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

// TestKilledLabLeavesNothing kills a second lab's process and looks for what
// remains of it.
func TestKilledLabLeavesNothing(t *testing.T) {
	needLab(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	cli := func(args ...string) string {
		t.Helper()
		cmd := exec.Command(self, args...)
		cmd.Env = append(os.Environ(), cliEnv+"=1")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %v: %s", args, err, out)
		}
		return string(out)
	}
	cli("up", "-hosts", "4", "-dir", dir, "-detach")
	pid := regexp.MustCompile(`"pid": (\d+)`).FindStringSubmatch(cli("status", "-json", "-dir", dir))[1]
	base := regexp.MustCompile(`"instance": (\d+)`).FindStringSubmatch(cli("status", "-json", "-dir", dir))[1]
	if n := processesOf(t, dir, base); n < 6 {
		t.Fatalf("only %d processes of a running lab found", n)
	}
	n, _ := strconv.Atoi(pid)
	if p, err := os.FindProcess(n); err != nil || p.Kill() != nil {
		t.Fatalf("killing %s: %v", pid, err)
	}
	eventually(t, 10*time.Second, "all processes gone", func() bool { return processesOf(t, dir, base) == 0 })
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil || strings.Contains(string(mounts), dir) {
		t.Errorf("mounts remain, or %v", err)
	}
	cli("down", "-dir", dir)
	if _, err := os.Stat(filepath.Join(dir, "lab.json")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("lab.json remains: %v", err)
	}
}

// processesOf counts the processes that hold the lab's directory mounted or
// its fabric's name in their environment.
func processesOf(t *testing.T, dir, instance string) int {
	t.Helper()
	n := 0
	envs, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, f := range envs {
		env, _ := os.ReadFile(f)
		if strings.Contains(string(env), dir+"/hosts/") || strings.Contains(string(env), "IBSIM_SOCKNAME=fabriclab"+instance+"-") {
			n++
		}
	}
	return n
}
