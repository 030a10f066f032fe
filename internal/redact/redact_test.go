package redact

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"
)

// Token-like test values are put together at run time, so that no scanner of sources takes them for real ones.
var (
	botToken = "xox" + "b-1111111111-2222222222-AbCdEfGhIjKl"
	appToken = "xa" + "pp-1-A0000000000-1111111111-0123456789abcdef"
	awsKey   = "AK" + "IAABCDEFGHIJKLMNOP"
	pemKey   = "-----BEGIN OPENSSH " + "PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAA\nAAAABG5vbmU=\n-----END OPENSSH PRIVATE KEY-----"
)

func TestHides(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"bot_token", "using " + botToken + " now", "using [redacted slack token] now"},
		{"app_token", appToken, "[redacted slack token]"},
		{"coloured_token", botToken[:9] + "\x1b[31m" + botToken[9:], "[redacted slack token]"},
		{"aws", "id " + awsKey, "id [redacted aws key]"},
		{"pem", "before\n" + pemKey + "\nafter", "before\n[redacted private key]\nafter"},
		{"pem_cut_off", "before\n" + pemKey[:60], "before\n[redacted private key]"},
		{"password", "password=hunter2 user=ann", "password=[redacted value] user=ann"},
		{"password_colon", "Password: hunter2", "Password: [redacted value]"},
		{"password_quoted", `db_password="hun ter2", x=1`, `db_password="[redacted value]", x=1`},
		{"escaped_quote", `secret="a\"b" x`, `secret="[redacted value]" x`},
		{"json", `{"client_secret": "abc", "n": 1}`, `{"client_secret": "[redacted value]", "n": 1}`},
		{"yaml_token", "bot_token: abc", "bot_token: [redacted value]"},
		{"psk", "wpa_psk=abcdefgh", "wpa_psk=[redacted value]"},
		{"flag", "login --password hunter2 -v", "login --password [redacted value] -v"},
		{"opensm_conf", "sm_key 0x00000000000000a1\nm_key 0x00000000000000b2", "sm_key [redacted fabric key]\nm_key [redacted fabric key]"},
		{"smpquery", "Mkey:............................0x1234567812345678", "Mkey:............................[redacted fabric key]"},
		{"assignment", "sm_key=0x1234", "sm_key=[redacted fabric key]"},
		{"url", "https://ann:hunter2@mirror.example/ofed", "https://ann:[redacted password]@mirror.example/ofed"},
		{"bearer", "Authorization: Bearer abcdef123456", "Authorization: Bearer [redacted credentials]"},
		{"jwt", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln", "[redacted json web token]"},
		{"site_pattern", "badge 12345678 seen", "badge [redacted pattern] seen"},
		{"site_pattern_whole", "ZZ-99 seen", "[redacted pattern] seen"},
	}
	r, err := New(`badge (\d{8})`, `ZZ-\d+`)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := r.String(tt.in); got != tt.want {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
			if again := r.String(tt.want); again != tt.want {
				t.Errorf("the result is changed when it passes again: %q", again)
			}
		})
	}
}

func TestLeavesAlone(t *testing.T) {
	for _, text := range []string{
		"",
		"node001: firmware 28.43.2026, PSID MT_0000000223",
		"Mkey:............................0x0000000000000000",
		"MkeyLeasePeriod:.................0",
		"PkeyViolations:..................12",
		"Default=0x7fff, ipoib : ALL=full;",
		"the token is in use, the password was wrong",
		"bot_token: env:FABRICBOT_SLACK_BOT_TOKEN",
		"key_file: file:/etc/fabricbot/token",
		"secret(env:NAME)",
		"password=",
		"[4] \"S-b83fd2030080302a\"[1] # lid 5 lmc 0 \"MF0;leaf01:MQM8700/U1\" lid 3 4xHDR",
		"tab\tand\nnewline, ünïcode → ✓",
	} {
		if got := new(Redactor).String(text); got != text {
			t.Errorf("got  %q\nwant %q", got, text)
		}
	}
}

func TestClean(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"colour", "\x1b[1;31mred\x1b[0m", "red"},
		{"title", "a\x1b]0;owned\x07b", "ab"},
		{"link", "\x1b]8;;http://evil.example\x1b\\click\x1b]8;;\x1b\\", "click"},
		{"c1", "a\u009b31mb", "ab"},
		{"progress", "10%\r20%\r\ndone", "10%\n20%\ndone"},
		{"bell_and_backspace", "a\a\bb\x00\x7f", "ab"},
		{"direction", "a\u202etxt.exe\u202c", "atxt.exe"},
		{"zero_width", "pass\u200bword", "password"},
		{"not_utf8", "a\xffb", "a\uFFFDb"},
		{"cut_off_escape", "a\x1b[", "a"},
		{"lone_escape", "a\x1b", "a"},
		{"line_separator", "a\u2028b", "a\nb"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := Clean(tt.in); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestNewRefuses(t *testing.T) {
	for _, pattern := range []string{"(", "x*", ""} {
		if _, err := New(pattern); err == nil {
			t.Errorf("pattern %q was accepted", pattern)
		}
	}
}

func TestLearn(t *testing.T) {
	r := new(Redactor)
	if r.Learn("12345") {
		t.Error("a value of five octets was accepted")
	}
	const value = `can"ary/é 42`
	got, err := r.Resolve(func() (string, error) { return value, nil })
	if err != nil || got != value {
		t.Fatalf("Resolve gave %q, error %v", got, err)
	}
	r.Learn("can\"ary")
	for _, form := range []string{
		value, "x" + value + "y", `can\"ary/é 42`, "can%22ary%2F%C3%A9+42", base64.StdEncoding.EncodeToString([]byte(value)), `can"ary`,
	} {
		if got := r.String(form); strings.Contains(got, "ary") || strings.Contains(got, "Y2Fu") {
			t.Errorf("%q came out as %q", form, got)
		}
	}
	r.Learn("first line of a long secret\nsecond line of a long secret")
	if got := r.String("| second line of a long secret"); strings.Contains(got, "second") {
		t.Errorf("one line of a learned value came out: %q", got)
	}
}

type boom struct{}

func (boom) String() string { panic("no") }

// A canary in every place a log line has never reaches the log.
func TestCoreHidesTheCanary(t *testing.T) {
	const canary = "canary-7f3a9c"
	r := new(Redactor)
	r.Learn(canary)
	observed, logs := observer.New(zapcore.DebugLevel)
	log := zap.New(r.Core(observed)).Named("n-" + canary).With(zap.String("with", canary))
	type inner struct {
		Text  string `json:"text"`
		Token string `json:"token"`
	}
	log.Info("message "+canary,
		zap.String("string", canary), zap.ByteString("octets", []byte(canary)), zap.Binary("binary", []byte(canary)),
		zap.Strings("strings", []string{"a", canary}), zap.Error(fmt.Errorf("outer: %w", errors.New(canary))),
		zap.Stringer("stringer", zap.NewAtomicLevel()), zap.Stringer("panics", boom{}), zap.Any("any", map[string]any{"k": []any{canary}}),
		zap.Reflect("struct", inner{Text: canary, Token: "other"}), zap.Inline(zapcore.ObjectMarshalerFunc(func(e zapcore.ObjectEncoder) error {
			e.AddString("inlined", canary)
			return nil
		})), zap.Any("guid", uint64(5794807821812630182)), zap.Reflect("guids", []uint64{5794807821812630182}), zap.String("api_token", "something"),
		zap.Int("password", 271828), zap.Duration("took", 5), zap.Namespace("ns"), zap.Stack("stack"))
	if logs.Len() != 1 {
		t.Fatalf("%d entries, want 1", logs.Len())
	}
	entry := logs.All()[0]
	for _, sink := range []zapcore.Encoder{zapcore.NewJSONEncoder(zap.NewProductionEncoderConfig()), zapcore.NewConsoleEncoder(zap.NewDevelopmentEncoderConfig())} {
		buffer, err := sink.EncodeEntry(entry.Entry, entry.Context)
		if err != nil {
			t.Fatal(err)
		}
		line := buffer.String()
		for _, hidden := range []string{canary, "Y2FuYXJ5", "something", `"other"`, "271828"} {
			if strings.Contains(line, hidden) {
				t.Errorf("%s is in the log: %s", hidden, line)
			}
		}
		for _, kept := range []string{"message", "5794807821812630182", "took", "inlined"} {
			if !strings.Contains(line, kept) {
				t.Errorf("%s is missing in the log: %s", kept, line)
			}
		}
	}
}

func TestCoreKeepsLevels(t *testing.T) {
	observed, logs := observer.New(zapcore.WarnLevel)
	log := zap.New(observed, new(Redactor).WrapCore())
	log.Info("not wanted")
	log.Warn("wanted")
	if logs.Len() != 1 || logs.All()[0].Message != "wanted" {
		t.Errorf("got %v, want the warning only", logs.All())
	}
}

func FuzzString(f *testing.F) {
	for _, seed := range []string{botToken, pemKey, "password=\"a\\", "\x1b]0;", "a\x9bm\xff", "https://a:b@c", "Mkey:...0x12"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		const canary = "canary-7f3a9c"
		r := new(Redactor)
		r.Learn(canary)
		got := r.String(text + canary + text)
		if strings.Contains(got, canary) {
			t.Fatalf("the canary came through: %q", got)
		}
		if !utf8.ValidString(got) || Clean(got) != got {
			t.Fatalf("not clean: %q", got)
		}
	})
}

func BenchmarkString(b *testing.B) {
	line := "[4] \"S-b83fd2030080302a\"[1] # lid 5 lmc 0 \"MF0;leaf01:MQM8700/U1\" lid 3 4xHDR\n"
	text := strings.Repeat(line, 100_000)
	r := new(Redactor)
	r.Learn("canary-7f3a9c")
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		r.String(text)
	}
}
