package activities

import (
	"strings"
	"testing"

	"github.com/fabricbot/fabricbot/fabric"
)

func TestJudgeSMs(t *testing.T) {
	master := SMSeen{GUID: 1, LID: 1, Priority: 14, State: fabric.SMMaster, Growing: true, Host: "node001", Planned: true}
	standby := SMSeen{GUID: 2, LID: 2, Priority: 13, State: fabric.SMStandby, Host: "node002", Planned: true}
	with := func(s SMSeen, change func(*SMSeen)) SMSeen { change(&s); return s }
	active := Vantage{Host: "node003", CA: "mlx5_0", Port: 1, State: fabric.PortActive}
	tests := []struct {
		name    string
		survey  SMSurvey
		planned []string
		// want are a severity and words per finding; none means a clean bill.
		want []string
	}{
		{"healthy", SMSurvey{From: active, SMs: []SMSeen{master, standby}, Believed: 1}, []string{"node001", "node002"}, nil},
		{"no_master", SMSurvey{From: active, SMs: []SMSeen{standby}}, []string{"node001"}, []string{"fail no subnet manager answers as master"}},
		{"no_sm_port_initializing", SMSurvey{From: Vantage{Host: "node003", State: fabric.PortInitializing}}, nil, []string{"fail no subnet manager: none answers and port node003"}},
		{"two_masters", SMSurvey{From: active, SMs: []SMSeen{master, with(standby, func(s *SMSeen) { s.State, s.Growing = fabric.SMMaster, true })}, Believed: 1}, []string{"node001"}, []string{"fail two masters: node001, node002"}},
		{"hangs", SMSurvey{From: active, SMs: []SMSeen{with(master, func(s *SMSeen) { s.Growing = false }), standby}, Believed: 1}, []string{"node001", "node002"}, []string{"fail node001 is master but its activity count stands"}},
		{"stale_belief", SMSurvey{From: active, SMs: []SMSeen{master, standby}, Believed: 9}, []string{"node001", "node002"}, []string{"warn port node003 mlx5_0/1 still believes in 0x0000000000000009"}},
		{"standby_missing", SMSurvey{From: active, SMs: []SMSeen{master}, Believed: 1}, []string{"node001", "node002"}, []string{"warn no subnet manager answers on node002, where one is planned"}},
		{"single_by_plan", SMSurvey{From: active, SMs: []SMSeen{master}, Believed: 1}, []string{"node001"}, []string{"warn no standby: when node001 stops"}},
		{"stray", SMSurvey{From: active, SMs: []SMSeen{master, standby, {GUID: 3, LID: 3, State: fabric.SMStandby, Node: "node017 mlx5_0"}}, Believed: 1}, []string{"node001", "node002"}, []string{"warn stray subnet manager on node017 mlx5_0 (STANDBY, priority 0)"}},
		{"equal_priorities", SMSurvey{From: active, SMs: []SMSeen{master, with(standby, func(s *SMSeen) { s.Priority = 14 })}, Believed: 1}, []string{"node001", "node002"}, []string{"warn equal priority 14 on node001, node002"}},
		{"weaker_master", SMSurvey{From: active, SMs: []SMSeen{with(master, func(s *SMSeen) { s.Priority = 3 }), standby}, Believed: 1}, []string{"node001", "node002"}, []string{"warn node002 (priority 13) stands by below master node001 (priority 3)"}},
		{"unanswered", SMSurvey{From: active, SMs: []SMSeen{master, standby}, Believed: 1, Trouble: "the SM port with LID 7 does not answer"}, []string{"node001", "node002"}, []string{"unknown the list may lack some: the SM port with LID 7"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := JudgeSMs(tt.survey, tt.planned)
			if len(got) != len(tt.want) {
				t.Fatalf("got %+v, want %q", got, tt.want)
			}
			for i, w := range tt.want {
				if line := string(got[i].Severity) + " " + got[i].Text; !strings.HasPrefix(line, w) {
					t.Errorf("got %q, want %q", line, w)
				}
			}
		})
	}
}
