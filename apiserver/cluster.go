package apiserver

import (
	"context"
	"fmt"
	"time"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/sql"
)

// NodeFace is a live process of the cluster as the API shows it.
type NodeFace struct {
	Name        string            `json:"name"`
	Incarnation string            `json:"incarnation"`
	Address     string            `json:"address,omitempty"`
	Version     string            `json:"version"`
	Groups      []string          `json:"groups,omitempty"`
	Labels      map[string]string `json:"labels,omitempty" doc:"What tasks may ask for by worker_labels."`
	Slots       int               `json:"slots,omitempty"`
	Weight      int               `json:"weight,omitempty"`
	StartedAt   Time              `json:"started_at"`
	Draining    string            `json:"draining,omitempty" doc:"Why it takes no work; absent: it does."`
}

type nodeList struct{ Body List[NodeFace] }

type createJoinToken struct {
	Body struct {
		Role      string `json:"role" enum:"master,worker,apiserver"`
		Node      string `json:"node,omitempty" maxLength:"128" doc:"The only node that may use it; absent: any."`
		ExpiresIn int    `json:"expires_in_seconds,omitempty" minimum:"60" maximum:"604800" default:"3600"`
		Uses      int    `json:"uses,omitempty" minimum:"1" maximum:"1000" default:"1"`
	}
}

type joinTokenAnswer struct {
	Body struct {
		ID        ID     `json:"id"`
		Role      string `json:"role"`
		ExpiresAt Time   `json:"expires_at"`
		Uses      int    `json:"uses"`
		Token     string `json:"token" doc:"Shown this once: give it to the new node."`
	}
}

func (s *Server) clusterRoutes() {
	known := access{object: noObject}
	add(s, spec{id: "list-masters", method: "GET", path: "/cluster/masters", tag: "cluster", summary: "List the masters that are alive", access: known}, s.listMasters)
	add(s, spec{id: "list-workers", method: "GET", path: "/cluster/workers", tag: "cluster", summary: "List the workers that are alive", access: known}, s.listWorkers)
	add(s, spec{
		id: "create-join-token", method: "POST", path: "/cluster/join-tokens", tag: "cluster", summary: "Let a new node join", body: jsonBody, status: 201,
		access: access{need: roleAdmin, object: noObject},
	}, s.createJoinToken)
}

func nodeFace(n Node) NodeFace {
	return NodeFace{Name: n.Name, Incarnation: n.Incarnation, Address: n.Address, Version: n.Version, Groups: n.Groups, Labels: n.Labels, Slots: n.Slots, Weight: n.Weight, StartedAt: Time(n.StartedAt), Draining: n.Draining}
}

func (s *Server) listMasters(context.Context, *struct{}) (*nodeList, error) {
	return &nodeList{Body: list(s.cfg.Cluster.Masters(), "", nodeFace)}, nil
}

func (s *Server) listWorkers(context.Context, *struct{}) (*nodeList, error) {
	return &nodeList{Body: list(s.cfg.Cluster.Workers(), "", nodeFace)}, nil
}

func (s *Server) createJoinToken(ctx context.Context, in *createJoinToken) (*joinTokenAnswer, error) {
	now, secret := s.now(), newSecret()
	t, err := s.store.CreateJoinToken(ctx, sql.JoinToken{
		Hash: hashSecret(secret), Role: in.Body.Role, Node: in.Body.Node, CreatedBy: callOf(ctx).who.name, CreatedAt: dag.MillisOf(now),
		ExpiresAt: dag.MillisOf(now.Add(time.Duration(in.Body.ExpiresIn) * time.Second)), UsesLeft: in.Body.Uses,
	})
	if err != nil {
		return nil, fmt.Errorf("create join token: %w", err)
	}
	out := &joinTokenAnswer{}
	out.Body.ID, out.Body.Role, out.Body.ExpiresAt, out.Body.Uses = ID(t.ID), t.Role, Time(t.ExpiresAt), t.UsesLeft
	out.Body.Token = "pj1." + s.cfg.Cluster.CA() + "." + secret
	return out, nil
}
