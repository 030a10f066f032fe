package slackemu

import (
	"fmt"
	"net/http"
	"path"
	"strings"
)

func (s *Server) fileWire(f *File) answer {
	out := answer{
		"id": f.ID, "name": f.Name, "title": f.Title, "alt_txt": f.AltText, "mimetype": "", "size": f.Size,
		"filetype": strings.TrimPrefix(path.Ext(f.Name), "."), "mode": "hosted", "user": s.opts.Workspace.BotUserID,
		"url_private": s.fileURL(f), "url_private_download": s.fileURL(f),
		"permalink": fmt.Sprintf("https://%s.slack.com/files/%s/%s/%s", s.opts.Workspace.Domain, s.opts.Workspace.BotUserID, f.ID, f.Name),
	}
	if f.processed {
		out["mimetype"], out["original_w"], out["original_h"] = f.MimeType, f.Width, f.Height
	}
	return out
}

func (s *Server) filesInfo(c *call) (answer, error) {
	f := s.ws.files[c.arg("file")]
	if f == nil || f.Deleted {
		return nil, refuse("file_not_found")
	}
	wire := s.fileWire(f)
	public, private, channels := map[string]any{}, map[string]any{}, []string{}
	if f.processed {
		for id, shares := range f.Shares {
			list := make([]any, len(shares))
			for i, sh := range shares {
				list[i] = answer{"ts": sh.TS, "thread_ts": sh.ThreadTS, "channel_name": s.channel(id).Name, "team_id": s.opts.Workspace.TeamID}
			}
			if s.channel(id).Private {
				private[id] = list
				continue
			}
			public[id] = list
			channels = append(channels, id)
		}
	}
	wire["shares"], wire["channels"] = answer{"public": public, "private": private}, channels
	return answer{"file": wire, "comments": []any{}, "paging": answer{}}, nil
}

func (s *Server) filesDelete(c *call) (answer, error) {
	f := s.ws.files[c.arg("file")]
	if f == nil {
		return nil, refuse("file_not_found")
	}
	if f.Deleted {
		return nil, refuse("file_deleted")
	}
	f.Deleted = true
	return answer{}, nil
}

// serveFile is url_private: it wants the bot's token.
func (s *Server) serveFile(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Authorization") != "Bearer "+s.opts.BotToken {
		http.Error(w, "login required", http.StatusUnauthorized)
		return
	}
	s.sendFile(w, r.PathValue("id"))
}

func (s *Server) sendFile(w http.ResponseWriter, id string) {
	s.mu.Lock()
	f := s.ws.files[id]
	var kind, name string
	var content []byte
	if f != nil && !f.Deleted {
		kind, name, content = f.MimeType, f.Name, f.Content
	}
	s.mu.Unlock()
	if content == nil {
		http.Error(w, "no such file", http.StatusNotFound)
		return
	}
	h := w.Header()
	h.Set("Content-Type", kind)
	h.Set("X-Content-Type-Options", "nosniff")
	// An uploaded page or drawing must not run in the emulator's origin.
	h.Set("Content-Security-Policy", "sandbox; default-src 'none'; style-src 'unsafe-inline'")
	if !strings.HasPrefix(kind, "image/") || kind == "image/svg+xml" {
		h.Set("Content-Disposition", fmt.Sprintf("attachment; filename=%q", name))
	}
	_, _ = w.Write(content) // the reader left; nothing to tell
}
