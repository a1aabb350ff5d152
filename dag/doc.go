// Package dag is the pure core of Porpoise: what a workflow is and how one
// instance of it moves.
//
// It owns the definition and its validation, the graph, the state tables, the
// resolution of parameters, and Instance.Step, the only place where a task or a
// workflow instance changes state. It never reads a clock, does no I/O, starts no
// goroutine, draws no random number, and never lets the order of a map show: the
// same instance and the same events give the same effects, byte for byte. The
// master drives it; sql stores what it yields; apiserver validates with it.
package dag
