package embedded

import (
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"
	"time"

	"go.temporal.io/sdk/client"
)

func TestWebUI(t *testing.T) {
	s := shared(t)
	c, err := client.Dial(s.ClientOptions())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	// A workflow without a worker: it stays open, and what the UI must not do to it would show.
	run, err := c.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: "host/ui-target", TaskQueue: "nobody"}, "nap", "x", time.Duration(0))
	if err != nil {
		t.Fatal(err)
	}

	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	signedIn, stranger := &http.Client{Jar: jar}, &http.Client{}
	base := s.UIAddress()
	signIn, err := signedIn.Get(s.UISignIn())
	if err != nil {
		t.Fatal(err)
	}
	signIn.Body.Close()
	if signIn.StatusCode != http.StatusOK || strings.Contains(signIn.Request.URL.String(), "token") {
		t.Errorf("sign-in ended at %s with %s", signIn.Request.URL, signIn.Status)
	}

	ns := "/api/v1/namespaces/" + s.o.Namespace
	wf := ns + "/workflows/host%2Fui-target"
	for _, tc := range []struct {
		name, method, path, host string
		who                      *http.Client
		want                     int
		body                     string // part of the answer
	}{
		{"page", "GET", "/", "", signedIn, 200, "<html"},
		{"deep-page", "GET", "/namespaces/fabricbot/workflows", "", signedIn, 200, "<html"},
		{"settings", "GET", "/api/v1/settings", "", signedIn, 200, `"DisableWriteActions":true`},
		{"namespaces", "GET", "/api/v1/namespaces", "", signedIn, 200, s.o.Namespace},
		{"cluster", "GET", "/api/v1/cluster-info", "", signedIn, 200, "1.32.1"},
		{"system-info", "GET", "/api/v1/system-info", "", signedIn, 200, "capabilities"},
		{"attributes", "GET", ns + "/search-attributes", "", signedIn, 200, "FabricOp"},
		{"list", "GET", ns + "/workflows", "", signedIn, 200, "ui-target"},
		{"describe", "GET", wf, "", signedIn, 200, "ui-target"},
		{"history", "GET", wf + "/history", "", signedIn, 200, "WORKFLOW_EXECUTION_STARTED"},
		{"schedules", "GET", ns + "/schedules", "", signedIn, 200, ""},
		{"administration", "GET", "/api/v1/nexus/endpoints", "", signedIn, 403, "unauthorized"},
		{"localhost", "GET", "/api/v1/settings", "localhost:1", signedIn, 200, ""},

		{"signal", "POST", wf + "/signal/approve", "", signedIn, 405, ""},
		{"terminate", "POST", wf + "/terminate", "", signedIn, 405, ""},
		{"start", "POST", wf, "", signedIn, 405, ""},
		{"update", "POST", wf + "/update/vote", "", signedIn, 405, ""},
		// Past the read-only middleware by a name that looks like a query, and still without the right.
		{"disguised-signal", "POST", wf + "/signal/%2Fquery%2F", "", signedIn, 403, ""},

		{"stranger-page", "GET", "/", "", stranger, 401, "sign-in link"},
		{"stranger-api", "GET", ns + "/workflows", "", stranger, 401, ""},
		{"stranger-signal", "POST", wf + "/signal/approve", "", stranger, 401, ""},
		{"wrong-token", "GET", "/?token=" + strings.Repeat("0", 64), "", stranger, 401, ""},
		{"rebinding", "GET", "/api/v1/settings", "evil.example", signedIn, 421, ""},
		{"rebinding-like", "GET", "/api/v1/settings", "127.0.0.1.evil.example", signedIn, 421, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var body io.Reader
			if tc.method == "POST" {
				body = strings.NewReader("{}")
			}
			req, err := http.NewRequestWithContext(t.Context(), tc.method, base+tc.path, body)
			if err != nil {
				t.Fatal(err)
			}
			if tc.host != "" {
				req.Host = tc.host
				req.AddCookie(&http.Cookie{Name: uiCookie, Value: s.ui.token}) // the jar goes by host; the worst case has the cookie
			}
			resp, err := tc.who.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			b, err := io.ReadAll(resp.Body)
			if err != nil {
				t.Fatal(err)
			}
			if resp.StatusCode != tc.want || !strings.Contains(string(b), tc.body) {
				t.Errorf("got %s %.200s, want %d with %q", resp.Status, b, tc.want, tc.body)
			}
		})
	}
	u, err := url.Parse(base)
	if err != nil {
		t.Fatal(err)
	}
	for _, ck := range jar.Cookies(u) {
		if ck.Name == uiCookie && ck.Value != s.ui.token {
			t.Error("cookie is not the token")
		}
	}
	d, err := c.DescribeWorkflowExecution(t.Context(), "host/ui-target", run.GetRunID())
	if err != nil {
		t.Fatal(err)
	}
	if n := d.WorkflowExecutionInfo.HistoryLength; n != 2 {
		t.Errorf("the workflow has %d events, want the 2 of its start", n)
	}
}
