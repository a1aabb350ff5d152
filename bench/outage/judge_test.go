package main

import (
	"strings"
	"testing"
)

func TestEveryMissedBarIsNamed(t *testing.T) {
	t.Parallel()
	well := cost{What: "x", Acked: 20, AckedDown: 10, Reads: 10, NormalAfter: 1, SlowestRefusal: 1}
	for want, spoil := range map[string]func(*cost, *outage){
		"":                             func(*cost, *outage) {},
		"1 starts were acked and lost": func(c *cost, _ *outage) { c.Lost = 1 },
		"2 instances failed":           func(c *cost, _ *outage) { c.FailedInstances = 2 },
		"1 attempts beyond the first":  func(c *cost, _ *outage) { c.SecondAttempts = 1 },
		"3 were lost":                  func(c *cost, _ *outage) { c.LostAttempts = 3 },
		"1 failovers":                  func(c *cost, _ *outage) { c.Failovers = 1 },
		"[database] ended":             func(c *cost, _ *outage) { c.Ended = []string{"database"} },
		"1 starts had neither 202 nor": func(c *cost, _ *outage) { c.OtherErrors = 1 },
		"4 of 10 reads failed":         func(c *cost, o *outage) { c.ReadsFailed, o.reads = 4, true },
		"without Retry-After":          func(c *cost, _ *outage) { c.NoRetryAfter = 1 },
		"a refusal took 3.1 s":         func(c *cost, _ *outage) { c.SlowestRefusal = 3.1 },
		"normal 5.1 s after":           func(c *cost, _ *outage) { c.NormalAfter = 5.1 },
		"logged 9000 bytes":            func(c *cost, _ *outage) { c.LogPerSecond = 9000 },
		"no start was refused":         func(_ *cost, o *outage) { o.bites = true },
		"no start was acked meanwhile": func(c *cost, _ *outage) { c.AckedDown = 0 },
	} {
		c, o := well, outage{}
		spoil(&c, &o)
		got := c.missed(o)
		if want == "" && len(got) != 0 || want != "" && (len(got) != 1 || !strings.Contains(got[0].Error(), want)) {
			t.Errorf("missed() of %+v = %v, want %q alone", c, got, want)
		}
		if len(c.cells()) != len(header) {
			t.Errorf("%d cells under %d heads", len(c.cells()), len(header))
		}
	}
	if got := (cost{What: "x", AckedDown: 1, Failovers: 1}).missed(outage{yields: true}); len(got) != 0 {
		t.Errorf("a master that may give its work away did: %v", got)
	}
	if got := (cost{What: "x", AckedDown: 1, Reads: 3, ReadsFailed: 3}).missed(outage{}); len(got) != 0 {
		t.Errorf("reads that may fail did: %v", got)
	}
}
