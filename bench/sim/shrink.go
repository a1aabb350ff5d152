package main

import (
	"context"
	"maps"
	"time"
)

// maxShrinks bounds the worlds that are run to find a smaller one.
const maxShrinks = 60

// shrink takes away from the options of a world what it can while the same rule is broken.
func shrink(ctx context.Context, opt options, rule string) options {
	tries := 0
	fails := func(o options) bool {
		tries++
		if tries > maxShrinks {
			return false
		}
		got, err := live(ctx, o, false)
		return err == nil && got.bad != nil && got.bad.Rule == rule
	}
	for again := true; again && tries < maxShrinks; {
		again = false
		for _, smaller := range smaller(opt) {
			if fails(smaller) {
				opt, again = smaller, true
				break
			}
		}
	}
	return opt
}

// smaller lists options that are each one step less.
func smaller(opt options) []options {
	var out []options
	less := func(change func(o *options)) {
		o := opt
		o.Faults = maps.Clone(opt.Faults)
		change(&o)
		out = append(out, o)
	}
	for _, class := range faults {
		if opt.has(class) {
			less(func(o *options) { delete(o.Faults, class) })
		}
	}
	if opt.Duration > 10*time.Second {
		less(func(o *options) { o.Duration = o.Duration * 2 / 3 })
	}
	if opt.Starts > 1 {
		less(func(o *options) { o.Starts /= 2 })
	}
	if opt.Masters > 1 {
		less(func(o *options) { o.Masters-- })
	}
	if opt.Workers > 1 {
		less(func(o *options) { o.Workers-- })
	}
	return out
}
