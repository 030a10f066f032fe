package redact

import (
	"regexp"
	"strings"
)

// known is a kind of secret that can be told by its looks.
type known struct {
	what    string
	hints   []string // text in lower case of which at least one must occur, so that large texts are not searched in vain
	pattern *regexp.Regexp
	replace func(match []string) string // match[0] is the whole; nil hides the whole
}

// secretWord matches the name of a setting that holds a secret.
const secretWord = `[\w.\-]*(?:passw(?:or)?d|passphrase|secret|token|api_?key|access_?key|private_?key|sm_key|m_key|\bpsk|_psk)[\w.\-]*`

// knownSecrets in the order they are looked for: whole blocks, then shapes that stand for themselves, then settings by name.
var knownSecrets = []known{
	{
		// RFC 7468 section 2. A block whose end is missing was cut off and is hidden to the end of the text.
		what: "private key", hints: []string{"private key"},
		pattern: regexp.MustCompile(`(?s)-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----.*?(?:-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|\z)`),
	},
	{
		// https://docs.slack.dev/authentication/tokens, read 2026-08: bot, user, app-level, configuration and refresh tokens.
		what: "slack token", hints: []string{"xox", "xapp-", "xoxe"},
		pattern: regexp.MustCompile(`(?i)\b(?:xox[a-z]|xapp|xoxe\.xox[bp])-[A-Za-z0-9-]{6,}`),
	},
	{
		what: "slack webhook", hints: []string{"hooks.slack.com"},
		pattern: regexp.MustCompile(`(?i)hooks\.slack\.com/[A-Za-z]+/[A-Za-z0-9/_-]+`),
	},
	{
		// AWS IAM identifiers, "Unique identifiers": AKIA for long-term, ASIA for temporary keys.
		what: "aws key", hints: []string{"akia", "asia"},
		pattern: regexp.MustCompile(`\b(?:AKIA|ASIA)[0-9A-Z]{16}\b`),
	},
	{
		what: "github token", hints: []string{"gh", "github_pat_"},
		pattern: regexp.MustCompile(`\b(?:gh[opusr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,})`),
	},
	{
		// RFC 7519: three base64url parts, the first two begin with the encoding of {".
		what: "json web token", hints: []string{"eyj"},
		pattern: regexp.MustCompile(`\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{4,}\.[A-Za-z0-9_-]*`),
	},
	{
		what: "credentials", hints: []string{"authorization", "bearer", "basic"},
		pattern: regexp.MustCompile(`(?i)\b(authorization["']?\s*[:=]\s*["']?(?:bearer|basic|token)?\s*|bearer\s+)([A-Za-z0-9._~+/=-]{6,})`),
		replace: hideCredentials,
	},
	{
		what: "password", hints: []string{"://"},
		pattern: regexp.MustCompile(`(\b[A-Za-z][A-Za-z0-9+.-]*://[^\s/:@]*:)([^\s/@]+)@`),
		replace: func(m []string) string { return m[1] + mark("password") + "@" },
	},
	{
		// ibstat, smpquery and opensm print keys of the fabric as Mkey:....0x…, and opensm.conf has "sm_key 0x…". A key that is
		// all zeros is not set, which is worth seeing.
		what: "fabric key", hints: []string{"key"},
		pattern: regexp.MustCompile(`(?i)\b((?:m_?key|sm_?key|sa_?key|vs_?key|cc_?key|n2n_?key)["']?(?:\s*[:=]\s*|:?\.+|\s+)["']?)(0x[0-9a-f]+|[0-9]{4,})\b`),
		replace: func(m []string) string {
			if isZeroKey(m[2]) {
				return m[0]
			}
			return m[1] + mark("fabric key")
		},
	},
	{
		what: "value", hints: []string{"pass", "secret", "token", "key", "psk"},
		pattern: regexp.MustCompile(`(?i)(\b` + secretWord + `["']?\s*(?:=>|:=|[:=])\s*)("(?:[^"\\\n]|\\.)*"|'[^'\n]*'|[^\s,;&"'{}()]+)`),
		replace: hideValue,
	},
	{
		what: "value", hints: []string{"--pass", "--secret", "--token", "-key", "--psk"},
		pattern: regexp.MustCompile(`(?i)((?:^|\s)--?` + secretWord + `\s+)("[^"\n]*"|'[^'\n]*'|[^\s"'-][^\s"']*)`),
		replace: hideValue,
	},
}

// reference is how a configuration names a secret without holding it; it is worth showing.
var reference = regexp.MustCompile(`^["']?(?:env:[A-Za-z_][A-Za-z0-9_]*|file:[A-Za-z0-9_./\-]+|secret\()`)

// hideCredentials keeps the scheme, also where what follows it is hidden already.
func hideCredentials(m []string) string {
	switch strings.ToLower(m[2]) {
	case "bearer", "basic", "token":
		return m[0]
	}
	return m[1] + mark("credentials")
}

// hideValue keeps the setting's name, its quotes and a value that holds nothing.
func hideValue(m []string) string {
	value := m[2]
	bare := strings.Trim(value, `"'`)
	switch {
	case reference.MatchString(value), strings.HasPrefix(bare, "[redacted"), bare == "", isZeroKey(bare):
		return m[0]
	case value[0] == '"' || value[0] == '\'':
		return m[1] + value[:1] + mark("value") + value[:1]
	}
	return m[1] + mark("value")
}

// isZeroKey says whether value is 0x0 or longer: a key of the fabric that is not set.
func isZeroKey(value string) bool {
	digits, hex := strings.CutPrefix(strings.ToLower(value), "0x")
	return hex && strings.Trim(digits, "0") == ""
}

func hideKnown(text string) string {
	lower := strings.ToLower(text)
	for _, k := range knownSecrets {
		if !containsAny(lower, k.hints) {
			continue
		}
		if k.replace == nil {
			text = k.pattern.ReplaceAllLiteralString(text, mark(k.what))
			continue
		}
		text = k.pattern.ReplaceAllStringFunc(text, func(whole string) string {
			return k.replace(k.pattern.FindStringSubmatch(whole))
		})
	}
	return text
}

func containsAny(text string, hints []string) bool {
	for _, hint := range hints {
		if strings.Contains(text, hint) {
			return true
		}
	}
	return false
}
