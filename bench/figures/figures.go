// Package figures is what the programs that measure have in common: quantiles, how a duration is
// written, a table, and the words that say on which machine it was measured and how busy that was.
//
// It owns no number of anybody's: what is measured, how, and the bars are each program's own. It
// never judges whether the product is right, only whether a quantile is below its bar. The programs
// in bench use it.
package figures

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"
)

// Quantile is the value below which the share q of the values lies; nearest rank, rounded up, so
// that it is always one that was measured and never better than it is. It is zero of no values.
func Quantile[T cmp.Ordered](values []T, q float64) T {
	var zero T
	if len(values) == 0 {
		return zero
	}
	sorted := slices.Sorted(slices.Values(values))
	i := int(math.Ceil(q*float64(len(sorted)))) - 1
	return sorted[min(max(i, 0), len(sorted)-1)]
}

// Median is the quantile of one half.
func Median[T cmp.Ordered](values []T) T { return Quantile(values, 0.5) }

// Milliseconds writes a duration in milliseconds with as many digits as mean something.
func Milliseconds(d time.Duration) string {
	v := InMilliseconds(d)
	switch {
	case v < 0.1:
		return fmt.Sprintf("%.3f ms", v)
	case v < 10:
		return fmt.Sprintf("%.2f ms", v)
	case v < 100:
		return fmt.Sprintf("%.1f ms", v)
	default:
		return fmt.Sprintf("%.0f ms", v)
	}
}

// InMilliseconds is a duration as a number of milliseconds.
func InMilliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// Per is the ratio of two durations, 0 to nothing.
func Per(a, b time.Duration) float64 {
	if b == 0 {
		return 0
	}
	return float64(a) / float64(b)
}

// Short writes a duration to the millisecond, with the unit that suits it.
func Short(d time.Duration) string { return d.Round(time.Millisecond).String() }
