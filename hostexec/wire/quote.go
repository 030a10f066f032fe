package wire

import (
	"fmt"
	"strings"
)

// Quote makes one word of s for a POSIX shell: single quotes, inside which no
// character but the single quote has a meaning. s must not hold a NUL byte.
func Quote(s string) string {
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// QuoteAll joins the quoted words with spaces.
func QuoteAll(words []string) string {
	var b strings.Builder
	for i, w := range words {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(Quote(w))
	}
	return b.String()
}

// unquote reads the words that QuoteAll wrote, up to the end of the line that
// is outside quotes, and returns what follows that line.
func unquote(s string) (words []string, rest string, err error) {
	for {
		s = strings.TrimLeft(s, " ")
		if s == "" {
			return words, "", nil
		}
		if s[0] == '\n' {
			return words, s[1:], nil
		}
		var w strings.Builder
		for s != "" && s[0] != ' ' && s[0] != '\n' {
			switch {
			case s[0] == '\'':
				end := strings.IndexByte(s[1:], '\'')
				if end < 0 {
					return nil, "", fmt.Errorf("unquoting words: quote is not closed")
				}
				w.WriteString(s[1 : 1+end])
				s = s[end+2:]
			case strings.HasPrefix(s, `\'`):
				w.WriteByte('\'')
				s = s[2:]
			default:
				return nil, "", fmt.Errorf("unquoting words: %q outside quotes", s[0])
			}
		}
		words = append(words, w.String())
	}
}
