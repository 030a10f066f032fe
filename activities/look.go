package activities

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"go.temporal.io/sdk/temporal"

	"github.com/fabricbot/fabricbot/hostexec"
)

// look runs one looking command as root. The error is about the host or the
// connection; what the program itself said, and with which status, is in the
// result: exit codes of these tools prove nothing, so callers read the output.
func (h *Hosts) look(ctx context.Context, host string, within time.Duration, argv ...string) (hostexec.Result, error) {
	return h.lookAtMost(ctx, host, within, answerMost, argv...)
}

const (
	// answerMost is what one host may say about itself, in bytes: lspci -vvv of
	// sixteen adapters is under 200 KB. Many hosts are asked at once.
	answerMost = 1 << 20
	// sweepMost is what a sweep of the whole fabric may say, in bytes:
	// ibnetdiscover of 10,000 hosts is under 10 MB. One sweep runs at a time.
	sweepMost = 64 << 20
)

// lookAtMost is look with a bound on the output, in bytes.
func (h *Hosts) lookAtMost(ctx context.Context, host string, within time.Duration, most int, argv ...string) (hostexec.Result, error) {
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

// lastLines gives the last few lines of a tool's complaint as one line.
func lastLines(text []byte, n int) string {
	// Only the end counts, and a host may have said a lot.
	if over := len(text) - 64<<10; over > 0 {
		text = text[over:]
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
