package op

import (
	"errors"
	"strings"
	"unicode"
)

// typography undoes what chat clients put in place of plain typing.
var typography = strings.NewReplacer(
	"\u2014", "--", "\u2013", "-", "\u2212", "-",
	"\u201c", `"`, "\u201d", `"`, "\u201e", `"`, "\u2018", "'", "\u2019", "'",
	"\u00a0", " ",
)

// MaxLine is the longest command line read, in bytes; Slack's composer allows
// more, but nobody types a longer command on purpose.
const MaxLine = 8000

// Split cuts a line into words. Single and double quotes keep blanks together;
// a backslash keeps the next character. Nothing is expanded. Dashes and quotes
// that chat clients prettify are put back first.
func Split(line string) ([]string, error) {
	if len(line) > MaxLine {
		return nil, errors.New("the command is too long")
	}
	var words []string
	var word strings.Builder
	var quote rune
	inWord, escaped := false, false
	for _, r := range typography.Replace(line) {
		switch {
		case escaped:
			word.WriteRune(r)
			escaped = false
		case r == '\\' && quote != '\'':
			escaped, inWord = true, true
		case quote != 0:
			if r == quote {
				quote = 0
			} else {
				word.WriteRune(r)
			}
		case r == '"' || r == '\'':
			quote, inWord = r, true
		case unicode.IsSpace(r):
			if inWord {
				words = append(words, word.String())
				word.Reset()
				inWord = false
			}
		default:
			word.WriteRune(r)
			inWord = true
		}
	}
	if quote != 0 {
		return nil, errors.New("a quote is not closed")
	}
	if escaped {
		return nil, errors.New("the line ends in a backslash")
	}
	if inWord {
		words = append(words, word.String())
	}
	return words, nil
}
