package apiserver

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/dag/document"
	"github.com/porpoise/porpoise/sql"
)

// maxFollowed bounds the versions that one save follows through sub-workflows. Beyond it the depth that
// masters enforce is what ends a circle.
const maxFollowed = 2_000

// place is where a definition is, or is to be.
type place struct {
	project  sql.Project
	workflow string
}

func (p place) String() string { return p.project.Name + "/" + p.workflow }

func (p place) same(q place) bool {
	return p.project.ID == q.project.ID && dag.FoldName(p.workflow) == dag.FoldName(q.workflow)
}

// checkOthers holds what a definition says of other workflows against what there is.
func (s *Server) checkOthers(ctx context.Context, at place, def *dag.Definition) ([]dag.FieldError, error) {
	wrong, err := s.checkChildren(ctx, at, def)
	if err != nil {
		return nil, err
	}
	more, err := s.checkDependents(ctx, at, def)
	return append(wrong, more...), err
}

// checkChildren holds the sub_workflow tasks of a definition that is to be at a place against what there
// is: the workflow must be there and take the parameters, the caller must be one who may start it, and it
// must not lead back here.
func (s *Server) checkChildren(ctx context.Context, at place, def *dag.Definition) ([]dag.FieldError, error) {
	var wrong []dag.FieldError
	f := lineage{server: s, root: at}
	for i := range def.Tasks {
		spec, ok := dag.ChildOf(def.Tasks[i].Spec)
		if !ok || spec.Version != nil && *spec.Version < 1 {
			continue // the text is wrong there
		}
		found, err := f.task(ctx, fmt.Sprintf("tasks[%d]", i), &def.Tasks[i], spec)
		if err != nil {
			return nil, err
		}
		if wrong = append(wrong, found...); len(wrong) >= maxErrors {
			break
		}
	}
	return wrong, nil
}

// placed gives errors their places in the text.
func placed(text []byte, format string, wrong []dag.FieldError) []dag.FieldError {
	r := dag.ReviewText(text, format)
	for _, e := range wrong {
		r.AddError(e)
	}
	return r.Errors
}

// lineage walks from workflow to workflow along sub_workflow tasks.
type lineage struct {
	server *Server
	root   place
	seen   int
}

// task checks one task of the definition itself.
func (f *lineage) task(ctx context.Context, field string, t *dag.Task, spec dag.SubWorkflowSpec) ([]dag.FieldError, error) {
	fail := func(key, code, value, message string, args dag.Args) ([]dag.FieldError, error) {
		args["task"] = t.Name
		return []dag.FieldError{{Field: field + "." + key, Code: code, Value: document.Shown(value), Message: message, Args: args}}, nil
	}
	who := callOf(ctx).who
	to := place{f.root.project, spec.Workflow}
	if spec.Project != "" {
		p, err := f.server.store.Project(ctx, spec.Project)
		if err == nil && who.role(p.ID) < roleViewer {
			err = sql.ErrNotFound
		}
		switch {
		case errors.Is(err, sql.ErrNotFound):
			return fail("project", dag.CodeUnknownWorkflow, spec.Project, "there is no project "+document.Quoted(spec.Project), dag.Args{"workflow": spec.Workflow})
		case err != nil:
			return nil, fmt.Errorf("read project: %w", err)
		case who.role(p.ID) < roleOperator:
			return fail("project", dag.CodeNotAllowed, spec.Project,
				"you may not start workflows of the project "+document.Quoted(p.Name)+", so neither may a task that you write", dag.Args{"project": p.Name})
		}
		to.project = p
	}
	if to.same(f.root) {
		return fail("workflow", dag.CodeWorkflowCycle, spec.Workflow, f.circle([]place{f.root, f.root}), dag.Args{"path": f.shown(ctx, []place{f.root, f.root})})
	}
	w, plan, err := f.target(ctx, to, spec)
	var absent *notThere
	switch {
	case errors.As(err, &absent):
		return fail(absent.key, dag.CodeUnknownWorkflow, absent.value, absent.why, dag.Args{"workflow": spec.Workflow})
	case err != nil:
		return nil, err
	}
	to.workflow = w.Name
	path, err := f.follow(ctx, plan.Definition, []place{f.root, to})
	switch {
	case err != nil:
		return nil, err
	case path != nil && path[len(path)-1].same(f.root):
		return fail("workflow", dag.CodeWorkflowCycle, spec.Workflow, "this closes a circle: "+f.shown(ctx, path), dag.Args{"path": f.shown(ctx, path)})
	case path != nil:
		return fail("workflow", document.CodeTooDeep, spec.Workflow,
			fmt.Sprintf("sub-workflows may be nested %d deep, these go deeper: %s", dag.MaxDepth, f.shown(ctx, path)), dag.Args{})
	}
	return childParams(field, t, plan.Definition), nil
}

func (f *lineage) circle(path []place) string {
	return "a workflow must not run itself: " + path[0].String() + " -> " + path[1].String()
}

// shown writes a path for the caller, who may not know all of its projects.
func (f *lineage) shown(ctx context.Context, path []place) string {
	names := make([]string, len(path))
	for i, p := range path {
		names[i] = "(another project)"
		if callOf(ctx).who.role(p.project.ID) >= roleViewer {
			names[i] = p.String()
		}
	}
	return strings.Join(names, " -> ")
}

// notThere says which key of a task names something that is not there.
type notThere struct{ key, value, why string }

func (e *notThere) Error() string { return e.why }

// target reads what a sub_workflow task would run now; the error is a notThere where there is nothing.
func (f *lineage) target(ctx context.Context, to place, spec dag.SubWorkflowSpec) (sql.Workflow, *dag.Plan, error) {
	w, err := f.server.store.Workflow(ctx, to.project.ID, to.workflow)
	if errors.Is(err, sql.ErrNotFound) {
		return w, nil, &notThere{"workflow", to.workflow, "there is no workflow " + document.Quoted(to.workflow) + " in the project " + document.Quoted(to.project.Name)}
	} else if err != nil {
		return w, nil, fmt.Errorf("read workflow: %w", err)
	}
	version := w.Published
	if spec.Version != nil {
		version = *spec.Version
	}
	if version == 0 {
		return w, nil, &notThere{"workflow", to.workflow, "the workflow " + document.Quoted(w.Name) + " has no published version"}
	}
	plan, err := f.server.plans.get(ctx, w.ID, version)
	if errors.Is(err, sql.ErrNotFound) {
		n := strconv.Itoa(version)
		return w, nil, &notThere{"version", n, "the workflow " + document.Quoted(w.Name) + " has no version " + n + "; the newest is " + strconv.Itoa(w.Latest)}
	}
	return w, plan, err
}

// follow looks for a way from the last place of path back to the root, or to a depth that is not allowed,
// and returns it; nil where there is none.
func (f *lineage) follow(ctx context.Context, def *dag.Definition, path []place) ([]place, error) {
	if len(path)-1 > dag.MaxDepth {
		return path, nil
	}
	for i := range def.Tasks {
		spec, ok := dag.ChildOf(def.Tasks[i].Spec)
		if !ok {
			continue
		}
		if f.seen++; f.seen > maxFollowed {
			return nil, nil
		}
		to := place{path[len(path)-1].project, spec.Workflow}
		if spec.Project != "" {
			p, err := f.server.store.Project(ctx, spec.Project)
			if errors.Is(err, sql.ErrNotFound) {
				continue
			} else if err != nil {
				return nil, fmt.Errorf("read project: %w", err)
			}
			to.project = p
		}
		next := append(slices.Clip(path), to)
		if to.same(f.root) {
			return next, nil
		}
		w, plan, err := f.target(ctx, to, spec)
		if _, absent := errors.AsType[*notThere](err); absent {
			continue // its own author was told
		} else if err != nil {
			return nil, err
		}
		next[len(next)-1].workflow = w.Name
		if found, err := f.follow(ctx, plan.Definition, next); found != nil || err != nil {
			return found, err
		}
	}
	return nil, nil
}

// childParams holds the params of a sub_workflow task against those that its child declares. What refers
// to something has no value yet.
func childParams(field string, t *dag.Task, def *dag.Definition) []dag.FieldError {
	given, open := make(map[string]string, len(t.Params)), map[string]bool{}
	for i := range t.Params {
		if p := &t.Params[i]; p.Default != nil {
			given[p.Name] = *p.Default
			open[document.FieldKey("params", p.Name)] = strings.Contains(*p.Default, "${")
		}
	}
	places := map[string]string{}
	if d, ok := t.Spec.(*dag.DynamicSpec); ok {
		for name, place := range d.Places() {
			given[name] = ""
			places[document.FieldKey("params", name)], open[document.FieldKey("params", name)] = place, true
		}
	}
	var wrong []dag.FieldError
	for _, e := range dag.CheckParams(def, maps.Clone(given)) {
		if open[e.Field] && e.Code != dag.CodeUnknownParam {
			continue
		}
		if place, ok := places[e.Field]; ok {
			e.Field = place
		}
		e.Field = field + "." + e.Field
		wrong = append(wrong, e)
	}
	return wrong
}

type listChildren struct {
	InstancePath
	Paged
}

func (s *Server) listChildren(ctx context.Context, in *listChildren) (*instanceList, error) {
	rows, next, err := s.store.ChildrenOf(ctx, callOf(ctx).instance.ID, in.page())
	if err != nil {
		return nil, fmt.Errorf("list children: %w", err)
	}
	who := callOf(ctx).who
	seen := make([]sql.InstanceRow, 0, len(rows))
	for _, r := range rows {
		if who.role(r.ProjectID) >= roleViewer {
			seen = append(seen, r)
		}
	}
	return &instanceList{Body: list(seen, next, instanceFace)}, nil
}

// addChildren adds to each task that waits for its child, or did not succeed because of it, why the child is
// as it is; depth is how far below the asked instance this one is.
func (s *Server) addChildren(ctx context.Context, inst *dag.Instance, plan *dag.Plan, depth int, e *Explanation) error {
	for i := range e.Causes {
		if err := s.addChildren(ctx, inst, plan, depth, &e.Causes[i]); err != nil {
			return err
		}
	}
	task, ok := plan.Task(e.Args["task"])
	if !ok || depth > dag.MaxDepth || inst.Tasks[task].Child == 0 || e.Code != string(inst.Tasks[task].State) {
		return nil
	}
	switch inst.Tasks[task].State {
	case dag.TaskRunning, dag.TaskKilling, dag.TaskRetryWait, dag.TaskFailed, dag.TaskKilled:
	case "", dag.TaskWaiting, dag.TaskReady, dag.TaskDispatched, dag.TaskSuccess, dag.TaskForcedSuccess, dag.TaskSkipped,
		dag.TaskUpstreamFailed, dag.TaskDisabled:
		return nil
	}
	cause, err := s.explainChild(ctx, inst.Tasks[task].Child, depth)
	if err == nil && cause != nil {
		e.Causes = append(e.Causes, *cause)
	}
	return err
}

// explainChild explains a child instance; nil for one that is gone, or not the caller's to see.
func (s *Server) explainChild(ctx context.Context, id int64, depth int) (*Explanation, error) {
	row, err := s.store.Instance(ctx, id)
	if errors.Is(err, sql.ErrNotFound) || err == nil && callOf(ctx).who.role(row.ProjectID) < roleViewer {
		return nil, nil
	} else if err != nil {
		return nil, fmt.Errorf("read child instance: %w", err)
	}
	inner, err := s.explanationOf(ctx, row, "", depth+1)
	if err != nil {
		return nil, err
	}
	name := row.Project + "/" + row.Workflow
	return &Explanation{
		Code: "child", Args: map[string]string{"instance": strconv.FormatInt(id, 10), "workflow": name},
		Text: fmt.Sprintf("child instance %d of %s", id, name), Causes: []Explanation{inner},
	}, nil
}
