package trial

import (
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/dag/document"
)

// How an attempt ends, in the words of the text.
const (
	endSuccess  = "success"
	endFailed   = "failed"
	endTimeout  = "timeout" // it goes on until a timeout ends it
	endLost     = "lost"
	endReturned = "returned"
	endKilled   = "killed"  // and nobody here had asked for it
	endStopped  = "stopped" // of a child, by somebody
	endRefused  = "refused" // of a child, before it started
)

const (
	// maxInputs bounds a case: more than 10,000 tasks with ten attempts each ask for.
	maxInputs = 300_000
	// maxHistory bounds what is told of a case.
	maxHistory = 10_000
	// worker is who runs every attempt of a trial, and somebody who asks for something.
	worker   = "trial"
	somebody = "trial"
)

// world is everything around one instance: dispatcher, workers, children and the clock.
type world struct {
	plan  *dag.Plan
	c     *Case
	in    *dag.Instance
	began dag.Millis
	now   dag.Millis

	due    agenda
	number int               // of the latest entry of due
	armed  map[dag.Timer]int // by timer: the entry that counts
	inputs int
	ready  []int // tasks that wait for a worker, who is always there
	child  int64 // the latest child's id

	seen    []seen // by task
	order   []int  // tasks in the order of their first attempts
	answers map[int64]string
	history []Moment
}

// seen is what the world saw of a task.
type seen struct {
	started int               // the number of its latest attempt
	first   dag.Millis        // of its first attempt; zero for none
	run     dag.TaskRun       // its last attempt, as a worker gets it
	params  map[string]string // what the last child of a sub_workflow or dynamic task was started with
	ending  int               // the entry of due that ends its live attempt
	ungiven bool              // it ran without a result, though the case is strict
}

func newWorld(plan *dag.Plan, c *Case) *world {
	w := &world{
		plan: plan, c: c, in: dag.NewInstance(plan, 1, c.start), began: c.facts.Now, now: c.facts.Now,
		armed: map[dag.Timer]int{}, seen: make([]seen, len(plan.Definition.Tasks)), answers: map[int64]string{},
	}
	w.in.Facts = c.facts
	return w
}

// run lets everything happen that is due, in order, until nothing more is.
func (w *world) run() {
	for _, c := range w.c.controls {
		w.add(entry{at: w.began.Add(c.at), class: classWish, inputs: []dag.Input{c.wish}})
	}
	w.step(dag.Begin{})
	for w.inputs < maxInputs {
		e, ok := w.next()
		if !ok {
			return
		}
		w.now = max(w.now, e.at)
		for _, input := range e.inputs {
			w.step(input)
		}
	}
}

// step gives one input to the instance and carries out what it asks for.
func (w *world) step(input dag.Input) {
	w.inputs++
	fx := w.in.Step(input, w.now)
	w.follow(&fx)
	for len(w.ready) > 0 && w.inputs < maxInputs {
		task := w.ready[0]
		w.ready = w.ready[1:]
		w.inputs++
		fx := w.in.Step(w.place(task), w.now)
		w.follow(&fx)
	}
}

// follow carries out effects, as a master does after its commit.
func (w *world) follow(fx *dag.Effects) {
	for i := range fx.Events {
		w.note(&fx.Events[i])
	}
	for i := range fx.Attempts {
		w.attempt(&fx.Attempts[i])
	}
	for _, a := range fx.Applied {
		w.answers[a.ID] = a.Result
	}
	for i := range fx.Children {
		if c := &fx.Children[i]; w.many(c.Task) {
			w.seen[c.Task].params = c.Params
			w.endItem(c.Task, c.Number, c.ID)
		}
	}
	for _, o := range fx.Orders {
		w.obey(o)
	}
	for _, action := range fx.Actions {
		switch action := action.(type) {
		case dag.Enqueue:
			w.ready = append(w.ready, action.Task)
		case dag.Dequeue:
			w.withdraw(action.Task)
		case dag.Dispatch:
			w.dispatch(action.Attempt)
		case dag.Kill:
			w.end(action.Attempt.Task, 0, report(&action.Attempt, dag.AttemptKilled))
		case dag.Arm:
			w.armed[action.Timer] = w.add(entry{at: action.At, class: classTimer, inputs: []dag.Input{action.Timer}})
		case dag.Disarm:
			delete(w.armed, action.Timer)
		case dag.Finish, dag.Rest:
			// A trial keeps its one instance in memory.
		}
	}
}

// withdraw takes a task back that nobody has been given.
func (w *world) withdraw(task int) {
	for i, t := range w.ready {
		if t == task {
			w.ready = append(w.ready[:i], w.ready[i+1:]...)
			return
		}
	}
}

// place gives a ready task to whoever runs it.
func (w *world) place(task int) dag.Input {
	if !w.plan.Parent(task) {
		return dag.Assign{Task: task, Worker: worker, Incarnation: worker, Token: strconv.Itoa(w.inputs)}
	}
	if w.in.Recovers(task) {
		return dag.Launch{Task: task}
	}
	launch, err := w.launch(task)
	if err != nil {
		return dag.Launch{Task: task, Reason: dag.ReasonParams, Message: err.Error()}
	}
	if r := w.result(task, w.in.Tasks[task].Attempts+1); r.state == endRefused {
		return dag.Launch{Task: task, Reason: dag.ReasonChildRefused, Message: r.message}
	}
	return launch
}

// many says that a task has many children.
func (w *world) many(task int) bool { return w.plan.Definition.Tasks[task].Type == dag.TypeDynamic }

// launch is what a master finds out before it starts the children of a task.
func (w *world) launch(task int) (dag.Launch, error) {
	l := dag.Launch{Task: task, Child: &dag.Child{ID: w.child + 1, ScheduleTime: w.c.facts.ScheduleTime, Depth: 1}}
	var err error
	children := 1
	if !w.many(task) {
		l.Child.Params, err = dag.ChildParams(w.in, task, w.c.facts)
		w.seen[task].params = l.Child.Params
	} else if children = len(w.in.Tasks[task].Items); children == 0 {
		l.Each, err = dag.Items(w.in, task, w.c.facts)
		children = len(l.Each)
	}
	w.child += int64(children)
	return l, err
}

// endItem plans the end of one child of many: they all end as the case says of the attempt. An end that comes
// after the child was stopped says nothing new to the instance.
func (w *world) endItem(task, number int, child int64) {
	r := w.result(task, number)
	if r.state == endTimeout {
		return
	}
	w.add(entry{at: w.now.Add(r.takes), inputs: []dag.Input{dag.ChildEnded{
		Task: task, Number: number, Child: child, State: dag.InstanceState(r.state), Message: r.message, Outputs: r.outputs,
	}}})
}

// dispatch starts an attempt on the worker, and plans its end.
func (w *world) dispatch(a dag.Attempt) {
	run, err := dag.Resolve(w.in, a.Task, w.c.facts)
	if err != nil {
		failed := report(&a, dag.AttemptFailed)
		failed.Reason, failed.Message = dag.ReasonParams, err.Error()
		if _, none := errors.AsType[dag.NoSecretError](err); none {
			failed.Reason = dag.ReasonSecret
		}
		w.end(a.Task, 0, failed)
		return
	}
	w.seen[a.Task].run = run
	w.add(entry{at: w.now, inputs: []dag.Input{report(&a, dag.AttemptRunning)}})
	r := w.result(a.Task, a.Number)
	switch r.state {
	case endTimeout:
	case endLost:
		w.end(a.Task, r.takes, dag.Lost{Task: a.Task, Number: a.Number, Token: a.Token, Message: r.message})
	default:
		ended := report(&a, dag.AttemptState(r.state))
		ended.Reason, ended.Message, ended.ExitCode, ended.Outputs = r.reason, r.message, r.exitCode, r.outputs
		w.end(a.Task, r.takes, ended)
	}
}

func report(a *dag.Attempt, state dag.AttemptState) dag.Report {
	return dag.Report{Task: a.Task, Number: a.Number, Token: a.Token, State: state}
}

// attempt notes a new attempt, and plans the end of one that no worker holds.
func (w *world) attempt(a *dag.Attempt) {
	s := &w.seen[a.Task]
	if s.first == 0 {
		s.first = w.now
		w.order = append(w.order, a.Task)
	}
	if a.Number <= s.started {
		return
	}
	s.started = a.Number
	switch spec := w.plan.Definition.Tasks[a.Task].Spec.(type) {
	case *dag.ApprovalSpec:
		if r := w.result(a.Task, a.Number); r.state != endTimeout {
			w.end(a.Task, r.takes, decisions(spec, a, r)...)
		}
	case *dag.SubWorkflowSpec:
		if r := w.result(a.Task, a.Number); a.Child != 0 && r.state != endTimeout {
			w.end(a.Task, r.takes, dag.ChildEnded{
				Task: a.Task, Number: a.Number, Child: a.Child, State: dag.InstanceState(r.state), Message: r.message, Outputs: r.outputs,
			})
		}
	case *dag.DependentSpec:
		if r := w.result(a.Task, a.Number); r.state != endTimeout {
			w.end(a.Task, r.takes, dag.Decided{
				Task: a.Task, Number: a.Number, Success: r.state == endSuccess, Message: r.message, Outputs: r.outputs,
			})
		}
	}
}

// decisions are what people say to an approval: enough of them approve, or one rejects.
func decisions(spec *dag.ApprovalSpec, a *dag.Attempt, r result) []dag.Input {
	c := dag.Control{
		Verb: dag.VerbReject, Tasks: []int{a.Task}, By: somebody,
		Decision: dag.Decision{Number: a.Number, Reason: r.message, Values: r.outputs},
	}
	if r.state == endFailed {
		return []dag.Input{c}
	}
	c.Verb = dag.VerbApprove
	all := make([]dag.Input, spec.Needed())
	for i := range all {
		c.By = somebody + " " + strconv.Itoa(i+1)
		all[i] = c
	}
	return all
}

// obey carries out a wish about a child. Pausing does not stop the trial's clock for it.
func (w *world) obey(o dag.Order) {
	for i := range w.in.Tasks {
		a := &w.in.Tasks[i].Attempt
		if !slices.Contains(w.in.Children(i), o.Child) {
			continue
		}
		switch stopped := (dag.ChildEnded{Task: i, Number: a.Number, Child: o.Child, State: dag.InstanceStopped}); {
		case o.Verb == dag.VerbRecover && w.many(i):
			w.endItem(i, a.Number, o.Child)
		case o.Verb == dag.VerbStop && w.many(i):
			w.add(entry{at: w.now, inputs: []dag.Input{stopped}})
		case o.Verb == dag.VerbStop:
			w.end(i, 0, stopped)
		}
	}
}

// end plans how the live attempt of a task ends; it takes the place of what was planned before.
func (w *world) end(task int, after time.Duration, inputs ...dag.Input) {
	w.seen[task].ending = w.add(entry{at: w.now.Add(after), inputs: inputs, ends: true, task: task})
}

// result is how an attempt of a task ends: as the case says, else well and at once.
func (w *world) result(task, number int) result {
	list := w.c.results[task]
	if w.in.DryRun {
		list = nil
	}
	for i := range list {
		if number <= list[i].times || i == len(list)-1 {
			return list[i]
		}
		number -= list[i].times
	}
	if w.c.strict && !w.in.DryRun && w.plan.Definition.Tasks[task].Type != dag.TypeNoop {
		w.seen[task].ungiven = true
	}
	return result{state: endSuccess}
}

// note keeps one line of the instance's history.
func (w *world) note(e *dag.Event) {
	if len(w.history) >= maxHistory {
		return
	}
	m := Moment{At: document.Duration(e.At.Sub(w.began)), Attempt: e.Attempt, State: e.State, Reason: e.Reason, Message: e.Message}
	if m.State == "" {
		m.State = string(e.Code)
	}
	if e.Task >= 0 {
		m.Task = w.plan.Definition.Tasks[e.Task].Name
	}
	w.history = append(w.history, m)
}
