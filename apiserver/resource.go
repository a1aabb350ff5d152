package apiserver

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/sql"
)

// Resource is something that tasks share by its name, and who uses it.
type Resource struct {
	Project     string        `json:"project,omitempty" doc:"Whose it is; absent for what all projects share."`
	Name        string        `json:"name"`
	Description string        `json:"description,omitempty"`
	Missing     bool          `json:"missing,omitempty" doc:"Tasks name it, and it is not there; of a worker group: no worker serves it."`
	Tasks       int           `json:"tasks" doc:"How many tasks of published versions use it."`
	Workflows   int           `json:"workflows" doc:"Of how many workflows."`
	UsedBy      []ResourceUse `json:"used_by" nullable:"false" doc:"The first 50 of these workflows, of those that the caller may see."`
	Size        *int          `json:"size,omitempty" doc:"Of a task group: its places."`
	Used        int           `json:"used,omitempty" doc:"Of a task group: the places that are taken."`
	Waiting     int           `json:"waiting,omitempty" doc:"Of a task group: how many tasks wait."`
	Rate        *Rate         `json:"rate,omitempty" doc:"Of a task group."`
	Variables   int           `json:"variables,omitempty" doc:"Of an environment: how many it has."`
	Workers     int           `json:"workers,omitempty" doc:"Of a worker group."`
	Slots       int           `json:"slots,omitempty" doc:"Of a worker group: of its workers that take work."`
	UpdatedAt   Time          `json:"updated_at,omitempty"`
	UpdatedBy   string        `json:"updated_by,omitempty"`
}

// ResourceUse is the tasks of one workflow that use a resource.
type ResourceUse struct {
	Project  string   `json:"project"`
	Workflow string   `json:"workflow"`
	Tasks    []string `json:"tasks" nullable:"false" doc:"The first ten."`
	Count    int      `json:"count"`
}

// Resources is everything of one kind that the caller may see.
type Resources struct {
	Items []Resource `json:"items" nullable:"false"`
	Cut   bool       `json:"cut" doc:"There is more than is looked into: some are missing, or used by more."`
}

type listResources struct {
	Kind string `path:"kind" enum:"worker-groups,task-groups,environments,secrets"`
}

type resourcesAnswer struct{ Body Resources }

const (
	// maxResources bounds what one answer lists.
	maxResources = 2000
	// maxUsers and maxUsing bound what is said of who uses one: the workflows, and the tasks of each.
	maxUsers, maxUsing = 50, 10
)

func (s *Server) resourceRoutes() {
	add(s, spec{
		id: "list-resources", method: "GET", path: "/resources/{kind}", tag: "projects", access: access{object: perItem},
		summary: "List what tasks share by name, in all projects that one may see, with the tasks of published versions that use it",
	}, s.listResources)
}

// use is how a version uses one thing.
type use struct {
	kind, name string
	tasks      []string // the first ones
	count      int
}

// usesIn reads what the tasks of a version share with others.
func usesIn(v sql.Version, _ string) []use {
	plan, err := planOf(v)
	if err != nil {
		return nil // what can no longer be read uses nothing either
	}
	found := map[[2]string]*use{}
	in := dag.NewInstance(plan, 0, dag.StartOptions{})
	for i := range plan.Definition.Tasks {
		t := &plan.Definition.Tasks[i]
		add := func(kind, name string) {
			if name == "" {
				return
			}
			key := [2]string{kind, nameKey(kind, name)}
			if found[key] == nil {
				found[key] = &use{kind: kind, name: name}
			}
			u := found[key]
			if u.count++; u.count <= maxUsing {
				u.tasks = append(u.tasks, t.Name)
			}
		}
		if !in.InMaster(i) {
			add("worker-groups", cmp.Or(t.WorkerGroup, dag.DefaultWorkerGroup))
		}
		add("task-groups", t.TaskGroup.Name)
		add("environments", t.Environment)
		for _, name := range plan.Secrets(i) {
			add("secrets", name)
		}
	}
	out := make([]use, 0, len(found))
	for _, u := range found {
		out = append(out, *u)
	}
	slices.SortFunc(out, func(a, b use) int { return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.name, b.name)) })
	return out
}

// nameKey is by what names of a kind are the same.
func nameKey(kind, name string) string {
	if kind == "task-groups" || kind == "environments" {
		return dag.FoldName(name)
	}
	return name
}

// shelf gathers the resources of one kind.
type shelf struct {
	kind  string
	items []*Resource
	at    map[[2]string]*Resource // by project and key of the name
}

func (h *shelf) put(r Resource) *Resource {
	r.UsedBy = []ResourceUse{}
	h.items = append(h.items, &r)
	h.at[[2]string{r.Project, nameKey(h.kind, r.Name)}] = &r
	return &r
}

// using finds what a task of a project means by a name: the project's own, or what all share; else it is missing.
func (h *shelf) using(project, name string, shared bool) *Resource {
	key := nameKey(h.kind, name)
	own := project
	if shared {
		own = ""
	}
	if r := cmp.Or(h.at[[2]string{own, key}], h.at[[2]string{"", key}]); r != nil {
		return r
	}
	return h.put(Resource{Project: own, Name: name, Missing: true})
}

func (s *Server) listResources(ctx context.Context, in *listResources) (*resourcesAnswer, error) {
	h := &shelf{kind: in.Kind, at: map[[2]string]*Resource{}}
	cut, err := s.fill(ctx, h)
	if err != nil {
		return nil, err
	}
	all, more, err := s.visibleWorkflows(ctx)
	if err != nil {
		return nil, err
	}
	for _, w := range all {
		if w.Published == 0 {
			continue
		}
		uses, err := s.uses.of(ctx, s.store, w, usesIn)
		if err != nil {
			return nil, err
		}
		for _, u := range uses {
			if u.kind != in.Kind {
				continue
			}
			r := h.using(w.Project, u.name, in.Kind == "worker-groups")
			r.Tasks += u.count
			if r.Workflows++; r.Workflows <= maxUsers {
				r.UsedBy = append(r.UsedBy, ResourceUse{Project: w.Project, Workflow: w.Name, Tasks: u.tasks, Count: u.count})
			}
		}
	}
	out := Resources{Items: make([]Resource, len(h.items)), Cut: cut || more}
	for i, r := range h.items {
		out.Items[i] = *r
	}
	slices.SortFunc(out.Items, func(a, b Resource) int { return cmp.Or(cmp.Compare(a.Project, b.Project), cmp.Compare(a.Name, b.Name)) })
	return &resourcesAnswer{Body: out}, nil
}

// fill puts what there is of a kind on the shelf; cut says that there is more.
func (s *Server) fill(ctx context.Context, h *shelf) (cut bool, err error) {
	if h.kind == "worker-groups" {
		s.workerGroups(h)
		return false, nil
	}
	projects, err := s.visibleProjects(ctx)
	if err != nil || len(projects) == 0 {
		return false, err
	}
	if h.kind != "task-groups" {
		projects = append([]sql.Project{{ID: sql.AllProjects}}, projects...)
	}
	for _, p := range projects {
		if len(h.items) >= maxResources {
			return true, nil
		}
		switch h.kind {
		case "task-groups":
			err = s.taskGroupsOf(ctx, h, p)
		case "environments":
			err = s.environmentsOn(ctx, h, p)
		case "secrets":
			err = s.secretsOn(ctx, h, p)
		}
		if err != nil {
			return false, err
		}
	}
	return false, nil
}

// visibleProjects are those that the caller may see.
func (s *Server) visibleProjects(ctx context.Context) (out []sql.Project, err error) {
	who := callOf(ctx).who
	for page := (sql.Page{Limit: maxPage}); ; {
		list, next, err := s.store.Projects(ctx, page)
		if err != nil {
			return nil, fmt.Errorf("list projects: %w", err)
		}
		for _, p := range list {
			if who.role(p.ID) >= roleViewer {
				out = append(out, p)
			}
		}
		if page.Cursor = next; next == "" {
			return out, nil
		}
	}
}

func (s *Server) workerGroups(h *shelf) {
	for _, n := range s.cfg.Cluster.Workers() {
		for _, name := range n.Groups {
			r := h.at[[2]string{"", name}]
			if r == nil {
				r = h.put(Resource{Name: name})
			}
			r.Workers++
			if n.Draining == "" {
				r.Slots += n.Slots
			}
		}
	}
}

func (s *Server) taskGroupsOf(ctx context.Context, h *shelf, p sql.Project) error {
	for page := (sql.Page{Limit: maxPage}); ; {
		rows, next, err := s.store.TaskGroups(ctx, p.ID, page)
		if err != nil {
			return fmt.Errorf("list task groups: %w", err)
		}
		for _, g := range rows {
			h.put(Resource{
				Project: p.Name, Name: g.Name, Description: g.Description, Size: &g.Size, Used: g.Used, Waiting: g.Waiting, Rate: rateFace(g.Rate), UpdatedAt: Time(g.UpdatedAt),
			})
		}
		if page.Cursor = next; next == "" {
			return nil
		}
	}
}

func (s *Server) environmentsOn(ctx context.Context, h *shelf, p sql.Project) error {
	rows, err := s.store.Environments(ctx, p.ID)
	if err != nil {
		return fmt.Errorf("list environments: %w", err)
	}
	for _, e := range rows {
		h.put(Resource{Project: p.Name, Name: e.Name, Description: e.Description, Variables: len(e.Variables), UpdatedAt: Time(e.UpdatedAt), UpdatedBy: e.UpdatedBy})
	}
	return nil
}

func (s *Server) secretsOn(ctx context.Context, h *shelf, p sql.Project) error {
	rows, err := s.store.Secrets(ctx, p.ID)
	if err != nil {
		return fmt.Errorf("list secrets: %w", err)
	}
	for _, x := range rows {
		h.put(Resource{Project: p.Name, Name: x.Name, Description: x.Description, UpdatedAt: Time(x.UpdatedAt), UpdatedBy: x.UpdatedBy})
	}
	return nil
}
