package trial

import (
	"cmp"
	"container/heap"

	"github.com/porpoise/porpoise/dag"
)

// entry is something that happens at a moment.
type entry struct {
	at     dag.Millis
	class  class
	number int // rises with every entry
	input  dag.Input
	ends   bool // the live attempt of task
	task   int
}

// class orders what happens at one moment: what ends just when its time is over has ended in time,
// and a wish comes last.
type class uint8

const (
	classReport class = iota
	classTimer
	classWish
)

// agenda is what is still to happen, the next first.
type agenda []entry

// Len, Less, Swap, Push and Pop are what a heap asks for.
func (a agenda) Len() int { return len(a) }

// Less orders by moment, then by class, then by age.
func (a agenda) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(a[i].at, a[j].at), cmp.Compare(a[i].class, a[j].class), cmp.Compare(a[i].number, a[j].number)) < 0
}

// Swap changes two places.
func (a agenda) Swap(i, j int) { a[i], a[j] = a[j], a[i] }

// Push appends an entry.
func (a *agenda) Push(e any) { *a = append(*a, e.(entry)) }

// Pop takes the last entry.
func (a *agenda) Pop() any {
	old := *a
	e := old[len(old)-1]
	*a = old[:len(old)-1]
	return e
}

// add notes what is to happen, and returns its number.
func (w *world) add(e entry) int {
	w.number++
	e.number = w.number
	heap.Push(&w.due, e)
	return w.number
}

// next takes what happens next and still counts; false where there is nothing.
func (w *world) next() (entry, bool) {
	for len(w.due) > 0 {
		e := heap.Pop(&w.due).(entry)
		if timer, ok := e.input.(dag.Timer); ok && w.armed[timer] != e.number {
			continue
		}
		if e.ends && w.seen[e.task].ending != e.number {
			continue
		}
		return e, true
	}
	return entry{}, false
}
