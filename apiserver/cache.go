package apiserver

import (
	"context"
	"fmt"
)

// Cleared says how much was deleted of what is kept of a workflow's tasks.
type Cleared struct {
	Deleted int `json:"deleted" doc:"How many results are kept no longer."`
}

type clearedAnswer struct{ Body Cleared }

type clearCache struct {
	WorkflowPath
	Task string `query:"task" maxLength:"512" doc:"Only what was kept of the task of this name; where nothing is said, of all tasks."`
}

func (s *Server) cacheRoutes() {
	add(s, spec{
		id: "clear-cache", method: "DELETE", path: "/projects/{project}/workflows/{workflow}/cache", tag: "workflows",
		summary: "Forget what is kept of the workflow's tasks, so that they run again", access: access{need: roleOperator, object: ofWorkflow},
	}, s.clearCache)
}

func (s *Server) clearCache(ctx context.Context, in *clearCache) (*clearedAnswer, error) {
	n, err := s.store.ClearCache(ctx, callOf(ctx).workflow.ID, in.Task)
	if err != nil {
		return nil, fmt.Errorf("clear cache: %w", err)
	}
	return &clearedAnswer{Body: Cleared{Deleted: n}}, nil
}
