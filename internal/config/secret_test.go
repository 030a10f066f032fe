package config

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

func TestSecretNeverPrints(t *testing.T) {
	const canary = "canary-7f3a9c"
	t.Setenv("FABRICBOT_TEST_SECRET", canary)
	secret, err := ParseSecret("env:FABRICBOT_TEST_SECRET")
	if err != nil {
		t.Fatal(err)
	}
	if value, err := secret.Resolve(); err != nil || value != canary {
		t.Fatalf("resolving gave %q, error %v", value, err)
	}
	const want = "secret(env:FABRICBOT_TEST_SECRET)"
	inside := struct{ S Secret }{secret}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		if got := fmt.Sprintf(verb, secret); got != want {
			t.Errorf("%s gives %s", verb, got)
		}
		if got := fmt.Sprintf(verb, inside); !strings.Contains(got, want) {
			t.Errorf("%s of a struct gives %s", verb, got)
		}
	}
	asJSON, err := json.Marshal(inside)
	if err != nil || string(asJSON) != `{"S":"`+want+`"}` {
		t.Errorf("JSON gives %s, error %v", asJSON, err)
	}
	asYAML, err := yaml.Marshal(inside)
	if err != nil || !strings.Contains(string(asYAML), want) {
		t.Errorf("YAML gives %s, error %v", asYAML, err)
	}
}

func TestParseSecretRefuses(t *testing.T) {
	for _, ref := range []string{"", "canary-7f3a9c", "env:", "env:A B", "env:A=canary-7f3a9c", "file:", "file:a\nb", "vault:x", "ENV:A"} {
		if secret, err := ParseSecret(ref); err == nil || strings.Contains(err.Error(), "canary") {
			t.Errorf("%q: got %v, error %v", ref, secret, err)
		}
	}
}

func TestSecretFile(t *testing.T) {
	dir := t.TempDir()
	file := func(name, content string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		return "file:" + path
	}
	tests := []struct{ name, ref, want, problem string }{
		{"owner", file("owner", "s3cret\n", 0o600), "s3cret", ""},
		{"group", file("group", "  s3cret \r\n\n", 0o440), "  s3cret", ""},
		{"world", file("world", "s3cret", 0o644), "", "others can read"},
		{"group_writes", file("group_writes", "s3cret", 0o620), "", "others can read or change"},
		{"empty", file("empty", "\n", 0o600), "", "is empty"},
		{"huge", file("huge", strings.Repeat("x", maxSecret+1), 0o600), "", "more than"},
		{"folder", "file:" + dir, "", "not a regular file"},
		{"missing", "file:" + filepath.Join(dir, "missing"), "", "no such file"},
		{"device", "file:/dev/zero", "", "not a regular file"},
		{"unset", "env:FABRICBOT_TEST_NOT_SET", "", "is not set"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			secret, err := ParseSecret(tt.ref)
			if err != nil {
				t.Fatal(err)
			}
			got, err := secret.Resolve()
			if tt.problem == "" && (err != nil || got != tt.want) {
				t.Errorf("got %q, error %v, want %q", got, err, tt.want)
			}
			if tt.problem != "" && (err == nil || !strings.Contains(err.Error(), tt.problem) || strings.Contains(err.Error(), "s3cret")) {
				t.Errorf("got %q, error %v, want …%s…", got, err, tt.problem)
			}
		})
	}
	if _, err := (Secret{}).Resolve(); err == nil {
		t.Error("a secret that refers to nothing was resolved")
	}
}
