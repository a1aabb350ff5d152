package trial

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/dag/document"
)

// nothing is how an absent value is told.
const nothing = "nothing"

// notInScope is the state of a task that the start left out.
const notInScope = "not_in_scope"

// judge holds what came of a case against what was expected.
type judge struct {
	suite *Suite
	c     *Case
	world *world
	out   Outcome
}

func newJudge(s *Suite, c *Case, w *world) *judge {
	return &judge{suite: s, c: c, world: w, out: Outcome{Name: c.Name, Line: c.Line}}
}

// fail notes an expectation that was not met.
func (j *judge) fail(field, expected, got, hint string) {
	f := Failure{Field: field, Expected: expected, Got: got, Hint: hint}
	f.Line, f.Column = j.suite.root.Locate(field)
	j.out.Failures = append(j.out.Failures, f)
}

// refused compares the start parameters that were refused with those that must be.
func (j *judge) refused(errs []dag.FieldError) {
	var got, hints []string
	for i := range errs {
		name := strings.TrimPrefix(errs[i].Field, "params.")
		if !slices.Contains(got, name) {
			got = append(got, name)
		}
		hints = append(hints, errs[i].Message)
	}
	want := slices.Clone(j.c.expect.Refused)
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(want, got) {
		field := j.c.field + ".expect.refused"
		if want == nil {
			field = j.c.field + ".params"
		}
		j.fail(field, listed(want)+" refused", listed(got)+" refused", strings.Join(hints, "; "))
	}
}

// compare fills the outcome, and holds all of it against the expectation.
func (j *judge) compare() {
	w, in := j.world, j.world.in
	j.out.State, j.out.Reason, j.out.History = in.State, in.Reason, w.history
	end := w.now
	if in.FinishedAt != 0 {
		end = in.FinishedAt
	}
	j.out.Took = document.Duration(end.Sub(w.began))
	for i := range in.Tasks {
		if t := &in.Tasks[i]; t.State != "" {
			j.out.Tasks = append(j.out.Tasks, TaskOutcome{Name: j.name(i), State: t.State, Reason: t.Reason, Attempts: t.Attempts})
		}
	}
	if w.inputs >= maxInputs {
		j.fail(j.c.field, "an end", fmt.Sprintf("more than %d steps", maxInputs), "what is repeated here has no end")
		return
	}
	j.instance()
	for _, e := range j.c.expect.Tasks {
		if i, ok := j.suite.plan.Task(e.Name); ok {
			j.task(document.FieldKey(j.c.field+".expect.tasks", e.Name), i, &e.Value)
		}
	}
	for _, c := range j.c.controls {
		if got := w.answers[c.wish.ID]; got != c.answer {
			j.fail(c.field+".answer", c.answer, or(got, nothing), "")
		}
	}
	for i := range w.seen {
		if w.seen[i].ungiven {
			j.fail(document.FieldKey(j.c.field+".tasks", j.name(i)), "a result, since the case is strict", nothing, "")
		}
	}
}

// instance compares what is expected of the instance as a whole.
func (j *judge) instance() {
	e, in, w := &j.c.expect, j.world.in, j.world
	field := j.c.field + ".expect"
	if e.State != "" && e.State != string(in.State) {
		j.fail(j.stateField(field, e.word), e.State, j.ended(string(in.State), in.Reason), explained(in.Explain(w.now, -1)))
	}
	if e.Reason != nil && *e.Reason != string(in.Reason) {
		j.fail(field+".reason", or(*e.Reason, nothing), or(string(in.Reason), nothing), explained(in.Explain(w.now, -1)))
	}
	if e.Took != nil && *e.Took != j.out.Took {
		j.fail(field+".took", e.Took.String(), j.out.Took.String(), "")
	}
	if e.Ran != nil {
		j.ran(field + ".ran")
	}
	if e.Order != nil {
		j.order(field + ".order")
	}
}

// ran compares the tasks that had an attempt.
func (j *judge) ran(field string) {
	want, got := slices.Clone(j.c.expect.Ran), j.names(j.world.order)
	slices.Sort(want)
	slices.Sort(got)
	if slices.Equal(want, got) {
		return
	}
	var says []string
	for i := range j.world.seen {
		if slices.Contains(want, j.name(i)) && !slices.Contains(got, j.name(i)) {
			says = append(says, explained(j.world.in.Explain(j.world.now, i)))
		}
	}
	j.fail(field, listed(want), listed(got), strings.Join(says, "; "))
}

// order compares the order of first attempts. Others may come between.
func (j *judge) order(field string) {
	var got []string
	for _, name := range j.names(j.world.order) {
		if slices.Contains(j.c.expect.Order, name) {
			got = append(got, name)
		}
	}
	if !slices.Equal(j.c.expect.Order, got) {
		j.fail(field, strings.Join(j.c.expect.Order, ", "), or(strings.Join(got, ", "), nothing), "")
	}
}

// task compares what is expected of one task.
func (j *judge) task(field string, i int, e *expectTaskText) {
	w := j.world
	t, s := &w.in.Tasks[i], &w.seen[i]
	hint := func() string { return explained(w.in.Explain(w.now, i)) }
	state := or(string(t.State), notInScope)
	if e.State != "" && e.State != state {
		j.fail(j.stateField(field, e.word), e.State, j.ended(state, t.Reason), hint())
	}
	if e.Reason != nil && *e.Reason != string(t.Reason) {
		j.fail(field+".reason", or(*e.Reason, nothing), or(string(t.Reason), nothing), hint())
	}
	if e.Attempts != nil && *e.Attempts != t.Attempts {
		j.fail(field+".attempts", strconv.Itoa(*e.Attempts), strconv.Itoa(t.Attempts), hint())
	}
	j.moment(field+".started", e.Started, s.first)
	j.moment(field+".ended", e.Ended, t.FinishedAt)
	j.values(field+".env", texts(e.Env), s.run.Env)
	j.values(field+".spec", texts(e.Spec), specOf(s.run.Spec))
	j.values(field+".params", texts(e.Params), s.params)
	j.values(field+".outputs", texts(e.Outputs), t.Outputs)
}

// moment compares when something happened, after the start.
func (j *judge) moment(field string, want *document.Duration, at dag.Millis) {
	if want == nil {
		return
	}
	got := nothing
	if at != 0 {
		got = document.Duration(at.Sub(j.world.began)).String()
	}
	if got != want.String() {
		j.fail(field, want.String(), got, "")
	}
}

// pair is a name with its value, in the order of the text.
type pair struct{ name, value string }

func texts[T ~string](entries document.Entries[T]) []pair {
	out := make([]pair, len(entries))
	for i, e := range entries {
		out[i] = pair{e.Name, string(e.Value)}
	}
	return out
}

// values compares some values by name.
func (j *judge) values(field string, want []pair, got map[string]string) {
	for _, p := range want {
		value, there := got[p.name]
		if there && value == p.value {
			continue
		}
		shown, hint := document.Quoted(value), ""
		if !there {
			shown = nothing
			known := make([]string, 0, len(got))
			for name := range got {
				known = append(known, name)
			}
			slices.Sort(known)
			if near := document.Nearest(p.name, known); near != "" {
				hint = "there is " + document.Quoted(near)
			}
		}
		j.fail(document.FieldKey(field, p.name), document.Quoted(p.value), shown, hint)
	}
}

// specOf is a spec by its keys: a text as it is, anything else as JSON.
func specOf(spec json.RawMessage) map[string]string {
	var keys map[string]json.RawMessage
	if json.Unmarshal(spec, &keys) != nil {
		return nil // the task was never sent
	}
	out := make(map[string]string, len(keys))
	for name, value := range keys {
		var text string
		if json.Unmarshal(value, &text) != nil {
			text = string(value)
		}
		out[name] = text
	}
	return out
}

func (j *judge) name(i int) string { return j.suite.plan.Definition.Tasks[i].Name }

func (j *judge) names(tasks []int) []string {
	out := make([]string, len(tasks))
	for k, i := range tasks {
		out[k] = j.name(i)
	}
	return out
}

// stateField is where a state is expected.
func (*judge) stateField(field string, word bool) string {
	if word {
		return field
	}
	return field + ".state"
}

func (*judge) ended(state string, reason dag.Reason) string {
	if reason == "" {
		return state
	}
	return state + " (" + string(reason) + ")"
}

// explained is an explanation in one line: its own words and those of what it comes from.
func explained(e dag.Explanation) string {
	parts := []string{e.Text}
	for _, cause := range e.Causes {
		parts = append(parts, explained(cause))
	}
	return strings.Join(parts, "; ")
}

func listed(names []string) string { return or(strings.Join(names, ", "), nothing) }

func or(text, other string) string {
	if text == "" {
		return other
	}
	return text
}
