package activities

import (
	"encoding/json"
	"testing"

	"github.com/fabricbot/fabricbot/fabric"
)

// A result crosses places that do not know its type; a GUID that became a
// float64 on the way would come back as another device.
func TestDataKeepsEveryDigit(t *testing.T) {
	type result struct {
		GUID  fabric.GUID `json:"guid"`
		Count uint64      `json:"count"`
	}
	want := result{GUID: 0x506b4b0300d5e6a6, Count: 5794807821812630182}
	d, err := Pack(want)
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(View{Result: d})
	if err != nil {
		t.Fatal(err)
	}
	var v View
	if err := json.Unmarshal(b, &v); err != nil {
		t.Fatal(err)
	}
	var got result
	if err := v.Result.Unpack(&got); err != nil || got != want {
		t.Errorf("got %+v, %v; want %+v", got, err, want)
	}
}

func TestUnpackRefusesWhatItDoesNotKnow(t *testing.T) {
	var in struct {
		Hosts string `json:"hosts"`
	}
	if err := Data(`{"hosts":"node001","force":true}`).Unpack(&in); err == nil {
		t.Error("a field that this version does not know was dropped silently")
	}
	if err := Data(nil).Unpack(&in); err == nil {
		t.Error("nothing was unpacked without an error")
	}
}

func TestPlanHash(t *testing.T) {
	plan := func(change func(*Plan)) string {
		p := Plan{Summary: "restart 1", Changes: []PlanLine{{Host: "node001", What: "restart"}}, Facts: map[string]string{"a": "1", "b": "2"}}
		change(&p)
		if err := p.Seal(); err != nil {
			t.Fatal(err)
		}
		return p.Hash
	}
	same := plan(func(*Plan) {})
	if plan(func(*Plan) {}) != same || plan(func(p *Plan) { p.Hash = "forged" }) != same {
		t.Error("equal plans have different hashes")
	}
	for name, change := range map[string]func(*Plan){
		"target": func(p *Plan) { p.Changes[0].Host = "node002" },
		"effect": func(p *Plan) { p.Effects = []string{"x"} },
		"fact":   func(p *Plan) { p.Facts["b"] = "3" },
	} {
		if plan(change) == same {
			t.Errorf("another %s has the same hash", name)
		}
	}
}
