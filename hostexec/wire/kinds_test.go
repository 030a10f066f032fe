package wire

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The longer scripts do the same under whatever /bin/sh is.
func TestEveryKindUnderEveryInterpreter(t *testing.T) {
	for _, shell := range interpreters {
		t.Run(strings.Join(shell, "_"), func(t *testing.T) {
			if _, err := exec.LookPath(shell[0]); err != nil {
				t.Skipf("%s is not installed", shell[0])
			}
			dir := t.TempDir()
			say := func(s Script, input string) (Marker, string) {
				s.Nonce, s.StateDir, s.Stdin = nonce, dir+"/state", input != ""
				m, out := converse(t, shell, s, []byte(input))
				return m, string(out)
			}
			lease := func(kind string, token uint64, args ...string) Script {
				return Script{Kind: kind, Args: args, Run: "run-" + strconv.FormatUint(token, 10), Token: token}
			}
			t.Run("fence", func(t *testing.T) {
				for _, step := range []struct {
					token uint64
					word  string
				}{{5, "go"}, {5, "go"}, {7, "go"}, {6, "fenced"}, {7, "go"}} {
					m, out := say(lease(KindRun, step.token, "/bin/echo", "ran"), "")
					if m.Word != step.word || (out == "ran\n") != (step.word == "go") || step.word == "fenced" && m.Rest != "7 run-7" {
						t.Errorf("token %d: %+v %q", step.token, m, out)
					}
				}
			})
			t.Run("put", func(t *testing.T) {
				target, text := dir+"/a/b/file", "x\x00y\n\n"
				args := []string{target, "640", fmt.Sprintf("%x", sha256.Sum256([]byte(text)))}
				if m, out := say(lease(KindPut, 7, args...), text); m.Word != "go" || out != "done\n" {
					t.Fatalf("%+v %q", m, out)
				}
				if got, err := os.ReadFile(target); err != nil || string(got) != text {
					t.Errorf("%q %v", got, err)
				}
				if m, _ := say(lease(KindPut, 7, args...), text); m.Word != "same" {
					t.Errorf("again: %+v", m)
				}
				if _, out := say(lease(KindPut, 7, target, "640", strings.Repeat("0", 64)), "other"); !strings.HasPrefix(out, "bad sum ") {
					t.Errorf("wrong sum: %q", out)
				}
				if got, _ := os.ReadFile(target); string(got) != text {
					t.Errorf("after a wrong sum: %q", got)
				}
			})
			t.Run("job", func(t *testing.T) {
				line := QuoteAll([]string{"/bin/sh", "-c", "cat; echo 'it'\\''s' >&2; exit 6"})
				if _, out := say(lease(KindStart, 8, "job-1", "res", "0", line), "input\n"); !strings.HasPrefix(out, "new\nstate ") {
					t.Fatalf("%q", out)
				}
				out := ""
				for range 200 {
					if _, out = say(Script{Kind: KindPoll, Args: []string{"job-1", "2"}}, ""); strings.HasPrefix(out, "state done\n") {
						break
					}
					time.Sleep(20 * time.Millisecond)
				}
				if !strings.Contains(out, "\nexit 6\n") || !strings.HasSuffix(out, "\n\nput\nit's\n") {
					t.Errorf("%q", out)
				}
				if _, out := say(lease(KindStart, 8, "job-1", "res", "0", line), "input\n"); !strings.HasPrefix(out, "attached\nstate done\n") {
					t.Errorf("again: %q", out)
				}
				say(lease(KindStart, 8, "job-2", "", "0", QuoteAll([]string{"sleep", "1000"})), "")
				if _, out := say(lease(KindCancel, 8, "job-2"), ""); !strings.Contains(out, "state done\n") || !strings.Contains(out, "exit 143\n") {
					t.Errorf("cancel: %q", out)
				}
				if _, out := say(lease(KindStart, 8, "job-3", "", "1", QuoteAll([]string{"sleep", "1000"})), ""); !strings.HasPrefix(out, "new\n") {
					t.Errorf("%q", out)
				}
				for range 200 {
					if _, out = say(Script{Kind: KindPoll, Args: []string{"job-3", "0"}}, ""); strings.HasPrefix(out, "state done\n") {
						break
					}
					time.Sleep(20 * time.Millisecond)
				}
				// GNU's timeout exits 124, busybox's 143.
				if !strings.Contains(out, "exit 124\n") && !strings.Contains(out, "exit 143\n") {
					t.Errorf("job's own time-out: %q", out)
				}
			})
			t.Run("kill", func(t *testing.T) {
				cmd := exec.Command("/bin/sh", "-c", "sleep 1000 & ( sleep 1001 & ) & wait; sleep 1002")
				cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				go func() { _ = cmd.Wait() }()
				pid := strconv.Itoa(cmd.Process.Pid)
				members := func() (n int) {
					files, _ := filepath.Glob("/proc/[0-9]*/stat")
					for _, f := range files {
						text, _ := os.ReadFile(f)
						if at := bytes.LastIndexByte(text, ')'); at > 0 {
							if w := strings.Fields(string(text[at+1:])); len(w) > 3 && w[3] == pid && w[0] != "Z" {
								n++
							}
						}
					}
					return n
				}
				for range 200 {
					if members() >= 3 {
						break
					}
					time.Sleep(10 * time.Millisecond)
				}
				if _, out := say(Script{Kind: KindKill, Args: []string{pid}}, ""); out != "gone\n" || members() != 0 {
					t.Errorf("%q, %d left", out, members())
				}
			})
		})
	}
}
