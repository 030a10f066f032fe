package lab

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
)

// smHost refuses hosts without a subnet manager.
func smHost(h *Host) error {
	if h.Role != roleSM {
		return fmt.Errorf("%s has no subnet manager", h.Name)
	}
	return nil
}

func (l *Lab) smKill(ctx context.Context, h *Host) (string, error) {
	if err := smHost(h); err != nil {
		return "", err
	}
	_, err := h.Run(ctx, "sh", "-c", "kill -KILL $(cat /var/run/opensm.pid)")
	return "opensm on " + h.Name + " was killed", err
}

func (l *Lab) smStart(ctx context.Context, h *Host) (string, error) {
	if err := smHost(h); err != nil {
		return "", err
	}
	_, err := h.Run(ctx, "/etc/init.d/opensmd", "start")
	return "opensm on " + h.Name + " runs", err
}

// smDies makes every opensm started from now on abort after a second and a
// half, as one with a broken plug-in does. A running one is left alone.
func (l *Lab) smDies(_ context.Context, h *Host) (string, error) {
	if err := smHost(h); err != nil {
		return "", err
	}
	flag, err := h.inside("/run/fabriclab/sm-dies")
	if err != nil {
		return "", err
	}
	return "opensm on " + h.Name + " will not survive its next start", os.WriteFile(flag, nil, 0o644)
}

func (l *Lab) smLives(ctx context.Context, h *Host) (string, error) {
	flag, err := h.inside("/run/fabriclab/sm-dies")
	if err != nil {
		return "", err
	}
	if err := os.Remove(flag); err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", err
	}
	return l.smStart(ctx, h)
}

// foreignKey is the sm_key of a subnet manager that does not belong.
const foreignKey = "0x00000000deadbeef"

// twoMasters gives the standby another sm_key, so that neither SM yields to
// the other.
func (l *Lab) twoMasters(ctx context.Context, _ []string) (string, error) {
	return l.restandby(ctx, map[string]string{"sm_key": foreignKey})
}

// oneMaster gives the key back and makes the rightful master sweep: ports that
// the other one configured last still name it as their SM, and the traps that
// would say so go there.
func (l *Lab) oneMaster(ctx context.Context, _ []string) (string, error) {
	text, err := l.restandby(ctx, map[string]string{"sm_key": templateValue(l.smTemplate, "sm_key")})
	if err != nil {
		return "", err
	}
	for _, h := range l.Hosts {
		if h.Role == roleSM {
			_, err := h.Run(ctx, "/etc/init.d/opensmd", "reload")
			return text, err
		}
	}
	return text, nil
}

func (l *Lab) restandby(ctx context.Context, set map[string]string) (string, error) {
	var standby *Host
	for _, h := range l.Hosts {
		if h.Role == roleSM {
			standby = h // the last one has the lower priority
		}
	}
	file, err := standby.inside("/etc/opensm/opensm.conf")
	if err != nil {
		return "", err
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	if err := os.WriteFile(file, []byte(overrideConf(string(text), set)), 0o644); err != nil {
		return "", err
	}
	if _, err := standby.Run(ctx, "/etc/init.d/opensmd", "restart"); err != nil {
		return "", err
	}
	return fmt.Sprintf("opensm on %s runs with %v", standby.Name, set), nil
}

func templateValue(conf, name string) string {
	for _, line := range strings.Split(conf, "\n") {
		if n, v, ok := strings.Cut(line, " "); ok && n == name {
			return v
		}
	}
	return ""
}
