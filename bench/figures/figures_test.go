package figures

import (
	"strings"
	"testing"
	"time"
)

func TestQuantilesAreMeasuredValues(t *testing.T) {
	t.Parallel()
	values := []int{5, 1, 4, 2, 3}
	for q, want := range map[float64]int{0: 1, 0.5: 3, 0.6: 3, 0.61: 4, 0.99: 5, 1: 5} {
		if got := Quantile(values, q); got != want {
			t.Errorf("Quantile(%v, %v) = %d, want %d", values, q, got, want)
		}
	}
	if got := Median([]int(nil)); got != 0 {
		t.Errorf("Median of nothing = %d, want 0", got)
	}
	if values[0] != 5 {
		t.Errorf("Quantile has sorted its argument")
	}
}

func TestDurationsKeepTheDigitsThatMeanSomething(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		12345: "0.012 ms", 123 * time.Microsecond: "0.12 ms", 45678 * time.Microsecond: "45.7 ms", 1234567 * time.Microsecond: "1235 ms",
	} {
		if got := Milliseconds(d); got != want {
			t.Errorf("Milliseconds(%s) = %q, want %q", d, got, want)
		}
	}
}

func TestASpreadKeepsBothOfItsBars(t *testing.T) {
	t.Parallel()
	took := []time.Duration{time.Second, 2 * time.Second, 4 * time.Second}
	for _, c := range []struct {
		s    Spread
		met  bool
		line string
	}{
		{Spread{What: "both", Took: took, Middle: 2 * time.Second, Bar: 4 * time.Second}, true, "| both | 3 | 2s | 4s | 4s | p50 <= 2s, p99 <= 4s | yes |"},
		{Spread{What: "middle", Took: took, Middle: time.Second, Bar: 4 * time.Second}, false, "| middle | 3 | 2s | 4s | 4s | p50 <= 1s, p99 <= 4s | NO |"},
		{Spread{What: "worst", Took: took, Bar: 3 * time.Second}, false, "| worst | 3 | 2s | 4s | 4s | p99 <= 3s | NO |"},
		{Spread{What: "nothing", Bar: time.Second}, false, "| nothing | 0 | 0s | 0s | 0s | p99 <= 1s | NO |"},
		{Spread{What: "no bar", Took: took}, true, "| no bar | 3 | 2s | 4s | 4s | - | - |"},
	} {
		if text := Spreads([]Spread{c.s}); c.s.Met() != c.met || !strings.Contains(text, c.line) {
			t.Errorf("%s: met %t, want %t; %q, want %q in it", c.s.What, c.s.Met(), c.met, text, c.line)
		}
	}
}

func TestATableIsMarkdown(t *testing.T) {
	t.Parallel()
	got := Table([]string{"a", "b"}, [][]string{{"1", ""}, {"x|y", "2"}})
	if want := "| a | b |\n|---|---|\n| 1 | - |\n| x\\|y | 2 |\n"; got != want {
		t.Errorf("Table() = %q, want %q", got, want)
	}
}
