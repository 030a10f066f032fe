package embedded

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	stdlog "log"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/renameio/v2"
	"github.com/labstack/echo/v4"
	"github.com/temporalio/ui-server/v2/server/api"
	uiconfig "github.com/temporalio/ui-server/v2/server/config"
	"github.com/temporalio/ui-server/v2/server/route"
	"github.com/temporalio/ui-server/v2/ui"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"

	"github.com/fabricbot/fabricbot/internal/engine"
)

const (
	uiCookie   = "fabricbot_ui"
	uiTokenLen = 32 // octets before hex
)

// webUI is Temporal's web UI, read only in two independent ways: its own middleware lets only GET and workflow queries
// through, and the certificate it dials with carries no other right. Since any program of any local user can reach a
// loopback port, each request also needs the token from the data directory, which a browser gets as a cookie from the
// sign-in link.
//
// The parts of ui-server are put together here instead of using its own server, which opens its listener itself, ends
// the process when that fails, asks GitHub for newer releases, and prints at each handshake.
type webUI struct {
	http  *http.Server
	conn  *grpc.ClientConn
	token string
}

func newUI(o Options, m Meta, a *authority) (*webUI, error) {
	token, err := uiToken(filepath.Join(o.DataDir, engine.TLSDir, engine.UITokenFile))
	if err != nil {
		return nil, err
	}
	t, err := a.dialTLS(readerName)
	if err != nil {
		return nil, err
	}
	conn, err := grpc.NewClient(hostPort(m.FrontendPort), grpc.WithTransportCredentials(credentials.NewTLS(t)),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(64<<20))) // as ui-server's own: pages of large histories
	if err != nil {
		return nil, fmt.Errorf("connecting the web UI: %w", err)
	}
	handler, err := uiHandler(o, m, conn)
	if err != nil {
		conn.Close()
		return nil, err
	}
	u := &webUI{conn: conn, token: token}
	u.http = &http.Server{
		Handler:           u.guard(handler),
		ReadHeaderTimeout: 10 * time.Second,
		ErrorLog:          stdlog.New(io.Discard, "", 0),
	}
	return u, nil
}

func uiHandler(o Options, m Meta, conn *grpc.ClientConn) (http.Handler, error) {
	p, err := uiconfig.NewConfigProviderWithRefresh(&uiconfig.Config{
		TemporalGRPCAddress: hostPort(m.FrontendPort),
		DefaultNamespace:    o.Namespace,
		EnableUI:            true,
		HideLogs:            true,
		DisableNewsFetch:    true,
		DisableWriteActions: true,
	})
	if err != nil {
		return nil, fmt.Errorf("configuring the web UI: %w", err)
	}
	all, err := ui.Assets()
	if err != nil {
		return nil, fmt.Errorf("reading the web UI: %w", err)
	}
	assets, err := fs.Sub(all, "local")
	if err != nil {
		return nil, fmt.Errorf("reading the web UI: %w", err)
	}
	e := echo.New()
	e.Logger.SetOutput(io.Discard)
	readOnly := route.DisableWriteMiddleware(p)
	g := e.Group("/api/v1")
	g.GET("/settings", api.GetSettings(p))
	g.GET("/ui-extensions", api.GetUIExtensions(p, nil))
	g.GET(api.WorkflowRawHistoryUrl, api.WorkflowRawHistoryHandler(workflowservice.NewWorkflowServiceClient(conn)))
	g.Match([]string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete}, "/*",
		api.TemporalAPIHandler(p, nil, conn), readOnly)
	if err := route.SetUIRoutes(e, "", assets, p); err != nil {
		return nil, fmt.Errorf("reading the web UI: %w", err)
	}
	route.SetRenderRoute(e, "/")
	return e, nil
}

// guard admits who knows the token. The host is looked at as well: a page of a foreign site may have had its name
// pointed at 127.0.0.1 and would then be of the same origin as the UI.
func (u *webUI) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("X-Frame-Options", "DENY")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer") // the sign-in link must not travel on
		host := r.Host
		if name, _, err := net.SplitHostPort(host); err == nil {
			host = name
		}
		if host != loopback && host != "localhost" {
			http.Error(w, "this page is served for 127.0.0.1 and localhost only", http.StatusMisdirectedRequest)
			return
		}
		if given := r.URL.Query().Get("token"); r.Method == http.MethodGet && given != "" && u.is(given) {
			http.SetCookie(w, &http.Cookie{Name: uiCookie, Value: u.token, Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode})
			// Always to the root: a path taken from the link could lead to another site.
			http.Redirect(w, r, "/", http.StatusSeeOther)
			return
		}
		if c, err := r.Cookie(uiCookie); err != nil || !u.is(c.Value) {
			http.Error(w, "open this page by its sign-in link; `fabricctl engine link` prints it, run as the user who runs fabricd", http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func (u *webUI) is(given string) bool {
	return subtle.ConstantTimeCompare([]byte(given), []byte(u.token)) == 1
}

func (u *webUI) serve(l net.Listener) { _ = u.http.Serve(l) }

func (u *webUI) stop() {
	_ = u.http.Close()
	_ = u.conn.Close()
}

// uiToken reads the token of the directory or makes one. It stays the same over restarts, so that an open browser
// tab does.
func uiToken(path string) (string, error) {
	b, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("reading token of the web UI: %w", err)
	}
	if t := strings.TrimSpace(string(b)); len(t) == 2*uiTokenLen {
		return t, nil
	}
	raw := make([]byte, uiTokenLen)
	if _, err := rand.Read(raw); err != nil {
		return "", fmt.Errorf("making token of the web UI: %w", err)
	}
	t := hex.EncodeToString(raw)
	if err := renameio.WriteFile(path, []byte(t+"\n"), 0o600); err != nil {
		return "", fmt.Errorf("writing token of the web UI: %w", explainFull(filepath.Dir(path), err))
	}
	return t, nil
}
