package main

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"
)

// plan says which seeds to run, and how.
type plan struct {
	first  uint64
	count  int
	until  time.Duration
	jobs   int
	twice  bool
	shrink bool
	keepOn bool
}

// verdict is what a survey found, as it is printed.
type verdict struct {
	Seeds         int            `json:"seeds"`
	FirstSeed     uint64         `json:"first_seed"`
	Seconds       float64        `json:"seconds"`
	SeedsPerSec   float64        `json:"seeds_per_second"`
	Events        int            `json:"events"`
	EventsPerSec  float64        `json:"events_per_second"`
	VirtualHours  float64        `json:"virtual_hours"`
	Starts        int            `json:"starts"`
	Attempts      int            `json:"attempts"`
	Late          int            `json:"late_successes"`
	Asked         int            `json:"recoveries_asked"`
	Processes     int            `json:"processes"`
	Controls      int            `json:"controls"`
	Commits       int            `json:"commits"`
	Rebalances    int            `json:"rebalances"`
	Children      int            `json:"children"`
	Ends          int            `json:"ends_that_start"`
	Decisions     int            `json:"decisions"`
	Queued        int            `json:"waits_for_places"`
	Excused       int            `json:"excused_overlaps"`
	Faults        int            `json:"faults"`
	FaultsByClass map[string]int `json:"faults_by_class"`
	Violations    []finding      `json:"violations"`
}

// finding is a seed that broke a rule.
type finding struct {
	Seed    uint64 `json:"seed"`
	Rule    string `json:"rule"`
	Text    string `json:"text"`
	Options string `json:"options"`
	Shrunk  string `json:"shrunk,omitempty"`
}

// survey runs worlds until the plan is done or, unless it is to go on, one of them fails.
func survey(ctx context.Context, t *template, p plan) verdict {
	began := time.Now()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	v := verdict{FirstSeed: p.first, FaultsByClass: map[string]int{}, Violations: []finding{}}
	var mu sync.Mutex
	var all sync.WaitGroup
	next := p.first
	for range max(1, p.jobs) {
		all.Go(func() {
			for {
				mu.Lock()
				seed := next
				next++
				late := p.until > 0 && time.Since(began) > p.until
				mu.Unlock()
				if late || ctx.Err() != nil || p.count > 0 && seed >= p.first+uint64(p.count) {
					return
				}
				opt := draw(seed)
				opt.template = t
				o, err := try(ctx, opt, p.twice)
				if err != nil && ctx.Err() != nil {
					return
				}
				mu.Lock()
				v.add(o)
				mu.Unlock()
				if err != nil {
					o.bad = &violation{"run", err.Error()}
				}
				if o.bad == nil {
					continue
				}
				f := finding{Seed: seed, Rule: o.bad.Rule, Text: o.bad.Text, Options: opt.String()}
				if p.shrink && err == nil {
					f.Shrunk = shrink(ctx, opt, o.bad.Rule).String()
				}
				mu.Lock()
				v.Violations = append(v.Violations, f)
				mu.Unlock()
				if !p.keepOn {
					cancel()
				}
			}
		})
	}
	all.Wait()
	slices.SortFunc(v.Violations, func(a, b finding) int { return int(int64(a.Seed) - int64(b.Seed)) })
	v.Seconds = time.Since(began).Seconds()
	v.SeedsPerSec = float64(v.Seeds) / v.Seconds
	v.EventsPerSec = float64(v.Events) / v.Seconds
	return v
}

// try runs a world; twice, where the two must be the same.
func try(ctx context.Context, opt options, twice bool) (outcome, error) {
	o, err := live(ctx, opt, false)
	if err != nil || !twice {
		return o, err
	}
	again, err := live(ctx, opt, false)
	if err == nil && again.hash != o.hash {
		err = fmt.Errorf("two runs of one seed differ: %016x and %016x; %s", o.hash, again.hash, opt)
	}
	o.count.Events += again.count.Events
	return o, err
}

func (v *verdict) add(o outcome) {
	v.Seeds++
	v.Events += o.count.Events
	v.VirtualHours += o.count.Virtual.Hours()
	v.Starts += o.count.Starts
	v.Attempts += o.count.Attempts
	v.Asked += o.count.Asked
	v.Late += o.count.Late
	v.Processes += o.count.Spawned
	v.Controls += o.count.Controls
	v.Commits += o.count.Commits
	v.Rebalances += o.count.Rebalances
	v.Children += o.count.Children
	v.Ends += o.count.Ends
	v.Decisions += o.count.Decisions
	v.Queued += o.count.Queued
	v.Excused += o.count.Excused
	for class, n := range o.count.Faults {
		v.FaultsByClass[class] += n
		v.Faults += n
	}
}
