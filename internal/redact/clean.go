package redact

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// escapes are the terminal sequences of ECMA-48: CSI, then OSC and the other strings with their terminator, then the short ones.
var escapes = regexp.MustCompile(
	"(?:\x1b\\[|\u009b)[0-?]*[ -/]*[@-~]?" +
		"|(?:\x1b[\\]PX^_]|[\u0090\u0098\u009d\u009e\u009f])[^\x07\x1b\u009c\n]*(?:\x07|\x1b\\\\|\u009c)?" +
		"|\x1b[ -/]*[0-~]?")

// Clean takes away what a terminal or a chat client would act upon and people cannot see: escape sequences, control codes other
// than newline and tab, marks that turn the direction of writing, and octets that are not UTF-8. A carriage return, with which
// tools redraw a progress line, becomes a newline.
func Clean(text string) string {
	if isClean(text) {
		return text
	}
	text = strings.ToValidUTF8(text, "\uFFFD")
	text = escapes.ReplaceAllString(text, "")
	text = strings.ReplaceAll(text, "\r\n", "\n")
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\r' || r == '\u2028' || r == '\u2029':
			return '\n'
		case isUnseen(r):
			return -1
		}
		return r
	}, text)
}

// isClean is the quick look that most text passes.
func isClean(text string) bool {
	for i := 0; i < len(text); i++ {
		if c := text[i]; c >= utf8.RuneSelf || c < ' ' && c != '\n' && c != '\t' || c == 0x7f {
			return false
		}
	}
	return true
}

func isUnseen(r rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return false
	case r < ' ' || 0x7f <= r && r <= 0x9f:
		return true
	}
	// Unicode Standard Annex 9 (direction) and the zero-width characters.
	return 0x200b <= r && r <= 0x200f || 0x202a <= r && r <= 0x202e || 0x2060 <= r && r <= 0x2069 || r == 0xfeff || r == 0x061c
}
