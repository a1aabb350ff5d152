package dag

import "github.com/porpoise/porpoise/dag/document"

// MaxDepth is how deep sub-workflows may be nested: an instance that somebody or a schedule
// started has depth 0, its children have 1, and so on.
const MaxDepth = 8

// SubWorkflowSpec is what a sub_workflow task has for itself: the workflow that it runs. Its
// names and its version stand as they are, without ${name}: a circle is found when the
// definition is saved.
type SubWorkflowSpec struct {
	Workflow string `json:"workflow" rule:"required" verbatim:"true" editor:"workflow" doc:"The workflow to run, by its name."`
	Project  string `json:"project,omitempty" verbatim:"true" editor:"project" doc:"The project of that workflow, where it is another one."`
	Version  *int   `json:"version,omitempty" rule:"min=1,max=2147483647" advanced:"true" doc:"The version to run; where nothing is said, the one that is published when the task starts."`
}

// Validate checks the names.
func (s *SubWorkflowSpec) Validate() []FieldError {
	errs := document.Check(s, nil)
	if s.Workflow != "" {
		errs = append(errs, CheckName("workflow", s.Workflow)...)
	}
	if s.Project != "" {
		errs = append(errs, CheckName("project", s.Project)...)
	}
	return errs
}

// Child is the start of a child instance, for one attempt of a sub_workflow task. Priority, dry
// run and on_failure are those of its parent.
type Child struct {
	ID           int64
	WorkflowID   int64
	ProjectID    int64
	Version      int
	Params       map[string]string
	ScheduleTime Millis
	WorkerGroup  string
	Depth        int
	By           string // who started the parent
	Task, Number int    // the attempt of the parent that waits for it; Launch sets them
	Index        int    // of its item, where the parent is a dynamic task
}

// Order is a wish of a parent about the child of one of its attempts: stop, pause, resume or recover. With no
// verb nothing is asked of the child, which runs again already: it only tells another attempt when it ends.
type Order struct {
	Child  int64
	Verb   Verb
	Force  bool
	Number int // recover, or no verb: the attempt that waits for the child from now on
}

// ChildParams returns the start parameters of the child of a sub_workflow task: the task's own params,
// with what they refer to put in. The error is a FieldError.
func ChildParams(in *Instance, task int, facts Facts) (map[string]string, error) {
	r := resolver{in: in, task: task, t: &in.plan.Definition.Tasks[task]}
	if err := r.parameters(facts); err != nil {
		return nil, *err
	}
	params := make(map[string]string, len(r.t.Params))
	for i := range r.t.Params {
		name := r.t.Params[i].Name
		params[name] = r.values[name]
	}
	return params, nil
}
