package slackemu

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	_ "image/gif" // pictures whose size the page and files.info tell
	_ "image/jpeg"
	_ "image/png"
	"io"
	"mime"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Limits of uploads: docs.slack.dev/reference/methods/files.getUploadURLExternal.
const (
	maxFileOctets    = 1 << 30
	maxSnippetOctets = 1 << 20
	maxAltTextRunes  = 1000
	maxShareChannels = 100
)

// File is an upload.
type File struct {
	ID       string             `json:"id"`
	Name     string             `json:"name"`
	Title    string             `json:"title"`
	AltText  string             `json:"alt_txt,omitempty"`
	MimeType string             `json:"mimetype"`
	Declared int                `json:"declared_octets"`
	Size     int                `json:"size"`
	Width    int                `json:"width,omitempty"`
	Height   int                `json:"height,omitempty"`
	Complete bool               `json:"complete"`
	Deleted  bool               `json:"deleted,omitempty"`
	Shares   map[string][]Share `json:"shares,omitempty"` // by channel
	Content  []byte             `json:"-"`

	processed bool // shares and mimetype are told from now on
}

// Share is one message that shows a file.
type Share struct {
	TS       string `json:"ts"`
	ThreadTS string `json:"thread_ts,omitempty"`
}

func (f *File) copy() File {
	out := *f
	out.Shares = map[string][]Share{}
	for k, v := range f.Shares {
		out.Shares[k] = slices.Clone(v)
	}
	return out
}

func (s *Server) filesGetUploadURL(c *call) (answer, error) {
	name := c.arg("filename")
	length, err := strconv.Atoi(c.arg("length"))
	switch {
	case name == "" || err != nil || length <= 0:
		return nil, refuse("missing_argument", "filename and a positive length are required")
	case utf8.RuneCountInString(c.arg("alt_txt")) > maxAltTextRunes:
		return nil, refuse("alt_txt_too_large")
	case c.arg("snippet_type") != "" && length > maxSnippetOctets:
		return nil, refuse("snippet_too_large")
	case length > maxFileOctets:
		return nil, refuse("file_upload_size_restricted")
	}
	f := &File{ID: s.id("F"), Name: path.Base(name), AltText: c.arg("alt_txt"), Declared: length, Shares: map[string][]Share{}}
	s.ws.files[f.ID] = f
	s.ws.order = append(s.ws.order, f.ID)
	ticket := randomHex(16)
	s.ws.uploads[ticket] = f.ID
	return answer{"upload_url": "http://" + s.apiAddr + "/upload/v1/" + ticket, "file_id": f.ID}, nil
}

func (s *Server) serveUpload(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	f := s.ws.files[s.ws.uploads[r.PathValue("ticket")]]
	broken := s.take(FaultUpload, "")
	s.mu.Unlock()
	if f == nil || f.Content != nil {
		s.record("upload", http.StatusNotFound, "no_such_upload")
		http.Error(w, "no such upload", http.StatusNotFound)
		return
	}
	if broken != nil {
		s.record("upload", max(broken.Status, 500), "http_status")
		http.Error(w, "upload failed", max(broken.Status, 500))
		return
	}
	content, err := uploadBody(w, r, int64(f.Declared))
	if err != nil || len(content) != f.Declared {
		s.record("upload", http.StatusBadRequest, "length_mismatch")
		http.Error(w, fmt.Sprintf("got %d bytes, %d were announced", len(content), f.Declared), http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	f.Content, f.Size = content, len(content)
	f.MimeType = mime.TypeByExtension(path.Ext(f.Name))
	if f.MimeType == "" {
		f.MimeType = http.DetectContentType(content)
	}
	if cfg, _, err := image.DecodeConfig(bytes.NewReader(content)); err == nil {
		f.Width, f.Height = cfg.Width, cfg.Height
	}
	s.mu.Unlock()
	s.record("upload", http.StatusOK, "")
	_, _ = fmt.Fprintf(w, "OK - %d", len(content))
}

// uploadBody reads a raw or multipart body, at most one byte more than announced.
func uploadBody(w http.ResponseWriter, r *http.Request, want int64) ([]byte, error) {
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if kind != "multipart/form-data" {
		return io.ReadAll(io.LimitReader(r.Body, want+1))
	}
	r.Body = http.MaxBytesReader(w, r.Body, want+maxRequest)
	parts, err := r.MultipartReader()
	if err != nil {
		return nil, err
	}
	for {
		part, err := parts.NextPart()
		if err != nil {
			return nil, err
		}
		if part.FileName() != "" {
			return io.ReadAll(io.LimitReader(part, want+1))
		}
	}
}

func (s *Server) filesComplete(c *call) (answer, error) {
	var given []struct{ ID, Title string }
	if err := json.Unmarshal([]byte(c.arg("files")), &given); err != nil || len(given) == 0 {
		return nil, refuse("invalid_arguments", "files must be a list of {id, title}")
	}
	var targets []*Channel
	refs := strings.FieldsFunc(c.arg("channels"), func(r rune) bool { return r == ',' })
	if id := c.arg("channel_id"); id != "" {
		if len(refs) > 0 {
			return nil, refuse("invalid_arguments", "channel_id and channels exclude each other")
		}
		refs = []string{id}
	}
	thread := c.arg("thread_ts")
	if len(refs) > maxShareChannels || (thread != "" && len(refs) != 1) {
		return nil, refuse("invalid_arguments", "at most 100 channels, and one with thread_ts")
	}
	for _, ref := range refs {
		ch, err := s.shareTarget(ref)
		if err != nil {
			return nil, err
		}
		targets = append(targets, ch)
	}
	blocks, _, err := s.blocksArg(c, "blocks")
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(blocks, func(b any) bool { o, _ := b.(map[string]any); return o["type"] == "markdown" }) {
		return nil, refuse("internal_error") // as slackapi/python-slack-sdk#1756 reports
	}
	text := c.arg("initial_comment")
	if text != "" {
		blocks = nil
	}
	var ids []string
	list := []any{}
	for _, g := range given {
		f := s.ws.files[g.ID]
		if f == nil || f.Content == nil || f.Complete {
			return nil, refuse("file_not_found")
		}
		if f.Title = g.Title; f.Title == "" {
			f.Title = f.Name
		}
		ids = append(ids, g.ID)
		list = append(list, answer{"id": f.ID, "title": f.Title})
	}
	for _, id := range ids {
		s.ws.files[id].Complete = true
	}
	s.processLater(ids)
	for _, ch := range targets {
		if thread != "" && s.message(ch.ID, thread) == nil {
			thread = ""
		}
		m := s.post(ch, s.botMessage(thread, content{text: text, blocks: blocks, files: ids}), "files.completeUploadExternal")
		s.shareFiles(m)
	}
	return answer{"files": list}, nil
}

// shareTarget is stricter than postTarget: the bot must be in the channel,
// chat:write.public does not help.
func (s *Server) shareTarget(ref string) (*Channel, error) {
	if u := s.user(ref); u != nil && u.ID == ref {
		c, _ := s.dm(u.ID)
		return c, nil
	}
	ch, err := s.visible(ref)
	switch {
	case err != nil:
		return nil, err
	case !ch.BotMember:
		return nil, refuse("not_in_channel")
	case ch.Archived:
		return nil, refuse("is_archived")
	}
	return ch, nil
}

// processLater lets type and shares appear in files.info a little later.
func (s *Server) processLater(ids []string) {
	s.work.Go(func() {
		if !s.sleep(s.opts.Timing.FileProcessing) {
			return
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		for _, id := range ids {
			s.ws.files[id].processed = true
		}
		s.touch()
	})
}

func (s *Server) shareFiles(m *Message) {
	for _, id := range m.Files {
		f := s.ws.files[id]
		f.Shares[m.Channel] = append(f.Shares[m.Channel], Share{TS: m.TS, ThreadTS: m.ThreadTS})
	}
}

// fileIDs reads the file_ids argument of chat.postMessage and chat.update.
func (s *Server) fileIDs(c *call) ([]string, error) {
	if !c.has("file_ids") {
		return nil, nil
	}
	v, err := c.tree("file_ids")
	list, ok := v.([]any)
	if err != nil || !ok {
		return nil, refuse("invalid_arguments", "file_ids must be a list of ids")
	}
	var ids []string
	for _, e := range list {
		id, _ := e.(string)
		if f := s.ws.files[id]; f == nil || !f.Complete || f.Deleted {
			return nil, refuse("file_not_found")
		}
		ids = append(ids, id)
	}
	return ids, nil
}

// imageFile judges a slack_file reference of an image block.
func (s *Server) imageFile(id, url string) error {
	for _, f := range s.ws.files {
		if f.ID != id && (url == "" || s.fileURL(f) != url) {
			continue
		}
		switch {
		case f.Deleted || !f.processed:
			return errors.New("the file is not ready")
		case f.MimeType == "image/png" || f.MimeType == "image/jpeg" || f.MimeType == "image/gif":
			return nil
		}
		return errors.New("only png, jpg, jpeg and gif can be shown")
	}
	return errors.New("no such file")
}

func (s *Server) fileURL(f *File) string {
	return "http://" + s.apiAddr + "/files/" + f.ID + "/" + f.Name
}
