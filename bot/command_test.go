package bot

import (
	"errors"
	"strings"
	"testing"

	"github.com/fabricbot/fabricbot/activities"
	"github.com/fabricbot/fabricbot/op"
	"github.com/fabricbot/fabricbot/testsuite/slackemu"
)

func TestCommandBecomesOneMessage(t *testing.T) {
	h := open(t)
	r := h.slash(anna, "sm status")
	if r.Reply != nil {
		t.Errorf("the acknowledgement says %s beside the run's message", dump(r.Reply))
	}
	h.until("the run's message", func(s slackemu.State) bool { return len(tops(s, ops)) == 1 })
	h.runs.wait()
	m := tops(h.slack.State(), ops)[0]
	for _, want := range []string{"*done*", "*sm status*", "<@" + anna + ">", "node001 is master", "&lt;!channel&gt; equal priorities", "→ sm handover"} {
		if !strings.Contains(all(m), want) {
			t.Errorf("the message lacks %q: %s", want, all(m))
		}
	}
	if len(buttons(m)) > 0 || len(m.Blocks) > 6 {
		t.Errorf("a finished run has buttons or %d blocks", len(m.Blocks))
	}
	if v, n := h.runs.only(); n != 1 || v.By.ID != team+":"+anna || v.Place.Channel != ops {
		t.Errorf("started %d times; view %+v", n, v)
	}
}

func TestRedeliveryIsOneRun(t *testing.T) {
	h := open(t)
	if err := h.slack.Inject(slackemu.Fault{Kind: slackemu.FaultDuplicate, Count: 1}); err != nil {
		t.Fatal(err)
	}
	h.slash(anna, "sm status")
	h.until("both deliveries acknowledged", func(s slackemu.State) bool {
		n := 0
		for _, d := range s.Deliveries {
			if d.Outcome == slackemu.Acked {
				n++
			}
		}
		return n == 2 && len(tops(s, ops)) == 1
	})
	if _, n := h.runs.only(); n != 1 {
		t.Errorf("the run was started %d times", n)
	}
}

func TestSameCommandTwiceJoins(t *testing.T) {
	h := open(t)
	h.slash(anna, "sm restart")
	h.until("the first run", func(s slackemu.State) bool { return len(tops(s, ops)) == 1 })
	h.runs.wait()
	h.slash(ben, "sm restart")
	h.told(ben, "already running as run")
	h.told(ben, "/archives/")
	if n := len(tops(h.slack.State(), ops)); n != 1 {
		t.Errorf("%d messages in the channel", n)
	}
}

func TestNoWorkerIsSaid(t *testing.T) {
	h := open(t)
	h.runs.idle = true
	h.slash(anna, "sm status")
	h.told(anna, "no worker has taken it up yet")
}

func TestRefusals(t *testing.T) {
	tests := []struct {
		name, user, channel, text, want string
		access                          error
	}{
		{"nearest", anna, ops, "sm statsu", `did you mean \"sm status\"`, nil},
		{"example", anna, ops, "sm restart -alon", "/fabric sm restart", nil},
		{"quote", anna, ops, "sm 'status", "A quote is not closed", nil},
		{"injection", anna, ops, "<!channel> `x` <@U07ADMIN>", "&lt;!channel&gt;", nil},
		{"rights", viewer, ops, "sm restart", "No rule allows it to <@U07VIEWER> in <#C07FABOPS>; see `help`", errors.New("no rule allows it to T07FABRIC:U07VIEWER in channel C07FABOPS; see `help`")},
		{"positional", anna, ops, "runs show", "RUN is missing.", nil},
		{"foreign-person", guest, "C07SHARED", "sm status", "own workspace", nil},
		{"shared-channel", anna, "C07SHARED", "sm status", "outside of this workspace", nil},
		{"private-without-me", anna, "C07SECRET", "sm status", "/invite @fabricbot", nil},
		{"public-without-me", anna, "C07RANDOM", "sm status", "/invite @fabricbot", nil},
	}
	h := open(t)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h.allow(func(activities.Person, activities.Place, op.Entry) error { return tt.access })
			if _, err := h.slack.Slash(tt.user, tt.channel, "/fabric "+tt.text); err != nil {
				t.Fatal(err)
			}
			h.told(tt.user, tt.want)
			if _, n := h.runs.only(); n != 0 {
				t.Error("something was started")
			}
		})
	}
	for _, w := range h.slack.State().Warnings {
		t.Errorf("slack warns: %s", w)
	}
}

func TestChannelMustBeListed(t *testing.T) {
	h := open(t)
	h.bot.channels = map[string]bool{}
	h.slash(anna, "sm status")
	h.told(anna, "does not listen in this channel")
}

func TestInvitationCountsAtOnce(t *testing.T) {
	h := open(t)
	if _, err := h.slack.Slash(anna, "C07RANDOM", "/fabric sm status"); err != nil {
		t.Fatal(err)
	}
	h.told(anna, "/invite @fabricbot")
	h.slack.SetBotMember("C07RANDOM", true)
	if _, err := h.slack.Slash(anna, "C07RANDOM", "/fabric sm status"); err != nil {
		t.Fatal(err)
	}
	h.until("the run's message", func(s slackemu.State) bool { return len(tops(s, "C07RANDOM")) == 1 })
}

func TestHelp(t *testing.T) {
	h := open(t)
	h.slash(anna, "")
	h.told(anna, "`sm restart` restart the subnet managers")
	h.slash(anna, "help sm restart")
	h.told(anna, "sm restart [-hosts HOSTS]")
	h.slash(anna, "help sm")
	h.told(anna, "`sm status`")
	// Who and where are known now, so mistakes and help are answered by the
	// acknowledgement itself.
	for text, want := range map[string]string{"help sm rstart": "did you mean", "help": "`sm restart`", "runs show": "RUN is missing."} {
		if r := h.slash(anna, text); r.Reply == nil || r.Reply.Via != "ack" || !strings.Contains(all(*r.Reply), want) {
			t.Errorf("%s: the acknowledgement is %s, want %q", text, dump(r.Reply), want)
		}
	}
}

func TestControlWordsAnswerPrivately(t *testing.T) {
	h := open(t)
	h.slash(anna, "sm restart")
	h.until("the run", func(s slackemu.State) bool { return len(tops(s, ops)) == 1 })
	v, _ := h.runs.only()
	h.slash(anna, "runs list")
	h.told(anna, "`"+short(v.Run)+"` *sm restart* waiting for approval")
	h.slash(anna, "runs show "+v.Run)
	h.told(anna, "no new paths for about 20 s")
	h.slash(anna, "runs show <!here>")
	h.told(anna, "There is no run &lt;&lt;!here&gt;&gt;")
	h.slash(anna, "freeze until Friday")
	h.told(anna, "Done &amp; dusted")
	h.until("the channel to know", func(s slackemu.State) bool {
		m := tops(s, ops)
		return strings.Contains(all(m[len(m)-1]), "frozen* by <@"+anna+">: until Friday")
	})
	if n := len(tops(h.slack.State(), ops)); n != 2 {
		t.Errorf("%d messages in the channel", n)
	}
}

func TestMentionInThread(t *testing.T) {
	h := open(t)
	if _, err := h.slack.Say(anna, ops, "", "@fabricbot sm status"); err != nil {
		t.Fatal(err)
	}
	h.until("the run's message", func(s slackemu.State) bool { return len(tops(s, ops)) == 1 })
	parent := tops(h.slack.State(), ops)[0].TS
	if _, err := h.slack.Say(anna, ops, parent, "@fabricbot help sm status"); err != nil {
		t.Fatal(err)
	}
	h.told(anna, "sm status [-from FROM]")
}

func TestOldRequestsAreNotCarriedOut(t *testing.T) {
	h := open(t)
	a := ask{key: "k", team: team, user: anna, channel: ops, text: "sm status", private: private{user: anna, channel: ops}}
	a.at = h.bot.o.Clock.Now().Add(-6 * 60 * 1e9)
	h.bot.command(t.Context(), a)
	h.told(anna, "reaches me only now")
	if _, n := h.runs.only(); n != 0 {
		t.Error("an old request was carried out")
	}
}
