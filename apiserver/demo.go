package apiserver

import (
	"context"
	"fmt"
)

// Demo is the processes of a demo, which may be ended to see what the others do. Kill answers sql.ErrNotFound for a
// process that it does not have, or that is gone.
type Demo interface {
	Nodes() []string
	Kill(node string) error
}

type killNode struct {
	Body struct {
		Node string `json:"node" minLength:"1" maxLength:"128" doc:"A master or a worker of the demo."`
	}
}

// demoRoutes are there in a demo alone: nothing else that speaks HTTP ends processes.
func (s *Server) demoRoutes() {
	if s.cfg.Demo == nil {
		return
	}
	add(s, spec{
		id: "kill-demo-node", method: "POST", path: "/cluster/demo/kill", tag: "cluster", access: access{need: roleAdmin, object: noObject}, body: jsonBody, status: 204,
		summary: "End a process of the demo as a power cut would",
	}, s.killNode)
}

func (s *Server) killNode(_ context.Context, in *killNode) (*struct{}, error) {
	if err := s.cfg.Demo.Kill(in.Body.Node); err != nil {
		return nil, fmt.Errorf("kill %s: %w", in.Body.Node, err)
	}
	return nil, nil
}
