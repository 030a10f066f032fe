// Package figure is the arithmetic and the shape of benchmark results: rounds
// in which contenders take turns, medians, quantiles, and one JSON line per
// figure with its limit.
//
// It knows nothing of what is measured. Start at [Rounds] and [Figure].
package figure
