package bot

import (
	"fmt"
	"strings"
)

// Slack's limits in characters (runes) unless the name says otherwise. Source:
// docs.slack.dev/reference/block-kit, read in its stored copy of August 2026.
const (
	limitBlocks      = 50   // blocks in a message: /block-kit/blocks
	limitSection     = 3000 // section.text
	limitContext     = 3000 // one text object of a context block
	limitButton      = 75   // button.text; the display cuts near 30
	limitValue       = 2000 // button.value
	limitConfirmHead = 100  // confirm.title
	limitConfirmText = 300  // confirm.text
	limitConfirmWord = 30   // confirm.confirm and confirm.deny
	limitModalTitle  = 24   // view.title, view.submit, view.close
	limitLabel       = 2000 // input.label
	limitInput       = 3000 // plain_text_input.max_length
	limitPrivate     = 3000 // view.private_metadata
	limitAltText     = 1000 // files.getUploadURLExternal alt_txt
	limitImageTitle  = 2000 // image.title
	limitHint        = 1000 // manifest slash command usage_hint
	limitCommandDoc  = 2000 // manifest slash command description

	// chat.update refuses text above 4,000 with msg_too_long; one team measured
	// UTF-8 bytes (docs.slack.dev/reference/methods/chat.update).
	limitTextBytes = 4000
	// All text of all blocks: undocumented, msg_blocks_too_long was seen at
	// 13,172 (slackapi/bolt-js issue 2509); a margin is kept.
	limitAllBlocks = 12000
	// A socket frame at or above 20,480 bytes closes the socket; an ack is kept
	// far below (slack-go/slack issue 1196).
	limitAckBytes = 16 << 10
)

// Our own, tighter sizes: the payload of a click echoes the whole message, and
// large ones made buttons dead (vercel/eve issue 1909).
const (
	maxNotification = 150
	maxPlan         = 2500
	maxSteps        = 1800
	maxResult       = 2500
	maxFindings     = 2000
)

// fitLines cuts mrkdwn at line ends to so many runes and says how many lines
// are missing.
func fitLines(s string, runes int) string {
	if count(s) <= runes {
		return s
	}
	const room = 40 // for the line that says what is missing
	lines := strings.Split(s, "\n")
	used, kept := 0, 0
	for _, l := range lines {
		if used+count(l)+1 > runes-room {
			break
		}
		used += count(l) + 1
		kept++
	}
	if kept == 0 {
		return fitText(s, runes)
	}
	out := closed(strings.Join(lines[:kept], "\n"))
	return out + fmt.Sprintf("\n… and %d more lines", len(lines)-kept)
}

// fitText cuts mrkdwn to so many runes without leaving half an entity, half a
// mention or an open code span behind.
func fitText(s string, runes int) string {
	r := []rune(s)
	if len(r) <= runes {
		return s
	}
	const room = 6 // "…" and what closes a code block
	cut := string(r[:max(0, runes-room)])
	if i := strings.LastIndexByte(cut, '<'); i > strings.LastIndexByte(cut, '>') {
		cut = cut[:i]
	}
	if i := strings.LastIndexByte(cut, '&'); i >= 0 && !strings.Contains(cut[i:], ";") {
		cut = cut[:i]
	}
	return closed(strings.TrimRight(cut, " \n") + "…")
}

// closed closes a code block or code span that was cut open.
func closed(s string) string {
	if strings.Count(s, "```")%2 == 1 {
		return s + "\n```"
	}
	if strings.Count(strings.ReplaceAll(s, "```", ""), "`")%2 == 1 {
		return s + "`"
	}
	return s
}

// fitPlain cuts text that carries no markup.
func fitPlain(s string, runes int) string {
	if r := []rune(s); len(r) > runes {
		return string(r[:max(0, runes-1)]) + "…"
	}
	return s
}

// fitBytes cuts mrkdwn to so many bytes.
func fitBytes(s string, bytes int) string {
	for n := count(s); len(s) > bytes; n = n * 9 / 10 {
		s = fitText(s, n)
	}
	return s
}

func count(s string) int { return len([]rune(s)) }
