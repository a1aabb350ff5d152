package apiserver

import (
	"context"
	"fmt"

	"github.com/porpoise/porpoise/dag"
)

// Graph is a version as the console draws and starts it: which task needs which, and
// the parameters that a start may give.
type Graph struct {
	Version     int         `json:"version"`
	Description string      `json:"description"`
	Params      []Param     `json:"params" nullable:"false"`
	Tasks       []GraphTask `json:"tasks" nullable:"false" doc:"In the order of the definition."`
}

// Param is a declared parameter.
type Param struct {
	Name        string   `json:"name"`
	Type        string   `json:"type"`
	Description string   `json:"description,omitempty"`
	Default     *string  `json:"default,omitempty" doc:"Absent: a start must give a value."`
	Enum        []string `json:"enum,omitempty"`
}

// GraphTask is a node of a graph.
type GraphTask struct {
	Name        string   `json:"name"`
	Type        string   `json:"type"`
	Needs       []string `json:"needs" nullable:"false"`
	WorkerGroup string   `json:"worker_group,omitempty"`
	Finally     bool     `json:"finally,omitempty" doc:"It comes after all others, whatever it needs."`
	Retries     int      `json:"retries" doc:"How many further attempts a failure may have."`
}

type graphAnswer struct{ Body Graph }

func (s *Server) graphRoutes() {
	add(s, spec{
		id: "get-graph", method: "GET", path: "/projects/{project}/workflows/{workflow}/versions/{version}/graph", tag: "workflows",
		summary: "Read which task of a version needs which", access: access{need: roleViewer, object: ofWorkflow},
	}, s.getGraph)
}

func (s *Server) getGraph(ctx context.Context, in *VersionPath) (*graphAnswer, error) {
	w := callOf(ctx).workflow
	n, ok := parseID(in.Version)
	if !ok {
		return nil, badID("version", in.Version)
	}
	if n > 1<<31-1 {
		return nil, notFound()
	}
	plan, err := s.plans.get(ctx, w.ID, int(n))
	if err != nil {
		return nil, fmt.Errorf("graph of version %d: %w", n, err)
	}
	return &graphAnswer{Body: graphFace(plan.Definition, int(n))}, nil
}

func graphFace(def *dag.Definition, version int) Graph {
	g := Graph{Version: version, Description: def.Description, Params: []Param{}, Tasks: make([]GraphTask, len(def.Tasks))}
	for _, p := range def.Params {
		g.Params = append(g.Params, Param{Name: p.Name, Type: string(p.Type), Description: p.Description, Default: p.Default, Enum: p.Enum})
	}
	for i := range def.Tasks {
		t := &def.Tasks[i]
		g.Tasks[i] = GraphTask{Name: t.Name, Type: t.Type, Needs: t.Needs, WorkerGroup: t.WorkerGroup, Finally: t.Finally, Retries: max(t.Retry.Times, len(t.Retry.Delays))}
		if g.Tasks[i].Needs == nil {
			g.Tasks[i].Needs = []string{}
		}
	}
	return g
}
