package dag

// Plan is a definition made ready to run: tasks by index, edges both ways, an order.
// It is immutable and may be shared by any number of instances and goroutines.
type Plan struct {
	Definition *Definition
	// Succ and Pred hold, per task, the indexes of the tasks that need it, and that it needs.
	Succ, Pred [][]int
	// Order is a topological order: every task after all that it needs; ties by index.
	Order []int

	index   map[string]int
	outputs outputs    // which outputs each task sees
	refs    []bool     // per task: whether its spec has ${name} to be put in
	secrets [][]string // per task: see Secrets

	undo    []int   // tasks that undo others, in topological order
	finally []int   // tasks that come last, in topological order
	rules   []rules // per task: when it runs
}

// NewPlan returns the plan of a definition. It reports names that stand twice, needs
// that name no task, needs that stand twice, and every circle with its path; the plan
// is nil where there are errors. It trusts the rest of the definition to be from Parse.
func NewPlan(def *Definition) (*Plan, []FieldError) {
	p, errs := newPlan(def)
	if len(errs) > 0 {
		return nil, errs
	}
	return p, nil
}

// newPlan is NewPlan; with errors the plan has only what could be made out.
func newPlan(def *Definition) (*Plan, []FieldError) {
	p := &Plan{Definition: def, index: make(map[string]int, len(def.Tasks))}
	errs := p.indexNames()
	errs = append(errs, p.connect()...)
	if circles := p.sort(); len(circles) > 0 {
		errs = append(errs, circles...)
	}
	errs = append(errs, p.compile()...)
	if len(errs) > 0 {
		if len(errs) > maxPlanErrors {
			errs = errs[:maxPlanErrors]
		}
		return p, errs
	}
	p.outputs = newOutputs(p)
	p.refs, p.secrets = make([]bool, len(def.Tasks)), make([][]string, len(def.Tasks))
	for i := range def.Tasks {
		p.refs[i] = hasReferences(&def.Tasks[i])
		p.secrets[i] = p.secretsOf(&def.Tasks[i])
	}
	return p, nil
}

// Task returns the index of the task named name.
func (p *Plan) Task(name string) (int, bool) {
	i, ok := p.index[name]
	return i, ok
}

// Select tells for each task whether it is in scope when a start or rerun names some tasks:
// those alone, with all that they need, or with all that need them, which an empty scope
// means too. What undoes a task is in scope with it. Without names every task is in scope.
func (p *Plan) Select(tasks []int, scope Scope) []bool {
	in := make([]bool, len(p.Succ))
	if len(tasks) == 0 {
		for i := range in {
			in[i] = true
		}
		return in
	}
	edges := p.Succ
	switch scope {
	case ScopeOnly:
		edges = make([][]int, len(p.Succ))
	case ScopeUpstream:
		edges = p.Pred
	case ScopeDownstream:
	}
	next := make([]int, 0, len(tasks))
	take := func(i int) {
		if i >= 0 && i < len(in) && !in[i] {
			in[i] = true
			next = append(next, i)
		}
	}
	for _, i := range tasks {
		take(i)
	}
	for len(next) > 0 {
		i := next[len(next)-1]
		next = next[:len(next)-1]
		for _, n := range edges[i] {
			take(n)
		}
	}
	for _, i := range p.undo {
		in[i] = in[p.Definition.Tasks[i].Compensates-1]
	}
	return in
}
