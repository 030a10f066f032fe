package bot

import (
	"context"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/fabricbot/fabricbot/activities"
)

func TestEverythingIsSaidOnce(t *testing.T) {
	emu, th, _ := voice(t, quick)
	v := running("4f2c09a1d3", 1)
	f := activities.File{Name: "fabric.png", Title: "<!here> Fabric", Alt: "12 switches", Blob: "sha-big", Bytes: 4096}
	var all sync.WaitGroup
	for range 6 {
		all.Go(func() {
			until(t, func(ctx context.Context) error { return th.Show(ctx, v) })
			until(t, func(ctx context.Context) error { return th.Reply(ctx, v, activities.Notice{Key: "a", Kind: "summary"}) })
			until(t, func(ctx context.Context) error { return th.Attach(ctx, v, f) })
		})
	}
	all.Wait()
	m := tops(emu.State(), ops)
	if len(m) != 1 || len(m[0].History) != 1 || len(replies(emu.State(), m[0].TS)) != 2 {
		t.Errorf("messages: %s", dump(emu.State().Messages))
	}
	if files := emu.Files(); len(files) != 1 || files[0].Size != 4096 || files[0].AltText != "12 switches" {
		t.Errorf("files: %s", dump(files))
	}
}

func TestSilentRunsSayNothing(t *testing.T) {
	emu, th, _ := voice(t, quick)
	v := ended("4f2c09a1d3", 1)
	v.Place = activities.Place{}
	for _, err := range []error{th.Show(t.Context(), v), th.Reply(t.Context(), v, activities.Notice{}), th.Attach(t.Context(), v, activities.File{})} {
		if err != nil {
			t.Error(err)
		}
	}
	if n := len(emu.State().Messages); n != 0 {
		t.Errorf("%d messages", n)
	}
}

func TestUndeliverable(t *testing.T) {
	emu, th, _ := voice(t, quick)
	v := ended("4f2c09a1d3", 1)
	v.Place.Channel = "C07RANDOM"
	err := th.Show(t.Context(), v)
	if _, ok := err.(*UndeliverableError); !ok {
		t.Errorf("posting where the bot is not: %v", err)
	}
	emu.SetBotMember("C07RANDOM", true)
	until(t, func(ctx context.Context) error { return th.Show(ctx, v) })
	if n := len(tops(emu.State(), "C07RANDOM")); n != 1 {
		t.Errorf("%d messages", n)
	}
}

func TestStoreForgets(t *testing.T) {
	file := filepath.Join(t.TempDir(), "said.db")
	s, err := OpenStore(file)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := OpenStore(file); err == nil {
		t.Error("two processes opened the same store")
	}
	now := time.Now()
	for key, at := range map[string]time.Time{"old": now.Add(-48 * time.Hour), "new": now} {
		if err := s.put(key, said{TS: "1.1", Shown: at, Intent: at}); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Forget(now.Add(-24 * time.Hour)); err != nil {
		t.Fatal(err)
	}
	_ = s.Close()
	if s, err = OpenStore(file); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if rec, err := s.get("old"); err != nil || rec.TS != "" {
		t.Errorf("old: %+v, %v", rec, err)
	}
	if rec, err := s.get("new"); err != nil || rec.TS != "1.1" {
		t.Errorf("new: %+v, %v", rec, err)
	}
}
