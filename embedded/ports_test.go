package embedded

import (
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func taken(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", hostPort(0))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l.Addr().(*net.TCPAddr).Port
}

func TestFrontendPort(t *testing.T) {
	busy := taken(t)
	idle, err := freePorts(2)
	if err != nil || idle[0] == idle[1] {
		t.Fatal(idle, err)
	}
	for _, tc := range []struct {
		name              string
		named, remembered int
		want              int // 0: any other than the ones given
		err               string
	}{
		{"named", idle[0], idle[1], idle[0], ""},
		{"named-busy", busy, idle[1], 0, "another program has this port"},
		{"remembered", 0, idle[1], idle[1], ""},
		{"remembered-busy", 0, busy, 0, ""},
		{"first", 0, 0, 0, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := frontendPort(tc.named, tc.remembered)
			if tc.err != "" {
				if err == nil || !strings.Contains(err.Error(), tc.err) {
					t.Errorf("got %v, want %q", err, tc.err)
				}
				return
			}
			if err != nil || got == 0 || got == busy || tc.want != 0 && got != tc.want {
				t.Errorf("got %d, %v", got, err)
			}
		})
	}
}

func TestStartRefusesBadOptions(t *testing.T) {
	busy := taken(t)
	dir := filepath.Join(t.TempDir(), "data")
	for _, tc := range []struct {
		name string
		o    Options
		want string
	}{
		{"no-directory", Options{}, "no data directory"},
		{"short-retention", Options{DataDir: dir, Retention: time.Hour}, "shorter than a day"},
		{"wild-port", Options{DataDir: dir, FrontendPort: 70000}, "not between 0 and 65535"},
		{"negative-port", Options{DataDir: dir, UIPort: -1}, "not between 0 and 65535"},
		{"same-port", Options{DataDir: dir, FrontendPort: 9000, UIPort: 9000}, "cannot share port 9000"},
		{"frontend-busy", Options{DataDir: dir, FrontendPort: busy}, "listening for the frontend on 127.0.0.1"},
		{"ui-busy", Options{DataDir: dir, UIPort: busy}, "listening for the web UI on 127.0.0.1"},
		{"a-file", Options{DataDir: "/proc/self/comm"}, "is a file"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if _, err := Start(t.Context(), tc.o); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
}
