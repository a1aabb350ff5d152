package dag

import (
	"reflect"

	"github.com/porpoise/porpoise/dag/document"
)

// TaskGroup is the group of a project whose places a task needs while it runs. An empty Name is none.
type TaskGroup struct {
	Name string
	// Weight is how many places it takes.
	Weight int
	// Priority orders the tasks that wait for places, after the priority of their instances; the
	// task's own where nothing is said.
	Priority Priority
}

// taskGroupText is a group's name alone, or a map that says more.
type taskGroupText struct {
	Name     string `json:"name" rule:"required" doc:"The group of the project whose places the task takes while it runs."`
	Weight   int    `json:"weight" rule:"min=1,max=10000" default:"1" doc:"How many places it takes."`
	Priority string `json:"priority" rule:"enum=highest|high|medium|low|lowest" advanced:"true" doc:"Which of the tasks that wait for places go first; where nothing is said, the task's own priority."`
}

// taskGroupRules is taskGroupText without its own reading, so that the reading can use the tags.
type taskGroupRules taskGroupText

// ReadDocument takes a plain text as the name.
func (g *taskGroupText) ReadDocument(d *document.Decoder, n *document.Node, at *document.Path) {
	switch n.Kind {
	case document.Map:
		d.Struct(n, at, document.Keys{Whose: "a task_group"}, (*taskGroupRules)(g))
	case document.String:
		g.Name, g.Weight = n.Text, 1
	case document.List, document.Null, document.Bool, document.Number:
		d.Want(n, at, "the name of a task group, or a map with name, weight or priority")
	}
}

// CheckDocument checks both forms by the tags.
func (g taskGroupText) CheckDocument(at *document.Path) []FieldError {
	rules := taskGroupRules(g)
	return document.Check(&rules, at)
}

// DescribeDocument describes both forms.
func (taskGroupText) DescribeDocument(s *document.Schemas) document.Schema {
	form := s.Object(reflect.TypeFor[taskGroupRules]())
	return document.Schema{"anyOf": []any{document.Schema{"type": "string", "minLength": 1}, form}}
}

// taskGroup is the group of a task of this priority, with what is wrong in its name.
func (g *taskGroupText) taskGroup(field string, own Priority) (TaskGroup, []FieldError) {
	if g == nil {
		return TaskGroup{}, nil
	}
	out := TaskGroup{Name: g.Name, Weight: g.Weight, Priority: own}
	if priority, ok := ParsePriority(g.Priority); ok {
		out.Priority = priority
	}
	if g.Name == "" {
		return out, nil // its own rule says so
	}
	return out, CheckName(field+".task_group", g.Name)
}

// NeedsPlace says that a task takes places of a group while a worker has it. Tasks that run in the master
// take none.
func (p *Plan) NeedsPlace(task int) bool {
	return p.Definition.Tasks[task].TaskGroup.Name != "" && !p.inMaster(task)
}
