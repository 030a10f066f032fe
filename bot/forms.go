package bot

import (
	"fmt"
	"strings"

	"github.com/slack-go/slack"

	"github.com/fabricbot/fabricbot/activities"
)

// Forms and their one input.
const (
	formDeny    = "deny"
	formApprove = "approve-typed"
	inputBlock  = "answer"
	inputAction = "answer"
)

// maxReason bounds a reason: it goes into the message and the audit log.
const maxReason = 500

func form(title, submit, callback, private string, blocks ...slack.Block) slack.ModalViewRequest {
	v := slack.ModalViewRequest{
		Type: slack.VTModal, Title: plain(title, limitModalTitle), Close: plain("Go back", limitModalTitle),
		CallbackID: callback, PrivateMetadata: fitPlain(private, limitPrivate), Blocks: slack.Blocks{BlockSet: blocks},
	}
	if submit != "" {
		v.Submit = plain(submit, limitModalTitle)
	}
	return v
}

// carried is what a form remembers: the button and the channel it was in.
func carried(p pressed, channel string) string { return p.value() + "|" + channel }

func parseCarried(s string) (p pressed, channel string, err error) {
	i := strings.LastIndexByte(s, '|')
	if i < 0 {
		i = 0
	}
	p, err = parsePressed(s[:i])
	return p, strings.TrimPrefix(s[i:], "|"), err
}

// denyForm asks for the reason of a refusal.
func denyForm(p pressed, channel string) slack.ModalViewRequest {
	in := slack.NewPlainTextInputBlockElement(plain("why, for the record", 150), inputAction)
	in.Multiline, in.MaxLength, in.MinLength = true, maxReason, 1
	return form("Deny run "+short(p.Run), "Deny", formDeny, carried(p, channel),
		slack.NewInputBlock(inputBlock, plain("Reason", limitLabel), nil, in))
}

// waitForm holds the trigger until the plan is known.
func waitForm(title string) slack.ModalViewRequest {
	return form(title, "", "", "", section("⏳ looking at the plan …"))
}

// typeForm asks to type how many hosts are meant.
func typeForm(p pressed, channel string, v activities.View) slack.ModalViewRequest {
	in := slack.NewPlainTextInputBlockElement(nil, inputAction)
	in.MaxLength = 20
	return form("Approve run "+short(p.Run), "Approve", formApprove, carried(p, channel),
		section(string(say("%s", effect(v)))),
		slack.NewInputBlock(inputBlock, plain("Type how many hosts this changes", limitLabel), nil, in))
}

// refusedForm says in an open form why it cannot be used.
func refusedForm(err error) slack.ModalViewRequest {
	return form("Not possible", "", "", "", section(string(reason(err))))
}

// typed is the answer in a form.
func typed(v slack.View) string {
	if v.State == nil {
		return ""
	}
	return strings.TrimSpace(v.State.Values[inputBlock][inputAction].Value)
}

// meant reports whether the words typed are the number of hosts of the plan.
func meant(v activities.View, answer string) bool {
	return v.Plan != nil && answer == fmt.Sprint(len(v.Plan.Hosts()))
}
