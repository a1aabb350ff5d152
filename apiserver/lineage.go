package apiserver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/dag/interval"
	"github.com/porpoise/porpoise/sql"
)

// Lineage is which workflows start or wait for which.
type Lineage struct {
	Workflows []LineageWorkflow `json:"workflows" nullable:"false" doc:"Those that an edge begins or ends at, by project and name."`
	Edges     []LineageEdge     `json:"edges" nullable:"false"`
	Cut       bool              `json:"cut" doc:"There are more workflows than are looked into: some edges are missing."`
}

// LineageWorkflow is a workflow with what it did last.
type LineageWorkflow struct {
	Project  string        `json:"project"`
	Workflow string        `json:"workflow"`
	Last     *LastInstance `json:"last,omitempty" doc:"Its newest instance; absent where it never ran."`
}

// LineageEdge is one way in which a workflow depends on another. from comes first: it is waited for, or starts the other.
type LineageEdge struct {
	From int    `json:"from" doc:"The place in workflows."`
	To   int    `json:"to" doc:"The place in workflows."`
	Kind string `json:"kind" enum:"dependent,sub_workflow,dynamic,schedule" doc:"dependent: a task of to waits for from; sub_workflow, dynamic: a task of from starts to; schedule: a schedule of to fires at ends of from."`
	Name string `json:"name" doc:"The task's, or the schedule's."`
}

type showLineage struct {
	Project string `query:"project" maxLength:"512" doc:"Only edges that begin or end in this project."`
}

type lineageAnswer struct{ Body Lineage }

const (
	// maxLineage bounds the workflows that one answer looks into.
	maxLineage = 5000
	// maxLinks bounds the versions whose links are kept in memory, about 100 bytes each; beyond it all are read again.
	maxLinks = 4 * maxLineage
)

// link is what a published definition says about another workflow.
type link struct {
	kind, name        string
	project, workflow string
}

// perVersion keeps what is read out of versions: they never change, so that each is read and parsed once.
type perVersion[T any] struct {
	mu   sync.Mutex
	kept map[planKey]T
}

// of returns what read finds in the published version of a workflow; nothing where that is gone.
func (p *perVersion[T]) of(ctx context.Context, store WorkflowStore, w sql.Workflow, read func(v sql.Version, project string) T) (out T, err error) {
	key := planKey{w.ID, w.Published}
	p.mu.Lock()
	out, ok := p.kept[key]
	p.mu.Unlock()
	if ok {
		return out, nil
	}
	v, err := store.Version(ctx, w.ID, w.Published)
	if errors.Is(err, sql.ErrNotFound) {
		return out, nil // deleted meanwhile
	}
	if err != nil {
		return out, fmt.Errorf("read version %d of workflow %d: %w", w.Published, w.ID, err)
	}
	out = read(v, w.Project)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.kept == nil || len(p.kept) >= maxLinks {
		p.kept = map[planKey]T{}
	}
	p.kept[key] = out
	return out, nil
}

func (s *Server) lineageRoutes() {
	add(s, spec{
		id: "show-lineage", method: "GET", many: true, path: "/lineage", tag: "workflows", summary: "Show which workflows start or wait for which, as they are published",
		access: access{object: perItem},
	}, s.showLineage)
}

func (s *Server) showLineage(ctx context.Context, in *showLineage) (*lineageAnswer, error) {
	only := ""
	if in.Project != "" {
		p, err := s.store.Project(ctx, in.Project)
		if err == nil && callOf(ctx).who.role(p.ID) < roleViewer {
			err = sql.ErrNotFound
		}
		if errors.Is(err, sql.ErrNotFound) {
			return nil, notFound()
		}
		if err != nil {
			return nil, fmt.Errorf("read project: %w", err)
		}
		only = p.Name
	}
	all, cut, err := s.visibleWorkflows(ctx)
	if err != nil {
		return nil, err
	}
	w := newWeave(all, only)
	for _, of := range all {
		if of.Published == 0 {
			continue
		}
		found, err := s.links.of(ctx, s.store, of, linksIn)
		if err != nil {
			return nil, err
		}
		for _, l := range found {
			w.add(of, l)
		}
	}
	after, err := s.store.SchedulesAfter(ctx, maxLineage)
	if err != nil {
		return nil, fmt.Errorf("read what fires at ends: %w", err)
	}
	for _, a := range after {
		w.tie(a.After, a.WorkflowID, "schedule", a.Name)
	}
	out, ids := w.drawn()
	out.Cut = cut || len(after) == maxLineage
	seen, err := s.store.WorkflowActivities(ctx, ids, 1)
	if err != nil {
		return nil, fmt.Errorf("read the workflows' last instances: %w", err)
	}
	for i, id := range ids {
		if last := seen[id].Last; len(last) > 0 {
			out.Workflows[i].Last = &LastInstance{ID: ID(last[0].ID), State: last[0].State, CreatedAt: Time(last[0].CreatedAt)}
		}
	}
	return &lineageAnswer{Body: out}, nil
}

// visibleWorkflows are those of every project that the caller may see; cut says that there are more than are returned.
func (s *Server) visibleWorkflows(ctx context.Context) (all []sql.Workflow, cut bool, err error) {
	projects, err := s.visibleProjects(ctx)
	if err != nil {
		return nil, false, err
	}
	for _, p := range projects {
		for page := (sql.Page{Limit: maxPage}); ; {
			some, more, err := s.store.Workflows(ctx, p.ID, page)
			if err != nil {
				return nil, false, fmt.Errorf("list workflows: %w", err)
			}
			if all = append(all, some...); len(all) >= maxLineage {
				return all[:maxLineage], true, nil
			}
			if page.Cursor = more; more == "" {
				break
			}
		}
	}
	return all, false, nil
}

// linksIn reads a version. Most name none of the types that link, and are not parsed.
func linksIn(v sql.Version, project string) (out []link) {
	if !slices.ContainsFunc([]string{dag.TypeDependent, dag.TypeSubWorkflow, dag.TypeDynamic}, func(t string) bool { return strings.Contains(v.Text, t) }) {
		return nil
	}
	plan, err := planOf(v)
	if err != nil {
		return nil // what can no longer be read starts nothing either
	}
	for i := range plan.Definition.Tasks {
		t := &plan.Definition.Tasks[i]
		switch spec := t.Spec.(type) {
		case *dag.DependentSpec:
			spec.Each(project, func(_ string, item interval.Item) {
				out = append(out, link{dag.TypeDependent, t.Name, item.Project, item.Workflow})
			})
		case *dag.SubWorkflowSpec:
			out = append(out, link{dag.TypeSubWorkflow, t.Name, cmp.Or(spec.Project, project), spec.Workflow})
		case *dag.DynamicSpec:
			out = append(out, link{dag.TypeDynamic, t.Name, cmp.Or(spec.Project, project), spec.Workflow})
		}
	}
	return out
}

// weave gathers edges between known workflows.
type weave struct {
	only  string
	byID  map[int64]sql.Workflow
	named map[[2]string]int64
	edges map[tied]bool
}

// tied is an edge between two workflows by their ids.
type tied struct {
	from, to   int64
	kind, name string
}

func newWeave(all []sql.Workflow, only string) *weave {
	w := &weave{only: only, byID: make(map[int64]sql.Workflow, len(all)), named: make(map[[2]string]int64, len(all)), edges: map[tied]bool{}}
	for _, x := range all {
		w.byID[x.ID], w.named[foldedName(x.Project, x.Name)] = x, x.ID
	}
	return w
}

// add ties what a definition says; a workflow that is not there, or not to be seen, is left out.
func (w *weave) add(of sql.Workflow, l link) {
	other, ok := w.named[foldedName(l.project, l.workflow)]
	switch {
	case !ok:
	case l.kind == dag.TypeDependent:
		w.tie(other, of.ID, l.kind, l.name)
	default:
		w.tie(of.ID, other, l.kind, l.name)
	}
}

func (w *weave) tie(from, to int64, kind, name string) {
	a, known := w.byID[from]
	b, too := w.byID[to]
	if known && too && (w.only == "" || a.Project == w.only || b.Project == w.only) {
		w.edges[tied{from, to, kind, name}] = true
	}
}

// drawn is the answer, in an order that stays, with the ids of its workflows.
func (w *weave) drawn() (out Lineage, ids []int64) {
	met := map[int64]bool{}
	for e := range w.edges {
		met[e.from], met[e.to] = true, true
	}
	for id := range met {
		ids = append(ids, id)
	}
	slices.SortFunc(ids, func(a, b int64) int {
		x, y := w.byID[a], w.byID[b]
		return cmp.Or(cmp.Compare(x.Project, y.Project), cmp.Compare(x.Name, y.Name))
	})
	out = Lineage{Workflows: make([]LineageWorkflow, len(ids)), Edges: make([]LineageEdge, 0, len(w.edges))}
	place := make(map[int64]int, len(ids))
	for i, id := range ids {
		place[id] = i
		out.Workflows[i] = LineageWorkflow{Project: w.byID[id].Project, Workflow: w.byID[id].Name}
	}
	for e := range w.edges {
		out.Edges = append(out.Edges, LineageEdge{From: place[e.from], To: place[e.to], Kind: e.kind, Name: e.name})
	}
	slices.SortFunc(out.Edges, func(a, b LineageEdge) int {
		return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name))
	})
	return out, ids
}
