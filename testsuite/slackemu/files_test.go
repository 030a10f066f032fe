package slackemu

import (
	"bytes"
	"net/http"
	"strings"
	"testing"

	"github.com/slack-go/slack"
)

func TestUploadIsSharedAndShown(t *testing.T) {
	s := start(t, quick())
	api := client(s)
	_, parent, err := api.PostMessage("C07FABOPS", slack.MsgOptionText("run", false))
	if err != nil {
		t.Fatal(err)
	}
	data := plot(t)
	sum, err := api.UploadFile(slack.UploadFileParameters{
		Filename: "plot.png", Title: "Errors", AltTxt: "max 140", FileSize: len(data), Reader: bytes.NewReader(data),
		Channel: "C07FABOPS", ThreadTimestamp: parent, InitialComment: "see",
	})
	if err != nil {
		t.Fatal(code(err))
	}
	wait(t, s, func(State) bool {
		info, _, _, err := api.GetFileInfo(sum.ID, 0, 0)
		return err == nil && len(info.Shares.Public["C07FABOPS"]) == 1 && info.Mimetype == "image/png" && info.OriginalW == 420
	})
	info, _, _, err := api.GetFileInfo(sum.ID, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	list := s.Messages("fabric-ops")
	m := list[len(list)-1]
	if m.ThreadTS != parent || m.Text != "see" || m.Files[0] != sum.ID || info.Shares.Public["C07FABOPS"][0].Ts != m.TS {
		t.Errorf("share = %+v", m)
	}
	if f := s.Files()[0]; !bytes.Equal(f.Content, data) || f.AltText != "max 140" {
		t.Error("content or alt text changed on the way")
	}
	var got bytes.Buffer
	if err := api.GetFile(info.URLPrivate, &got); err != nil || !bytes.Equal(got.Bytes(), data) {
		t.Errorf("download: %v, %d bytes", err, got.Len())
	}
	resp, err := http.Get(info.URLPrivate)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusUnauthorized {
		t.Errorf("download without token: %d", resp.StatusCode)
	}
	image := slack.NewImageBlockSlackFile(&slack.SlackFileObject{ID: sum.ID}, "alt", "img", nil)
	if _, _, err := api.PostMessage("C07FABOPS", slack.MsgOptionText("x", false), slack.MsgOptionBlocks(image)); err != nil {
		t.Errorf("image block with the upload: %s", code(err))
	}
}

func TestUploadRefusals(t *testing.T) {
	s := start(t, quick())
	api := client(s)
	up, err := api.GetUploadURLExternalContext(t.Context(), slack.GetUploadURLExternalParameters{FileName: "a.txt", FileSize: 4})
	if err != nil {
		t.Fatal(err)
	}
	post := func(body string) int {
		resp, err := http.Post(up.UploadURL, "application/octet-stream", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		return resp.StatusCode
	}
	if got := post("abc"); got != http.StatusBadRequest {
		t.Errorf("too short: %d", got)
	}
	if got := post("abcde"); got != http.StatusBadRequest {
		t.Errorf("too long: %d", got)
	}
	if got := post("abcd"); got != http.StatusOK {
		t.Errorf("raw body: %d", got)
	}
	if got := post("abcd"); got != http.StatusNotFound {
		t.Errorf("second time: %d", got)
	}
	if err := s.Inject(Fault{Kind: FaultUpload}); err != nil {
		t.Fatal(err)
	}
	if _, err := api.UploadFile(slack.UploadFileParameters{Filename: "b", FileSize: 1, Content: "b"}); err == nil {
		t.Error("a failing upload was not noticed")
	}
	sum, err := api.UploadFile(slack.UploadFileParameters{Filename: "drawing.svg", FileSize: 6, Content: "<svg/>", Channel: "C07FABOPS"})
	if err != nil {
		t.Fatal(code(err))
	}
	svg := slack.NewImageBlockSlackFile(&slack.SlackFileObject{ID: sum.ID}, "alt", "img", nil)
	if _, _, err := api.PostMessage("C07FABOPS", slack.MsgOptionBlocks(svg)); !strings.Contains(code(err), "invalid slack file") {
		t.Errorf("SVG in an image block: %s", code(err))
	}
}
