package parse

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// Outcome is what a text proves about the command that printed it.
type Outcome string

// The outcomes. Success needs a positive proof in the text; a text that ends
// before its tool's closing words is Truncated, whatever its exit code was.
const (
	Succeeded   Outcome = "success"
	Failed      Outcome = "failure"
	Informed    Outcome = "info"         // nothing was asked to be done, nothing is wrong
	NeedsAction Outcome = "needs_action" // the tool works and asks for something
	Truncated   Outcome = "truncated"
)

// Verdict is a report's judgement of its text. Class names the case among
// those of the tool, for example psid_mismatch; it is empty where the outcome
// says all.
type Verdict struct {
	Outcome Outcome `json:"outcome"`
	Class   string  `json:"class,omitempty"`
}

// is sets both parts.
func (v *Verdict) is(o Outcome, class string) { v.Outcome, v.Class = o, class }

// Marks are the lines by which the firmware tools and the installers speak
// about their own run: "-E- …", "-W- …", and questions with their answers.
type Marks struct {
	// Errors are the different -E- lines without their mark.
	Errors []string `json:"errors,omitempty"`
	// ErrorCount is how many there were, counting repetitions.
	ErrorCount int `json:"error_count,omitempty"`
	// ErrorCode is the MFT library's code, for example MFE_CR_ERROR.
	ErrorCode string `json:"error_code,omitempty"`
	// Warning is the last -W- line with its mark.
	Warning string `json:"warning,omitempty"`
	// Prompt is the last question, and PromptAnswer what was typed behind it.
	Prompt       string `json:"prompt,omitempty"`
	PromptAnswer string `json:"prompt_answer,omitempty"`
	unanswered   bool
}

var mfeCode = regexp.MustCompile(`\bMFE_[A-Z0-9_]+`)

// take reads a marked line or a question and reports whether line was one.
func (m *Marks) take(t *Trouble, line string) bool {
	line = strings.TrimSpace(line)
	if text, ok := after(line, "-E-"); ok && text != "" {
		m.failed(t, text)
		t.keep(line)
		return true
	}
	if strings.HasPrefix(line, "-W-") || strings.HasPrefix(line, "[warn]") {
		m.Warning = line
		t.Warnings++
		t.keep(line)
		return true
	}
	return m.question(line)
}

// failed records one reason for failure. The last one is the report's Error,
// since the tools go from the detail to the conclusion.
func (m *Marks) failed(t *Trouble, text string) {
	t.Error = text
	m.ErrorCount++
	if !slices.Contains(m.Errors, text) && len(m.Errors) < mostMessages {
		m.Errors = append(m.Errors, text)
	}
	if code := mfeCode.FindString(text); code != "" {
		m.ErrorCode = code
	}
}

// question reads "Do you want to continue ? (y/n) [n] : y" and
// "Continue with reset?[y/N] y".
func (m *Marks) question(line string) bool {
	for _, end := range []string{"(y/n) [n] :", "(y/n) [y] :", "[y/N]:", "[y/N] :", "[y/N]", "[Y/n]", "[y/n]"} {
		if i := strings.Index(line, end); i > 0 {
			i += len(end)
			m.Prompt, m.PromptAnswer = line[:i], strings.TrimSpace(line[i:])
			m.unanswered = m.PromptAnswer == ""
			return true
		}
	}
	return false
}

// declined reports whether the last question was answered with no.
func (m *Marks) declined() bool {
	return m.Prompt != "" && strings.HasPrefix(strings.ToLower(m.PromptAnswer), "n")
}

// keep adds a line to the messages.
func (t *Trouble) keep(line string) {
	if len(t.Messages) < mostMessages {
		t.Messages = append(t.Messages, line)
	}
}

// invoked reports whether a line is a shell's echo of one of these commands,
// behind a prompt or alone, and returns the arguments.
func invoked(line string, commands ...string) (args []string, ok bool) {
	words := strings.Fields(line)
	for i, w := range words {
		if i > 5 {
			break
		}
		if !slices.Contains(commands, path.Base(strings.TrimLeft(w, "#$"))) {
			continue
		}
		if i == 0 || words[i-1] == "sudo" || strings.HasSuffix(words[i-1], "~") || strings.ContainsAny(words[i-1][len(words[i-1])-1:], "#$%>") {
			return words[i+1:], true
		}
	}
	return nil, false
}

// option returns the value behind the first of these options.
func option(args []string, names ...string) string {
	for i, a := range args {
		name, value, has := strings.Cut(a, "=")
		if !slices.Contains(names, name) {
			continue
		}
		if has {
			return value
		}
		if i+1 < len(args) {
			return args[i+1]
		}
	}
	return ""
}

// rewritten returns what a progress display left visible behind backspaces.
func rewritten(line string) string {
	if i := strings.LastIndexByte(line, '\b'); i >= 0 {
		return strings.TrimSpace(line[i+1:])
	}
	return line
}

// snake turns a label into a key: "Link Speed [Gb/s]" is link_speed_gb_s.
func snake(label string) string {
	var b strings.Builder
	gap := false
	for i := 0; i < len(label); i++ {
		c := label[i]
		switch {
		case 'A' <= c && c <= 'Z':
			c += 'a' - 'A'
		case 'a' <= c && c <= 'z', '0' <= c && c <= '9':
		default:
			gap = true
			continue
		}
		if gap && b.Len() > 0 {
			b.WriteByte('_')
		}
		gap = false
		b.WriteByte(c)
	}
	return b.String()
}
