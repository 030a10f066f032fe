package sshexec

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/fabricbot/fabricbot/hostexec"
	"github.com/fabricbot/fabricbot/hostexec/wire"
)

// hostile are words that some shell would do something with.
var hostile = []string{
	"", " ", "a b", "'", "''", `\'`, `"`, "$HOME", "$(id)", "`id`", ";reboot", "&& id", "| id", "> /tmp/x", "*", "?", "[a]", "{a,b}", "~", "~root", "!", "!!", "!x", "#c", "\n", "a\nb", "\r", "\t",
	`\`, `\\`, `\n`, "-", "--", "-n", "%s", "%", "=", "A=b", "é", "\xff\xfe", "\x80\x81\x82\x83\x84\x85\x86\x87\x88", "\x01\x02\x7f", "exit; }\n", "set -- x", "日本", "\x1b[31m", "(", ")", "$$", "${x}", "^a^b", "@",
}

// Every byte but NUL arrives as it was sent, whatever the login shell is and
// whatever its start-up files print; the streams stay apart.
func TestArgvArrivesUnchanged(t *testing.T) {
	s := startServer(t, "openssh")
	d := startServer(t, "dropbear")
	pools := map[string]*Pool{"openssh": s.pool(t, nil), "dropbear": d.pool(t, nil)}
	ctx := deadline(t)
	for _, l := range logins {
		if strings.HasPrefix(l.name, "fbnone") || l.name == "fbsudo" {
			continue
		}
		for kind, p := range pools {
			t.Run(kind+"_"+l.name, func(t *testing.T) {
				if _, err := os.Stat(l.shell); err != nil {
					t.Skipf("%s is not installed", l.shell)
				}
				check := func(t rapid.TB, words []string, stdin []byte) {
					argv := append([]string{"/usr/bin/printf", `%s\0`}, words...)
					r, err := p.raw(ctx, l.name, hostexec.Command{Argv: argv})
					if err != nil {
						t.Fatalf("%q: %v", words, err)
					}
					want := strings.Join(words, "\x00") + "\x00"
					if string(r.Stdout) != want || len(r.Stderr) != 0 || r.Outcome != hostexec.OK {
						t.Fatalf("sent %q, got %q and on stderr %q, %v", want, r.Stdout, r.Stderr, r.Outcome)
					}
					r, err = p.raw(ctx, l.name, hostexec.Command{Argv: []string{"/bin/cat"}, Stdin: stdin})
					if err != nil || !bytes.Equal(r.Stdout, stdin) {
						t.Fatalf("stdin %q came back as %q, %v", stdin, r.Stdout, err)
					}
				}
				// Now that the shell is known, harmless words go by the short way.
				var plain []string
				for _, w := range hostile {
					if (wire.Script{Kind: wire.KindRun, Args: []string{w}}).Direct() {
						plain = append(plain, w)
					}
				}
				for range 2 {
					check(t, plain, []byte("x"))
				}
				family := map[string]bool{"fbrbash": false, "fbcsh": false, "fbfish": false}
				if want, known := family[l.name]; p.hosts[l.name].conn.bourne.Load() != (want || !known) {
					t.Errorf("taken for a Bourne shell: %v", p.hosts[l.name].conn.bourne.Load())
				}
				check(t, hostile, []byte("line\nexit 3\n\x00\xff"))
				check(t, []string{strings.Repeat("x'", 20000)}, bytes.Repeat([]byte("0123456789\n"), 30000))
				word := rapid.OneOf(rapid.SampledFrom(hostile), rapid.Map(rapid.SliceOfN(rapid.ByteRange(1, 255), 0, 40), func(b []byte) string { return string(b) }))
				n := 0
				rapid.Check(t, func(t *rapid.T) {
					if n++; n > 12 { // a hundred log-ins per shell would only heat the room
						return
					}
					check(t, rapid.SliceOfN(word, 1, 30).Draw(t, "words"), rapid.SliceOfN(rapid.Byte(), 1, 2000).Draw(t, "stdin"))
				})
			})
		}
	}
}

func TestStreamsExitsAndSignals(t *testing.T) {
	for _, kind := range []string{"openssh", "dropbear"} {
		t.Run(kind, func(t *testing.T) {
			p := startServer(t, kind).pool(t, nil)
			ctx := deadline(t)
			for _, user := range []string{"fbsh", "fbbash", "fbcsh", "root"} {
				sh := func(text string) hostexec.Result {
					t.Helper()
					r, err := p.raw(ctx, user, hostexec.Command{Argv: []string{"/bin/sh", "-c", text}})
					if err != nil {
						t.Fatalf("%s: %v", user, err)
					}
					return r
				}
				r := sh("echo out; echo err >&2; exit 7")
				if string(r.Stdout) != "out\n" || string(r.Stderr) != "err\n" || r.Exit != 7 || r.Outcome != hostexec.Failed {
					t.Errorf("%s: %q %q exit %d %v", user, r.Stdout, r.Stderr, r.Exit, r.Outcome)
				}
				if r = sh("kill -TERM $$"); r.Outcome != hostexec.Failed || r.Signal != "TERM" && r.Exit != 143 {
					t.Errorf("%s: signal %q exit %d %v", user, r.Signal, r.Exit, r.Outcome)
				}
				r = sh("echo $LC_ALL $TERM $NO_COLOR; pwd")
				if string(r.Stdout) != "C dumb 1\n/\n" {
					t.Errorf("%s: environment %q", user, r.Stdout)
				}
				r, err := p.raw(ctx, user, hostexec.Command{Argv: []string{"no-such-program"}})
				if err != nil || r.Exit != 127 || !strings.Contains(r.Detail, "not installed") {
					t.Errorf("%s: missing program: %v, %+v", user, err, r)
				}
			}
			if r, err := p.raw(ctx, "fbnone", hostexec.Command{Argv: []string{"hostname"}}); hostexec.OutcomeOf(err) != hostexec.Refused || r.Step != "start" {
				t.Errorf("nologin: %v", err)
			}
			if got := len(p.hosts); got != 5 {
				t.Errorf("%d hosts in the pool", got)
			}
		})
	}
}
