package lab

import (
	"context"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"
)

// allUp tells whether every cabled port of the fabric is Active.
func allUp(l *Lab) func() bool {
	return func() bool { return l.fabric.(*simFabric).sim.NotActive() == 0 }
}

// TestFabricFaults makes each fault of the fabric, looks for it with the tool
// that a person would use, and heals it.
func TestFabricFaults(t *testing.T) {
	l := needLab(t)
	ctx := context.Background()
	eventually(t, 30*time.Second, "a healthy fabric before", allUp(l))
	for _, c := range []struct {
		fault, heal string
		ask, want   string // regular expression in what the tool prints
	}{
		{"degrade leaf01[21] 1xEDR", "degrade leaf01[21]", "iblinkinfo", `1X\s+25\.78125 Gbps (Active|Initialize).*Could be 4X`},
		{"counting leaf01[3] SymbolErrorCounter=5000", "counting leaf01[3] SymbolErrorCounter", "sleep 0.1; ibqueryerrors; true", `SymbolErrorCounter == \d+`},
		{"counters leaf01[3] SymbolErrorCounter=77", "counters leaf01[3]", "ibqueryerrors; true", `SymbolErrorCounter == 77`},
		{"power-off spine02", "power-off spine02", "ibswitches", ""},
		{"miscable leaf01[1] leaf01[2]", "miscable leaf01[1] leaf01[2]", "iblinkinfo -l", `"\s*leaf01".*\s1\[ +\] ==.*"node002 HCA-1"`},
		{"reading node003[1] temperature_c=91.5", "reading node003[1] temperature_c=40", "cat /usr/lib/fabriclab/readings/mlx5_0/1", `^temperature_c 91\.5`},
		{"reading node003[1] temperature_c=91.5 raw_ber=3e-5", "reading node003[1] temperature_c=40 raw_ber=2e-10", "mlxlink -d mlx5_0 -m -c", `(?s)Bad signal integrity.*Temperature \[C\] +: 91\.5 \[-10\.\.80\].*Raw Physical BER +: 3e-05`},
		{"reading node003[1] asic_temperature_c=101", "reading node003[1] asic_temperature_c=55", "mget_temp -d 81:00.0", `^101\n$`},
		{"mad-hang leaf02", "mad-hang leaf02", "smpquery -t 50 -G nodedesc 0xb8599f0300f00100 2>&1; true", `(?i)fail|timed out`},
		{"mad-drop leaf02 100", "mad-drop leaf02", "smpquery -t 50 -G nodedesc 0xb8599f0300f00100 2>&1; true", `(?i)fail|timed out`},
		{"mad-delay leaf02 30", "mad-delay leaf02", "smpquery -G nodedesc 0xb8599f0300f00100", `leaf02`},
		{"flap node006[1] 200", "flap node006[1]", "sleep 0.5; perfquery -G 0xb8599f0300f00100 2; true", `LinkDownedCounter:\.+[1-9]`},
	} {
		name := strings.Fields(c.fault)[0]
		t.Run(name, func(t *testing.T) {
			must(t)(l.Fault(ctx, strings.Fields(c.fault)...))
			if name == "power-off" {
				if out := mustSSH(t, l, "node003", c.ask); strings.Contains(out, "spine02") {
					t.Errorf("spine02 is still seen:\n%s", out)
				}
			} else if out := mustSSH(t, l, "node003", c.ask); !regexp.MustCompile(c.want).MatchString(out) {
				t.Errorf("%s: no %s in\n%s", c.ask, c.want, out)
			}
			must(t)(l.Heal(ctx, strings.Fields(c.heal)...))
			eventually(t, 40*time.Second, "healed", allUp(l))
		})
	}
	sees := func(switchName string) func() bool {
		return func() bool { return strings.Contains(mustSSH(t, l, "node003", "ibswitches"), switchName) }
	}
	must(t)(l.Fault(ctx, "node-reboot", "spine01", "4000"))
	eventually(t, 4*time.Second, "spine01 away", func() bool { return !sees("spine01")() })
	eventually(t, 40*time.Second, "spine01 back", func() bool { return allUp(l)() && sees("spine01")() })
	must(t)(l.Fault(ctx, "lid-lost", "node005"))
	if out := mustSSH(t, l, "node005", "ibstat"); !strings.Contains(out, "Base lid: 0") {
		t.Errorf("node005 has a LID:\n%s", out)
	}
	must(t)(l.Heal(ctx, "lid-lost", "node005"))
	eventually(t, 20*time.Second, "LID given again", func() bool { return !strings.Contains(mustSSH(t, l, "node005", "ibstat"), "Base lid: 0\n") })
	must(t)(l.Fault(ctx, "clone-guid", "node005", "node006"))
	if out := mustSSH(t, l, "node005", "ibstat"); !strings.Contains(out, "Node GUID: 0xb8599f0300100050") {
		t.Errorf("node005 shows its own GUID:\n%s", out)
	}
	must(t)(l.Heal(ctx, "clone-guid", "node005"))
	eventually(t, 40*time.Second, "node005 itself again", func() bool {
		return allUp(l)() && strings.Contains(mustSSH(t, l, "node005", "ibstat"), "Node GUID: 0xb8599f0300100040")
	})
	for _, words := range [][]string{{"flap", "node001[1]"}, {"degrade", "node001[1]", "3xQDR"}, {"mad-drop", "leaf01", "x"}, {"power-off"}, {"miscable", "leaf01[1]", "leaf01"},
		{"counting", "leaf01[1]", "Nothing=1"}, {"reading", "leaf01[1]", "=1"}, {"mad-delay", "nowhere", "1"}} {
		if _, err := l.Fault(ctx, words...); err == nil {
			t.Errorf("fault %v was made", words)
		}
	}
}

// TestIBDiagnet runs the old diagnostic suite on a host.
func TestIBDiagnet(t *testing.T) {
	l := needLab(t)
	if _, err := os.Stat("/usr/bin/ibdiagnet"); err != nil {
		t.Skip("needs Debian package ibutils")
	}
	if out := mustSSH(t, l, "node003", "ibdiagnet -o /tmp/ibdiagnet"); !strings.Contains(out, "(4 Switches & 8 CA-s) discovered") || !strings.Contains(out, "No bad Guids were found") {
		t.Errorf("ibdiagnet:\n%s", out)
	}
}

// TestLargeFabricFewHosts puts an SSH server on three of 160 hosts.
func TestLargeFabricFewHosts(t *testing.T) {
	needLab(t)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	l, err := Start(ctx, Options{Hosts: 160, Reachable: 3, Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Stop()
	eventually(t, 30*time.Second, "all ports active", allUp(l))
	if out, err := l.Hosts[2].Run(ctx, "ibhosts"); err != nil || strings.Count(out, "Ca\t:") != 160 {
		t.Errorf("ibhosts: %v, %d hosts, want 160", err, strings.Count(out, "Ca\t:"))
	}
	if len(l.Hosts) != 3 {
		t.Errorf("%d hosts can be reached, want 3", len(l.Hosts))
	}
}

// TestSiteFabric builds a lab from the text ibnetdiscover printed at a site:
// two hosts, one with two adapters, links of several kinds.
func TestSiteFabric(t *testing.T) {
	needLab(t)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	l, err := Start(ctx, Options{FabricFile: "testdata/site.net", Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Stop()
	if len(l.Hosts) != 2 || l.Hosts[0].Name != "db01" || l.Hosts[1].Name != "db02" {
		t.Fatalf("hosts %v", l.Hosts)
	}
	for _, c := range []struct{ command, want string }{
		{"ibstat -l", "^mlx5_0\nmlx5_1\n$"},
		{"ibstat mlx5_0", "Rate: 400"},
		{"ibstat mlx5_1 1", "Rate: 200"},
		{"lspci -d 15b3:", "(?s)81:00.0.*91:00.0"},
		{"cat /sys/class/infiniband/mlx5_1/device/slot", "0000:91:00.0"},
		{"sminfo -C mlx5_1", "SMINFO_MASTER"},
		{"ibnetdiscover", `"H-fc6a1c0300000108"\[1\].*"Mellanox Technologies Aggregation Node"`},
		{"iblinkinfo", `2X\s+53\.125 Gbps Active`},
	} {
		want := regexp.MustCompile(c.want)
		eventually(t, 20*time.Second, c.command+" shows "+c.want, func() bool {
			out, err := l.Hosts[0].Run(ctx, strings.Fields(c.command)...)
			return err == nil && want.MatchString(out)
		})
	}
}
