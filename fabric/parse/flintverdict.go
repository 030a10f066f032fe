package parse

import (
	"slices"
	"strings"
)

// flintClasses orders flint's reasons by the words they hold; the first that
// matches any error of the run names the class.
var flintClasses = []struct{ class, words string }{
	{"aborted_by_user", "aborted by user"},
	{"pending_reset", "already updated on flash"}, // done before: only the reset is left
	{"semaphore_locked", "semaphore"},
	{"encrypted_image_refused", "encrypted image"},
	{"encrypted_image_refused", "non-encrypted image"},
	{"flash_write_protected", "write protected"},
	{"image_restricted", "is restricted"},
	{"psid_mismatch", "psid"},
	{"security_version_refused", "security version"},
	{"signature_rejected", "signature"},
	{"signature_rejected", "signed"},
	{"signature_rejected", "secure"},
	{"cannot_open_device", "cannot open device"},
	{"cannot_open_device", "no such device"},
	{"cannot_open_image", "cannot open image"},
	{"cannot_open_image", "failed to open"},
	{"image_verification_failed", "verification failed"},
	{"wrong_image", "does not contain"},
	{"wrong_image", "image is meant for"},
	{"wrong_image", "device type"},
	{"query_failed", "query"},
	{"rom_failed", "rom failed"},
	{"burn_failed", "burn"},
	{"usage", "unknown option"},
	{"usage", "invalid switch"},
	{"usage", "invalid command"},
}

// judge says what the session as a whole proves.
func (rep *FlintReport) judge() {
	rep.arrange()
	defer func() {
		if len(rep.Queries) < 2 {
			rep.Queries = nil // it stands where arrange put it
		}
		rep.Incomplete = rep.Outcome == Truncated
	}()
	switch {
	case rep.Error != "" && rep.reason() == "pending_reset":
		rep.is(NeedsAction, "pending_reset")
	case rep.Error != "":
		rep.is(Failed, rep.reason())
	case rep.declined():
		rep.is(Failed, "aborted_by_user")
	case rep.unanswered && len(rep.StepsOK) == 0 && rep.Step == "":
		rep.is(Truncated, "waiting_for_answer")
	case rep.skipped:
		rep.is(Succeeded, "same_version")
	case rep.Step != "":
		rep.is(Truncated, "burning")
	case rep.FWTo != "" || len(rep.StepsOK) > 0:
		rep.judgeBurn()
	case rep.burn:
		rep.is(Truncated, "burning")
	case rep.Verified:
		rep.is(Succeeded, "image_verified")
	case len(rep.Queries) > 0:
		rep.is(Succeeded, "query")
		if !rep.Queries[len(rep.Queries)-1].whole() {
			rep.is(Truncated, "query")
		}
	case rep.ExtraError != "":
		rep.Error = rep.ExtraError
		rep.is(Failed, "error")
	default:
		rep.is(Truncated, "")
	}
}

func (rep *FlintReport) reason() string {
	for _, c := range flintClasses {
		for _, e := range rep.Errors {
			if strings.Contains(strings.ToLower(e), c.words) {
				return c.class
			}
		}
	}
	if len(rep.Errors) == 0 {
		return "not_run" // the shell's own complaint
	}
	return "error"
}

// judgeBurn decides a run without an error: the step that ends a burn is the
// signature, or, where firmware itself controls the burn, the hint that
// follows the component.
func (rep *FlintReport) judgeBurn() {
	signed := slices.ContainsFunc(rep.StepsOK, func(s string) bool { return strings.HasPrefix(s, "Restoring signature") })
	begun := func(words string) bool {
		return slices.ContainsFunc(rep.StepsOK, func(s string) bool { return strings.Contains(s, words) })
	}
	switch {
	case begun("Removing ROM") && signed:
		rep.is(Succeeded, "rom_removed")
	case begun("Burning ROM") && signed:
		rep.is(Succeeded, "rom_burned")
	case begun(" ROM"):
		rep.is(Truncated, "burning")
	case signed, rep.NextStep != "", begun("Writing"), begun("image component"):
		rep.is(Succeeded, "burned_reboot_needed")
	default:
		rep.is(Truncated, "burning")
	}
}

// arrange puts the queries where readers look for them.
func (rep *FlintReport) arrange() {
	alone := rep.FWTo == "" && len(rep.StepsOK) == 0 && rep.Error == "" && rep.Step == ""
	for _, q := range rep.Queries {
		switch {
		case alone && rep.FlintQuery == nil:
			rep.FlintQuery = q
		case alone:
		case q.image():
			rep.ImageQuery = q
		default:
			rep.Query = q
		}
	}
}
