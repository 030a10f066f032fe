package lab

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// umad2sim is where Debian's ibsim-utils puts the library that tools preload.
const umad2sim = "/usr/lib/x86_64-linux-gnu/umad2sim/libumad2sim.so"

// ibsim is the stock simulator behind the relay.
type ibsim struct {
	topo  Topology
	base  string // base of all socket names, unique per lab
	dir   string // net file and log
	spawn spawner
	relay *relay

	cmd   *exec.Cmd
	stdin io.WriteCloser
	exit  chan struct{}

	mu  sync.Mutex // one console command at a time
	out chan string
}

func newIbsim(t Topology, base, dir string, spawn spawner, log func(string, ...any)) *ibsim {
	return &ibsim{topo: t, base: base, dir: dir, spawn: spawn, relay: newRelay(base+"-sim", log), exit: make(chan struct{}), out: make(chan string, 100)}
}

// Device is fixed in the stock library.
func (f *ibsim) Device() string { return "ibsim0" }

func (f *ibsim) Start(ctx context.Context) error {
	net := filepath.Join(f.dir, "fabric.net")
	file, err := os.Create(net)
	if err != nil {
		return fmt.Errorf("writing net file: %w", err)
	}
	err = errors.Join(f.topo.WriteNet(file), file.Close())
	if err != nil {
		return fmt.Errorf("writing net file: %w", err)
	}
	log, err := os.Create(filepath.Join(f.dir, "ibsim.log"))
	if err != nil {
		return fmt.Errorf("opening simulator log: %w", err)
	}
	defer log.Close()
	f.cmd = exec.Command("ibsim", "-s", net)
	f.cmd.Dir = f.dir
	f.cmd.Env = append(os.Environ(), "IBSIM_SOCKNAME="+f.base+"-sim")
	f.cmd.Stderr = log
	// The console has to stay open: at end of file ibsim 0.10 spins.
	if f.stdin, err = f.cmd.StdinPipe(); err != nil {
		return err
	}
	stdout, err := f.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	f.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	if err := f.spawn(f.cmd); err != nil {
		return fmt.Errorf("starting ibsim: %w", err)
	}
	ready := make(chan struct{})
	go f.readConsole(stdout, ready)
	select {
	case <-ready:
	case <-f.exit:
		return fmt.Errorf("starting ibsim: it ended at once; see %s", log.Name())
	case <-ctx.Done():
		return fmt.Errorf("starting ibsim: %w", ctx.Err())
	}
	// "ready" is printed before the sockets exist; the first console
	// command is answered by the loop that serves them.
	if _, err := f.console("Verbose"); err != nil {
		return err
	}
	for _, h := range f.topo.Hosts {
		for _, sm := range []bool{false, true} {
			if err := f.relay.open(f.sockName(h.Name, sm), h.ID, sm); err != nil {
				return err
			}
		}
	}
	return nil
}

func (f *ibsim) sockName(host string, sm bool) string {
	if sm {
		return f.base + "-" + host + "-sm"
	}
	return f.base + "-" + host
}

func (f *ibsim) ToolEnv(host string, sm bool) []string {
	return []string{
		"IBSIM_SOCKNAME=" + f.sockName(host, sm),
		"SIM_HOST=" + f.nodeID(host),
		"LD_PRELOAD=" + umad2sim,
	}
}

func (f *ibsim) nodeID(name string) string {
	n, _ := f.topo.node(name)
	return n.ID
}

var prompt = []byte("sim> ")

// readConsole cuts ibsim's output at its prompts: each piece is the answer to
// one command.
func (f *ibsim) readConsole(r io.Reader, ready chan struct{}) {
	defer func() { f.cmd.Wait(); close(f.exit) }()
	br := bufio.NewReader(r)
	var piece []byte
	first := true
	for {
		b, err := br.ReadByte()
		if err != nil {
			return
		}
		piece = append(piece, b)
		if !bytes.HasSuffix(piece, prompt) {
			continue
		}
		text := string(bytes.TrimSuffix(piece, prompt))
		piece = piece[:0]
		if first {
			first = false
			close(ready)
			continue
		}
		f.out <- text
	}
}

// console runs one command and returns what it printed.
func (f *ibsim) console(command string) (string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for drained := false; !drained; {
		select {
		case <-f.out:
		default:
			drained = true
		}
	}
	if _, err := io.WriteString(f.stdin, command+"\n"); err != nil {
		return "", fmt.Errorf("ibsim command %q: %w", command, err)
	}
	select {
	case text := <-f.out:
		if i := strings.Index(text, "# "); i >= 0 && (strings.Contains(text, "not found") || strings.Contains(text, "bad p") || strings.Contains(text, "not linked") || strings.Contains(text, "can't")) {
			return "", fmt.Errorf("ibsim command %q: %s", command, strings.TrimSpace(text[i+2:]))
		}
		return text, nil
	case <-f.exit:
		return "", fmt.Errorf("ibsim command %q: the simulator has ended", command)
	case <-time.After(20 * time.Second):
		return "", fmt.Errorf("ibsim command %q: no answer within 20 s", command)
	}
}

func (f *ibsim) portCommand(verb, node string, port int, rest string) error {
	n, ok := f.topo.node(node)
	if !ok {
		return fmt.Errorf("%s of %s[%d]: no such node", strings.ToLower(verb), node, port)
	}
	if port < 1 || port > n.Ports {
		return fmt.Errorf("%s of %s[%d]: it has ports 1 to %d", strings.ToLower(verb), node, port, n.Ports)
	}
	_, err := f.console(fmt.Sprintf("%s %q[%d]%s", verb, n.ID, port, rest))
	return err
}

func (f *ibsim) Unlink(node string, port int) error { return f.portCommand("Unlink", node, port, "") }
func (f *ibsim) Relink(node string, port int) error { return f.portCommand("ReLink", node, port, "") }

func (f *ibsim) SetCounter(node string, port int, counter string, value uint64) error {
	return f.portCommand("PerformanceSet", node, port, fmt.Sprintf(" %s=%d", counter, value))
}

var (
	dumpNode = regexp.MustCompile(`^(?:Switch|Ca|Hca|Router|Rt)\s+\d+ "([^"]+)"`)
	dumpPort = regexp.MustCompile(`^([0-9a-f]+)\t\[(\d+)\]\t(?:"[^"]*"\[\d+\])?\s*(?:lid (\d+) lmc (\d+) smlid (\d+) +)?(\d+x) +(\S+) +([A-Za-z]+)/([A-Za-z]+)`)
)

func (f *ibsim) Ports() ([]PortState, error) {
	text, err := f.console("Dump")
	if err != nil {
		return nil, err
	}
	names := map[string]string{}
	for _, n := range append(append([]Node(nil), f.topo.Switches...), f.topo.Hosts...) {
		names[n.ID] = n.Name
	}
	return parseDump(text, names), nil
}

// parseDump reads the console's Dump; names maps node ids to names.
func parseDump(text string, names map[string]string) []PortState {
	var ports []PortState
	node := ""
	for _, line := range strings.Split(text, "\n") {
		if m := dumpNode.FindStringSubmatch(line); m != nil {
			node = names[m[1]]
			continue
		}
		m := dumpPort.FindStringSubmatch(line)
		if m == nil || node == "" {
			continue
		}
		num := func(s string) int { n, _ := strconv.Atoi(s); return n }
		guid, _ := strconv.ParseUint(m[1], 16, 64)
		ports = append(ports, PortState{
			Node: node, GUID: guid, Port: num(m[2]), LID: num(m[3]), LMC: num(m[4]), SMLID: num(m[5]),
			Width: m[6], Speed: m[7], State: m[8], Phys: m[9],
		})
	}
	return ports
}

func (f *ibsim) Stop() error {
	f.relay.close()
	if f.cmd == nil || f.cmd.Process == nil {
		return nil
	}
	f.cmd.Process.Kill()
	select {
	case <-f.exit:
		return nil
	case <-time.After(10 * time.Second):
		return fmt.Errorf("stopping ibsim %d: still there after SIGKILL", f.cmd.Process.Pid)
	}
}
