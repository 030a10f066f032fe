package activities

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fabricbot/fabricbot/fabric/parse"
	"github.com/fabricbot/fabricbot/hostexec"
)

// SMService is how a host runs its subnet manager and what it is told to be.
// It holds digests of keys and files, never their content.
type SMService struct {
	Host string `json:"host"`
	// Manager is "systemd" or "init.d"; Unit is the unit or the script.
	Manager string `json:"manager"`
	Unit    string `json:"unit"`
	Running bool   `json:"running"`
	// Conf is the configuration file, with its SHA-256.
	Conf    string `json:"conf"`
	ConfSum string `json:"conf_sum"`
	// PartitionsSum is the SHA-256 of the partition file, empty without one.
	PartitionsSum string `json:"partitions_sum,omitempty"`
	// KeysSum is a digest over sm_key, sa_key, m_key and its protection, to be
	// compared between managers of one subnet.
	KeysSum       string `json:"keys_sum"`
	Priority      int    `json:"priority"`
	SubnetPrefix  string `json:"subnet_prefix"`
	RoutingEngine string `json:"routing_engine"`
	// Takeover is how long a standby of this configuration waits before it
	// believes that the master is gone.
	Takeover time.Duration `json:"takeover"`
	// Poll is the pause between a standby's two questions to the master.
	Poll time.Duration `json:"poll"`
	// Package is the package version, empty when the host does not say.
	Package string `json:"package,omitempty"`
	// Trouble says why the facts are not complete; then nothing is changed.
	Trouble string `json:"trouble,omitempty"`
}

// Restart, Stop and Start are the command lines that act on the service.
func (s SMService) Restart() []string { return s.order("restart") }

// Stop stops the service.
func (s SMService) Stop() []string { return s.order("stop") }

// Start starts the service.
func (s SMService) Start() []string { return s.order("start") }

func (s SMService) order(verb string) []string {
	if s.Manager == "systemd" {
		return []string{"systemctl", verb, s.Unit}
	}
	return []string{s.Unit, verb}
}

// Configuration files by distribution: the opensm package of Debian and
// MLNX_OFED use /etc/opensm, the RHEL family /etc/rdma (domain C.7).
var smConfs = []string{"/etc/opensm/opensm.conf", "/etc/rdma/opensm.conf"}

const (
	initScript = "/etc/init.d/opensmd"
	// maxConf bounds configuration files; opensm's own template is 15 KB.
	maxConf = 1 << 20
)

// SMServices looks at the subnet-manager service of each host. A host that
// cannot be read has Trouble. Only looks.
func (h *Hosts) SMServices(ctx context.Context, hosts []string) ([]SMService, error) {
	defer beat(ctx)()
	return onEach(ctx, hosts, vantageWidth, func(ctx context.Context, host string) SMService {
		s := SMService{Host: host}
		for _, look := range []func(context.Context, *SMService) error{h.smUnit, h.smConf, h.smPackage} {
			if err := look(ctx, &s); err != nil {
				s.Trouble = plain(err)
				break
			}
		}
		return s
	}), nil
}

// smUnit finds the service: an instance of Debian's opensm@, else opensmd of
// the vendor's package, else opensm, else the init script.
func (h *Hosts) smUnit(ctx context.Context, s *SMService) error {
	res, err := h.look(ctx, s.Host, ibstatWithin, "test", "-d", "/run/systemd/system")
	if err != nil {
		return err
	}
	if res.Exit == 0 {
		res, err = h.look(ctx, s.Host, ibstatWithin, "systemctl", "list-units", "--type", "service", "--all", "--no-legend", "--plain", "opensm*")
		if err != nil {
			return err
		}
		for line := range strings.Lines(string(res.Stdout)) {
			f := strings.Fields(line)
			if len(f) < 4 || f[1] != "loaded" {
				continue
			}
			if better := rankUnit(f[0]); s.Unit == "" || better > rankUnit(s.Unit) {
				s.Manager, s.Unit, s.Running = "systemd", f[0], f[2] == "active" && f[3] == "running"
			}
		}
		if s.Unit == "" {
			return fmt.Errorf("%s has no opensm service unit", s.Host)
		}
		return nil
	}
	res, err = h.look(ctx, s.Host, ibstatWithin, initScript, "status")
	if err != nil {
		return err
	}
	s.Manager, s.Unit = "init.d", initScript
	switch said := strings.ToLower(string(res.Stdout)); {
	case strings.Contains(said, "not running"), strings.Contains(said, "stopped"), strings.Contains(said, "dead"), strings.Contains(said, "unused"):
	case strings.Contains(said, "running"):
		s.Running = true
	default:
		return fmt.Errorf("%s has no opensm service: %s status said %q", s.Host, initScript, lastLines(append(res.Stdout, res.Stderr...), 2))
	}
	return nil
}

func rankUnit(unit string) int {
	switch {
	case strings.HasPrefix(unit, "opensm@"):
		return 3
	case unit == "opensmd.service":
		return 2
	}
	return 1
}

// smConf reads the configuration and keeps only what may be shown.
func (h *Hosts) smConf(ctx context.Context, s *SMService) error {
	var text []byte
	var errs []error
	for _, path := range smConfs {
		b, err := h.Look.Get(ctx, s.Host, path, maxConf)
		if err == nil {
			s.Conf, text = path, b
			break
		}
		errs = append(errs, err)
	}
	if s.Conf == "" {
		return fmt.Errorf("no opensm.conf on %s: %w", s.Host, errors.Join(errs...))
	}
	conf, err := parse.OpenSMConf(bytes.NewReader(text))
	if err != nil {
		return fmt.Errorf("%s on %s: %w", s.Conf, s.Host, err)
	}
	get := func(key, def string) string {
		// opensm takes the last of several.
		for _, f := range slices.Backward(conf.Settings) {
			if f.Name == key && f.Value != "(null)" && f.Value != "" {
				return f.Value
			}
		}
		return def
	}
	s.ConfSum = sum(text)
	s.KeysSum = sum([]byte(strings.Join([]string{
		get("sm_key", "0x0000000000000001"), get("sa_key", "0x0000000000000001"), get("m_key", "0x0000000000000000"), get("m_key_protection_level", "0"),
	}, "|")))
	s.SubnetPrefix = get("subnet_prefix", "0xfe80000000000000")
	s.RoutingEngine = get("routing_engine", "minhop")
	s.Priority, _ = strconv.Atoi(get("sm_priority", "0"))
	polling := get("sminfo_polling_timeout", "10000")
	s.Takeover = takeover(polling, get("polling_retry_number", "4"))
	s.Poll = takeover(polling, "0")
	partitions := get("partition_config_file", "/etc/opensm/partitions.conf")
	if b, err := h.Look.Get(ctx, s.Host, partitions, maxConf); err == nil {
		s.PartitionsSum = sum(b)
	}
	return nil
}

// takeover is opensm's sminfo_polling_timeout (ms) times polling_retry_number,
// with one more round for the poll that was under way (measured: 52 s at the
// defaults of 10000 and 4, domain C.2).
func takeover(timeoutMS, retries string) time.Duration {
	ms, _ := strconv.Atoi(timeoutMS)
	n, _ := strconv.Atoi(retries)
	return time.Duration(ms) * time.Millisecond * time.Duration(n+1)
}

func sum(b []byte) string {
	s := sha256.Sum256(b)
	return hex.EncodeToString(s[:])
}

// smPackage asks the package manager; a host without an answer is no trouble.
func (h *Hosts) smPackage(ctx context.Context, s *SMService) error {
	for _, argv := range [][]string{
		{"dpkg-query", "-W", "opensm"},
		{"rpm", "-q", "opensm"},
	} {
		res, err := h.look(ctx, s.Host, ibstatWithin, argv...)
		if err != nil && hostexec.OutcomeOf(err) != hostexec.OK && hostexec.OutcomeOf(err) != hostexec.Failed {
			return err
		}
		if err == nil && res.Exit == 0 {
			s.Package = strings.Join(strings.Fields(string(res.Stdout)), " ")
			return nil
		}
	}
	return nil
}
