package figure

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"sync"
)

// Figure is one measured number. With a limit it passes or fails: Least bounds
// the ratio from below where there is a peer, else the value; Most bounds the
// ratio or the value from above.
type Figure struct {
	Name  string  `json:"figure"`
	Value float64 `json:"value"`
	Unit  string  `json:"unit"`
	// Against names the peer of the same run, Peer is its value in the same unit.
	Against string   `json:"against,omitempty"`
	Peer    *float64 `json:"peer,omitempty"`
	// Ratio says how many times better the value is than the peer's.
	Ratio *float64 `json:"ratio,omitempty"`
	Least *float64 `json:"least,omitempty"`
	Most  *float64 `json:"most,omitempty"`
	Pass  *bool    `json:"pass,omitempty"`
	// N is the number of rounds or samples behind the value.
	N    int    `json:"n"`
	Note string `json:"note,omitempty"`
}

// Faster compares two medians of times, in seconds.
func Faster(name, against string, ours, peers []float64, least float64) Figure {
	f := Figure{Name: name, Value: Median(ours), Unit: "s", Against: against, N: len(ours)}
	peer := Median(peers)
	ratio := peer / f.Value
	f.Peer, f.Ratio = &peer, &ratio
	if least > 0 {
		f.Least = &least
	}
	return f
}

// AtMost bounds a value that has no peer from above.
func AtMost(name string, value float64, unit string, most float64, n int) Figure {
	return Figure{Name: name, Value: value, Unit: unit, Most: &most, N: n}
}

// AtLeast bounds a value that has no peer from below.
func AtLeast(name string, value float64, unit string, least float64, n int) Figure {
	return Figure{Name: name, Value: value, Unit: unit, Least: &least, N: n}
}

// judged fills in Pass where there is a limit.
func (f Figure) judged() Figure {
	measured := f.Value
	if f.Ratio != nil {
		measured = *f.Ratio
	}
	if f.Least == nil && f.Most == nil {
		return f
	}
	pass := !math.IsNaN(measured)
	if f.Least != nil {
		pass = pass && measured >= *f.Least
	}
	if f.Most != nil {
		pass = pass && measured <= *f.Most
	}
	f.Pass = &pass
	return f
}

func (f Figure) rounded() Figure {
	f.Value = significant(f.Value)
	for _, p := range []**float64{&f.Peer, &f.Ratio} {
		if *p != nil {
			v := significant(**p)
			*p = &v
		}
	}
	return f
}

// significant keeps four digits: more would be noise.
func significant(v float64) float64 {
	if v == 0 || math.IsNaN(v) || math.IsInf(v, 0) {
		return v
	}
	scale := math.Pow(10, 3-math.Floor(math.Log10(math.Abs(v))))
	return math.Round(v*scale) / scale
}

// Sheet prints figures, one JSON line each. Its methods may be called at the
// same time.
type Sheet struct {
	mu      sync.Mutex
	out     io.Writer
	failed  []string
	skipped int
	err     error
}

// NewSheet prints to w.
func NewSheet(w io.Writer) *Sheet { return &Sheet{out: w} }

// Put judges and prints a figure. The limit is applied before rounding.
func (s *Sheet) Put(f Figure) {
	f = f.judged()
	if f.Pass != nil && !*f.Pass {
		s.mu.Lock()
		s.failed = append(s.failed, f.Name)
		s.mu.Unlock()
	}
	s.line(f.rounded())
}

// Skip prints a figure that was not measured, and why.
func (s *Sheet) Skip(name, why string) {
	s.mu.Lock()
	s.skipped++
	s.mu.Unlock()
	s.line(struct {
		Name string `json:"figure"`
		Why  string `json:"skipped"`
	}{name, why})
}

func (s *Sheet) line(v any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	enc := json.NewEncoder(s.out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil && s.err == nil {
		s.err = fmt.Errorf("printing a figure: %w", err)
	}
}

// Failed lists the figures outside their limit, in the order they were put.
func (s *Sheet) Failed() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.failed)
}

// Err is the first error of printing, such as a NaN, which JSON cannot hold.
func (s *Sheet) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}
