package stories

import "testing"

func hostKeyChanged(t *testing.T) {
	s := open(t)
	s.fault("hostkey", "node006")
	// A connection that is open already is not asked for its key again.
	s.crash()
	s.whole("host inspect -hosts node[006-007]", "partly failed", "node006", "host key")
	s.whole("topology backup", "partly failed", "7 of 8 hosts answered", "node006", "key")
	// The old key again is no less suspicious: only a person ends it.
	s.heal("hostkey", "node006")
	s.whole("host inspect -hosts node006", "failed", "none of 1 hosts answered", "node006", "host key")
	s.crash()
	s.whole("host inspect -hosts node006", "done", "1 host")
}

func hostUnreachable(t *testing.T) {
	s := open(t)
	s.fault("partition", "node007")
	s.crash() // an open connection is first given its chance, for as long again
	s.whole("host inspect -hosts node[006-008]", "partly failed", "2 hosts", "No answer: node007", "did not answer within 10s")
	s.whole("topology backup", "partly failed", "7 of 8 hosts answered", "node007")
	s.heal("partition", "node007")
	s.whole("host inspect -hosts node[006-008]", "done", "3 hosts")
}

func TestClockTwoHoursOff(t *testing.T) {
	s := open(t)
	before := s.starts()
	s.fault("clock", standby, "+2h")
	s.fault("clock", "node003", "-2h")
	s.crash() // so that the sessions are new and live in the wrong time
	s.whole("host inspect -hosts node003,"+standby, "done", "2 hosts")
	r := s.ask("sm restart -hosts " + standby)
	s.approve(r)
	s.ends(r, "done", "1 subnet manager restarted")
	s.started(before, 0, 1)
}
