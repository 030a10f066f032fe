package fabrictest

import (
	"testing"

	"github.com/fabricbot/fabricbot/fabric"
)

func TestFatTreeIsHealthy(t *testing.T) {
	for hosts, want := range map[int]fabric.Counts{
		0:   {CAs: 1, Switches: 1, Links: 1},
		20:  {CAs: 20, Switches: 1, Links: 20},
		21:  {CAs: 21, Switches: 22, Links: 21 + 2*20},
		400: {CAs: 400, Switches: 40, Links: 800},
		401: {CAs: 401, Switches: 400 + 40 + 21, Links: 401 + 21*20 + 2*400},
	} {
		top := FatTree(hosts)
		if got := top.Counts(); got != want {
			t.Errorf("%d hosts: got %+v, want %+v", hosts, got, want)
		}
		if p := top.Validate(); len(p) != 0 {
			t.Errorf("%d hosts: %d problems, first %+v", hosts, len(p), p[0])
		}
	}
}
