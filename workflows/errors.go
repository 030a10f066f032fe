package workflows

import (
	"errors"
	"fmt"
	"strings"

	"go.temporal.io/sdk/temporal"
)

// count words a number of things: "1 subnet manager", "2 subnet managers".
func count(n int, thing string) string {
	switch {
	case n == 1:
		return "1 " + thing
	case strings.HasSuffix(thing, "switch"):
		return fmt.Sprintf("%d %ses", n, thing)
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// refuse makes an error for a run that rightly does not go on; its text is the
// sentence people read.
func refuse(format string, args ...any) error {
	return temporal.NewNonRetryableApplicationError(fmt.Sprintf(format, args...), "Refused", nil)
}

// PartlyError ends a run whose result stands although some of its targets
// failed.
type PartlyError struct{ Note string }

// Error is the note.
func (e *PartlyError) Error() string { return e.Note }

// sentence is the innermost message of an error, without the workflow
// engine's wrapping.
func sentence(err error) string {
	var app *temporal.ApplicationError
	if errors.As(err, &app) {
		return app.Message()
	}
	if temporal.IsCanceledError(err) {
		return "cancelled"
	}
	var timeout *temporal.TimeoutError
	if errors.As(err, &timeout) {
		return "no answer in time (" + timeout.TimeoutType().String() + "); last: " + timeout.Message()
	}
	return err.Error()
}
