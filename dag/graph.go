package dag

import (
	"container/heap"
	"fmt"
	"slices"
	"strings"

	"github.com/porpoise/porpoise/dag/document"
)

// maxPlanErrors is how many errors of a graph are gathered before they are sorted by
// place and cut again.
const maxPlanErrors = 10 * document.MaxErrors

// maxShownCircle is how many tasks of a circle are written out; longer ones are
// shortened in the middle.
const maxShownCircle = 20

// maxCircleArgs is how many tasks of a circle are named for a graph to mark them.
const maxCircleArgs = 200

// indexNames finds tasks by name, and names that are the same after folding.
func (p *Plan) indexNames() []FieldError {
	var errs []FieldError
	folded := make(map[string]int, len(p.Definition.Tasks))
	for i := range p.Definition.Tasks {
		name := p.Definition.Tasks[i].Name
		if name == "" {
			continue // reported as missing
		}
		key := FoldName(name)
		if first, twice := folded[key]; twice {
			other := p.Definition.Tasks[first].Name
			as := "the same name"
			if other != name {
				as = "the name " + document.Quoted(other) + ", which counts as the same,"
			}
			errs = append(errs, FieldError{
				Field: fmt.Sprintf("tasks[%d].name", i), Code: CodeDuplicateName, Value: document.Shown(name),
				Message: fmt.Sprintf("tasks[%d] has %s already", first, as), Args: Args{"name": name, "other": other},
			}, FieldError{
				Field: fmt.Sprintf("tasks[%d].name", first), Code: CodeDuplicateName, Value: document.Shown(other),
				Message: fmt.Sprintf("tasks[%d] has the name %s too", i, document.Quoted(name)), Args: Args{"name": other, "other": name},
			})
		} else {
			folded[key] = i
		}
		if _, taken := p.index[name]; !taken {
			p.index[name] = i
		}
	}
	return errs
}

// connect fills the edges from the tasks' needs.
func (p *Plan) connect() []FieldError {
	var errs []FieldError
	tasks := p.Definition.Tasks
	p.Succ, p.Pred = make([][]int, len(tasks)), make([][]int, len(tasks))
	edges := 0
	lastSeen := make([]int, len(tasks)) // by need: 1 + the latest task that has it
	for i := range tasks {
		if edges += len(tasks[i].Needs); edges > MaxEdges {
			return append(errs, FieldError{
				Field: "tasks", Code: document.CodeTooLarge,
				Message: fmt.Sprintf("the tasks have more than %d needs together", MaxEdges),
			})
		}
		for k, need := range tasks[i].Needs {
			fail := func(code, message string) {
				if len(errs) < maxPlanErrors {
					errs = append(errs, FieldError{Field: fmt.Sprintf("tasks[%d].needs[%d]", i, k), Code: code, Message: message, Value: document.Shown(need), Args: Args{"task": tasks[i].Name, "need": need}})
				}
			}
			n, ok := p.index[need]
			switch {
			case !ok:
				if len(errs) < document.MaxErrors {
					fail(CodeUnknownTask, p.noTask(need))
				}
			case n == i:
				fail(CodeSelfLoop, "the task "+document.Quoted(need)+" needs itself")
			case lastSeen[n] == i+1:
				fail(CodeDuplicateEdge, document.Quoted(need)+" stands here twice")
			default:
				lastSeen[n] = i + 1
				p.Pred[i] = append(p.Pred[i], n)
				p.Succ[n] = append(p.Succ[n], i)
			}
		}
	}
	return errs
}

func (p *Plan) noTask(name string) string {
	message := "there is no task " + document.Quoted(name)
	names := make([]string, 0, len(p.Definition.Tasks))
	for i := range p.Definition.Tasks {
		names = append(names, p.Definition.Tasks[i].Name)
	}
	if near := document.Nearest(name, names); near != "" {
		message += "; did you mean " + document.Quoted(near) + "?"
	}
	return message
}

// ready is a heap of tasks, the lowest index on top.
type ready []int

func (r ready) Len() int           { return len(r) }
func (r ready) Less(i, j int) bool { return r[i] < r[j] }
func (r ready) Swap(i, j int)      { r[i], r[j] = r[j], r[i] }

// Push is for package heap.
func (r *ready) Push(x any) { *r = append(*r, x.(int)) }

// Pop is for package heap.
func (r *ready) Pop() any {
	last := len(*r) - 1
	x := (*r)[last]
	*r = (*r)[:last]
	return x
}

// sort fills Order, or returns one error per group of tasks that need each other.
func (p *Plan) sort() []FieldError {
	open := make([]int, len(p.Pred))
	var next ready
	for i := range p.Pred {
		if open[i] = len(p.Pred[i]); open[i] == 0 {
			next = append(next, i) // ascending, which is a heap already
		}
	}
	p.Order = make([]int, 0, len(p.Pred))
	for len(next) > 0 {
		t := heap.Pop(&next).(int)
		p.Order = append(p.Order, t)
		for _, s := range p.Succ[t] {
			if open[s]--; open[s] == 0 {
				heap.Push(&next, s)
			}
		}
	}
	if len(p.Order) == len(p.Pred) {
		return nil
	}
	var errs []FieldError
	for _, group := range p.circles(open) {
		errs = append(errs, p.circleError(group))
		if len(errs) == maxPlanErrors {
			break
		}
	}
	return errs
}

// circles returns the groups of tasks that can all reach each other, more than one in
// each, in the order in which they are found: Tarjan's strongly connected components, with
// its stack written out, because a chain of 10,000 tasks must not be 10,000 calls
// deep. Only tasks that the sorting left over (open > 0) are looked at.
func (p *Plan) circles(open []int) [][]int {
	const unseen = 0
	var (
		groups  = make([][]int, 0)
		number  = make([]int, len(p.Pred)) // order of discovery, from 1
		low     = make([]int, len(p.Pred))
		onStack = make([]bool, len(p.Pred))
		edge    = make([]int, len(p.Pred)) // next edge to follow
		stack   []int
		calls   []int
		count   int
	)
	for root := range p.Pred {
		if open[root] == 0 || number[root] != unseen {
			continue
		}
		calls = append(calls, root)
		for len(calls) > 0 {
			t := calls[len(calls)-1]
			if number[t] == unseen {
				count++
				number[t], low[t] = count, count
				stack, onStack[t] = append(stack, t), true
			}
			if edge[t] < len(p.Pred[t]) {
				n := p.Pred[t][edge[t]]
				edge[t]++
				switch {
				case open[n] == 0:
				case number[n] == unseen:
					calls = append(calls, n)
				case onStack[n]:
					low[t] = min(low[t], number[n])
				}
				continue
			}
			calls = calls[:len(calls)-1]
			if len(calls) > 0 {
				up := calls[len(calls)-1]
				low[up] = min(low[up], low[t])
			}
			if low[t] != number[t] {
				continue
			}
			from := len(stack) - 1
			for stack[from] != t {
				from--
			}
			group := append([]int(nil), stack[from:]...)
			stack = stack[:from]
			for _, n := range group {
				onStack[n] = false
			}
			if len(group) > 1 {
				groups = append(groups, group)
			}
		}
	}
	return groups
}

// circleError finds a shortest circle through the lowest task of a group.
func (p *Plan) circleError(group []int) FieldError {
	first := group[0]
	in := make(map[int]bool, len(group))
	for _, t := range group {
		in[t] = true
		first = min(first, t)
	}
	// Breadth first along the needs, back to the first.
	from := map[int]int{}
	queue := []int{first}
	last := -1
	for last < 0 {
		t := queue[0]
		queue = queue[1:]
		for _, n := range p.Pred[t] {
			if n == first {
				last = t
				break
			}
			if _, seen := from[n]; !seen && in[n] {
				from[n] = t
				queue = append(queue, n)
			}
		}
	}
	path := []int{first}
	for t := last; t != first; t = from[t] {
		path = append(path, t)
	}
	path = append(path, first)
	// path runs against the needs: each task before those that need it. Reversed it
	// reads as people write it: a needs b needs c needs a.
	names, whole := make([]string, 0, len(path)), make([]string, 0, len(path))
	for _, task := range slices.Backward(path) {
		whole = append(whole, p.Definition.Tasks[task].Name)
		names = append(names, document.Shown(p.Definition.Tasks[task].Name))
	}
	if len(names) > maxShownCircle {
		left := len(names) - maxShownCircle
		names = append(append(names[:maxShownCircle-1:maxShownCircle-1], fmt.Sprintf("(%d more)", left)), names[len(names)-1])
	}
	second := path[len(path)-2]
	k := 0
	for i, need := range p.Definition.Tasks[first].Needs {
		if p.index[need] == second {
			k = i
			break
		}
	}
	return FieldError{
		Field: fmt.Sprintf("tasks[%d].needs[%d]", first, k), Code: CodeCycle,
		Value:   document.Shown(p.Definition.Tasks[first].Name),
		Message: "these tasks need each other: " + strings.Join(names, " -> "),
		Args:    Args{"tasks": whole[:min(len(whole), maxCircleArgs)], "length": len(whole) - 1},
	}
}
