package dag

import (
	"github.com/porpoise/porpoise/dag/document"
	"github.com/porpoise/porpoise/dag/interval"
)

// DependentSpec is what a dependent task has for itself: which runs of other workflows it waits for.
type DependentSpec struct {
	Check     *DependentCheck `json:"check" rule:"required" editor:"dependency" doc:"What must have succeeded: all of a list, or any of one."`
	Interval  Duration        `json:"interval,omitempty" rule:"min=1s,max=1h" default:"10s" advanced:"true" doc:"How often is looked, at least; the end of a workflow is noticed at once."`
	OnFailure string          `json:"on_failure,omitempty" rule:"enum=fail|wait" default:"fail" doc:"What a failure of what is waited for means: the task fails, or it waits on."`
}

// DependentCheck is a list of which all or any must have succeeded.
type DependentCheck struct {
	All []DependentGroup `json:"all,omitempty" rule:"max=500" doc:"Every one of these must have succeeded."`
	Any []DependentGroup `json:"any,omitempty" rule:"max=500" doc:"One of these must have succeeded."`
}

// DependentGroup is one thing that is waited for, or a list of them.
type DependentGroup struct {
	Project  string          `json:"project,omitempty" verbatim:"true" doc:"The project of the workflow, where it is another one."`
	Workflow string          `json:"workflow,omitempty" verbatim:"true" doc:"The workflow whose run is waited for."`
	Task     string          `json:"task,omitempty" verbatim:"true" doc:"Its task, where not the whole workflow is meant."`
	Cycle    string          `json:"cycle,omitempty" rule:"enum=hour|day|week|month" doc:"The kind of the date; it follows from it."`
	Date     string          `json:"date,omitempty" verbatim:"true" doc:"Which runs are meant, such as today or last1Days."`
	Once     bool            `json:"once,omitempty" doc:"One success anywhere in the whole time is enough, not one in each hour or day of it."`
	All      []DependentItem `json:"all,omitempty" rule:"max=500" doc:"Every one of these must have succeeded."`
	Any      []DependentItem `json:"any,omitempty" rule:"max=500" doc:"One of these must have succeeded."`
}

// DependentItem is one thing that is waited for.
type DependentItem struct {
	Project  string `json:"project,omitempty" verbatim:"true" doc:"The project of the workflow, where it is another one."`
	Workflow string `json:"workflow" verbatim:"true" doc:"The workflow whose run is waited for."`
	Task     string `json:"task,omitempty" verbatim:"true" doc:"Its task, where not the whole workflow is meant."`
	Cycle    string `json:"cycle,omitempty" rule:"enum=hour|day|week|month" doc:"The kind of the date; it follows from it."`
	Date     string `json:"date" verbatim:"true" doc:"Which runs are meant, such as today or last1Days."`
	Once     bool   `json:"once,omitempty" doc:"One success anywhere in the whole time is enough, not one in each hour or day of it."`
}

// Validate checks the tree and its date values.
func (s *DependentSpec) Validate() []FieldError {
	errs := document.Check(s, nil)
	if s.Check == nil {
		return errs
	}
	var root *document.Path
	at := root.Key("check")
	tree := s.Tree("")
	errs = append(errs, tree.Validate(at)...)
	for name, groups := range map[string][]DependentGroup{"all": s.Check.All, "any": s.Check.Any} {
		for i := range groups {
			g := &groups[i]
			here := at.Key(name).Index(i)
			errs = append(errs, wrongCycle(here, g.Cycle, g.Date)...)
			errs = append(errs, wrongNames(here, g.Project, g.Workflow, g.Task)...)
			for inner, items := range map[string][]DependentItem{"all": g.All, "any": g.Any} {
				for k := range items {
					item, at := &items[k], here.Key(inner).Index(k)
					errs = append(errs, wrongCycle(at, item.Cycle, item.Date)...)
					errs = append(errs, wrongNames(at, item.Project, item.Workflow, item.Task)...)
				}
			}
		}
	}
	return document.Sort(errs)
}

// wrongNames checks the names of an item, as far as it has them.
func wrongNames(at *document.Path, project, workflow, task string) []FieldError {
	var errs []FieldError
	for _, n := range []struct{ key, name string }{{"project", project}, {"workflow", workflow}, {"task", task}} {
		if n.name != "" {
			errs = append(errs, CheckName(at.Key(n.key).String(), n.name)...)
		}
	}
	return errs
}

// wrongCycle holds a cycle that is written out against the date that it is about.
func wrongCycle(at *document.Path, cycle, date string) []FieldError {
	is := interval.CycleOf(date)
	if cycle == "" || is == "" || cycle == string(is) {
		return nil
	}
	return []FieldError{{
		Field: at.Key("cycle").String(), Code: CodeConflict, Value: document.Shown(cycle),
		Message: document.Quoted(date) + " is a date of the cycle " + string(is),
	}}
}

// Tree is what the task waits for; items that name no project are of the one given.
func (s *DependentSpec) Tree(project string) *interval.Tree {
	t := &interval.Tree{}
	if s.Check == nil {
		return t
	}
	group := func(list []DependentGroup) []interval.Tree {
		out := make([]interval.Tree, len(list))
		for i := range list {
			out[i] = list[i].tree(project)
		}
		return out
	}
	if s.Check.All != nil {
		t.All = group(s.Check.All)
	}
	if s.Check.Any != nil {
		t.Any = group(s.Check.Any)
	}
	return t
}

func (g *DependentGroup) tree(project string) interval.Tree {
	var t interval.Tree
	if g.Workflow != "" || g.Task != "" || g.Date != "" || g.Project != "" || g.All == nil && g.Any == nil {
		item := DependentItem{g.Project, g.Workflow, g.Task, g.Cycle, g.Date, g.Once}.item(project)
		t.Item = &item
	}
	list := func(items []DependentItem) []interval.Tree {
		out := make([]interval.Tree, len(items))
		for i := range items {
			item := items[i].item(project)
			out[i] = interval.Tree{Item: &item}
		}
		return out
	}
	if g.All != nil {
		t.All = list(g.All)
	}
	if g.Any != nil {
		t.Any = list(g.Any)
	}
	return t
}

func (d DependentItem) item(project string) interval.Item {
	if d.Project != "" {
		project = d.Project
	}
	return interval.Item{Project: project, Workflow: d.Workflow, Task: d.Task, Date: d.Date, Once: d.Once}
}

// Each visits every item with the field where it stands, as check.all[0].any[1]; items that name no project are
// of the one given.
func (s *DependentSpec) Each(project string, visit func(field string, item interval.Item)) {
	if s.Check == nil {
		return
	}
	var root *document.Path
	at := root.Key("check")
	var walk func(t *interval.Tree, at *document.Path)
	walk = func(t *interval.Tree, at *document.Path) {
		if t.Item != nil {
			visit(at.String(), *t.Item)
		}
		for i := range t.All {
			walk(&t.All[i], at.Key("all").Index(i))
		}
		for i := range t.Any {
			walk(&t.Any[i], at.Key("any").Index(i))
		}
	}
	walk(s.Tree(project), at)
}
