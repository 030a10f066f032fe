package sshexec

import (
	"context"
	"strconv"
	"strings"

	"github.com/fabricbot/fabricbot/hostexec"
	"github.com/fabricbot/fabricbot/hostexec/wire"
)

// Fence draws the next lease token of a host for a run and makes it the newest
// one, so that every run with an older token is turned away from then on. The
// host itself counts, so no clock and no central counter is needed. The run
// that drew last draws the same token again.
func (p *Pool) Fence(ctx context.Context, host, run string) (hostexec.Lease, error) {
	argv := []string{"draw-lease", run}
	lease := hostexec.Lease{Run: run, Token: 1}
	if err := lease.Check(); err != nil {
		return hostexec.Lease{}, refused(host, hostexec.Display(argv), "lease", "nothing was sent", "", err)
	}
	a, err := p.do(ctx, host, work{
		script: wire.Script{Kind: wire.KindDraw, Args: []string{run}},
		argv:   argv, timeout: jobTime, keep: 4096,
	})
	if err != nil {
		return hostexec.Lease{}, err
	}
	word, rest, _ := strings.Cut(strings.TrimSpace(string(a.Stdout)), " ")
	token, perr := strconv.ParseUint(rest, 10, 64)
	if word != "token" || perr != nil || token == 0 {
		return hostexec.Lease{}, refused(host, hostexec.Display(argv), "lease", Printable(append(a.Stdout, a.Stderr...), 300), "look at the journal directory on the host and at the space left there", nil)
	}
	lease.Token = token
	return lease, nil
}
