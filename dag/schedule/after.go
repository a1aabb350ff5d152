package schedule

import (
	"fmt"
	"slices"
	"strings"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/dag/document"
)

// After makes the end of another workflow's instance a fire, in place of cron and at.
type After struct {
	Workflow string              `json:"workflow" rule:"required"` // its name, or project/name
	States   []dag.InstanceState `json:"states,omitempty"`         // the ends that count; absent is success alone
}

// Ends are the final states that count.
func (a *After) Ends() []dag.InstanceState {
	if len(a.States) == 0 {
		return []dag.InstanceState{dag.InstanceSuccess}
	}
	return a.States
}

// Names returns the project and the workflow that a names; own is the schedule's project.
func (a *After) Names(own string) (project, workflow string) {
	if project, workflow, ok := strings.Cut(a.Workflow, "/"); ok {
		return project, workflow
	}
	return own, a.Workflow
}

// after reads what an end starts.
func (c *compiler) after(s *Spec) {
	project, workflow := s.After.Names("own")
	switch {
	case s.After.Workflow == "":
		c.fail("after.workflow", document.CodeRequired, "", "name the workflow whose end fires, as name or project/name")
	case len(dag.CheckName("", project))+len(dag.CheckName("", workflow)) > 0:
		c.fail("after.workflow", dag.CodeInvalidName, s.After.Workflow, "want the name of a workflow, or project/name")
	}
	for i, state := range s.After.States {
		switch at := fmt.Sprintf("after.states[%d]", i); {
		case !state.Valid() || !state.Final():
			c.fail(at, document.CodeNotInEnum, string(state), "no instance ends so: want success, failed or stopped")
		case slices.Index(s.After.States, state) < i:
			c.fail(at, dag.CodeConflict, string(state), "is there twice")
		}
	}
}

// untimed reads a schedule that no moment fires. Nothing that is about moments means something together with that: there is
// no plan of ends or calls, and none of them is late by a clock.
func (c *compiler) untimed(s *Spec) {
	c.plan.untimed = true
	field, what := "after", "an end"
	if s.Webhook != nil {
		field, what = "webhook", "a call"
		c.webhook(s)
	} else {
		c.after(s)
	}
	for _, other := range []struct {
		field string
		said  bool
	}{
		{"after", s.After != nil && s.Webhook != nil},
		{"cron", s.Cron != ""},
		{"dialect", s.Dialect != ""},
		{"at", len(s.At) > 0},
		{"start", s.Start != ""},
		{"end", s.End != ""},
		{"calendar", s.Calendar != nil},
		{"jitter", s.Jitter != ""},
		{"misfire", s.Misfire != nil},
	} {
		if other.said {
			c.fail(other.field, dag.CodeConflict, "", "means nothing where %s fires: leave it out, or %s", what, field)
		}
	}
}

// maxUpstream bounds the workflows that Leads looks at: a chain of ends is a handful of them.
const maxUpstream = 10_000

// Leads tells whether the end of one workflow comes to start another, by any number of schedules between them. before
// returns the workflows whose ends start any of those with the given ids.
func Leads(from, to int64, before func(ids []int64) ([]int64, error)) (bool, error) {
	// The walk goes against the arrows, from what is started to what starts it.
	seen := map[int64]bool{to: true}
	for level := []int64{to}; len(level) > 0; {
		if seen[from] {
			return true, nil
		}
		if len(seen) > maxUpstream {
			return false, fmt.Errorf("more than %d workflows lead to workflow %d by their ends", maxUpstream, to)
		}
		ids, err := before(level)
		if err != nil {
			return false, err
		}
		level = nil
		for _, id := range ids {
			if !seen[id] {
				seen[id] = true
				level = append(level, id)
			}
		}
	}
	return seen[from], nil
}
