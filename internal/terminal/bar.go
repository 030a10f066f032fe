package terminal

import (
	"io"
	"os"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
	"golang.org/x/term"

	"github.com/fabricbot/fabricbot/activities"
)

// bar is the live progress bar under the lines that a run prints. On anything
// but a terminal it draws nothing and the lines stand alone.
type bar struct {
	out  io.Writer
	live *mpb.Progress
	bar  *mpb.Bar
	unit string
}

func newBar(out io.Writer) *bar {
	b := &bar{out: out}
	if f, ok := out.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		b.live = mpb.New(mpb.WithOutput(f), mpb.WithWidth(40))
	}
	return b
}

// Write prints a line above the bar.
func (b *bar) Write(line []byte) (int, error) {
	if b.live == nil {
		return b.out.Write(line)
	}
	return b.live.Write(line)
}

// set moves the bar; nil takes it away.
func (b *bar) set(p *activities.Progress) {
	if b.live == nil {
		return
	}
	if b.bar != nil && (p == nil || p.Unit != b.unit) {
		b.bar.Abort(true)
		b.bar = nil
	}
	if p == nil {
		return
	}
	if b.bar == nil {
		b.unit = p.Unit
		b.bar = b.live.AddBar(int64(p.Total), mpb.BarRemoveOnComplete(),
			mpb.PrependDecorators(decor.CountersNoUnit("%d of %d "+p.Unit)),
			mpb.AppendDecorators(decor.Percentage(), decor.Name(" "), decor.Elapsed(decor.ET_STYLE_MMSS)))
	}
	b.bar.SetTotal(int64(p.Total), false)
	b.bar.SetCurrent(int64(p.Done))
}

// end takes the bar away for good.
func (b *bar) end() {
	if b.live != nil {
		b.set(nil)
		b.live.Wait()
	}
}
