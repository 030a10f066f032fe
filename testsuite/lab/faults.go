package lab

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// fault is one thing that can go wrong, and how to put it right.
type fault struct {
	name  string
	usage string
	make  func(l *Lab, ctx context.Context, args []string) (string, error)
	heal  func(l *Lab, ctx context.Context, args []string) (string, error)
}

// faults is the list of what a lab can do to itself.
func faults() []fault {
	host := func(f func(l *Lab, ctx context.Context, h *Host) (string, error)) func(*Lab, context.Context, []string) (string, error) {
		return func(l *Lab, ctx context.Context, args []string) (string, error) {
			if len(args) < 1 {
				return "", fmt.Errorf("which host?")
			}
			h, err := l.Host(args[0])
			if err != nil {
				return "", err
			}
			return f(l, ctx, h)
		}
	}
	return append([]fault{
		{"cable-pull", "NODE[PORT]", (*Lab).cablePull, (*Lab).cablePlug},
		{"counters", "NODE[PORT] COUNTER=VALUE", (*Lab).setCounters, (*Lab).clearCounters},
		{"reboot", "HOST", host((*Lab).reboot), host((*Lab).up)},
		{"down", "HOST", host((*Lab).down), host((*Lab).up)},
		{"partition", "HOST", host((*Lab).partition), host((*Lab).unpartition)},
		{"slow", "HOST MILLISECONDS", (*Lab).slow, host((*Lab).fast)},
		{"reset", "HOST", host((*Lab).reset), host((*Lab).nothing)},
		{"disk-full", "HOST", host((*Lab).diskFull), host((*Lab).diskFree)},
		{"clock", "HOST OFFSET", (*Lab).clock, host((*Lab).clockRight)},
		{"hostkey", "HOST", host((*Lab).newHostKey), host((*Lab).oldHostKey)},
		{"sm-kill", "HOST", host((*Lab).smKill), host((*Lab).smStart)},
		{"sm-dies", "HOST", host((*Lab).smDies), host((*Lab).smLives)},
		{"two-masters", "", (*Lab).twoMasters, (*Lab).oneMaster},
	}, fabricFaults()...)
}

// FaultUsage lists the faults, one a line.
func FaultUsage() string {
	var b strings.Builder
	for _, f := range faults() {
		fmt.Fprintf(&b, "  %s %s\n", f.name, f.usage)
	}
	return b.String()
}

// Fault makes something go wrong, e.g. Fault(ctx, "partition", "node003"), and
// says what it did.
func (l *Lab) Fault(ctx context.Context, words ...string) (string, error) {
	return l.apply(ctx, "fault", words)
}

// Heal puts a fault right; it takes the same words as Fault. cable-plug is
// another word for healing cable-pull.
func (l *Lab) Heal(ctx context.Context, words ...string) (string, error) {
	return l.apply(ctx, "heal", words)
}

func (l *Lab) apply(ctx context.Context, verb string, words []string) (string, error) {
	if len(words) == 0 {
		return "", fmt.Errorf("%s what? One of:\n%s", verb, FaultUsage())
	}
	if words[0] == "cable-plug" {
		verb, words = "heal", append([]string{"cable-pull"}, words[1:]...)
	}
	l.faultMu.Lock()
	defer l.faultMu.Unlock()
	for _, f := range faults() {
		if f.name != words[0] {
			continue
		}
		do := f.make
		if verb == "heal" {
			do = f.heal
		}
		text, err := do(l, ctx, words[1:])
		if err != nil {
			return "", fmt.Errorf("%s %s: %w", verb, strings.Join(words, " "), err)
		}
		return text, nil
	}
	return "", fmt.Errorf("no fault %q; one of:\n%s", words[0], FaultUsage())
}

var portWord = regexp.MustCompile(`^([A-Za-z0-9-]+)\[(\d+)\]$`)

func portOf(args []string) (string, int, error) {
	if len(args) > 0 {
		if m := portWord.FindStringSubmatch(args[0]); m != nil {
			port, err := strconv.Atoi(m[2])
			return m[1], port, err
		}
	}
	return "", 0, fmt.Errorf("which port? Write it like leaf01[3]")
}

func (l *Lab) cablePull(_ context.Context, args []string) (string, error) {
	node, port, err := portOf(args)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s[%d] is unplugged", node, port), l.fabric.Unlink(node, port)
}

func (l *Lab) cablePlug(_ context.Context, args []string) (string, error) {
	node, port, err := portOf(args)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s[%d] is plugged in", node, port), l.fabric.Relink(node, port)
}

var counterWord = regexp.MustCompile(`^((?:[A-Za-z0-9]+\.)?[A-Za-z0-9]+)=(\d+)$`)

func (l *Lab) setCounters(_ context.Context, args []string) (string, error) {
	node, port, err := portOf(args)
	if err != nil {
		return "", err
	}
	for _, word := range args[1:] {
		m := counterWord.FindStringSubmatch(word)
		if m == nil {
			return "", fmt.Errorf("%q is no counter; write it like PortCounters.SymbolErrorCounter=120", word)
		}
		value, err := strconv.ParseUint(m[2], 10, 64)
		if err != nil {
			return "", err
		}
		if err := l.fabric.SetCounter(node, port, m[1], value); err != nil {
			return "", err
		}
		l.healed["counters "+args[0]] += m[1] + " "
	}
	return fmt.Sprintf("%s[%d] counts %s", node, port, strings.Join(args[1:], " ")), nil
}

func (l *Lab) clearCounters(_ context.Context, args []string) (string, error) {
	node, port, err := portOf(args)
	if err != nil {
		return "", err
	}
	for _, counter := range strings.Fields(l.healed["counters "+args[0]]) {
		if err := l.fabric.SetCounter(node, port, counter, 0); err != nil {
			return "", err
		}
	}
	delete(l.healed, "counters "+args[0])
	return fmt.Sprintf("%s[%d] counts from 0", node, port), nil
}

// reboot goes through the host's own reboot, as a person would.
func (l *Lab) reboot(ctx context.Context, h *Host) (string, error) {
	file, err := h.inside("/run/initctl")
	if err != nil {
		return "", err
	}
	h.mu.Lock()
	stopped := h.stopped
	h.mu.Unlock()
	if err := os.WriteFile(file, []byte("reboot\n"), 0); err != nil {
		return "", err
	}
	select {
	case <-stopped:
		return h.Name + " reboots", nil
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

func (l *Lab) down(_ context.Context, h *Host) (string, error) {
	h.halt()
	return h.Name + " is down", nil
}

func (l *Lab) up(ctx context.Context, h *Host) (string, error) {
	h.mu.Lock()
	wanted := h.wanted
	h.mu.Unlock()
	if wanted {
		return h.Name + " is up or on its way", nil
	}
	return h.Name + " is up", l.rebirth(ctx, h)
}

func (l *Lab) partition(_ context.Context, h *Host) (string, error) {
	return h.Name + " is unreachable", h.proxy.partition()
}

func (l *Lab) unpartition(_ context.Context, h *Host) (string, error) {
	return h.Name + " is reachable", h.proxy.heal()
}

func (l *Lab) slow(_ context.Context, args []string) (string, error) {
	if len(args) != 2 {
		return "", fmt.Errorf("which host, how many milliseconds?")
	}
	h, err := l.Host(args[0])
	if err != nil {
		return "", err
	}
	ms, err := strconv.Atoi(args[1])
	if err != nil || ms < 0 {
		return "", fmt.Errorf("%q is no number of milliseconds", args[1])
	}
	h.proxy.slow(time.Duration(ms) * time.Millisecond)
	return fmt.Sprintf("%s answers %d ms later", h.Name, ms), nil
}

func (l *Lab) fast(_ context.Context, h *Host) (string, error) {
	h.proxy.slow(0)
	return h.Name + " answers at once", nil
}

func (l *Lab) reset(_ context.Context, h *Host) (string, error) {
	return fmt.Sprintf("%d connections to %s cut", h.proxy.reset(), h.Name), nil
}

func (l *Lab) nothing(_ context.Context, h *Host) (string, error) {
	return h.Name + " has nothing to put right", nil
}

const fillFile = "/var/log/journal.fill"

// diskFull fills the host's /var, a small file system of its own, to the last
// block.
func (l *Lab) diskFull(_ context.Context, h *Host) (string, error) {
	path, err := h.inside(fillFile)
	if err != nil {
		return "", err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return "", err
	}
	defer f.Close()
	for size := 1 << 20; size >= 512; {
		if _, err := f.Write(make([]byte, size)); errors.Is(err, unix.ENOSPC) {
			size /= 2
		} else if err != nil {
			return "", err
		}
	}
	return h.Name + " has no space left on /var", nil
}

func (l *Lab) diskFree(_ context.Context, h *Host) (string, error) {
	path, err := h.inside(fillFile)
	if err != nil {
		return "", err
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", err
	}
	return h.Name + " has space on /var", nil
}

const (
	preloadFile  = "/etc/ld.so.preload"
	faketimeFile = "/etc/faketimerc"
	sshdFile     = "/etc/ssh/sshd_config"
	faketimePath = "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1"
)

var offsetWord = regexp.MustCompile(`^[+-]\d+[smhdy]?$`)

// clock shifts the time that programs see whom somebody starts through SSH,
// with libfaketime (nothing else can: the machine has one clock). OpenSSH sets
// it in its sessions' environment, because its own sandbox would not let it
// live under the library; Dropbear, which empties the environment, gets it
// from the dynamic linker. Fabric tools and opensm keep the right time.
func (l *Lab) clock(ctx context.Context, args []string) (string, error) {
	if len(args) != 2 || !offsetWord.MatchString(args[1]) {
		return "", fmt.Errorf("which host, how far? Write the offset like +2h or -90s")
	}
	h, err := l.Host(args[0])
	if err != nil {
		return "", err
	}
	if _, err := l.clockRight(ctx, h); err != nil {
		return "", err
	}
	root, err := h.inside("/")
	if err != nil {
		return "", err
	}
	text := fmt.Sprintf("%s's clock is %s off", h.Name, args[1])
	if h.Daemon == daemonDropbear {
		return text, errors.Join(
			os.WriteFile(filepath.Join(root, faketimeFile), []byte(args[1]+"\n"), 0o644),
			os.WriteFile(filepath.Join(root, preloadFile), []byte(faketimePath+"\n"), 0o644))
	}
	config := fmt.Sprintf(sshdConfig+"SetEnv LD_PRELOAD=%s FAKETIME=%s\n", h.backendPort, h.backend, faketimePath, args[1])
	if err := os.WriteFile(filepath.Join(root, sshdFile), []byte(config), 0o644); err != nil {
		return "", err
	}
	return text, l.restartListener(ctx, h)
}

func (l *Lab) clockRight(ctx context.Context, h *Host) (string, error) {
	root, err := h.inside("/")
	if err != nil {
		return "", err
	}
	text := h.Name + "'s clock is right"
	for _, p := range []string{preloadFile, faketimeFile} {
		if err := os.Remove(filepath.Join(root, p)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return "", err
		}
	}
	if h.Daemon == daemonDropbear {
		return text, nil
	}
	config := fmt.Sprintf(sshdConfig, h.backendPort, h.backend)
	if err := os.WriteFile(filepath.Join(root, sshdFile), []byte(config), 0o644); err != nil {
		return "", err
	}
	return text, l.restartListener(ctx, h)
}

// newHostKey gives the host another SSH identity, as a reinstallation does.
func (l *Lab) newHostKey(ctx context.Context, h *Host) (string, error) {
	key, err := newKey("root@" + h.Name)
	if err != nil {
		return "", err
	}
	return h.Name + " has a new host key", l.setHostKey(ctx, h, key)
}

func (l *Lab) oldHostKey(ctx context.Context, h *Host) (string, error) {
	return h.Name + " has its host key back", l.setHostKey(ctx, h, h.key)
}

func (l *Lab) setHostKey(ctx context.Context, h *Host, key keyPair) error {
	root, err := h.inside("/")
	if err != nil {
		return err
	}
	file := filepath.Join(root, "etc/ssh/ssh_host_ed25519_key")
	if err := errors.Join(os.WriteFile(file, []byte(key.private), 0o600), os.WriteFile(file+".pub", []byte(key.public), 0o644)); err != nil {
		return err
	}
	if h.Daemon == daemonDropbear {
		to := filepath.Join(root, "etc/dropbear/dropbear_ed25519_host_key")
		if err := errors.Join(os.Remove(to), convertKey(file, to)); err != nil {
			return err
		}
	}
	return l.restartListener(ctx, h)
}

// restartListener ends the host's SSH listener; init starts another, and open
// connections live on.
func (l *Lab) restartListener(ctx context.Context, h *Host) error {
	if _, err := h.Run(ctx, "sh", "-c", "kill -KILL $(cat /run/sshd.pid)"); err != nil {
		return err
	}
	time.Sleep(100 * time.Millisecond)
	return waitSSH(ctx, h.backend, h.backendPort, nil)
}
