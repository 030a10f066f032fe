package bot

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/fabricbot/fabricbot/activities"
	"github.com/fabricbot/fabricbot/testsuite/slackemu"
)

func imagesIn(m slackemu.Message) int { return strings.Count(dump(m.Blocks), `"type":"image"`) }

func TestPictureStandsInTheMessage(t *testing.T) {
	emu, th, _ := voice(t, quick)
	f := activities.File{Name: "fabric.png", Title: "Fabric <ib1>", Alt: "12 switches", Blob: "sha-big", Bytes: 4096}
	v := ended("4f2c09a1d3", 1)
	v.Files = []activities.File{f, {Name: "fabric.svg", Title: "Fabric", Blob: "sha-big", Bytes: 4096}}
	until(t, func(ctx context.Context) error { return th.Show(ctx, v) })
	for _, f := range v.Files {
		until(t, func(ctx context.Context) error { return th.Attach(ctx, v, f) })
	}
	until(t, func(ctx context.Context) error { return th.Attach(ctx, v, f) })
	m := tops(emu.State(), ops)[0]
	if imagesIn(m) != 1 || len(emu.Files()) != 2 || len(replies(emu.State(), m.TS)) != 2 {
		t.Errorf("%d files, message %s", len(emu.Files()), dump(m))
	}
}

func TestPictureThatIsNeverReady(t *testing.T) {
	emu := emulator(t, slackemu.Options{Timing: slackemu.Timing{FileProcessing: time.Hour}})
	th, store := newThread(t, emu, t.TempDir()+"/said.db", quick)
	t.Cleanup(func() { th.Close(); _ = store.Close() })
	v := ended("4f2c09a1d3", 1)
	v.Files = []activities.File{{Name: "fabric.png", Title: "Fabric", Alt: "12 switches", Blob: "sha-big", Bytes: 4096}}
	until(t, func(ctx context.Context) error { return th.Show(ctx, v) })
	until(t, func(ctx context.Context) error { return th.Attach(ctx, v, v.Files[0]) })
	if m := tops(emu.State(), ops)[0]; imagesIn(m) != 0 || !strings.Contains(all(m), "kept") {
		t.Errorf("the message is %s", dump(m))
	}
}
