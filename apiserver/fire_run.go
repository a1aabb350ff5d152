package apiserver

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/sql"
)

type runFires struct {
	SchedulePath
	Body struct {
		At []Time `json:"at" minItems:"1" maxItems:"100" nullable:"false" doc:"The moments of fires that were missed or skipped."`
	}
}

// MadeUpFire is a fire that was missed or skipped, and the instance that was started in its place.
type MadeUpFire struct {
	At         Time `json:"at"`
	InstanceID ID   `json:"instance_id"`
	Started    bool `json:"started" doc:"false where it was there before."`
}

type ranFires struct {
	Body struct {
		Fires   []MadeUpFire `json:"fires" nullable:"false" doc:"The oldest first."`
		LeftOut []Time       `json:"left_out" nullable:"false" doc:"Moments of no such fire: it has yet to come to its outcome, fired, or has no row any more."`
	}
}

func (s *Server) fireRunRoutes(one string) {
	add(s, spec{
		id: "run-fires", method: "POST", path: one + "/fires/run", tag: "schedules", status: 202, body: jsonBody, access: access{need: roleOperator, object: ofWorkflow},
		summary: "Start the instances of fires that were missed or skipped; what has one keeps it",
	}, s.runFires)
}

// runFires makes up for fires. What became of them stays as it is in the ledger, which shows the instance beside it.
func (s *Server) runFires(ctx context.Context, in *runFires) (*ranFires, error) {
	sch, err := s.scheduleOf(ctx, in.Schedule)
	if err != nil {
		return nil, err
	}
	at := make([]dag.Millis, len(in.Body.At))
	for i, m := range in.Body.At {
		at[i] = dag.Millis(m)
	}
	fires, started, err := s.store.RunFires(ctx, sch.ID, at, callOf(ctx).who.name)
	if errors.Is(err, sql.ErrStale) {
		return nil, notPublished(http.StatusConflict)
	}
	if err != nil {
		return nil, fmt.Errorf("run fires: %w", err)
	}
	out := &ranFires{}
	out.Body.Fires, out.Body.LeftOut = []MadeUpFire{}, []Time{}
	isNew, known := map[int64]bool{}, map[dag.Millis]bool{}
	for _, id := range started {
		isNew[id] = true
		if s.cfg.Hints != nil {
			s.cfg.Hints.Command(id)
		}
	}
	for _, f := range fires {
		known[f.At] = true
		out.Body.Fires = append(out.Body.Fires, MadeUpFire{At: Time(f.At), InstanceID: ID(f.Instance), Started: isNew[f.Instance]})
	}
	for _, m := range at {
		if !known[m] {
			known[m] = true
			out.Body.LeftOut = append(out.Body.LeftOut, Time(m))
		}
	}
	return out, nil
}
