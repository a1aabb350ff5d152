package apiserver

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/sql"
)

type validate struct {
	ContentType string `header:"Content-Type"`
	Project     string `query:"project" maxLength:"512" doc:"Where the definition is to be: what depends on the place is checked, too."`
	Workflow    string `query:"workflow" maxLength:"512" doc:"The name in the path that it is to be saved under; needs project."`
	RawBody     []byte `contentType:"application/yaml"`
}

// Findings is what is wrong with a definition; without errors it can be saved.
type Findings struct {
	Valid    bool             `json:"valid"`
	Name     string           `json:"name,omitempty"`
	Tasks    int              `json:"tasks"`
	Errors   []dag.FieldError `json:"errors" nullable:"false" doc:"Every error at once, at most 100, in the order of the text."`
	Warnings []dag.FieldError `json:"warnings" nullable:"false" doc:"What is certainly not meant and yet allowed. None while there are errors in the text."`
}

type findingsAnswer struct{ Body Findings }

func (s *Server) validateRoutes() {
	add(s, spec{
		id: "validate", method: "POST", path: "/validate", tag: "workflows", summary: "Check a definition without saving it", body: definitionBody, unaudited: true,
		access: access{object: perItem},
	}, s.validate)
}

func (s *Server) validate(ctx context.Context, in *validate) (*findingsAnswer, error) {
	r := dag.ReviewText(in.RawBody, formatOf(in.ContentType))
	if in.Workflow != "" && in.Project == "" {
		return nil, wrongField(http.StatusBadRequest, "project", "required", "", "workflow means something only together with project")
	}
	if in.Project != "" {
		if err := s.checkPlace(ctx, in, &r); err != nil {
			return nil, err
		}
	}
	out := Findings{Valid: len(r.Errors) == 0, Errors: []dag.FieldError{}, Warnings: []dag.FieldError{}}
	out.Errors = append(out.Errors, r.Errors[:min(len(r.Errors), maxErrors)]...)
	out.Warnings = append(out.Warnings, r.Warnings[:min(len(r.Warnings), maxErrors)]...)
	if out.Valid {
		out.Name, out.Tasks = r.Definition.Name, len(r.Definition.Tasks)
	}
	return &findingsAnswer{Body: out}, nil
}

// checkPlace adds what only the place tells: the name, and who could run the tasks.
func (s *Server) checkPlace(ctx context.Context, in *validate, r *dag.Review) error {
	p, err := s.store.Project(ctx, in.Project)
	if err == nil && callOf(ctx).who.role(p.ID) < roleViewer {
		err = sql.ErrNotFound
	}
	if err != nil {
		return fmt.Errorf("read project: %w", err)
	}
	if r.Definition == nil {
		return nil
	}
	whole := len(r.Errors) == 0
	if name := r.Definition.Name; in.Workflow != "" && name != "" && name != in.Workflow {
		r.AddError(mismatch(name, in.Workflow))
	} else if name != "" {
		w, err := s.store.Workflow(ctx, p.ID, name)
		switch {
		case errors.Is(err, sql.ErrNotFound):
		case err != nil:
			return fmt.Errorf("read workflow: %w", err)
		case w.Name != name:
			r.AddError(dag.FieldError{
				Field: "name", Code: dag.CodeNameTaken, Value: shown(name), Args: dag.Args{"name": name, "other": w.Name},
				Message: fmt.Sprintf("the name is taken by %q, which differs only by case or Unicode form", w.Name),
			})
		}
	}
	if whole {
		s.warnOfGroups(r)
		if err := s.warnOfTaskGroups(ctx, p.ID, r); err != nil {
			return err
		}
		if err := s.warnOfSecrets(ctx, p.ID, r); err != nil {
			return err
		}
		if err := s.warnOfEnvironments(ctx, p.ID, r); err != nil {
			return err
		}
	}
	return s.addOthers(ctx, place{p, r.Definition.Name}, r)
}

// refusal names all that is wrong with a text that was to be saved at a place: in itself, and with what there is beside it.
func (s *Server) refusal(ctx context.Context, at place, text []byte, format string) error {
	r := dag.ReviewText(text, format)
	if r.Definition != nil {
		if name := r.Definition.Name; name != "" && name != at.workflow {
			r.AddError(mismatch(name, at.workflow))
		}
		if err := s.addOthers(ctx, at, &r); err != nil {
			return err
		}
	}
	return badDefinition(r.Errors)
}

// addOthers adds what is wrong with what a definition says of other workflows. Where the text itself is wrong already,
// nothing more is said of that field.
func (s *Server) addOthers(ctx context.Context, at place, r *dag.Review) error {
	wrong, err := s.checkOthers(ctx, at, r.Definition)
	if err != nil {
		return err
	}
	known := map[string]bool{}
	for i := range r.Errors {
		known[r.Errors[i].Field] = true
	}
	for _, e := range wrong {
		if !known[e.Field] {
			r.AddError(e)
		}
	}
	return nil
}

// warnOfTaskGroups says which tasks would wait for a task group that is not there, the first of each group.
func (s *Server) warnOfTaskGroups(ctx context.Context, project int64, r *dag.Review) error {
	known := map[string]bool{}
	for i := range r.Definition.Tasks {
		t := &r.Definition.Tasks[i]
		group := t.TaskGroup.Name
		if group == "" || known[group] || len(known) == maxErrors {
			continue
		}
		known[group] = true
		_, err := s.store.TaskGroup(ctx, project, group)
		if errors.Is(err, sql.ErrNotFound) {
			r.AddWarning(dag.FieldError{
				Field: fmt.Sprintf("tasks[%d].task_group", i), Code: dag.CodeNoTaskGroup, Value: shown(group), Args: dag.Args{"task": t.Name, "group": group},
				Message: fmt.Sprintf("the project has no task group %q: the task would wait for one", shown(group)),
			})
		} else if err != nil {
			return fmt.Errorf("read task group: %w", err)
		}
	}
	return nil
}

// mismatch says that a text is of another workflow than the path.
func mismatch(name, workflow string) dag.FieldError {
	return dag.FieldError{
		Field: "name", Code: dag.CodeMismatch, Value: shown(name), Args: dag.Args{"name": name, "workflow": workflow},
		Message: fmt.Sprintf("the path says %q", shown(workflow)),
	}
}

// warnOfGroups says which tasks nobody could run now. One warning per group, and per labels in it, is enough to
// see it: the first task of it has it.
func (s *Server) warnOfGroups(r *dag.Review) {
	workers := s.cfg.Cluster.Workers()
	known := map[string]bool{}
	for i := range r.Definition.Tasks {
		t := &r.Definition.Tasks[i]
		key := t.WorkerGroup + "," + t.WorkerLabels.String() // no name has a comma
		// A wait takes no worker.
		if t.Type == dag.TypeWait || t.Disabled || known[key] {
			continue
		}
		known[key] = true
		// A start may send tasks of the default group elsewhere.
		anywhere := t.WorkerGroup == dag.DefaultWorkerGroup
		alive, labelled := anywhere, len(t.WorkerLabels) == 0
		for _, w := range workers {
			if anywhere || slices.Contains(w.Groups, t.WorkerGroup) {
				alive, labelled = true, labelled || t.WorkerLabels.In(w.Labels)
			}
		}
		group, labels := shown(t.WorkerGroup), t.WorkerLabels.String()
		switch {
		case !alive:
			if known[t.WorkerGroup] {
				continue
			}
			known[t.WorkerGroup] = true
			r.AddWarning(dag.FieldError{
				Field: r.Field(i) + ".worker_group", Code: dag.CodeNoWorker, Value: group, Args: dag.Args{"task": t.Name, "group": t.WorkerGroup},
				Message: fmt.Sprintf("no live worker is of the group %q: the task would wait for one", group),
			})
		case !labelled:
			r.AddWarning(dag.FieldError{
				Field: r.Field(i) + ".worker_labels", Code: dag.CodeNoLabels, Value: shown(labels), Args: dag.Args{"task": t.Name, "group": t.WorkerGroup, "labels": labels},
				Message: fmt.Sprintf("no live worker of the group %q has %s: the task would wait for one", group, shown(labels)),
			})
		}
	}
}
