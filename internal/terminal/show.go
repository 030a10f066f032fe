package terminal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/fabricbot/fabricbot/activities"
	"github.com/fabricbot/fabricbot/internal/redact"
	"github.com/fabricbot/fabricbot/internal/runs"
	"github.com/fabricbot/fabricbot/templates"
	"github.com/fabricbot/fabricbot/workflows"
)

// follow shows a run live until it ends and gives the exit status for it.
func (o *online) follow(ctx context.Context, run string) int {
	p := &progress{o: o, bar: newBar(o.Err), ended: map[string]bool{}, begun: map[string]bool{}}
	out, err := o.runs.Wait(ctx, run, p.show)
	p.bar.end()
	if err != nil {
		if ctx.Err() != nil {
			fmt.Fprintf(o.Err, "\nno longer following; run %s goes on: fabricctl runs show %s\n", run, run)
			return ExitFailed
		}
		return o.fail(err)
	}
	if o.json {
		o.print(map[string]any{"run": run, "state": out.State, "error": out.Error, "result": out.Result})
	} else if p.last != nil {
		o.text(*p.last)
	}
	if p.last != nil {
		if err := o.keep(ctx, *p.last); err != nil {
			return o.fail(fmt.Errorf("keeping the files of run %s: %w", run, err))
		}
	}
	switch out.State {
	case activities.Done:
		return ExitOK
	case activities.Partly:
		return ExitPartly
	case activities.Denied, activities.Expired:
		return ExitDenied
	}
	return ExitFailed
}

// progress prints each step once when it begins and once when it ends.
type progress struct {
	o     *online
	bar   *bar
	last  *activities.View
	ended map[string]bool
	begun map[string]bool
	gate  string
	note  string
}

func (p *progress) show(v activities.View) {
	if p.last == nil {
		fmt.Fprintf(p.bar, "run %s · %s\n", v.Run, v.Words)
	}
	p.last = &v
	for _, s := range v.Steps {
		if s.State == activities.StepRunning {
			if !p.begun[s.Key] {
				p.begun[s.Key] = true
				fmt.Fprintf(p.bar, "▶ %s\n", stepWords(s))
			}
			continue
		}
		if !p.ended[s.Key] {
			p.ended[s.Key] = true
			mark := "✓"
			if s.State == activities.StepFailed {
				mark = "✗"
			}
			fmt.Fprintf(p.bar, "%s %s — %s (%s)\n", mark, stepWords(s), redact.Clean(s.Detail), s.Ended.Sub(s.Begun).Round(100*time.Millisecond))
		}
	}
	if v.Gate != nil && v.Gate.ID != p.gate {
		p.gate = v.Gate.ID
		p.o.plan(p.bar, v)
	}
	if v.Note != "" && v.Note != p.note {
		fmt.Fprintf(p.bar, "· %s\n", redact.Clean(v.Note))
	}
	p.note = v.Note
	p.bar.set(v.Progress)
}

func stepWords(s activities.Step) string {
	if s.Host != "" {
		return s.Host + ": " + s.Text
	}
	return s.Text
}

// plan shows what waits for approval.
func (o *online) plan(out io.Writer, v activities.View) {
	if text, err := o.render(v, "plan"); err == nil {
		fmt.Fprintln(out, text)
	}
	fmt.Fprintf(out, "⏸ waiting for somebody else's approval until %s: fabricctl approve %s\n", v.Gate.Expires.Local().Format("2006-01-02 15:04"), v.Run)
}

// render words one block of a run in plain text, as Slack shows it.
func (o *online) render(v activities.View, block string) (string, error) {
	set, err := templates.New()
	if err != nil {
		return "", err
	}
	data := templates.Data{View: v}
	if e, ok := workflows.Lookup(v.Op); ok && len(v.Result) > 0 {
		if data.Result, err = e.Result(v.Result); err != nil {
			return "", err
		}
	}
	text, err := set.Render(templates.Plain, strings.ReplaceAll(v.Op, " ", "-"), block, data)
	return strings.TrimSpace(text), err
}

// text prints how a run ended or stands, from the words that Slack shows.
func (o *online) text(v activities.View) {
	o.blocks(v, "title", "end", "findings", "outcome", "decisions")
	o.files(v)
}

// blocks prints those of the blocks that have something to say.
func (o *online) blocks(v activities.View, blocks ...string) {
	for _, block := range blocks {
		text, err := o.render(v, block)
		if err != nil {
			fmt.Fprintln(o.Err, "fabricctl:", err)
		}
		if text != "" {
			fmt.Fprintln(o.Out, text)
		}
	}
}

// files names what -save would keep.
func (o *online) files(v activities.View) {
	if o.save != "" {
		return
	}
	for _, f := range v.Files {
		fmt.Fprintf(o.Out, "file %s is in the archive; -save DIR keeps it\n", f.Name)
	}
}

// keep writes a run's files into the folder that was asked for.
func (o *online) keep(ctx context.Context, v activities.View) error {
	if o.save == "" || len(v.Files) == 0 {
		return nil
	}
	archive, err := o.site.OpenArchive(ctx)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(o.save, 0o755); err != nil {
		return err
	}
	for _, f := range v.Files {
		r, err := archive.Open(f.Blob)
		if err != nil {
			return err
		}
		content, err := io.ReadAll(r)
		if err := errors.Join(err, r.Close()); err != nil {
			return err
		}
		path := filepath.Join(o.save, filepath.Base(f.Name))
		if err := os.WriteFile(path, content, 0o644); err != nil {
			return err
		}
		fmt.Fprintln(o.Out, "kept", path)
	}
	return nil
}

// reply prints the answer to a control word.
func (o *online) reply(r runs.Reply) int {
	if r.Text != "" {
		fmt.Fprintln(o.Out, strings.TrimSpace(r.Text))
	}
	for _, v := range r.Views {
		text, err := o.render(v, "row")
		if err != nil {
			return o.fail(err)
		}
		fmt.Fprintln(o.Out, text)
	}
	if r.View != nil {
		o.blocks(*r.View, "title", "line", "plan", "gate", "all-steps")
		if r.View.State.Final() {
			o.blocks(*r.View, "end", "findings", "open")
		}
		o.files(*r.View)
	}
	return ExitOK
}
