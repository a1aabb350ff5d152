package dag

import (
	"slices"
	"strconv"
	"time"

	"github.com/porpoise/porpoise/dag/document"
)

// untilField is where the condition of a task's repeat_until stands, relative to the task.
const untilField = "repeat_until.condition"

// Repeat is how a task is run again after each success, until a condition holds. A zero Max is no
// repetition.
type Repeat struct {
	Until string        // an expression over what the task sees and its own outputs
	Max   int           // iterations, the first one among them
	Delay time.Duration // between two iterations
}

// repeatText is a bounded loop around one task.
type repeatText struct {
	Condition string   `json:"condition" rule:"required,max=4096" doc:"The task is done once this holds after a success. It reads parameters, outputs of the tasks before, and the task's own outputs."`
	Max       *int     `json:"max" rule:"required,min=1,max=1000" doc:"How many iterations there may be. If the condition does not hold after the last one, the task fails."`
	Delay     Duration `json:"delay" rule:"min=0s,max=30d" doc:"The wait between two iterations; none where nothing is said."`
}

func (r *repeatText) repeat() Repeat {
	if r == nil || r.Max == nil {
		return Repeat{}
	}
	return Repeat{Until: r.Condition, Max: *r.Max, Delay: time.Duration(r.Delay)}
}

// checkRepeat refuses a loop around a task that would end as before each time, and one whose outputs the
// task's own parameters hide from the next iteration.
func checkRepeat(field string, t *Task) []FieldError {
	if t.Repeat.Max == 0 {
		return nil
	}
	switch t.Type {
	case TypeWait, TypeSwitch, TypeConditions:
		return []FieldError{{
			Field: field + ".repeat_until", Code: CodeConflict,
			Message: article(t.Type) + " " + t.Type + " task can't be repeated: it gives no outputs that could change",
		}}
	}
	var errs []FieldError
	for i, name := range t.Outputs {
		if slices.ContainsFunc(t.Params, func(p Param) bool { return p.Name == name }) {
			errs = append(errs, FieldError{
				Field: field + ".outputs[" + strconv.Itoa(i) + "]", Code: CodeConflict, Value: document.Shown(name),
				Message: "the task is repeated, and its own parameter " + document.Quoted(name) + " would hide this output from the condition: give one of them another name",
			})
		}
	}
	return errs
}
