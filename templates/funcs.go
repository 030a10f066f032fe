package templates

import (
	"fmt"
	"math"
	"strings"
	"text/template"
	"time"
)

// funcs are what templates may call. Those that return markup escape their
// arguments; all others return plain values that are escaped when printed.
func (d Dialect) funcs() template.FuncMap {
	return template.FuncMap{
		escapeName: d.esc,
		"bold":     d.bold, "strike": d.strike, "code": d.code, "pre": d.pre,
		"mention": d.mention, "group": d.group, "date": d.date, "clock": d.clock,
		"sign": sign, "found": found, "stepIcon": stepIcon, "endIcon": endIcon, "severityIcon": severityIcon,
		"bar": bar, "percent": percent, "took": took, "span": span,
		"plural": plural, "clip": clip, "short": short, "few": few, "last": last, "take": take, "rest": rest,
		"summary": summary, "findings": findings, "lines": lines,
		"phases": phases, "acted": acted, "notBegun": notBegun, "period": period,
		"nl": func() markup { return "\n" },
	}
}

// icons pairs each state with its sign; the word always stands beside it.
var icons = map[string]string{
	"requested": "⏳", "planning": "⏳", "queued": "⏳", "waiting for approval": "⏸", "paused": "⏸", "running": "▶",
	"done": "✅", "partly failed": "⚠", "failed": "❌", "cancelled": "🛑", "denied": "❌", "expired": "⌛", "ended": "▫", "duplicate": "⏭",
}

func icon(state any) string {
	if s, ok := icons[fmt.Sprint(state)]; ok {
		return s
	}
	return "•"
}

func stepIcon(state any) string {
	switch fmt.Sprint(state) {
	case "ok":
		return "✅"
	case "failed":
		return "❌"
	case "skipped":
		return "⏭"
	case "running":
		return "▶"
	}
	return "•"
}

func severityIcon(severity any) string {
	return [...]string{"•", "❔", "⚠", "❌"}[gravity(fmt.Sprint(severity))]
}

// barWidth is the width of a progress bar in characters: short enough for a
// telephone in portrait.
const barWidth = 12

func bar(done, total int) string {
	full := 0
	if total > 0 {
		full = min(barWidth, max(0, done*barWidth/total))
	}
	return strings.Repeat("█", full) + strings.Repeat("░", barWidth-full)
}

func percent(done, total int) string {
	if total <= 0 {
		return "0 %"
	}
	// A run is not shown as finished before its last unit is.
	p := int(math.Floor(100 * float64(done) / float64(total)))
	return fmt.Sprintf("%d %%", min(100, max(0, p)))
}

// took is the time between two moments in words: "3 m 10 s"; empty while the
// second is unknown.
func took(from, to time.Time) string {
	if from.IsZero() || to.IsZero() || to.Before(from) {
		return ""
	}
	return span(to.Sub(from))
}

func span(d time.Duration) string {
	if d < time.Second {
		return "< 1 s"
	}
	d = d.Round(time.Second)
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%d m %d s", int(d.Minutes()), int(d.Seconds())%60)
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h %d m", int(d.Hours()), int(d.Minutes())%60)
	}
	return fmt.Sprintf("%d days", int(d.Hours())/24)
}

// plural gives "1 host", "3 hosts".
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	switch {
	case strings.HasSuffix(noun, "y") && !strings.HasSuffix(noun, "ay"):
		noun = noun[:len(noun)-1] + "ies"
	case strings.HasSuffix(noun, "ch"), strings.HasSuffix(noun, "s"):
		noun += "es"
	default:
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}

// period ends a sentence unless it has ended.
func period(v any) string {
	s := strings.TrimSpace(fmt.Sprint(v))
	if s == "" || strings.ContainsAny(s[len(s)-1:], ".?!:") || strings.HasSuffix(s, "…") {
		return s
	}
	return s + "."
}

// clip cuts text to so many runes, with a sign that it was cut.
func clip(runes int, v any) string {
	s := fmt.Sprint(v)
	// Megabytes of output are not cleaned for the sake of one line.
	if most := 8*runes + 4096; len(s) > most {
		s = s[:most]
	}
	s = oneLine(s)
	if r := []rune(s); len(r) > runes && runes > 0 {
		return strings.TrimRight(string(r[:runes-1]), " ") + "…"
	}
	return s
}

// short is the part of a run's id or a hash that people read and type.
func short(v any) string {
	if s := fmt.Sprint(v); len(s) > 8 {
		return s[:8]
	}
	return fmt.Sprint(v)
}

// few names the first n of a list and counts the others.
func few(n int, names []string) string {
	if len(names) <= n {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:n], ", "), len(names)-n)
}
