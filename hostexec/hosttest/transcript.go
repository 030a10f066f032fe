package hosttest

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/fabricbot/fabricbot/hostexec"
)

// Transcript is the recorded answer to one command.
type Transcript struct {
	Argv   []string
	Stdout string
	Stderr string
	Exit   int
	Signal string        // instead of Exit, without "SIG"
	Delay  time.Duration // before it ends; for a job, how long it runs
	Times  int           // how often it answers; 0 is for ever. Several of one argv answer in turn.
	used   int
}

// Call is a command that a host was asked to run.
type Call struct {
	Kind  string // of wire: run, put, start, poll, cancel, signal
	Argv  []string
	Stdin []byte
	Sudo  bool
	Token uint64
}

// book holds the transcripts of a host and what was asked of it.
type book struct {
	mu     sync.Mutex
	list   []*Transcript
	handle func(Call) (Transcript, bool)
	calls  []Call
}

// find returns the next answer to argv.
func (b *book) find(c Call) (Transcript, bool) {
	b.mu.Lock()
	b.calls = append(b.calls, c)
	handle := b.handle
	for _, t := range b.list {
		if slices.Equal(t.Argv, c.Argv) && (t.Times == 0 || t.used < t.Times) {
			t.used++
			b.mu.Unlock()
			return *t, true
		}
	}
	b.mu.Unlock()
	if handle != nil {
		return handle(c)
	}
	return Transcript{}, false
}

// Record adds transcripts.
func (h *Host) Record(list ...Transcript) {
	h.book.mu.Lock()
	defer h.book.mu.Unlock()
	for _, t := range list {
		h.book.list = append(h.book.list, &t)
	}
}

// Handle sets a function for commands without a transcript; ok false means
// that the program is not installed.
func (h *Host) Handle(f func(Call) (t Transcript, ok bool)) {
	h.book.mu.Lock()
	defer h.book.mu.Unlock()
	h.book.handle = f
}

// Calls returns what was asked so far, in order.
func (h *Host) Calls() []Call {
	h.book.mu.Lock()
	defer h.book.mu.Unlock()
	return slices.Clone(h.book.calls)
}

// Unused returns the commands that were recorded and never asked for; a test
// that expects them to be used fails when there are any.
func (h *Host) Unused() (lines []string) {
	h.book.mu.Lock()
	defer h.book.mu.Unlock()
	for _, t := range h.book.list {
		if t.used == 0 {
			lines = append(lines, hostexec.Display(t.Argv))
		}
	}
	return lines
}

// Load reads every transcript file (*.txt) of a directory. A file holds
//
//	# comment, before the first command only
//	$ ibstat mlx5_0
//	what it prints, line by line
//	2> what it prints on standard error
//	exit 255
//
// and so on; words of a command are separated by spaces; "exit" is left out
// for 0 and stands alone on the last line of a command.
func (h *Host) Load(dir string) error {
	files, err := filepath.Glob(filepath.Join(dir, "*.txt"))
	if err != nil || len(files) == 0 {
		return fmt.Errorf("loading transcripts from %s: no *.txt files (%v)", dir, err)
	}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			return fmt.Errorf("loading transcripts: %w", err)
		}
		list, err := ParseTranscripts(text)
		if err != nil {
			return fmt.Errorf("loading transcripts from %s: %w", f, err)
		}
		h.Record(list...)
	}
	return nil
}

// ParseTranscripts reads the text form that Load describes.
func ParseTranscripts(text []byte) ([]Transcript, error) {
	var list []Transcript
	n := 0
	for raw := range bytes.Lines(text) {
		n++
		line := string(raw)
		if argv, ok := strings.CutPrefix(line, "$ "); ok {
			t := Transcript{Argv: strings.Fields(argv)}
			if err := hostexec.CheckArgv(t.Argv); err != nil {
				return nil, fmt.Errorf("line %d: %w", n, err)
			}
			list = append(list, t)
			continue
		}
		if len(list) == 0 {
			if strings.HasPrefix(line, "#") || strings.TrimSpace(line) == "" {
				continue
			}
			return nil, fmt.Errorf("line %d: output before the first \"$ command\"", n)
		}
		t := &list[len(list)-1]
		if rest, ok := strings.CutPrefix(line, "2> "); ok {
			t.Stderr += rest
		} else if code, ok := strings.CutPrefix(strings.TrimSpace(line), "exit "); ok && isNumber(code) {
			t.Exit, _ = strconv.Atoi(code)
		} else {
			t.Stdout += line
		}
	}
	return list, nil
}

func isNumber(s string) bool {
	n, err := strconv.Atoi(s)
	return err == nil && n >= 0 && n < 256
}
