package hostexec

import (
	"context"
	"fmt"
	"regexp"
)

// Lease is the right of one run to alter one host. Whoever grants leases makes
// Token grow with every new lease on a host, so that the host itself can turn
// away a run that has been overtaken.
type Lease struct {
	Run   string // run id, shown as "busy by ..."
	Token uint64 // grows with every lease; 0 is no lease
}

var runPattern = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_./:@-]{0,199}$`)

// maxToken keeps tokens within what a POSIX shell can compare (64-bit signed).
const maxToken = 1 << 62

// Check reports why l is not a lease.
func (l Lease) Check() error {
	if l.Token == 0 || l.Token > maxToken || !runPattern.MatchString(l.Run) {
		return fmt.Errorf("%w: run %q, token %d", ErrNeedsLease, l.Run, l.Token)
	}
	return nil
}

type leaseKey struct{}

// WithLease returns a context that carries the lease, for runners whose one
// method takes both classes of command.
func WithLease(ctx context.Context, l Lease) context.Context {
	return context.WithValue(ctx, leaseKey{}, l)
}

// LeaseFrom returns the lease of the context; ok is false when there is none.
func LeaseFrom(ctx context.Context) (l Lease, ok bool) {
	l, ok = ctx.Value(leaseKey{}).(Lease)
	return l, ok
}
