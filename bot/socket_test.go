package bot

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/fabricbot/fabricbot/activities"
	"github.com/fabricbot/fabricbot/op"
	"github.com/fabricbot/fabricbot/testsuite/slackemu"
)

// TestAcknowledgementComesBeforeWork keeps the work waiting.
func TestAcknowledgementComesBeforeWork(t *testing.T) {
	h := open(t)
	release := make(chan struct{})
	h.allow(func(activities.Person, activities.Place, op.Entry) error { <-release; return nil })
	r := h.slash(anna, "sm status")
	if _, n := h.runs.only(); r.Outcome != slackemu.Acked || n != 0 {
		t.Error("work began before the acknowledgement")
	}
	close(release)
	h.until("the run's message", func(s slackemu.State) bool { return len(tops(s, ops)) == 1 })
}

// TestManyCommandsAtOnce: every one is acknowledged although all workers are
// kept busy.
func TestManyCommandsAtOnce(t *testing.T) {
	h := open(t)
	release := make(chan struct{})
	h.allow(func(activities.Person, activities.Place, op.Entry) error { <-release; return nil })
	for range 40 {
		h.slash(anna, "sm status")
	}
	close(release)
	h.eventually("all of them", func() bool { _, n := h.runs.only(); return n == 40 })
}

func TestSocketDiesAndComesBack(t *testing.T) {
	h := open(t)
	for _, f := range []slackemu.Fault{{Kind: slackemu.FaultSocketKill}, {Kind: slackemu.FaultDisconnect, Code: "refresh_requested"}} {
		inject(t, h.slack, f)
		h.eventually("a new socket", func() bool { return h.slack.State().Sockets == 1 })
		h.eventually("a command to arrive", func() bool {
			r, err := h.slack.Slash(anna, ops, "/fabric runs list")
			return err == nil && r.Outcome == slackemu.Acked
		})
	}
	if ok, why := h.bot.Health(); !ok {
		t.Errorf("not healthy: %s", why)
	}
}

// TestOpeningsArePaced kills each socket as soon as it is there.
func TestOpeningsArePaced(t *testing.T) {
	o := &opener{next: answering{}, gap: 40 * time.Millisecond}
	begun := time.Now()
	for range 4 {
		if _, err := o.RoundTrip(request(t, "https://slack.com/api/apps.connections.open")); err != nil {
			t.Fatal(err)
		}
	}
	if took := time.Since(begun); took < 120*time.Millisecond {
		t.Errorf("four openings within %v", took)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := o.RoundTrip(request(t, "https://slack.com/api/apps.connections.open").WithContext(ctx)); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled opening: %v", err)
	}
}

func TestRevokedTokensStopTheBot(t *testing.T) {
	h := open(t)
	h.stop()
	inject(t, h.slack, slackemu.Fault{Kind: slackemu.FaultTokenRevoked})
	b := h.newBot(Options{})
	err := b.Run(t.Context())
	var auth *AuthError
	if !errors.As(err, &auth) || !strings.Contains(err.Error(), "token_revoked") {
		t.Errorf("preflight: %v", err)
	}
}

func TestRefusedOpeningStopsTheBot(t *testing.T) {
	for _, code := range []string{"invalid_auth", "missing_scope", "not_allowed_token_type"} {
		emu := emulator(t, slackemu.Options{})
		h := &house{t: t, slack: emu}
		th, store := newThread(t, emu, t.TempDir()+"/said.db", quick)
		h.thread, h.runs = th, &runsInMemory{}
		inject(t, emu, slackemu.Fault{Kind: slackemu.FaultRefuseOpens, Code: code})
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		err := h.newBot(Options{}).Run(ctx)
		cancel()
		var auth *AuthError
		if !errors.As(err, &auth) || auth.Code != code {
			t.Errorf("%s: %v", code, err)
		}
		_ = store.Close()
	}
}

func TestOtherWorkspace(t *testing.T) {
	h := open(t)
	b := h.newBot(Options{})
	b.o.Team = "T0OTHER"
	if err := b.Preflight(t.Context()); err == nil || !strings.Contains(err.Error(), "T0OTHER") {
		t.Errorf("preflight: %v", err)
	}
}

// TestHealthNeedsRoundTrips lets the clock run while Slack is away.
func TestHealthNeedsRoundTrips(t *testing.T) {
	b := &Bot{o: Options{ProbeEvery: time.Minute}}
	now := time.Now()
	b.o.Clock = stoppedClock{&now}
	if ok, _ := b.Health(); ok {
		t.Error("healthy before Slack ever answered")
	}
	b.health.ok(now)
	b.health.connection(true, now)
	if ok, why := b.Health(); !ok {
		t.Error(why)
	}
	now = now.Add(4 * time.Minute)
	if ok, why := b.Health(); ok || !strings.Contains(why, "4m0s") {
		t.Errorf("still healthy: %s", why)
	}
	b.health.ok(now)
	b.health.connection(false, now.Add(-5*time.Minute))
	if ok, why := b.Health(); ok || !strings.Contains(why, "socket") {
		t.Errorf("healthy without a socket: %s", why)
	}
}

func TestGivesUpWithoutASocket(t *testing.T) {
	emu := emulator(t, slackemu.Options{})
	h := &house{t: t, slack: emu}
	th, store := newThread(t, emu, t.TempDir()+"/said.db", quick)
	defer store.Close()
	h.thread, h.runs = th, &runsInMemory{}
	inject(t, emu, slackemu.Fault{Kind: slackemu.FaultRefuseOpens, Code: "internal_error", Count: 1000})
	err := h.newBot(Options{GiveUp: 100 * time.Millisecond}).Run(t.Context())
	if err == nil || !strings.Contains(err.Error(), "no socket") {
		t.Errorf("run ended with %v", err)
	}
}

// TestConnectRefusesClearText keeps tokens off the wire.
func TestConnectRefusesClearText(t *testing.T) {
	for _, bad := range []string{"http://slack.example.org/api/", "ftp://127.0.0.1/", "127.0.0.1:1", "http://127.0.0.1.example.org/"} {
		if _, err := Connect(Tokens{APIURL: bad}); err == nil {
			t.Errorf("%s was accepted", bad)
		}
	}
	for _, good := range []string{"", "https://slack.com/api", "http://127.0.0.1:1/api/", "http://localhost:1"} {
		if _, err := Connect(Tokens{APIURL: good}); err != nil {
			t.Error(err)
		}
	}
}

func TestSeen(t *testing.T) {
	var s seen
	now := time.Now()
	if !s.first("a", now) || s.first("a", now.Add(15*time.Minute)) || !s.first("a", now.Add(40*time.Minute)) || !s.first("", now) || !s.first("", now) {
		t.Error("keys are not remembered for a quarter of an hour")
	}
	s.forget("a")
	if !s.first("a", now) {
		t.Error("a forgotten key is not new")
	}
}

// TestABugDoesNotSilenceTheBot makes a request panic.
func TestABugDoesNotSilenceTheBot(t *testing.T) {
	h := open(t)
	h.allow(func(activities.Person, activities.Place, op.Entry) error { panic("a bug") })
	for range 20 {
		h.slash(anna, "sm status")
	}
	h.allow(func(activities.Person, activities.Place, op.Entry) error { return nil })
	h.slash(anna, "freeze until Friday")
	h.told(anna, "Done &amp; dusted")
}
