package activities

import (
	"strings"
	"testing"
)

func TestWithholdKeys(t *testing.T) {
	conf := "# opensm\nguid 0x0000000000100001\nsm_key 0x00000000deadbeef\nm_key 0x0000000000000000\n  sa_key   0x1234abcd\nsm_priority 14\n"
	got := string(withholdKeys([]byte(conf)))
	for _, secret := range []string{"deadbeef", "1234abcd"} {
		if strings.Contains(got, secret) {
			t.Errorf("the key %s is still there:\n%s", secret, got)
		}
	}
	for _, keep := range []string{"# opensm\n", "guid 0x0000000000100001\n", "sm_priority 14\n", "sm_key (withheld)\n"} {
		if !strings.Contains(got, keep) {
			t.Errorf("%q is gone:\n%s", keep, got)
		}
	}
}

func TestWithoutDate(t *testing.T) {
	text := "#\n# Topology file: generated on Tue Dec  1 06:51:00 2026\n#\n# Initiated from node x port y\n\nvendid=0x2c9\n"
	if got := string(withoutDate([]byte(text))); strings.Contains(got, "generated on") || !strings.Contains(got, "Initiated from") {
		t.Errorf("got %q", got)
	}
	if got := string(withoutDate([]byte("no date\n"))); got != "no date\n" {
		t.Errorf("got %q", got)
	}
}
