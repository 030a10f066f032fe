package figure

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"
)

// Sample is one measured run.
type Sample struct {
	Wall time.Duration
	// CPU is the processor time of the contender's own processes, where known.
	CPU time.Duration
}

// Contender is one of those who take turns. Run does the whole work once,
// checks that it was really done, and reports what it took.
type Contender struct {
	Name string
	Run  func(context.Context) (Sample, error)
}

// Rounds lets every contender run n times. They take turns, and each round
// begins with another of them, so that none always follows the same one and
// a slow minute of the machine hits all. settle, if set, runs before each
// turn, outside the measured time.
func Rounds(ctx context.Context, n int, contenders []Contender, settle func(context.Context) error) (map[string][]Sample, error) {
	taken := map[string][]Sample{}
	for round := range n {
		for i := range contenders {
			c := contenders[(round+i)%len(contenders)]
			if settle != nil {
				if err := settle(ctx); err != nil {
					return nil, fmt.Errorf("waiting before %s: %w", c.Name, err)
				}
			}
			s, err := c.Run(ctx)
			if err != nil {
				return nil, fmt.Errorf("round %d of %s: %w", round+1, c.Name, err)
			}
			taken[c.Name] = append(taken[c.Name], s)
		}
	}
	return taken, nil
}

// Walls are the samples' wall times in seconds.
func Walls(s []Sample) []float64 {
	out := make([]float64, len(s))
	for i := range s {
		out[i] = s[i].Wall.Seconds()
	}
	return out
}

// CPUs are the samples' processor times in seconds.
func CPUs(s []Sample) []float64 {
	out := make([]float64, len(s))
	for i := range s {
		out[i] = s[i].CPU.Seconds()
	}
	return out
}

// Median is the middle value, or the mean of the two in the middle; NaN
// without values.
func Median(v []float64) float64 {
	if len(v) == 0 {
		return math.NaN()
	}
	v = slices.Sorted(slices.Values(v))
	mid := len(v) / 2
	if len(v)%2 == 1 {
		return v[mid]
	}
	return (v[mid-1] + v[mid]) / 2
}

// Quantile is the smallest value that at least the fraction q of all values
// does not exceed (the nearest-rank definition); NaN without values.
func Quantile(v []float64, q float64) float64 {
	if len(v) == 0 {
		return math.NaN()
	}
	v = slices.Sorted(slices.Values(v))
	rank := int(math.Ceil(q * float64(len(v))))
	return v[min(max(rank, 1), len(v))-1]
}
