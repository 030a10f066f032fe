package slackemu

import (
	"bytes"
	"context"
	"flag"
	"image"
	"image/color"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/slack-go/slack"
)

var shots = flag.String("shots", "", "directory to keep pictures of the page in")

func browser(t *testing.T) context.Context {
	t.Helper()
	path, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("the page is tested in chromium (Debian package chromium), which is not installed")
	}
	dir, err := os.MkdirTemp("", "page")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // the browser's children write for a moment after its end
		for range 50 {
			if os.RemoveAll(dir) == nil {
				return
			}
			time.Sleep(100 * time.Millisecond)
		}
	})
	opts := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.UserDataDir(dir), chromedp.NoFirstRun,
		chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-component-update", true),
		chromedp.Flag("disable-sync", true), chromedp.WindowSize(1400, 900),
	)
	ctx, cancel := chromedp.NewExecAllocator(context.Background(), opts...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	ctx, cancel = context.WithTimeout(ctx, 25*time.Second)
	t.Cleanup(cancel)
	return ctx
}

type step = chromedp.Action[chromedp.Void]

// run does what a person does. The page may draw a list anew between finding a
// button and pressing it; whoever sees the new button presses that one.
func run(t *testing.T, ctx context.Context, what string, actions ...step) {
	t.Helper()
	for i, a := range actions {
		err := chromedp.Do(ctx, a)
		for try := 0; err != nil && try < 10 && strings.Contains(err.Error(), "Could not find node"); try++ {
			err = chromedp.Do(ctx, a)
		}
		if err != nil {
			t.Fatalf("%s, step %d: %v", what, i+1, err)
		}
	}
}

// script runs JavaScript for its effect.
func script(code string) step {
	return func(ctx context.Context, _ *chromedp.Target) (chromedp.Void, error) {
		_, err := chromedp.Run(ctx, chromedp.Evaluate[bool](code))
		return chromedp.Void{}, err
	}
}

// picture keeps what the browser shows when -shots names a directory.
func picture(t *testing.T, ctx context.Context, name string) {
	t.Helper()
	if *shots == "" {
		return
	}
	run(t, ctx, name, chromedp.Sleep(300*time.Millisecond))
	raw, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if err := os.WriteFile(filepath.Join(*shots, name+".png"), raw, 0o600); err != nil {
		t.Fatal(err)
	}
}

func plot(t *testing.T) []byte {
	t.Helper()
	img := image.NewRGBA(image.Rect(0, 0, 420, 160))
	for x := range 420 {
		for y := range 160 {
			img.Set(x, y, color.White)
		}
		for y := 150; y > 140-x*x/1500; y-- {
			img.Set(x, y, color.RGBA{0x12, 0x64, 0xa3, 0xff})
		}
	}
	var buf bytes.Buffer
	if err := png.Encode(&buf, img); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

// furnish gives the demo channel the kinds of messages a fabric bot posts.
func furnish(t *testing.T, s *Server, api *slack.Client) {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(code(err))
		}
	}
	md := func(text string) *slack.TextBlockObject {
		return slack.NewTextBlockObject("mrkdwn", text, false, false)
	}
	_, err := s.Say("operator-a", "fabric-ops", "", "morning, links on rack7 look odd since 06:10. @fabricbot can you check?")
	must(err)
	_, ts, err := api.PostMessage("C07FABOPS", slack.MsgOptionText("Run 4f2c: draining leaf-07, 40 of 128 hosts done", false), slack.MsgOptionBlocks(
		slack.NewSectionBlock(md(":hourglass_flowing_sand: *drain* `leaf-07` · run <https://example.com/r/4f2c|4f2c> · by <@U07OPERA>"), nil, nil),
		slack.NewSectionBlock(md("`███████░░░` 70 % · 89/128 hosts · 3 m 10 s · ETA ~80 s"), nil, nil),
		slack.NewSectionBlock(nil, []*slack.TextBlockObject{md("*State*\n▶ running"), md("*Failed*\n❌ 1 (`node041`)"), md("*Policy*\n<!subteam^S07APPROVE> may approve"), md("*Window*\n~20:00~ 22:00 _tonight_")}, nil),
		slack.NewContextBlock("", md("refreshed <!date^1790000000^{date_short_pretty} {time}|then> · ⚠ no update for 2 min")),
		slack.NewActionBlock("gate",
			slack.NewButtonBlockElement("approve", "r", plainText("Approve drain of 12")).WithStyle(slack.StylePrimary).
				WithConfirm(slack.NewConfirmationBlockObject(plainText("Approve the drain?"), md("12 hosts of *rack7* leave the scheduler."), plainText("Approve"), plainText("Back"))),
			slack.NewButtonBlockElement("deny", "r", plainText("Deny")),
			slack.NewButtonBlockElement("cancel", "r", plainText("Cancel run")).WithStyle(slack.StyleDanger)),
	))
	must(err)
	_, _, err = api.PostMessage("C07FABOPS", slack.MsgOptionTS(ts), slack.MsgOptionText("```\nnode040  drained   12 s\nnode041  refused   job 8812 is running\n```\nonly <@U07OPERB> & <#C07RANDOM> know", false))
	must(err)
	_, err = api.UploadFile(slack.UploadFileParameters{Filename: "errors.png", Title: "Symbol errors, last hour", AltTxt: "errors rise to 140 at node041", FileSize: len(plot(t)),
		Reader: bytes.NewReader(plot(t)), Channel: "C07FABOPS", ThreadTimestamp: ts})
	must(err)
	table := slack.NewTableBlock("t").WithColumnSettings(slack.ColumnSetting{Align: "left"}, slack.ColumnSetting{Align: "left"}, slack.ColumnSetting{Align: slack.ColumnAlignmentRight})
	for _, row := range [][]string{{"Host", "State", "Errors"}, {"node040", "✅ drained", "0"}, {"node041", "❌ refused", "140"}, {"node042", "⏳ queued", "2"}} {
		table.AddRow(slack.TableRawTextCell{Type: "raw_text", Text: row[0]}, slack.TableRawTextCell{Type: "raw_text", Text: row[1]}, slack.TableRawTextCell{Type: "raw_text", Text: row[2]})
	}
	_, _, err = api.PostMessage("C07FABOPS", slack.MsgOptionText("three exceptions", false), slack.MsgOptionBlocks(slack.NewHeaderBlock(plainText("Exceptions of run 4f2c")), table))
	must(err)
	_, err = api.UploadFile(slack.UploadFileParameters{Filename: "links.csv", Title: "All links", FileSize: 9, Content: "a,b\n1,2\n3", Channel: "C07FABOPS", InitialComment: "full list"})
	must(err)
}

func TestPageInABrowser(t *testing.T) {
	ctx := browser(t)
	s := start(t, Options{})
	b := connect(t, s)
	furnish(t, s, b.api)
	t.Cleanup(func() {
		if t.Failed() {
			st := s.State()
			t.Logf("deliveries: %+v\nviews: %+v\nwarnings: %v", st.Deliveries, st.Views, st.Warnings)
			for _, c := range st.Calls {
				if c.Error != "" {
					t.Logf("refused: %+v", c)
				}
			}
		}
	})
	item := `//div[@id="list"]`
	run(t, ctx, "open the page", chromedp.Navigate(s.URL()),
		chromedp.WaitVisible(item+`//*[contains(text(),"Exceptions of run 4f2c")]`))
	picture(t, ctx, "1-channel")

	run(t, ctx, "type a command", chromedp.SendKeys("#composer textarea", "/fabric sm status"))
	run(t, ctx, "send it", chromedp.SendKeys("#composer textarea", "\r"),
		chromedp.WaitVisible(item+`//div[contains(@class,"only")]//*[contains(text(),"got sm status")]`))
	picture(t, ctx, "2-ephemeral")

	run(t, ctx, "open the thread", chromedp.Click(`//button[contains(.,"2 replies")]`), chromedp.WaitVisible(`#replies img[alt="errors rise to 140 at node041"]`))
	picture(t, ctx, "3-thread")

	run(t, ctx, "act as another user", chromedp.SetValue("#actas", "U07OPERB"),
		script(`document.getElementById("actas").dispatchEvent(new Event("change"))`),
		chromedp.WaitNotPresent(`//div[contains(@class,"only")]`))
	run(t, ctx, "press deny", chromedp.Click(`#list button[data-action="deny"]`), chromedp.WaitVisible(`.dialog[role="dialog"] input`),
		chromedp.SendKeys(`.dialog input`, "bad"))
	picture(t, ctx, "4-modal")
	run(t, ctx, "see the app's complaint", chromedp.Click(`.dialog .btn.primary`), chromedp.WaitVisible(`.dialog .error`))
	picture(t, ctx, "5-modal-error")
	run(t, ctx, "submit", chromedp.SendKeys(`.dialog input`, " weather"), chromedp.Click(`.dialog .btn.primary`), chromedp.WaitNotPresent(`.dialog`))

	run(t, ctx, "press approve", chromedp.Click(`#list button[data-action="approve"]`), chromedp.WaitVisible(`.dialog[role="alertdialog"]`))
	picture(t, ctx, "6-confirm")
	run(t, ctx, "agree", chromedp.Click(`.dialog .btn.primary`), chromedp.WaitVisible(item+`//*[contains(text(),"approved by")]`))
	picture(t, ctx, "7-approved")

	all := askReason()
	opts := []*slack.OptionBlockObject{
		slack.NewOptionBlockObject("a", plainText("One at a time"), plainText("slow and safe")), slack.NewOptionBlockObject("b", plainText("By rack"), nil),
	}
	long := slack.NewPlainTextInputBlockElement(plainText("What did you see?"), "note")
	long.Multiline = true
	all.Blocks = slack.Blocks{BlockSet: []slack.Block{
		slack.NewSectionBlock(slack.NewTextBlockObject("mrkdwn", "Upgrade of *12 hosts* in `rack7`. Nothing starts before approval.", false, false), nil, nil),
		slack.NewInputBlock("name", plainText("Type the switch name to confirm"), plainText("as printed on the label"), slack.NewPlainTextInputBlockElement(plainText("ib-leaf-07"), "name")),
		slack.NewInputBlock("order", plainText("Order"), nil, slack.NewRadioButtonsBlockElement("order", opts...)),
		slack.NewInputBlock("who", plainText("Informed"), nil, slack.NewOptionsSelectBlockElement(slack.OptTypeUser, plainText("Choose a person"), "who")),
		slack.NewInputBlock("note", plainText("Note"), nil, long).WithOptional(true),
	}}
	s.mu.Lock()
	trigger := s.newTrigger("U07OPERB", "")
	s.mu.Unlock()
	v, err := b.api.OpenView(trigger, all)
	if err != nil {
		t.Fatal(code(err))
	}
	run(t, ctx, "submit an incomplete modal", chromedp.WaitVisible(`#in-name`), chromedp.SendKeys(`#in-name`, "ib-leaf-07"), chromedp.Click(`.dialog .btn.primary`),
		chromedp.WaitVisible(`//div[contains(@class,"error")]`))
	picture(t, ctx, "9-inputs")
	run(t, ctx, "complete it", chromedp.Click(`//input[@type="radio"]`), chromedp.SetValue(`#in-who`, "U07VIEWER"),
		script(`document.getElementById("in-who").dispatchEvent(new Event("change"))`), chromedp.Click(`.dialog .btn.primary`), chromedp.WaitNotPresent(`.dialog`))
	s.mu.Lock()
	if st, _ := held(s.ws.views[v.ID], "name", "name"); st["value"] != "ib-leaf-07" {
		t.Errorf("typed text = %v", st)
	}
	s.mu.Unlock()
	run(t, ctx, "open the home tab", chromedp.Click(`#apps button`), chromedp.WaitVisible(`.home hr`))
	if !slices.ContainsFunc(s.Messages("fabric-ops"), func(m Message) bool { return strings.Contains(m.Text, "approved by <@U07OPERB>") }) {
		t.Errorf("no approval in %+v", s.Messages("fabric-ops"))
	}
	picture(t, ctx, "8-home")
}
