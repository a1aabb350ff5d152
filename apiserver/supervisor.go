package apiserver

import (
	"context"
	"fmt"

	"github.com/porpoise/porpoise/sql"
)

// SupervisorStore keeps who supervises, and what got stuck.
type SupervisorStore interface {
	Supervisor(ctx context.Context) (sql.SupervisorRow, error)
	Recoveries(ctx context.Context, state sql.RecoveryState, page sql.Page) ([]sql.RecoveryRow, string, error)
}

// Supervisor is the master that looks for what is stuck.
type Supervisor struct {
	Master       string `json:"master" doc:"node:incarnation; empty before the first."`
	Fence        int64  `json:"fence" doc:"Rises with each master that becomes the supervisor."`
	Since        Time   `json:"since,omitempty"`
	LookedAt     Time   `json:"looked_at,omitempty" doc:"If this is old, nobody supervises: are masters and the registry there?"`
	EverySeconds int64  `json:"every_seconds"`
}

// Recovery is one thing that got stuck, and what was done about it.
type Recovery struct {
	ID         ID     `json:"id"`
	Instance   ID     `json:"instance"`
	Task       *int   `json:"task,omitempty" doc:"The task's index in its version; absent where no attempt is stuck."`
	Attempt    int    `json:"attempt,omitempty"`
	Step       string `json:"step" enum:"dispatched,running,killing,start,command" doc:"The state that the attempt is stuck in; start: the instance had neither owner nor command; command: nobody took its command."`
	State      string `json:"state" enum:"asked,applied,done,error" doc:"error: given up, somebody must look."`
	Failures   int    `json:"failures"`
	FirstAt    Time   `json:"first_at"`
	AskedAt    Time   `json:"asked_at"`
	CompleteBy Time   `json:"complete_by" doc:"When it is looked at again unless it has moved on."`
	AnsweredAt Time   `json:"answered_at,omitempty"`
	AnsweredBy string `json:"answered_by,omitempty" doc:"The owner."`
	Result     string `json:"result,omitempty" doc:"loaded, reloaded, sent_again, alive, under_way or given_up."`
}

type supervisorAnswer struct{ Body Supervisor }

type listRecoveries struct {
	Paged
	State string `query:"state" enum:"asked,applied,done,error" doc:"Absent: all."`
}

type recoveryList struct{ Body List[Recovery] }

func (s *Server) supervisorRoutes() {
	add(s, spec{
		id: "get-supervisor", method: "GET", path: "/cluster/supervisor", tag: "cluster", summary: "Say which master looks for what is stuck, and when it last did",
		access: access{object: noObject},
	}, s.supervisor)
	add(s, spec{
		id: "list-recoveries", method: "GET", path: "/cluster/recoveries", tag: "cluster", summary: "List what got stuck and what was done about it, the newest first",
		access: access{object: noObject},
	}, s.listRecoveries)
}

func (s *Server) supervisor(ctx context.Context, _ *struct{}) (*supervisorAnswer, error) {
	r, err := s.store.Supervisor(ctx)
	if err != nil {
		return nil, fmt.Errorf("say who supervises: %w", err)
	}
	return &supervisorAnswer{Supervisor{
		Master: r.Holder, Fence: r.Fence, Since: Time(r.Since), LookedAt: Time(r.LookedAt), EverySeconds: (r.EveryMS + 999) / 1000,
	}}, nil
}

func (s *Server) listRecoveries(ctx context.Context, in *listRecoveries) (*recoveryList, error) {
	rows, next, err := s.store.Recoveries(ctx, sql.RecoveryState(in.State), in.page())
	if err != nil {
		return nil, fmt.Errorf("list recoveries: %w", err)
	}
	return &recoveryList{Body: list(rows, next, recoveryFace)}, nil
}

func recoveryFace(r sql.RecoveryRow) Recovery {
	out := Recovery{
		ID: ID(r.ID), Instance: ID(r.InstanceID), Step: r.Step, State: string(r.State), Failures: r.Failures, FirstAt: Time(r.FirstAt),
		AskedAt: Time(r.AskedAt), CompleteBy: Time(r.CompleteBy), AnsweredAt: Time(r.AnsweredAt), AnsweredBy: r.AnsweredBy, Result: r.Result,
	}
	if r.Task >= 0 {
		out.Task, out.Attempt = &r.Task, r.Attempt
	}
	return out
}
