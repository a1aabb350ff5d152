package schedule

import (
	"slices"

	"github.com/porpoise/porpoise/dag"
)

// Count adds up how many fires that no calendar leaves out are planned in stretches of time that follow each other: bounds
// are their beginnings, the oldest first, and the end of the last. counts has one fewer. It walks at most most fires
// of a stretch; how many a fuller one has it tells from how long these took, which is right for what fires evenly, and exact is
// false then. steps is how many fires it walked.
func (p *Plan) Count(bounds []dag.Millis, most int) (counts []int64, steps int, exact bool) {
	counts, exact = make([]int64, len(bounds)-1), true
	after, end := bounds[0]-1, bounds[len(bounds)-1]
	for {
		f, ok := p.NextOn(after)
		steps++
		if !ok || f.At >= end {
			return counts, steps, exact
		}
		i, found := slices.BinarySearch(bounds, f.At)
		if !found {
			i--
		}
		after = f.At
		if counts[i] < int64(most) {
			counts[i]++
			continue
		}
		// Of the stretch this is the first that is not counted: those before it took from its beginning up to here.
		counts[i] = int64(most) * int64(bounds[i+1]-bounds[i]) / int64(max(f.At-bounds[i], 1))
		after, exact = bounds[i+1]-1, false
	}
}
