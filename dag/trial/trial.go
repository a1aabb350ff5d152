// Package trial tries a workflow out: it runs the cases that its author wrote through the real
// rules of package dag, with given results in place of workers, children and other
// workflows, and with a clock that stands still until something is due.
//
// It owns the form of case files, the reading of them, and the comparison of what was
// expected with what came. It is as pure as dag: no clock, no I/O, no goroutine, and the
// same case gives the same result. Places are never short: worker slots, task groups and
// concurrency are not part of a trial. The command line, the API and the tests of the examples use it.
package trial

import (
	"time"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/dag/document"
)

// Suite is the cases of one workflow, read and checked. It is immutable and may be run by
// any number of goroutines.
type Suite struct {
	Cases []Case

	plan *dag.Plan
	root *document.Node
}

// Case is one start of the workflow with what happens and what is expected of it.
type Case struct {
	Name string
	Line int // in the text of the suite

	field    string
	start    dag.StartOptions
	facts    dag.Facts
	strict   bool
	results  [][]result // by task; nil where none are given
	controls []control
	expect   expectText
}

// result is how the attempts of a task end, this many in a row.
type result struct {
	state    string
	reason   dag.Reason
	message  string
	exitCode int
	outputs  map[string]string
	takes    time.Duration
	times    int
}

// control is a wish that somebody has at a moment after the start.
type control struct {
	field  string
	at     time.Duration
	wish   dag.Control
	answer string // the result that it must have
}

// Outcome is what came of one case.
type Outcome struct {
	Name     string            `json:"name"`
	Line     int               `json:"line"`
	State    dag.InstanceState `json:"state,omitempty"`
	Reason   dag.Reason        `json:"reason,omitempty"`
	Took     document.Duration `json:"took"` // from the start to the last end, on the trial's clock
	Failures []Failure         `json:"failures,omitempty"`
	Tasks    []TaskOutcome     `json:"tasks,omitempty"`
	History  []Moment          `json:"history,omitempty"`
}

// TaskOutcome is how one task ended.
type TaskOutcome struct {
	Name     string        `json:"name"`
	State    dag.TaskState `json:"state"`
	Reason   dag.Reason    `json:"reason,omitempty"`
	Attempts int           `json:"attempts"`
}

// Moment is one line of what happened, in order.
type Moment struct {
	At      document.Duration `json:"at"` // since the start
	Task    string            `json:"task,omitempty"`
	Attempt int               `json:"attempt,omitempty"`
	State   string            `json:"state"`
	Reason  dag.Reason        `json:"reason,omitempty"`
	Message string            `json:"message,omitempty"`
}

// Failure is one expectation that was not met. Field, Line and Column are its place in the text
// of the suite; Hint says in words why it came otherwise, where that is known.
type Failure struct {
	Field    string `json:"field"`
	Line     int    `json:"line,omitempty"`
	Column   int    `json:"column,omitempty"`
	Expected string `json:"expected"`
	Got      string `json:"got"`
	Hint     string `json:"hint,omitempty"`
}

// Passed says that every expectation was met.
func (o *Outcome) Passed() bool { return len(o.Failures) == 0 }

// Run runs the case at an index and holds what came against what was expected.
func (s *Suite) Run(i int) Outcome {
	c := &s.Cases[i]
	w := newWorld(s.plan, c)
	judge := newJudge(s, c, w)
	if refused := dag.CheckParams(s.plan.Definition, c.start.Params); len(refused) > 0 || len(c.expect.Refused) > 0 {
		judge.refused(refused)
		return judge.out
	}
	w.run()
	judge.compare()
	return judge.out
}
