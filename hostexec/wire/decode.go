package wire

import (
	"fmt"
	"strings"
)

// Decode reads back a script that Text wrote: for servers that answer without
// a shell. Run and StateDir are not part of what comes back.
func Decode(text []byte) (Script, error) {
	head, rest, ok := strings.Cut(string(text), "\n")
	var s Script
	var sudo, stdin int
	var h1, h2 string
	if _, err := fmt.Sscanf(head, "#fb %s sudo=%d stdin=%d token=%d %s %s", &s.Kind, &sudo, &stdin, &s.Token, &h1, &h2); err != nil || !ok {
		return Script{}, fmt.Errorf("reading script head %.80q: not one of ours", head)
	}
	s.Sudo, s.Stdin, s.Nonce = sudo == 1, stdin == 1, h1+h2
	_, rest, _ = strings.Cut(rest, "\n") // the guess about the login shell
	args, ok := strings.CutPrefix(rest, "set -- ")
	if !ok {
		return Script{}, fmt.Errorf("reading script %s: arguments are missing", s.Kind)
	}
	var err error
	if s.Args, rest, err = unquote(args); err != nil {
		return Script{}, fmt.Errorf("reading script %s: %w", s.Kind, err)
	}
	if !strings.HasSuffix(rest, "exit; }\n") {
		return Script{}, fmt.Errorf("reading script %s: not complete", s.Kind)
	}
	return s, nil
}

// Words reads a command line that QuoteAll wrote, without a leading $fb_sudo.
func Words(line string) ([]string, error) {
	words, rest, err := unquote(strings.TrimPrefix(line, "$fb_sudo "))
	if err == nil && (rest != "" || len(words) == 0) {
		err = fmt.Errorf("unquoting words: more than one line")
	}
	return words, err
}
