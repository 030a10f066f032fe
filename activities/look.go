package activities

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"go.temporal.io/sdk/temporal"

	"github.com/fabricbot/fabricbot/hostexec"
)

// What a tool may print: about one host, and about a whole fabric, of which
// ten thousand hosts are 20 MB of ibnetdiscover.
const (
	hostOutputMost   = 4 << 20
	fabricOutputMost = 64 << 20
)

// look runs one looking command about a host as root. The error is about the
// host or the connection; what the program itself said, and with which status,
// is in the result: exit codes of these tools prove nothing, so callers read
// the output. A host that does not stop talking has no answer.
func (h *Hosts) look(ctx context.Context, host string, within time.Duration, argv ...string) (hostexec.Result, error) {
	res, err := h.lookAt(ctx, host, within, hostOutputMost, argv)
	if err == nil && res.Truncated {
		err = final("%s on %s printed more than %d MB, which is no answer of this tool; see what the program there is", argv[0], host, hostOutputMost>>20)
	}
	return res, err
}

// lookWide is look for tools that tell of a whole fabric. What was cut off is
// marked in the result.
func (h *Hosts) lookWide(ctx context.Context, host string, argv ...string) (hostexec.Result, error) {
	return h.lookAt(ctx, host, sweepWithin, fabricOutputMost, argv)
}

func (h *Hosts) lookAt(ctx context.Context, host string, within time.Duration, most int, argv []string) (hostexec.Result, error) {
	res, err := h.Look.Look(ctx, host, hostexec.Command{Argv: argv, Sudo: true, Timeout: within, MaxOutput: most})
	if err == nil {
		err = res.Err()
	}
	if err != nil {
		return res, hostError(err)
	}
	return res, nil
}

// hostError makes the kinds of failure that a retry cannot mend final.
func hostError(err error) error {
	switch hostexec.OutcomeOf(err) {
	case hostexec.Refused:
		return temporal.NewNonRetryableApplicationError(err.Error(), "Refused", err)
	case hostexec.Unreachable, hostexec.TimedOut, hostexec.Lost:
		return temporal.NewApplicationErrorWithCause(err.Error(), "Unreachable", err)
	}
	return err
}

// final makes an error that no retry can mend; its text is what people read.
func final(format string, args ...any) error {
	return temporal.NewNonRetryableApplicationError(fmt.Sprintf(format, args...), "Failed", nil)
}

// onEach runs f for every host, at most width at a time, and returns the
// answers in the order of the hosts. A host's failure stays with that host.
func onEach[T any](ctx context.Context, hosts []string, width int, f func(ctx context.Context, host string) T) []T {
	answers := make([]T, len(hosts))
	slots := make(chan struct{}, width)
	var all sync.WaitGroup
	for i, host := range hosts {
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			answers[i] = f(ctx, host)
		})
	}
	all.Wait()
	return answers
}

// lastLines gives the last few lines of a tool's complaint as one line, or
// says that it is none.
func lastLines(text []byte, n int) string {
	if !legible(text) {
		return fmt.Sprintf("it printed %d octets that are no text", len(text))
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	if len(lines) > n {
		lines = lines[len(lines)-n:]
	}
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i])
	}
	s := strings.Join(lines, "; ")
	if r := []rune(s); len(r) > 300 {
		s = string(r[:300]) + "…"
	}
	return s
}

// plain is the innermost sentence of an error.
func plain(err error) string {
	var app *temporal.ApplicationError
	if errors.As(err, &app) {
		return app.Message()
	}
	return err.Error()
}

// legible reports whether the end of a text can be shown to people.
func legible(text []byte) bool {
	end := text[max(0, len(text)-4096):]
	// The cut may have gone through a character.
	for len(end) > 0 && !utf8.RuneStart(end[0]) && len(end) > 4090 {
		end = end[1:]
	}
	return utf8.Valid(end) && !bytes.ContainsFunc(end, func(r rune) bool {
		return unicode.IsControl(r) && !unicode.IsSpace(r) && r != 0x1b
	})
}
