package figure

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestQuantilesOfKnownValues(t *testing.T) {
	hundred := make([]float64, 100)
	for i := range hundred {
		hundred[i] = float64(100 - i)
	}
	for _, c := range []struct {
		name      string
		got, want float64
	}{
		{"median_odd", Median([]float64{9, 1, 5}), 5},
		{"median_even", Median([]float64{4, 1, 2, 9}), 3},
		{"p99_of_100", Quantile(hundred, 0.99), 99},
		{"p100", Quantile(hundred, 1), 100},
		{"p0", Quantile(hundred, 0), 1},
		{"p99_of_one", Quantile([]float64{7}, 0.99), 7},
	} {
		if c.got != c.want {
			t.Errorf("%s: got %v, want %v", c.name, c.got, c.want)
		}
	}
	if !math.IsNaN(Median(nil)) || !math.IsNaN(Quantile(nil, 0.5)) {
		t.Error("nothing measured must not read as a number")
	}
}

func TestSheetJudges(t *testing.T) {
	var out strings.Builder
	s := NewSheet(&out)
	s.Put(Faster("fast", "peer", []float64{1, 2, 3}, []float64{10, 12, 14}, 5))
	s.Put(Faster("slow", "peer", []float64{2}, []float64{9.98}, 5))
	s.Put(Faster("unlimited", "peer", []float64{2}, []float64{1}, 0))
	s.Put(AtMost("small", 3, "s", 3, 5))
	s.Put(AtMost("large", 3.1, "s", 3, 5))
	s.Put(AtLeast("rate", 99.99999, "MB/s", 100, 5))
	s.Skip("absent", "no <peer> here")
	want := `{"figure":"fast","value":2,"unit":"s","against":"peer","peer":12,"ratio":6,"least":5,"pass":true,"n":3}
{"figure":"slow","value":2,"unit":"s","against":"peer","peer":9.98,"ratio":4.99,"least":5,"pass":false,"n":1}
{"figure":"unlimited","value":2,"unit":"s","against":"peer","peer":1,"ratio":0.5,"n":1}
{"figure":"small","value":3,"unit":"s","most":3,"pass":true,"n":5}
{"figure":"large","value":3.1,"unit":"s","most":3,"pass":false,"n":5}
{"figure":"rate","value":100,"unit":"MB/s","least":100,"pass":false,"n":5}
{"figure":"absent","skipped":"no <peer> here"}
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"slow", "large", "rate"}, s.Failed()); diff != "" {
		t.Errorf("failed (-want +got):\n%s", diff)
	}
	if s.Err() != nil {
		t.Errorf("error %v", s.Err())
	}
	s.Put(AtMost("nothing", Median(nil), "s", 1, 0))
	if s.Err() == nil {
		t.Error("a figure without a value must be an error")
	}
}

func TestRoundsTakeTurns(t *testing.T) {
	var order []string
	add := func(name string, d time.Duration) Contender {
		return Contender{name, func(context.Context) (Sample, error) {
			order = append(order, name)
			return Sample{Wall: d, CPU: 2 * d}, nil
		}}
	}
	settled := 0
	got, err := Rounds(t.Context(), 3, []Contender{add("a", time.Second), add("b", 2*time.Second), add("c", 0)}, func(context.Context) error { settled++; return nil })
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff("a b c b c a c a b", strings.Join(order, " ")); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
	if settled != 9 {
		t.Errorf("settled %d times, want 9", settled)
	}
	if diff := cmp.Diff([]float64{2, 2, 2}, Walls(got["b"])); diff != "" {
		t.Errorf("walls (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]float64{4, 4, 4}, CPUs(got["b"])); diff != "" {
		t.Errorf("processor times (-want +got):\n%s", diff)
	}
	broken := Contender{"broken", func(context.Context) (Sample, error) { return Sample{}, errors.New("127 of 128 answered") }}
	if _, err := Rounds(t.Context(), 2, []Contender{broken}, nil); err == nil || !strings.Contains(err.Error(), "round 1 of broken: 127 of 128") {
		t.Errorf("a contender that did not do the work must stop the run: %v", err)
	}
}
