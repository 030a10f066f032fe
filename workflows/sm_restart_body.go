package workflows

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/fabricbot/fabricbot/activities"
	"github.com/fabricbot/fabricbot/fabric"
)

const (
	// serviceWithin bounds one order to the service manager, with the worker
	// away for a while in between.
	serviceWithin = 15 * time.Minute
	// settleWithin is how long a restarted manager may take to its state: its
	// first sweep of a large fabric takes tens of seconds.
	settleWithin = 3 * time.Minute
	// steadyPolls is for how many of its polls a restarted standby must stand
	// by before the master is touched : one that dies of its
	// configuration does so a moment after it looked well.
	steadyPolls = 2
)

// smRestart is domain C.4 with this order: snapshot, standbys one by one, then
// the master, then proof.
func smRestart(ctx workflow.Context, r *Run, in SMRestartInput) (SMRestartResult, error) {
	var out SMRestartResult
	survey, pairs, err := r.lookAtSMs(ctx)
	if err != nil {
		return out, err
	}
	if out.Before, err = r.sweep(ctx, survey.From, "remember LIDs and port states"); err != nil {
		return out, err
	}
	order := inRestartOrder(pairs, r.Plan.Hosts())
	for i, p := range order {
		r.Progress(ctx, i, len(order), "managers")
		if p.Seen.State == fabric.SMMaster {
			err = r.restartMaster(ctx, p, pairs, &out)
		} else {
			err = r.restartStandby(ctx, p, pairs)
		}
		if err != nil {
			return out, err
		}
		out.Restarted = append(out.Restarted, p.Service.Host)
	}
	r.Progress(ctx, len(order), len(order), "managers")
	return out, r.proveRestart(ctx, survey.From, &out)
}

// service orders the service manager of a host to do something, once however
// often this is repeated. What has been ordered is seen to its end: after a
// cancel the job would run on with nobody watching and the lease given back.
func (r *Run) service(ctx workflow.Context, host, step string, argv []string) error {
	lease, err := r.Lease(host)
	if err != nil {
		return err
	}
	free, stop := workflow.NewDisconnectedContext(ctx)
	defer stop()
	var done activities.JobDone
	if err := workflow.ExecuteActivity(jobOptions(free, serviceWithin), hosts.RunJob, activities.JobInput{
		Host: host, Lease: lease, ID: r.Req.Run + "-" + step + "-" + host, Argv: argv,
	}).Get(free, &done); err != nil {
		return err
	}
	if done.Exit != 0 {
		return refuse("%s on %s ended with status %d: %s", strings.Join(argv, " "), host, done.Exit, done.Output)
	}
	return nil
}

// watcher is the port of another planned manager, or the one the run looks
// from, so that a restarting host is never asked about itself.
func (r *Run) watcher(ctx workflow.Context, not string) (activities.Vantage, error) {
	var v activities.Vantage
	err := workflow.ExecuteActivity(lookOptions(ctx, 3*time.Minute), hosts.FindVantage, activities.VantageInput{Not: []string{not}}).Get(ctx, &v)
	return v, err
}

func (r *Run) await(ctx workflow.Context, in activities.AwaitInput) (activities.AwaitDone, error) {
	var done activities.AwaitDone
	err := workflow.ExecuteActivity(lookOptions(ctx, in.Within+time.Minute), hosts.AwaitSM, in).Get(ctx, &done)
	return done, err
}

func (r *Run) restartStandby(ctx workflow.Context, p smPair, all []smPair) error {
	host := p.Service.Host
	from, err := r.watcher(ctx, host)
	if err != nil {
		return err
	}
	if err := r.Step(ctx, host, "restart the standby", func() (string, error) {
		err := r.service(ctx, host, "restart", p.Service.Restart())
		if err != nil && ctx.Err() == nil {
			err = refuse("%s; the master was not touched", sentence(err))
		}
		return p.Service.Unit, err
	}); err != nil {
		return err
	}
	return r.Step(ctx, host, "wait until it stands by again", func() (string, error) {
		done, err := r.await(ctx, activities.AwaitInput{From: from, Any: []activities.SMRef{p.ref()}, State: fabric.SMStandby,
			Within: settleWithin, Steady: steadyPolls * p.Service.Poll, Service: host})
		if err != nil {
			return "", err
		}
		if done.Stopped {
			return "", refuse("opensm on %s was started but ended again (%s); the master was not touched. Look at the opensm log on %s", host, done.Last, host)
		}
		if !done.Reached {
			return "", refuse("%s did not come back as standby within %s (%s); the master was not touched. Look at the opensm log on %s", host, settleWithin, done.Last, host)
		}
		return "STANDBY", nil
	})
}

// restartMaster stops the master, waits until a standby has proven itself,
// and starts it again. Without a new master in time the old one is started at
// once, with the configuration it had.
func (r *Run) restartMaster(ctx workflow.Context, p smPair, all []smPair, out *SMRestartResult) error {
	host := p.Service.Host
	var heirs []activities.SMRef
	limit := time.Duration(0)
	for _, other := range all {
		if other.Service.Host != host && other.Service.Trouble == "" {
			heirs = append(heirs, other.ref())
			limit = max(limit, other.Service.Takeover)
		}
	}
	from, err := r.watcher(ctx, host)
	if err != nil {
		return err
	}
	if len(heirs) == 0 {
		return r.restartAlone(ctx, p, from, out)
	}
	begun := workflow.Now(ctx)
	ordered := false
	notStopped := r.Step(ctx, host, "stop the master", func() (string, error) {
		ordered = true
		return p.Service.Unit, r.service(ctx, host, "stop", p.Service.Stop())
	})
	if !ordered {
		return notStopped
	}
	// A stop that failed may still have stopped it, so it is not left at that.
	failed := notStopped
	taken := activities.AwaitDone{}
	if failed == nil {
		failed = r.awaitHeir(ctx, from, heirs, limit, &taken)
	}
	if failed == nil {
		took := workflow.Now(ctx).Sub(begun).Seconds()
		out.Handovers = append(out.Handovers, Handover{From: p.Seen.Name(), To: taken.SM.Name, Seconds: took})
		out.GapSeconds = max(out.GapSeconds, took)
	}
	// Started in any case, also after a failure or a cancel: the fabric must
	// not be left with one manager fewer than it had.
	free, stop := workflow.NewDisconnectedContext(ctx)
	defer stop()
	started := workflow.Now(free)
	want := fabric.SMStandby
	noHeir := failed != nil && notStopped == nil && !temporal.IsCanceledError(failed)
	if noHeir || outranks(p, all) {
		want = fabric.SMMaster
	}
	r.begin(free, host, "start the old master again")
	err = r.service(free, host, "start", p.Service.Start())
	if err == nil {
		var back activities.AwaitDone
		back, err = r.await(free, activities.AwaitInput{From: from, Any: []activities.SMRef{p.ref()}, State: want, Within: settleWithin, Service: host})
		switch {
		case err != nil:
		case back.Stopped:
			err = refuse("opensm on %s was started but ended again (%s); look at the opensm log there", host, back.Last)
		case !back.Reached:
			err = refuse("%s was started but is not %s within %s (%s); look at the opensm log there", host, want, settleWithin, back.Last)
		}
	}
	if err == nil && want == fabric.SMMaster && failed == nil {
		out.Handovers = append(out.Handovers, Handover{From: taken.SM.Name, To: p.Seen.Name(), Seconds: workflow.Now(free).Sub(started).Seconds()})
	}
	r.end(free, want.String(), err)
	switch {
	case failed == nil:
		return err
	case err != nil:
		return refuse("%s; and %s may be left without a running manager: %s", sentence(failed), host, sentence(err))
	}
	return failed
}

// awaitHeir waits until one of the standbys has proven itself as master.
func (r *Run) awaitHeir(ctx workflow.Context, from activities.Vantage, heirs []activities.SMRef, limit time.Duration, taken *activities.AwaitDone) error {
	// The abort rule of domain C.4: twice what the polling settings promise.
	return r.Step(ctx, "", "wait until a standby is master", func() (string, error) {
		var err error
		*taken, err = r.await(ctx, activities.AwaitInput{From: from, Any: heirs, State: fabric.SMMaster, Within: 2*limit + 10*time.Second})
		if err == nil && !taken.Reached {
			err = refuse("no standby became master within %s (%s)", 2*limit+10*time.Second, taken.Last)
		}
		return taken.SM.Name + " is MASTER and its activity count grows", err
	})
}

// restartAlone restarts a master that has no standby; allowed by -alone.
func (r *Run) restartAlone(ctx workflow.Context, p smPair, from activities.Vantage, out *SMRestartResult) error {
	host := p.Service.Host
	begun := workflow.Now(ctx)
	ordered := false
	err := r.Step(ctx, host, "restart the only manager", func() (string, error) {
		ordered = true
		return p.Service.Unit, r.service(ctx, host, "restart", p.Service.Restart())
	})
	if err != nil && ordered {
		// It may have been stopped before that failed, and there is no other.
		r.begin(ctx, host, "start the only manager")
		again := r.service(ctx, host, "start", p.Service.Start())
		r.end(ctx, p.Service.Unit, again)
		if again != nil {
			return refuse("%s; and then %s: the fabric may have no subnet manager. Look at the opensm log on %s now", sentence(err), sentence(again), host)
		}
	}
	if err != nil {
		return err
	}
	return r.Step(ctx, host, "wait until it is master again", func() (string, error) {
		done, err := r.await(ctx, activities.AwaitInput{From: from, Any: []activities.SMRef{p.ref()}, State: fabric.SMMaster, Within: settleWithin, Service: host})
		if err == nil && done.Stopped {
			err = refuse("opensm on %s was started but ended again (%s): the fabric has no subnet manager. Look at the opensm log there now", host, done.Last)
		}
		if err == nil && !done.Reached && !done.Stopped {
			err = refuse("%s did not become master within %s (%s): the fabric has no subnet manager. Look at the opensm log there now", host, settleWithin, done.Last)
		}
		out.GapSeconds = workflow.Now(ctx).Sub(begun).Seconds()
		return "MASTER", err
	})
}

// outranks reports whether p wins the election against all others: higher
// priority, then lower GUID (domain C.2).
func outranks(p smPair, all []smPair) bool {
	return !slices.ContainsFunc(all, func(o smPair) bool {
		return o.Seen.GUID != p.Seen.GUID && (o.Seen.Priority > p.Seen.Priority || o.Seen.Priority == p.Seen.Priority && o.Seen.GUID < p.Seen.GUID)
	})
}

// proveRestart compares the fabric with how it was (domain C.5).
func (r *Run) proveRestart(ctx workflow.Context, from activities.Vantage, out *SMRestartResult) error {
	var err error
	if out.Survey, err = r.survey(ctx, from); err != nil {
		return err
	}
	if out.After, err = r.sweep(ctx, from, "compare LIDs and port states"); err != nil {
		return err
	}
	if err := workflow.ExecuteActivity(lookOptions(ctx, time.Minute), hosts.CompareLIDs, activities.LIDInput{Before: out.Before.Discover, After: out.After.Discover}).Get(ctx, &out.LIDs); err != nil {
		return err
	}
	if err := workflow.ExecuteActivity(lookOptions(ctx, time.Minute), hosts.FindSMTrouble, out.Survey).Get(ctx, &out.Findings); err != nil {
		return err
	}
	var agree activities.Agreement
	if err := r.Step(ctx, "", "ask hosts on different leaves who is master", func() (string, error) {
		err := workflow.ExecuteActivity(lookOptions(ctx, 2*time.Minute), hosts.AskAround, from).Get(ctx, &agree)
		return agree.String(), err
	}); err != nil {
		return err
	}
	if !agree.One() {
		out.Findings = append(out.Findings, activities.Finding{Severity: activities.Fail, Text: "hosts do not agree on the master: " + agree.String(), Action: "sm status"})
	}
	out.judge()
	if bad := out.failures(); bad > 0 {
		return &PartlyError{"the managers are restarted, but look at " + count(bad, "finding")}
	}
	return nil
}

// judge adds what differs from before and sums up.
func (out *SMRestartResult) judge() {
	add := func(sev activities.Severity, format string, args ...any) {
		out.Findings = append(out.Findings, activities.Finding{Severity: sev, Text: fmt.Sprintf(format, args...)})
	}
	if n := out.After.Initializing + out.After.Armed; n > 0 {
		add(activities.Fail, "not Active yet: %s (%d Initializing, %d Armed)", count(n, "port"), out.After.Initializing, out.After.Armed)
	}
	for _, c := range out.LIDs.Changed {
		add(activities.Fail, "LID changed: %s", c)
	}
	for _, l := range out.LIDs.Lost {
		add(activities.Warn, "no longer on the fabric: %s", l)
	}
	for _, n := range out.LIDs.New {
		add(activities.Info, "new on the fabric: %s", n)
	}
	lids := fmt.Sprintf("%d LIDs unchanged", out.LIDs.Same)
	if n := len(out.LIDs.Changed); n > 0 {
		lids = fmt.Sprintf("%d LIDs changed", n)
	}
	ports := fmt.Sprintf("all %d ports Active", out.After.Active)
	if n := out.After.Initializing + out.After.Armed; n > 0 {
		ports = fmt.Sprintf("%d ports not Active", n)
	}
	gap := "the master stayed the same"
	if out.GapSeconds > 0 {
		gap = fmt.Sprintf("at most %.1f s without a master", out.GapSeconds)
	}
	out.Summary = fmt.Sprintf("%s restarted; %s; %s; %s", count(len(out.Restarted), "subnet manager"), gap, lids, ports)
}

func (out *SMRestartResult) failures() int {
	n := 0
	for _, f := range out.Findings {
		if f.Severity == activities.Fail {
			n++
		}
	}
	return n
}
