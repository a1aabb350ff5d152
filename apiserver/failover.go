package apiserver

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/sql"
)

// FailoverStore keeps what masters did for others that died, and lets go what killed them.
type FailoverStore interface {
	Failovers(ctx context.Context, kind sql.FailoverKind, page sql.Page) ([]sql.FailoverRow, string, error)
	Failover(ctx context.Context, id int64) (sql.FailoverRow, error)
	ReleaseQuarantine(ctx context.Context, instance int64, by string) error
}

// Failover is one takeover by one master.
type Failover struct {
	ID          ID             `json:"id"`
	Kind        string         `json:"kind" enum:"master,worker"`
	Node        string         `json:"node" doc:"What died."`
	Incarnation string         `json:"incarnation"`
	By          string         `json:"by" doc:"The master that took over. Of a dead master several may have taken a part: each has its own item."`
	Cause       string         `json:"cause"`
	DetectedAt  Time           `json:"detected_at"`
	FinishedAt  Time           `json:"finished_at,omitempty" doc:"Absent while the lot of some attempts is open."`
	Instances   int            `json:"instances"`
	Adopted     int            `json:"adopted" doc:"Attempts that went on."`
	Lost        int            `json:"lost" doc:"Attempts that ended without a report; their tasks run again."`
	Steps       []FailoverStep `json:"steps" nullable:"false"`
}

// FailoverStep is one moment of a takeover.
type FailoverStep struct {
	Name string `json:"name" doc:"Of a master: absent, taken, settled. Of a worker: silent, lost."`
	At   Time   `json:"at"`
}

type listFailovers struct {
	Paged
	Kind string `query:"kind" enum:"master,worker" doc:"Absent: both."`
}

type readFailover struct {
	Failover string `path:"failover" maxLength:"19" doc:"The failover's id."`
}

// FailoverInstances are the instances that a master took over.
type FailoverInstances struct {
	Items  []Instance `json:"items" nullable:"false" doc:"As they are now. Of a failover that took more than 200 the first."`
	Hidden int        `json:"hidden" doc:"How many of those are of projects that you do not see, or are deleted by now."`
	Taken  int        `json:"taken" doc:"How many were taken in all."`
}

type failoverInstancesAnswer struct{ Body FailoverInstances }

type failoverList struct{ Body List[Failover] }

func (s *Server) failoverRoutes() {
	add(s, spec{
		id: "list-failovers", method: "GET", path: "/cluster/failovers", tag: "cluster", summary: "List takeovers from dead masters and lost workers, the newest first",
		access: access{object: noObject},
	}, s.listFailovers)
	add(s, spec{
		id: "list-failover-instances", method: "GET", path: "/cluster/failovers/{failover}/instances", tag: "cluster",
		summary: "List the instances that a master took over from a dead one", access: access{object: perItem},
	}, s.listFailoverInstances)
	add(s, spec{
		id: "release-quarantine", method: "POST", path: "/instances/{id}/release-quarantine", tag: "control", status: 202,
		summary: "Let masters work on a quarantined instance again, from where it was",
		access:  access{need: roleOperator, object: ofInstance},
	}, s.releaseQuarantine)
}

func (s *Server) listFailovers(ctx context.Context, in *listFailovers) (*failoverList, error) {
	rows, next, err := s.store.Failovers(ctx, sql.FailoverKind(in.Kind), in.page())
	if err != nil {
		return nil, fmt.Errorf("list failovers: %w", err)
	}
	return &failoverList{Body: list(rows, next, failoverFace)}, nil
}

func (s *Server) listFailoverInstances(ctx context.Context, in *readFailover) (*failoverInstancesAnswer, error) {
	id, ok := parseID(in.Failover)
	if !ok {
		return nil, badID("failover", in.Failover)
	}
	row, err := s.store.Failover(ctx, id)
	if errors.Is(err, sql.ErrNotFound) {
		return nil, notFound()
	}
	if err != nil {
		return nil, err
	}
	var ids []int64
	for _, step := range row.Steps {
		ids = append(ids, step.Instances...)
	}
	out := &failoverInstancesAnswer{Body: FailoverInstances{Items: []Instance{}, Hidden: len(ids), Taken: row.Instances}}
	projects, all := callOf(ctx).who.projects()
	if len(ids) == 0 || !all && len(projects) == 0 {
		return out, nil
	}
	rows, _, err := s.store.Instances(ctx, sql.InstanceFilter{ProjectIDs: projects, IDs: ids}, sql.Page{})
	if err != nil {
		return nil, fmt.Errorf("list the instances of failover %d: %w", id, err)
	}
	if out.Body.Items, err = s.acknowledgedFaces(ctx, rows); err != nil {
		return nil, err
	}
	out.Body.Hidden -= len(rows)
	return out, nil
}

func failoverFace(f sql.FailoverRow) Failover {
	out := Failover{
		ID: ID(f.ID), Kind: string(f.Kind), Node: f.Node, Incarnation: f.Incarnation, By: f.Master, Cause: f.Cause, DetectedAt: Time(f.DetectedAt),
		FinishedAt: Time(f.FinishedAt), Instances: f.Instances, Adopted: f.Adopted, Lost: f.Lost, Steps: make([]FailoverStep, len(f.Steps)),
	}
	for i, step := range f.Steps {
		out.Steps[i] = FailoverStep{Name: step.Name, At: Time(step.At)}
	}
	return out
}

func (s *Server) releaseQuarantine(ctx context.Context, _ *InstancePath) (*controlledAnswer, error) {
	c := callOf(ctx)
	err := s.store.ReleaseQuarantine(ctx, c.instance.ID, c.who.name)
	if errors.Is(err, sql.ErrStale) {
		return nil, wrongField(http.StatusConflict, "state", "wrong_state", string(c.instance.State), "the instance is %s, not %s", c.instance.State, dag.InstanceQuarantined)
	}
	if errors.Is(err, sql.ErrFull) {
		return nil, wrongField(http.StatusConflict, "state", "at_limit", string(c.instance.State),
			"its workflow runs as many instances as its concurrency allows: wait until one has ended, or stop one")
	}
	if err != nil {
		return nil, err
	}
	if s.cfg.Hints != nil {
		s.cfg.Hints.Command(c.instance.ID)
	}
	in, err := s.store.Instance(ctx, c.instance.ID)
	if err != nil {
		return nil, fmt.Errorf("read instance %d: %w", c.instance.ID, err)
	}
	return &controlledAnswer{Status: http.StatusAccepted, Body: instanceFace(in)}, nil
}
