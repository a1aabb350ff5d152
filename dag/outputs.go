package dag

import (
	"fmt"
	"iter"
	"math/bits"

	"github.com/porpoise/porpoise/dag/document"
)

// maxSharedOutputs is how many output names may be given by more than one task of a
// workflow: each costs one walk over the graph.
const maxSharedOutputs = 1_000

// outputs says which tasks' outputs and artifacts each task sees: those of all its ancestors. Only
// tasks that declare some take part, one bit each, so that a graph without outputs
// costs nothing, and one of 10,000 tasks that all have some 12 MiB.
type outputs struct {
	producers []int // tasks that declare outputs or artifacts, in topological order
	number    []int // per task: 1 + its place among producers, or 0
	words     int   // per task
	visible   []uint64
}

func newOutputs(p *Plan) outputs {
	o := outputs{number: make([]int, len(p.Pred))}
	for _, t := range p.Order {
		if len(p.Definition.Tasks[t].Outputs)+len(p.Definition.Tasks[t].Artifacts) > 0 {
			o.producers = append(o.producers, t)
			o.number[t] = len(o.producers)
		}
	}
	if len(o.producers) == 0 {
		return o
	}
	o.words = (len(o.producers) + 63) / 64
	o.visible = make([]uint64, o.words*len(p.Pred))
	for _, t := range p.Order {
		row := o.row(t)
		for _, n := range p.Pred[t] {
			for i, w := range o.row(n) {
				row[i] |= w
			}
			if k := o.number[n] - 1; k >= 0 {
				row[k/64] |= 1 << (k % 64)
			}
		}
	}
	return o
}

func (o *outputs) row(task int) []uint64 { return o.visible[task*o.words : (task+1)*o.words] }

// seenBy yields the tasks whose outputs, where they have some, a task sees, each after its own ancestors.
func (o *outputs) seenBy(task int) iter.Seq[int] {
	return func(yield func(int) bool) {
		if o.words == 0 {
			return
		}
		for i, w := range o.row(task) {
			for ; w != 0; w &= w - 1 {
				if !yield(o.producers[i*64+bits.TrailingZeros64(w)]) {
					return
				}
			}
		}
	}
}

// sees tells whether a task sees the outputs and artifacts of another one: of an ancestor.
func (o *outputs) sees(task, producer int) bool {
	k := o.number[producer] - 1
	return k >= 0 && o.row(task)[k/64]&(1<<(k%64)) != 0
}

// checkOutputs refuses output names that two tasks give, neither of which is an
// ancestor of the other, where some task sees both: which value it gets would be a
// matter of luck.
func (p *Plan) checkOutputs() []FieldError {
	byName := map[string][]int{}
	var shared []string
	for _, t := range p.outputs.producers {
		for _, name := range p.Definition.Tasks[t].Outputs {
			byName[name] = append(byName[name], t)
			if len(byName[name]) == 2 {
				shared = append(shared, name)
			}
		}
	}
	if len(shared) > maxSharedOutputs {
		return []FieldError{{
			Field: "tasks", Code: document.CodeTooLarge,
			Message: fmt.Sprintf("%d output names are given by more than one task, at most %d are allowed", len(shared), maxSharedOutputs),
		}}
	}
	nearest := make([]int, len(p.Pred))
	var errs []FieldError
	for _, name := range shared {
		gives := make(map[int]bool, len(byName[name]))
		for _, t := range byName[name] {
			gives[t] = true
		}
		if err := p.ambiguous(name, gives, nearest); err != nil {
			errs = append(errs, *err)
		}
	}
	return errs
}

// ambiguous walks the graph once with the nearest producer of a name that each task
// sees. Where two meet, one must be the other's ancestor: the lower one is the nearest.
func (p *Plan) ambiguous(name string, gives map[int]bool, nearest []int) *FieldError {
	for _, t := range p.Order {
		nearest[t] = -1
		for _, n := range p.Pred[t] {
			from := nearest[n]
			if gives[n] {
				from = n
			}
			switch at := nearest[t]; {
			case from < 0 || from == at:
			case at < 0 || p.outputs.sees(from, at):
				nearest[t] = from
			case p.outputs.sees(at, from):
			default:
				return p.ambiguousError(name, min(at, from), max(at, from), t)
			}
		}
	}
	return nil
}

func (p *Plan) ambiguousError(name string, first, second, seenBy int) *FieldError {
	tasks := p.Definition.Tasks
	k := 0
	for i, o := range tasks[second].Outputs {
		if o == name {
			k = i
		}
	}
	return &FieldError{
		Field: fmt.Sprintf("tasks[%d].outputs[%d]", second, k), Code: CodeAmbiguousOutput, Value: document.Shown(name),
		Message: fmt.Sprintf("the output %s comes from %s and from %s, neither of which needs the other, and %s would see both: give one of them another name",
			document.Quoted(name), document.Quoted(tasks[first].Name), document.Quoted(tasks[second].Name), document.Quoted(tasks[seenBy].Name)),
		Args: Args{"output": name, "first": tasks[first].Name, "second": tasks[second].Name, "task": tasks[seenBy].Name},
	}
}
