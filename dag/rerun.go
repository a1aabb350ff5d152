package dag

import (
	"reflect"
	"slices"
	"strings"
)

// Kept is how a task of an earlier instance ended, for an instance that runs that one again and takes it over.
type Kept struct {
	Task       int
	State      TaskState
	Reason     Reason
	Outputs    map[string]string
	FinishedAt Millis
}

// RerunWhy says why a task runs again, or is kept.
type RerunWhy string

// The reasons of a rerun's plan.
const (
	RerunKept      RerunWhy = "kept"      // nothing that it comes from has changed
	RerunChosen    RerunWhy = "chosen"    // somebody wants it to run again
	RerunParameter RerunWhy = "parameter" // it uses a parameter that has changed
	RerunUpstream  RerunWhy = "upstream"  // a task that it needs runs again
	RerunNotDone   RerunWhy = "not_done"  // there is no result of it that could be kept
	RerunLast      RerunWhy = "last"      // it comes last, or undoes another, each time
)

// Planned is what becomes of one task when its instance is run again with other parameters.
type Planned struct {
	Task    int
	Why     RerunWhy
	Because string // the parameter, or the task that it needs
}

// Keep says that the task is not run again.
func (p Planned) Keep() bool { return p.Why == RerunKept }

// PlanRerun tells for each task in scope, in the order of the plan's tasks, what becomes of it when the
// instance, which has ended, is run again by the same version with params, and from tasks on. A task runs again
// where it is chosen, or uses a changed parameter, or needs one that runs again, or has no result. A parameter is
// used where its name stands as a word in the task's own keys, unless its affects says which tasks it is for.
func (in *Instance) PlanRerun(params map[string]string, from []int) []Planned {
	changed := in.changedParams(params)
	planned := make([]Planned, len(in.Tasks))
	for _, i := range in.plan.Order {
		p := &planned[i]
		*p = Planned{Task: i, Why: RerunKept}
		t := &in.Tasks[i]
		switch {
		case t.State == "":
			continue
		case in.plan.Definition.Tasks[i].phase() != phaseWork:
			p.Why = RerunLast
			continue
		case slices.Contains(from, i):
			p.Why = RerunChosen
			continue
		}
		if p.Because = in.plan.usesAny(i, changed); p.Because != "" {
			p.Why = RerunParameter
			continue
		}
		for _, n := range in.plan.Pred[i] {
			if !planned[n].Keep() { // what was out of scope is still, and counts as kept
				p.Why, p.Because = RerunUpstream, in.name(n)
				break
			}
		}
		if p.Keep() && !t.keepable() {
			p.Why = RerunNotDone
		}
	}
	return slices.DeleteFunc(planned, func(p Planned) bool { return in.Tasks[p.Task].State == "" })
}

// keepable says that a task's end holds for another run, too: it succeeded, or the workflow's own rules left it out.
func (t *TaskInstance) keepable() bool {
	switch t.State {
	case TaskSuccess, TaskForcedSuccess, TaskDisabled:
		return true
	case TaskSkipped:
		return t.passedOver()
	case "", TaskWaiting, TaskReady, TaskDispatched, TaskRunning, TaskRetryWait, TaskKilling, TaskFailed, TaskKilled, TaskUpstreamFailed:
	}
	return false
}

// Kept is how a task ended, to be taken over.
func (in *Instance) Kept(task int) Kept {
	t := &in.Tasks[task]
	return Kept{Task: task, State: t.State, Reason: t.Reason, Outputs: t.Outputs, FinishedAt: t.FinishedAt}
}

// takenOver says that a task has its end from an earlier instance, and has not run in this one.
func (t *TaskInstance) takenOver() bool { return t.State == TaskSuccess && t.Attempts == 0 }

// changedParams are the workflow's parameters whose value differs. One that is given counts as changed where it was
// not given before, whatever its default: it goes before values that a default does not.
func (in *Instance) changedParams(params map[string]string) []*Param {
	var changed []*Param
	for i := range in.plan.Definition.Params {
		p := &in.plan.Definition.Params[i]
		old, was := in.Params[p.Name]
		if value, is := params[p.Name]; was != is || old != value {
			changed = append(changed, p)
		}
	}
	return changed
}

// usesAny returns the first of the parameters that a task uses, "" for none.
func (p *Plan) usesAny(task int, params []*Param) string {
	var used map[string]bool
	for _, param := range params {
		if param.Affects != nil {
			if slices.Contains(param.Affects, p.Definition.Tasks[task].Name) {
				return param.Name
			}
			continue
		}
		if used == nil {
			used = p.Definition.Tasks[task].words()
		}
		if used[param.Name] {
			return param.Name
		}
	}
	return ""
}

// words are all that stand in a task's own keys and could name a parameter.
func (t *Task) words() map[string]bool {
	out := map[string]bool{}
	add := func(text string) {
		for word := range strings.FieldsFuncSeq(text, func(r rune) bool {
			return r != '_' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
		}) {
			out[word] = true
		}
	}
	for _, e := range t.Env {
		add(e.Name + " " + e.Value)
	}
	for i := range t.Params {
		add(t.Params[i].Name)
		if t.Params[i].Default != nil {
			add(*t.Params[i].Default)
		}
	}
	add(t.WorkingDir)
	add(t.Cache.Key)
	add(t.When)
	add(t.Join)
	add(t.Repeat.Until)
	if t.Spec != nil {
		eachString(reflect.ValueOf(t.Spec), add)
	}
	return out
}

// eachString calls f with every text in v, those of unexported fields left out.
func eachString(v reflect.Value, f func(text string)) {
	switch v.Kind() {
	case reflect.String:
		f(v.String())
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			eachString(v.Elem(), f)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				eachString(v.Field(i), f)
			}
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			eachString(v.Index(i), f)
		}
	case reflect.Map:
		for _, key := range v.MapKeys() { // f only gathers: the order does not show
			eachString(key, f)
			eachString(v.MapIndex(key), f)
		}
	default:
	}
}
