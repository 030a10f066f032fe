package templates

import (
	"fmt"
	"strings"
)

// gravity orders severities as operations write them; those it does not know
// are information.
func gravity(severity string) int {
	switch strings.ToLower(severity) {
	case "fail", "critical", "error":
		return 3
	case "warn", "warning":
		return 2
	case "unknown":
		return 1
	}
	return 0
}

// verdict is the sign of a run and, after it went well in itself, what it
// found: a look at a fabric that is broken is done, but all is not well.
func verdict(state, result any) (sign, found string) {
	sign = icon(state)
	if fmt.Sprint(state) != "done" {
		return sign, ""
	}
	var count [4]int
	for _, f := range findings(result) {
		count[gravity(f.Severity)]++
	}
	for g := len(count) - 1; g > 0; g-- {
		if count[g] > 0 {
			return [...]string{"", "❔", "⚠", "❌"}[g], plural(count[g], [...]string{"", "open question", "warning", "problem"}[g])
		}
	}
	return sign, ""
}

// sign is verdict's sign, found its words.
func sign(state, result any) string {
	s, _ := verdict(state, result)
	return s
}

func found(state, result any) string {
	_, f := verdict(state, result)
	return f
}
