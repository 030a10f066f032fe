package lab

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
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
	hosts := 8
	if n, err := strconv.Atoi(os.Getenv("FABRICLAB_HOSTS")); err == nil {
		hosts = n
	}
	shared, err = Start(ctx, Options{Hosts: hosts, Dir: dir, Log: func(f string, a ...any) { fmt.Fprintf(os.Stderr, f+"\n", a...) }})
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
	if want := "ops\nroot\nmlx5_0\n"; err != nil || out != want {
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
		{"ibqueryerrors; true", "Summary"},
		{"ibstatus", "4: ACTIVE"},
		{"ibdev2netdev", "mlx5_0 port 1 ==> ib0 (Up)"},
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
		if strings.Contains(string(env), dir+"/hosts/") || strings.Contains(string(env), "FABRICLAB=fabriclab"+instance+"\x00") {
			n++
		}
	}
	return n
}

// TestManyServers leaves more servers running than the stock simulator had
// seats, stops some of them in the middle of their work, and sees all other
// tools go on.
func TestManyServers(t *testing.T) {
	l := needLab(t)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var servers sync.WaitGroup
	defer servers.Wait()
	defer func() {
		for _, h := range l.Hosts {
			h.Run(ctx, "pkill", "-KILL", "ibping") // only its own processes are in a host's sight
		}
	}()
	for i := range 5 * len(l.Hosts) {
		h, vendor := l.Hosts[i%len(l.Hosts)], 0x1405+i/len(l.Hosts) // one server per vendor id
		servers.Add(1)
		go func() { defer servers.Done(); h.Run(ctx, "timeout", "40", "ibping", "-S", "-o", fmt.Sprint(vendor)) }()
	}
	eventually(t, 20*time.Second, "five servers on every host", func() bool {
		for _, h := range l.Hosts {
			if out, _ := h.Run(ctx, "pgrep", "-c", "-x", "ibping"); strings.TrimSpace(out) != "5" {
				return false
			}
		}
		return true
	})
	if _, err := l.Hosts[0].Run(ctx, "pkill", "-STOP", "ibping"); err != nil {
		t.Fatal(err)
	}
	if out := mustSSH(t, l, "node003", "sminfo"); !strings.Contains(out, "SMINFO_MASTER") {
		t.Errorf("sminfo: %s", out)
	}
}

// TestSameTextAsStock builds the same fabric on both simulators and lets the
// tools that work on both print the same. It has one host and so one subnet
// manager: of two, chance decides which is first and gives the LIDs.
func TestSameTextAsStock(t *testing.T) {
	needLab(t)
	if _, err := os.Stat(umad2sim); err != nil {
		t.Skip("needs Debian package ibsim-utils")
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	volatile := regexp.MustCompile(`(?m)activity count \d+|^# Topology file.*|^(PartCap|Revision):.*`) // the last two are those of different models
	tools := []string{"ibnetdiscover", "ibhosts", "ibswitches", "sminfo", "smpquery nodeinfo 1", "smpquery nodedesc 1", "smpquery -D nodedesc 0,1",
		"ibtracert 1 2", "ibroute -G 0xb8599f0300f00000", "ibaddr"}
	topo, err := FatTree(4)
	if err != nil {
		t.Fatal(err)
	}
	topo.Hosts = topo.Hosts[:1]
	for i := range topo.Switches {
		n := &topo.Switches[i]
		n.Links = slices.DeleteFunc(n.Links, func(l Link) bool { return strings.HasPrefix(l.RemoteID, "H-") && l.RemoteID != topo.Hosts[0].ID })
	}
	var net bytes.Buffer
	file := filepath.Join(t.TempDir(), "one-host.net")
	if err := errors.Join(topo.WriteNet(&net), os.WriteFile(file, net.Bytes(), 0o600)); err != nil {
		t.Fatal(err)
	}
	said := map[string][]string{}
	for _, simulator := range []string{SimulatorStock, SimulatorOwn} {
		l, err := Start(ctx, Options{FabricFile: file, Dir: t.TempDir(), Simulator: simulator})
		if err != nil {
			t.Fatal(err)
		}
		defer l.Stop()
		if simulator == SimulatorStock {
			if _, err := l.Fault(ctx, "mad-hang", "leaf01"); err == nil {
				t.Error("the stock simulator made a fault it does not know")
			}
		}
		for _, tool := range tools {
			out, err := l.Hosts[0].Run(ctx, strings.Fields(tool)...)
			if err != nil {
				t.Errorf("%s on %s: %v", tool, simulator, err)
			}
			said[tool] = append(said[tool], volatile.ReplaceAllString(out, ""))
		}
		if err := l.Stop(); err != nil {
			t.Error(err)
		}
	}
	for _, tool := range tools {
		if s := said[tool]; s[0] != s[1] {
			t.Errorf("%s prints on the stock simulator\n%s\nand on our own\n%s", tool, s[0], s[1])
		}
	}
	if l, err := Start(ctx, Options{Hosts: 2, Dir: t.TempDir(), Simulator: "other"}); err == nil {
		l.Stop()
		t.Error("a lab on an unknown simulator")
	}
}
