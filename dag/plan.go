package dag

// Plan is a definition made ready to run: tasks by index, edges both ways, an order.
// It is immutable and may be shared by any number of instances and goroutines.
type Plan struct {
	Definition *Definition
	// Succ and Pred hold, per task, the indexes of the tasks that need it, and that it needs.
	Succ, Pred [][]int
	// Order is a topological order: every task after all that it needs; ties by index.
	Order []int

	index map[string]int
}

// Task returns the index of the task named name.
func (p *Plan) Task(name string) (int, bool) {
	i, ok := p.index[name]
	return i, ok
}
