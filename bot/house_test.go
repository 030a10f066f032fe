package bot

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fabricbot/fabricbot/activities"
	"github.com/fabricbot/fabricbot/op"
	"github.com/fabricbot/fabricbot/templates"
	"github.com/fabricbot/fabricbot/testsuite/slackemu"
	"github.com/fabricbot/fabricbot/workflows"
)

// The people and places of the emulated workspace.
const (
	anna     = "U07OPERA" // asks
	ben      = "U07OPERB" // may approve, by group
	viewer   = "U07VIEWER"
	guest    = "U08GUEST" // of another team
	ops      = "C07FABOPS"
	team     = "T07FABRIC"
	approver = "S07APPROVE"
)

// house is a bot with a Slack around it and runs that live in memory.
type house struct {
	t      *testing.T
	slack  *slackemu.Server
	runs   *runsInMemory
	bot    *Bot
	thread *Thread
	access atomic.Value // of accessFunc
	db     string
	stop   func()
}

type accessFunc func(by activities.Person, place activities.Place, e op.Entry) error

func (f accessFunc) Decide(_ context.Context, by activities.Person, place activities.Place, e op.Entry) error {
	return f(by, place, e)
}

// Steer lets those stop a run who asked for it, and those who may do anything.
func (f accessFunc) Steer(_ context.Context, by activities.Person, place activities.Place, v activities.View) error {
	if by.ID == v.By.ID {
		return nil
	}
	return f(by, place, op.Entry{Name: "steer"})
}

type blobsInMemory map[string]string

func (b blobsInMemory) Open(sha string) (io.ReadCloser, error) {
	if _, ok := b[sha]; !ok {
		return nil, errors.New("no such blob")
	}
	return io.NopCloser(strings.NewReader(b[sha])), nil
}

// quick is a pace for tests: the rules of the real one, faster.
var quick = Pace{UpdatesPerMinute: 6000, Reserve: 10, PostGap: time.Millisecond, MessageGap: 20 * time.Millisecond, Settle: 20 * time.Millisecond, Call: 2 * time.Second}

func words(t testing.TB) *templates.Set {
	t.Helper()
	s, err := templates.New()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func newThread(t *testing.T, emu *slackemu.Server, db string, pace Pace) (*Thread, *Store) {
	t.Helper()
	api, err := Connect(Tokens{Bot: emu.BotToken(), App: emu.AppToken(), APIURL: emu.APIURL(), OpenGap: 10 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	store, err := OpenStore(db)
	if err != nil {
		t.Fatal(err)
	}
	return NewThread(ThreadOptions{
		API: api, Store: store, Draw: Renderer{Words: words(t), TypedAbove: 3}, Pace: pace,
		Blobs: blobsInMemory{"sha-plan": "the whole plan\n", "sha-big": strings.Repeat("x", 4096)},
	}), store
}

func emulator(t *testing.T, o slackemu.Options) *slackemu.Server {
	t.Helper()
	emu, err := slackemu.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = emu.Close() })
	return emu
}

// open brings up a house in socket mode.
func open(t *testing.T) *house {
	t.Helper()
	emu := emulator(t, slackemu.Options{Timing: slackemu.Timing{AckDeadline: time.Second, PingEvery: time.Second}})
	h := &house{t: t, slack: emu, db: filepath.Join(t.TempDir(), "said.db")}
	h.allow(func(activities.Person, activities.Place, op.Entry) error { return nil })
	var store *Store
	h.thread, store = newThread(t, emu, h.db, quick)
	h.runs = &runsInMemory{views: map[string]activities.View{}, voice: h.thread}
	h.bot = h.newBot(Options{})
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- h.bot.Run(ctx) }()
	h.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("the bot ended with: %v", err)
		}
		h.thread.Close()
		h.runs.wait()
		_ = store.Close()
	})
	t.Cleanup(h.stop)
	h.until("a socket", func(s slackemu.State) bool { return s.Sockets == 1 })
	return h
}

func (h *house) newBot(o Options) *Bot {
	h.t.Helper()
	index, err := workflows.Index()
	if err != nil {
		h.t.Fatal(err)
	}
	o.API, o.Index, o.Runs, o.Thread, o.Draw, o.Team = h.thread.api, index, h.runs, h.thread, h.thread.draw, team
	o.Access = accessFunc(func(by activities.Person, place activities.Place, e op.Entry) error {
		return h.access.Load().(accessFunc)(by, place, e)
	})
	o.RunID = func(key string) string { return fmt.Sprintf("%x", []byte(key[len(key)-5:])) }
	if o.Channels == nil {
		o.Channels = []string{ops, "C07SECRET", "C07RANDOM", "C07SHARED"}
	}
	b, err := New(o)
	if err != nil {
		h.t.Fatal(err)
	}
	return b
}

// allow changes who may do what.
func (h *house) allow(f accessFunc) { h.access.Store(f) }

// until waits for the workspace to be as described.
func (h *house) until(what string, ok func(slackemu.State) bool) {
	h.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 15*time.Second)
	defer cancel()
	if err := h.slack.Wait(ctx, ok); err != nil {
		h.t.Fatalf("waiting for %s: %v\nmessages: %s\nephemerals: %s", what, err, dump(h.slack.Messages(ops)), dump(h.slack.State().Ephemerals))
	}
}

// eventually waits for what happens outside of the workspace.
func (h *house) eventually(what string, ok func() bool) {
	h.t.Helper()
	for end := time.Now().Add(15 * time.Second); !ok(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			h.t.Fatalf("waited in vain for %s", what)
		}
	}
}

// told waits until somebody is told something privately.
func (h *house) told(user, want string) {
	h.t.Helper()
	h.until(fmt.Sprintf("%s to be told %q", user, want), func(s slackemu.State) bool {
		for _, m := range s.Ephemerals {
			if m.Ephemeral == user && strings.Contains(all(m), want) {
				return true
			}
		}
		return false
	})
}

// slash types a command as somebody in the operations channel.
func (h *house) slash(user, text string) slackemu.SlashResult {
	h.t.Helper()
	r, err := h.slack.Slash(user, ops, "/fabric "+text)
	if err != nil {
		h.t.Fatal(err)
	}
	if r.Outcome != slackemu.Acked {
		h.t.Fatalf("/fabric %s was not acknowledged: %s", text, r.Outcome)
	}
	return r
}

// tops are the messages of the bot that are not in a thread.
func tops(s slackemu.State, channel string) []slackemu.Message {
	var out []slackemu.Message
	for _, m := range s.Messages {
		if m.Channel == channel && m.BotID != "" && m.ThreadTS == "" && !m.Deleted {
			out = append(out, m)
		}
	}
	return out
}

func replies(s slackemu.State, ts string) []slackemu.Message {
	var out []slackemu.Message
	for _, m := range s.Messages {
		if m.ThreadTS == ts && m.TS != ts && !m.Deleted {
			out = append(out, m)
		}
	}
	return out
}

// all is everything a reader can see in a message, as JSON.
func all(m slackemu.Message) string { return m.Text + dump(m.Blocks) }

func dump(v any) string {
	var out strings.Builder
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	_ = e.Encode(v)
	return out.String()
}

func buttons(m slackemu.Message) []string {
	var ids []string
	for _, b := range m.Blocks {
		block, _ := b.(map[string]any)
		if block["type"] != "actions" {
			continue
		}
		elements, _ := block["elements"].([]any)
		for _, e := range elements {
			ids = append(ids, fmt.Sprint(e.(map[string]any)["action_id"]))
		}
	}
	return ids
}
