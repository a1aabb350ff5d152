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
	Name        string   `json:"name"`
	Incarnation string   `json:"incarnation"`
	Address     string   `json:"address,omitempty"`
	Version     string   `json:"version"`
	Groups      []string `json:"groups,omitempty"`
	Slots       int      `json:"slots,omitempty"`
	Weight      int      `json:"weight,omitempty"`
	StartedAt   Time     `json:"started_at"`
}

// Slots is who owns the slots that commands are divided into.
type Slots struct {
	Count  int         `json:"count"`
	Epoch  int64       `json:"epoch" doc:"Of the layout; it rises with every change."`
	Owners []SlotRange `json:"owners" nullable:"false"`
}

// SlotRange is a run of slots with one owner.
type SlotRange struct {
	From   int    `json:"from"`
	To     int    `json:"to" doc:"Inclusive."`
	Master string `json:"master,omitempty" doc:"Absent: nobody."`
}

type (
	nodeList    struct{ Body List[NodeFace] }
	slotsAnswer struct{ Body Slots }
)

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
	add(s, spec{id: "get-slots", method: "GET", path: "/cluster/slots", tag: "cluster", summary: "Which master owns which slots", access: known}, s.getSlots)
	add(s, spec{
		id: "create-join-token", method: "POST", path: "/cluster/join-tokens", tag: "cluster", summary: "Let a new node join", body: jsonBody, status: 201,
		access: access{need: roleAdmin, object: noObject},
	}, s.createJoinToken)
}

func nodeFace(n Node) NodeFace {
	return NodeFace{Name: n.Name, Incarnation: n.Incarnation, Address: n.Address, Version: n.Version, Groups: n.Groups, Slots: n.Slots, Weight: n.Weight, StartedAt: Time(n.StartedAt)}
}

func (s *Server) listMasters(context.Context, *struct{}) (*nodeList, error) {
	return &nodeList{Body: list(s.cfg.Cluster.Masters(), "", nodeFace)}, nil
}

func (s *Server) listWorkers(context.Context, *struct{}) (*nodeList, error) {
	return &nodeList{Body: list(s.cfg.Cluster.Workers(), "", nodeFace)}, nil
}

func (s *Server) getSlots(context.Context, *struct{}) (*slotsAnswer, error) {
	owners, epoch := s.cfg.Cluster.Slots()
	out := &slotsAnswer{Body: Slots{Count: len(owners), Epoch: epoch, Owners: []SlotRange{}}}
	for i, m := range owners {
		if n := len(out.Body.Owners); n > 0 && out.Body.Owners[n-1].Master == m {
			out.Body.Owners[n-1].To = i
			continue
		}
		out.Body.Owners = append(out.Body.Owners, SlotRange{From: i, To: i, Master: m})
	}
	return out, nil
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
