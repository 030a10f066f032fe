package lab

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/fabricbot/fabricbot/testsuite/fabricsim"
	"github.com/fabricbot/fabricbot/testsuite/fabricsim/mad"
)

// fabricFaults are those that the lab's own simulator can make. Healing takes
// the same words; what a word leaves out is not needed to heal.
func fabricFaults() []fault {
	type words = []string
	on := func(need int, f func(s *fabricsim.Fabric, w words) (string, error)) func(*Lab, context.Context, []string) (string, error) {
		return func(l *Lab, _ context.Context, args []string) (string, error) {
			sim, ok := l.fabric.(*simFabric)
			if !ok {
				return "", fmt.Errorf("the stock simulator cannot do this; start the lab with -simulator %s", SimulatorOwn)
			}
			if len(args) < need {
				return "", fmt.Errorf("%d words are needed, not %d", need, len(args))
			}
			return f(sim.sim, args)
		}
	}
	port := func(w string) (string, int, error) { return portOf(words{w}) }
	return []fault{
		{"flap", "NODE[PORT] MILLISECONDS", on(2, flap), on(1, func(s *fabricsim.Fabric, w words) (string, error) {
			node, p, err := port(w[0])
			if err != nil {
				return "", err
			}
			return w[0] + " is steady", s.Steady(node, p)
		})},
		{"degrade", "NODE[PORT] 1xEDR", on(2, degrade), on(1, func(s *fabricsim.Fabric, w words) (string, error) {
			node, p, err := port(w[0])
			if err != nil {
				return "", err
			}
			return w[0] + " has a good cable", s.Degrade(node, p, 0, 0)
		})},
		{"counting", "NODE[PORT] COUNTER=PER_SECOND", on(2, counting(1)), on(2, counting(0))},
		{"reading", "NODE[PORT] NAME=VALUE", on(2, reading), on(2, reading)},
		{"miscable", "NODE[PORT] NODE[PORT]", on(2, miscable), on(2, miscable)},
		{"mad-delay", "NODE MILLISECONDS", on(2, func(s *fabricsim.Fabric, w words) (string, error) {
			ms, err := milliseconds(w[1])
			return w[0] + " answers management datagrams later", orElse(err, func() error { return s.Delay(w[0], ms) })
		}), on(1, func(s *fabricsim.Fabric, w words) (string, error) {
			return w[0] + " answers at once", s.Delay(w[0], 0)
		})},
		{"mad-drop", "NODE PERCENT", on(2, func(s *fabricsim.Fabric, w words) (string, error) {
			percent, err := strconv.ParseFloat(w[1], 64)
			return w[0] + " misses management datagrams", orElse(err, func() error { return s.Drop(w[0], percent/100) })
		}), on(1, func(s *fabricsim.Fabric, w words) (string, error) {
			return w[0] + " misses nothing", s.Drop(w[0], 0)
		})},
		{"mad-hang", "NODE", on(1, func(s *fabricsim.Fabric, w words) (string, error) {
			return w[0] + "'s management hangs, its links carry on", s.Hang(w[0], true)
		}), on(1, func(s *fabricsim.Fabric, w words) (string, error) {
			return w[0] + "'s management answers", s.Hang(w[0], false)
		})},
		{"power-off", "NODE", on(1, func(s *fabricsim.Fabric, w words) (string, error) {
			return w[0] + " has no power", s.PowerOff(w[0])
		}), on(1, func(s *fabricsim.Fabric, w words) (string, error) {
			return w[0] + " has power", s.PowerOn(w[0])
		})},
		{"node-reboot", "NODE MILLISECONDS", on(2, func(s *fabricsim.Fabric, w words) (string, error) {
			ms, err := milliseconds(w[1])
			return w[0] + " reboots", orElse(err, func() error { return s.Reboot(w[0], ms) })
		}), on(1, func(s *fabricsim.Fabric, w words) (string, error) {
			return w[0] + " has power", s.PowerOn(w[0])
		})},
		{"clone-guid", "NODE OF", on(2, func(s *fabricsim.Fabric, w words) (string, error) {
			return w[0] + " shows the GUIDs of " + w[1], s.CloneGUID(w[0], w[1])
		}), on(1, func(s *fabricsim.Fabric, w words) (string, error) {
			return w[0] + " shows its own GUIDs", s.CloneGUID(w[0], w[0])
		})},
		{"lid-lost", "HOST", on(1, func(s *fabricsim.Fabric, w words) (string, error) {
			return w[0] + " has no LID", s.SetLID(w[0], 1, 0)
		}), (*Lab).sweep},
	}
}

// orElse runs f unless there is an error already.
func orElse(err error, f func() error) error {
	if err != nil {
		return err
	}
	return f()
}

func milliseconds(word string) (time.Duration, error) {
	ms, err := strconv.Atoi(word)
	if err != nil || ms < 0 {
		return 0, fmt.Errorf("%q is no number of milliseconds", word)
	}
	return time.Duration(ms) * time.Millisecond, nil
}

func flap(s *fabricsim.Fabric, w []string) (string, error) {
	node, port, err := portOf(w)
	if err != nil {
		return "", err
	}
	period, err := milliseconds(w[1])
	return fmt.Sprintf("%s goes down and up every %v", w[0], period), orElse(err, func() error { return s.Flap(node, port, period) })
}

func degrade(s *fabricsim.Fabric, w []string) (string, error) {
	node, port, err := portOf(w)
	if err != nil {
		return "", err
	}
	width, speed, err := mad.ParseLink(w[1])
	return fmt.Sprintf("%s carries %v %v at most", w[0], width, speed), orElse(err, func() error { return s.Degrade(node, port, width, speed) })
}

var rateWord = regexp.MustCompile(`^([A-Za-z0-9]+\.)?([A-Za-z0-9_]+)(?:=(-?[0-9.eE+-]+))?$`)

// nameValue reads NAME=VALUE; the value may be missing and is 0 then.
func nameValue(word string) (string, float64, error) {
	m := rateWord.FindStringSubmatch(word)
	if m == nil {
		return "", 0, fmt.Errorf("%q: write it like NAME=VALUE", word)
	}
	if m[3] == "" {
		return m[2], 0, nil
	}
	v, err := strconv.ParseFloat(m[3], 64)
	if err != nil {
		return "", 0, fmt.Errorf("%q: the value is no number", word)
	}
	return m[2], v, nil
}

// counting lets counters run up at their rates times factor, which is 0 to
// stop them.
func counting(factor float64) func(*fabricsim.Fabric, []string) (string, error) {
	return func(s *fabricsim.Fabric, w []string) (string, error) {
		node, port, err := portOf(w)
		if err != nil {
			return "", err
		}
		for _, word := range w[1:] {
			name, rate, err := nameValue(word)
			if err != nil {
				return "", err
			}
			if err := s.Grow(node, port, name, rate*factor); err != nil {
				return "", err
			}
			if factor == 0 {
				if err := s.SetCounter(node, port, name, 0); err != nil {
					return "", err
				}
			}
		}
		if factor == 0 {
			return w[0] + " counts no more", nil
		}
		return fmt.Sprintf("%s counts up %s", w[0], strings.Join(w[1:], " ")), nil
	}
}

func reading(s *fabricsim.Fabric, w []string) (string, error) {
	node, port, err := portOf(w)
	if err != nil {
		return "", err
	}
	for _, word := range w[1:] {
		name, v, err := nameValue(word)
		if err != nil {
			return "", err
		}
		if err := s.SetReading(node, port, name, v); err != nil {
			return "", err
		}
	}
	return fmt.Sprintf("%s reads %s", w[0], strings.Join(w[1:], " ")), nil
}

func miscable(s *fabricsim.Fabric, w []string) (string, error) {
	a, pa, err := portOf(w)
	if err != nil {
		return "", err
	}
	b, pb, err := portOf(w[1:])
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("the cables in %s and %s are exchanged", w[0], w[1]), s.Swap(a, pa, b, pb)
}

// sweep lets the first subnet manager that runs look at everything anew.
func (l *Lab) sweep(ctx context.Context, _ []string) (string, error) {
	for _, h := range l.Hosts {
		if h.Role == roleSM && h.Up() {
			_, err := h.Run(ctx, "/etc/init.d/opensmd", "reload")
			return "opensm on " + h.Name + " sweeps", err
		}
	}
	return "", fmt.Errorf("no host with a subnet manager is up")
}
