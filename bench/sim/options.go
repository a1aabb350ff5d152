package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// faults are the classes of what may go wrong, in the order in which they are drawn and shrunk.
var faults = []string{
	"crash_master", "crash_worker", "crash_runner", "crash_host", "pause_master", "pause_worker", "pause_runner", "freeze_host",
	"cut_link", "cut_oneway", "reset_link", "half_open", "cut_registry", "cut_database", "database_down", "database_slow",
	"database_refuses", "database_forgets", "registry_down", "registry_wiped", "registry_stalls", "lease_lost", "watch_lags",
	"slow_network", "duplicates", "clocks_differ", "runner_breaks", "leave_master", "cut_worker",
	"set_clock",
}

// options are all that a world is made of. They follow from the seed alone, unless who looks for
// the cause of a failure takes some of it away.
type options struct {
	Seed     uint64
	Masters  int
	Workers  int
	Slots    int // of each worker
	Starts   int
	Duration time.Duration            // of the phase with faults
	Faults   map[string]time.Duration // mean time between two faults of a class

	template *template
}

// faultChance is how likely a class is part of a seed: some together find what all at once would hide.
const faultChance = 0.35

// draw derives the options of a seed.
func draw(seed uint64) options {
	r := rand.New(rand.NewPCG(seed, 1))
	o := options{
		Seed: seed, Masters: 2 + r.IntN(3), Workers: 2 + r.IntN(3), Slots: 1 + r.IntN(4), Starts: 3 + r.IntN(10),
		Duration: time.Duration(20+r.IntN(41)) * time.Second, Faults: map[string]time.Duration{},
	}
	for _, class := range faults {
		chance, mean := r.Float64(), time.Duration(3+r.IntN(28))*time.Second
		if chance < faultChance {
			o.Faults[class] = mean
		}
	}
	return o
}

// has says whether a class is among the faults.
func (o *options) has(class string) bool { return o.Faults[class] > 0 }

// String shows the options as -seed and -set take them.
func (o options) String() string {
	var classes []string
	for _, class := range faults {
		if o.has(class) {
			classes = append(classes, fmt.Sprintf("%s:%v", class, o.Faults[class]))
		}
	}
	return fmt.Sprintf("seed=%d masters=%d workers=%d slots=%d starts=%d duration=%v faults=%s",
		o.Seed, o.Masters, o.Workers, o.Slots, o.Starts, o.Duration, strings.Join(classes, ","))
}

// parseOptions reads what String writes; what is not named follows from the seed.
func parseOptions(text string) (options, error) {
	fields := strings.Fields(text)
	var o options
	for i, field := range fields {
		key, value, ok := strings.Cut(field, "=")
		if !ok {
			return o, fmt.Errorf("option %q: want name=value", field)
		}
		if i == 0 {
			if key != "seed" {
				return o, fmt.Errorf("options begin with seed=, not %q", field)
			}
			var seed uint64
			if _, err := fmt.Sscan(value, &seed); err != nil {
				return o, fmt.Errorf("seed %q: %w", value, err)
			}
			o = draw(seed)
			continue
		}
		if err := o.set(key, value); err != nil {
			return o, err
		}
	}
	if o.Masters == 0 {
		return o, fmt.Errorf("options %q: no seed", text)
	}
	return o, nil
}

func (o *options) set(key, value string) (err error) {
	switch key {
	case "masters":
		_, err = fmt.Sscan(value, &o.Masters)
	case "workers":
		_, err = fmt.Sscan(value, &o.Workers)
	case "slots":
		_, err = fmt.Sscan(value, &o.Slots)
	case "starts":
		_, err = fmt.Sscan(value, &o.Starts)
	case "duration":
		o.Duration, err = time.ParseDuration(value)
	case "faults":
		o.Faults = map[string]time.Duration{}
		for class := range strings.SplitSeq(value, ",") {
			name, mean, _ := strings.Cut(class, ":")
			if class == "" {
				continue
			}
			if !slices.Contains(faults, name) {
				return fmt.Errorf("fault %q is none of %s", name, strings.Join(faults, " "))
			}
			if o.Faults[name], err = time.ParseDuration(mean); err != nil {
				return fmt.Errorf("fault %s: %w", name, err)
			}
		}
	default:
		return fmt.Errorf("option %q is unknown", key)
	}
	if err != nil {
		return fmt.Errorf("option %s=%s: %w", key, value, err)
	}
	return nil
}
