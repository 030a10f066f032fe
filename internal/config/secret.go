package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
)

// maxSecret bounds the file of a secret, in octets; the longest ones, private keys, have some ten thousand.
const maxSecret = 64 << 10

// Secret is a reference to a secret: "env:NAME" or "file:PATH". It never holds the value, so it cannot print it: in whatever way
// it is written it gives secret(env:NAME). The zero value refers to nothing.
type Secret struct {
	ref string
}

var envName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// ParseSecret reads a reference. Its errors do not repeat the text, because it may be a secret that was put in by mistake.
func ParseSecret(ref string) (Secret, error) {
	kind, where, _ := strings.Cut(ref, ":")
	switch {
	case kind == "env" && envName.MatchString(where):
	case kind == "file" && where != "" && !strings.ContainsAny(where, "\x00\n\r"):
	default:
		return Secret{}, errors.New("a secret is given by reference: env:NAME for a variable of the environment or file:PATH for a file; the value itself must not stand here")
	}
	return Secret{ref: ref}, nil
}

// IsZero says whether the secret refers to nothing.
func (s Secret) IsZero() bool { return s.ref == "" }

// Resolve reads the secret now. A file must be a regular file that its owner and at most its group can read; white space at its
// end is taken off. The caller must teach the value to the redactor before it goes anywhere else.
func (s Secret) Resolve() (string, error) {
	kind, where, _ := strings.Cut(s.ref, ":")
	switch kind {
	case "env":
		value := strings.TrimSpace(os.Getenv(where))
		if value == "" {
			return "", fmt.Errorf("%s: variable %s is not set", s, where)
		}
		return value, nil
	case "file":
		value, err := readSecretFile(where)
		if err != nil {
			return "", fmt.Errorf("%s: %w", s, err)
		}
		return value, nil
	}
	return "", errors.New("no secret is configured; give a reference such as env:NAME or file:PATH")
}

func readSecretFile(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	// The open file is asked, not the path, so that nobody can swap one for another in between.
	info, err := file.Stat()
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() {
		return "", fmt.Errorf("%s is not a regular file", path)
	}
	if open := info.Mode().Perm() & 0o027; open != 0 {
		return "", fmt.Errorf("%s has mode %#o, so others can read or change it; run chmod 600 on it", path, info.Mode().Perm())
	}
	content, err := io.ReadAll(io.LimitReader(file, maxSecret+1))
	if err != nil {
		return "", err
	}
	if len(content) > maxSecret {
		return "", fmt.Errorf("%s holds more than %d octets", path, maxSecret)
	}
	value := strings.TrimRight(string(content), " \t\r\n")
	if value == "" {
		return "", fmt.Errorf("%s is empty", path)
	}
	return value, nil
}

// String gives secret(env:NAME).
func (s Secret) String() string { return "secret(" + s.ref + ")" }

// Format writes String whatever the verb.
func (s Secret) Format(state fmt.State, _ rune) { _, _ = io.WriteString(state, s.String()) }

// MarshalJSON writes String.
func (s Secret) MarshalJSON() ([]byte, error) { return json.Marshal(s.String()) }

// MarshalYAML writes String.
func (s Secret) MarshalYAML() (any, error) { return s.String(), nil }

// UnmarshalText reads a reference.
func (s *Secret) UnmarshalText(text []byte) error {
	parsed, err := ParseSecret(string(text))
	if err != nil {
		return err
	}
	*s = parsed
	return nil
}

// below makes the path of a file reference absolute, seen from dir.
func (s Secret) below(dir string) Secret {
	if path, isFile := strings.CutPrefix(s.ref, "file:"); isFile {
		return Secret{ref: "file:" + below(dir, path)}
	}
	return s
}
