package wire

import (
	"bytes"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// interpreters are what /bin/sh is on one distribution or another.
var interpreters = [][]string{{"dash"}, {"bash", "--posix"}, {"bash"}, {"busybox", "ash"}, {"mksh"}, {"zsh", "--emulate", "sh"}}

const nonce = "00112233445566778899aabbccddeeff"

// converse plays a script the way sshexec does: input is sent only after the
// marker has been seen.
func converse(t rapid.TB, shell []string, s Script, input []byte) (m Marker, stdout []byte) {
	cmd := exec.Command(shell[0], shell[1:]...)
	in, err1 := cmd.StdinPipe()
	out, err2 := cmd.StdoutPipe()
	var msg bytes.Buffer
	cmd.Stderr = &msg
	if err := errors.Join(err1, err2, cmd.Start()); err != nil {
		t.Fatal(err)
	}
	if _, err := in.Write(s.Text()); err != nil {
		t.Fatal(err)
	}
	var all []byte
	buf := make([]byte, 4096)
	for {
		n, err := out.Read(buf)
		all = append(all, buf[:n]...)
		if at := bytes.Index(all, []byte(s.Nonce)); at >= 0 && bytes.IndexByte(all[at:], '\n') > 0 {
			break
		}
		if err != nil {
			t.Fatalf("no marker: %q, stderr %q", all, msg.Bytes())
		}
	}
	go func() { _, _ = in.Write(input); _ = in.Close() }()
	rest, err := io.ReadAll(out)
	if err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	all = append(all, rest...)
	_, after, _ := bytes.Cut(all, []byte(s.Nonce))
	line, stdout, _ := bytes.Cut(after, []byte("\n"))
	if m, err = ReadMarker(string(line)); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(msg.Bytes(), []byte(s.Nonce+"\n")) {
		t.Fatalf("stderr %q", msg.Bytes())
	}
	return m, stdout
}

func TestEveryShInterpreterDeliversArgvAndStdin(t *testing.T) {
	for _, shell := range interpreters {
		t.Run(strings.Join(shell, "_"), func(t *testing.T) {
			if _, err := exec.LookPath(shell[0]); err != nil {
				t.Skipf("%s is not installed", shell[0])
			}
			rapid.Check(t, func(t *rapid.T) {
				words := rapid.SliceOfN(rapid.Map(rapid.SliceOfN(rapid.ByteRange(1, 255), 0, 60), func(b []byte) string { return string(b) }), 1, 12).Draw(t, "words")
				s := Script{Kind: KindRun, Nonce: nonce, Args: append([]string{"/usr/bin/printf", `%s\0`}, words...)}
				m, out := converse(t, shell, s, nil)
				if want := strings.Join(words, "\x00") + "\x00"; string(out) != want || m.Word != "go" {
					t.Fatalf("sent %q, got %q", want, out)
				}
				input := rapid.SliceOfN(rapid.Byte(), 0, 20000).Draw(t, "input")
				_, out = converse(t, shell, Script{Kind: KindRun, Nonce: nonce, Args: []string{"/bin/cat"}, Stdin: true}, input)
				if !bytes.Equal(out, input) {
					t.Fatalf("%d bytes of input came back as %d", len(input), len(out))
				}
			})
		})
	}
}

func TestDecodeReadsWhatTextWrites(t *testing.T) {
	kinds := []string{KindRun, KindKill, KindPut, KindStart, KindPoll, KindCancel, KindSignal}
	rapid.Check(t, func(t *rapid.T) {
		s := Script{
			Kind: rapid.SampledFrom(kinds).Draw(t, "kind"), Nonce: nonce, Sudo: rapid.Bool().Draw(t, "sudo"), Stdin: rapid.Bool().Draw(t, "stdin"),
			Token: rapid.Uint64Max(1<<62).Draw(t, "token"),
			Args:  rapid.SliceOfN(rapid.Map(rapid.SliceOfN(rapid.ByteRange(1, 255), 0, 30), func(b []byte) string { return string(b) }), 1, 6).Draw(t, "args"),
		}
		got, err := Decode(s.Text())
		if err != nil {
			t.Fatal(err)
		}
		if got.Kind != s.Kind || got.Sudo != s.Sudo || got.Stdin != s.Stdin || got.Token != s.Token || got.Nonce != s.Nonce || !slices.Equal(got.Args, s.Args) {
			t.Fatalf("got %+v, want %+v", got, s)
		}
		words, err := Words(QuoteAll(s.Args))
		if err != nil || !slices.Equal(words, s.Args) {
			t.Fatalf("words %q, %v", words, err)
		}
	})
}

// A device that echoes its input must not be able to fake the marker.
func TestScriptNeverHoldsItsOwnMarker(t *testing.T) {
	for _, k := range []string{KindRun, KindStart, KindPut} {
		if bytes.Contains(Script{Kind: k, Nonce: nonce, Args: []string{"a", "b", "0", "c"}, Token: 1, Run: "r"}.Text(), []byte(nonce)) {
			t.Errorf("%s script holds the joined marker", k)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(Script{Kind: KindRun, Nonce: nonce, Args: []string{"hostname"}}.Text())
	f.Add([]byte("#fb run sudo=0 stdin=0 token=0 a b\nx\nset -- 'x\nexit; }\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := Decode(text)
		if err == nil && s.Kind == "" {
			t.Fatal("no kind and no error")
		}
	})
}

func FuzzReadMarker(f *testing.F) {
	f.Add(" 12 other go")
	f.Add(" 12 bourne fenced 7 run")
	f.Fuzz(func(t *testing.T, line string) {
		if m, err := ReadMarker(line); err == nil && (m.PID <= 1 || m.Word == "") {
			t.Fatalf("%q gives %+v", line, m)
		}
	})
}
