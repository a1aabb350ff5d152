// Package interval says which stretches of time a dependent task looks at, and what the
// runs that it finds there mean.
//
// It owns the date values (last1Days, thisWeek ...), the judgement of one item of a
// dependency, and the decision over a tree of them. All of it is pure: no clock, no I/O, no
// state; who calls it brings the runs. Days, weeks and months are those of the calendar in
// a location, so that a day with a change of the clocks is still one day. Package dag
// validates with it; the master decides with it.
package interval
