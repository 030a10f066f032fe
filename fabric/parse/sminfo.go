package parse

import (
	"io"
	"strconv"
	"strings"

	"github.com/fabricbot/fabricbot/fabric"
)

// SMInfoReport is what one or several runs of sminfo print. No line and no
// Error together do not occur: such a text is ErrNotUnderstood.
type SMInfoReport struct {
	Trouble
	SMs []SMInfoRow `json:"sms"`
}

// SMInfoRow is one answer, in the tool's own words.
type SMInfoRow struct {
	LID       fabric.LID     `json:"lid"`
	GUID      string         `json:"guid"`
	Activity  uint64         `json:"activity"`
	Priority  uint8          `json:"priority"`
	State     fabric.SMState `json:"-"`
	StateNum  uint8          `json:"state"`
	StateName string         `json:"state_name"`
}

// SM returns the row as the fabric's noun.
func (r SMInfoRow) SM() fabric.SM {
	g, _ := fabric.ParseGUID(r.GUID)
	return fabric.SM{GUID: g, LID: r.LID, Priority: r.Priority, ActivityCount: r.Activity, State: r.State}
}

// SMInfo reads
//
//	sminfo: sm lid 16 sm guid 0x100013, activity count 788 priority 12 state 3 SMINFO_MASTER
func SMInfo(r io.Reader) (*SMInfoReport, error) {
	s := newLines(r)
	rep := &SMInfoReport{SMs: []SMInfoRow{}}
	for line, ok := s.text(); ok; line, ok = s.text() {
		_, rest, ok := strings.Cut(line, "sm lid ")
		if !ok {
			rep.complained(line)
			continue
		}
		row, ok := sminfoRow(strings.Fields(rest))
		if !ok {
			rep.Incomplete = true
			continue
		}
		rep.SMs = append(rep.SMs, row)
	}
	return rep, rep.ended(s, len(rep.SMs) > 0 || rep.Incomplete)
}

var _ = tool(SMInfo, "sminfo")

// sminfoRow reads the words behind "sm lid": the LID, then pairs of a name
// that may be two words and its value. All of them must be there.
func sminfoRow(w []string) (SMInfoRow, bool) {
	var row SMInfoRow
	if len(w) < 11 || w[1] != "sm" || w[2] != "guid" || w[4] != "activity" || w[5] != "count" || w[7] != "priority" || w[9] != "state" {
		return row, false
	}
	lid, err1 := fabric.ParseLID(w[0])
	row.LID = lid
	row.GUID = strings.TrimSuffix(w[3], ",")
	_, err2 := fabric.ParseGUID(row.GUID)
	activity, err3 := strconv.ParseUint(w[6], 10, 64)
	priority, err4 := strconv.ParseUint(w[8], 10, 8)
	state, err5 := strconv.ParseUint(w[10], 10, 8)
	if err1 != nil || err2 != nil || err3 != nil || err4 != nil || err5 != nil {
		return row, false
	}
	row.Activity, row.Priority, row.StateNum, row.State = activity, uint8(priority), uint8(state), fabric.SMState(state)
	if len(w) > 11 {
		row.StateName = w[11]
	}
	return row, true
}
