package apiserver

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/porpoise/porpoise/sql"
)

// Acknowledged says who has seen an instance's failure and looks after it.
type Acknowledged struct {
	By   string `json:"by"`
	At   Time   `json:"at"`
	Note string `json:"note,omitempty"`
}

type acknowledgeInstance struct {
	InstancePath
	Body struct {
		Round int    `json:"round" minimum:"1" maximum:"2147483647" doc:"The round whose failure is meant: refused with 409 where the instance is in another by now."`
		Note  string `json:"note,omitempty" maxLength:"1000" doc:"For people."`
	}
}

func (s *Server) acknowledgeRoutes() {
	operate := access{need: roleOperator, object: ofInstance}
	const path = "/instances/{id}/acknowledgement"
	add(s, spec{
		id: "acknowledge-instance", method: "PUT", path: path, tag: "control", body: jsonBody, access: operate,
		summary: "Say that an instance's failure is seen and looked after; it holds until the instance is recovered",
	}, s.acknowledge)
	add(s, spec{id: "unacknowledge-instance", method: "DELETE", path: path, tag: "control", summary: "Take that back", access: operate}, s.unacknowledge)
}

func (s *Server) acknowledge(ctx context.Context, in *acknowledgeInstance) (*instanceAnswer, error) {
	c := callOf(ctx)
	a, err := s.store.Acknowledge(ctx, sql.Acknowledgement{InstanceID: c.instance.ID, Round: in.Body.Round, CreatedBy: c.who.name, Note: in.Body.Note})
	switch {
	case errors.Is(err, sql.ErrStale):
		return nil, wrongField(http.StatusConflict, "round", "changed", fmt.Sprint(in.Body.Round), "instance %d is in another round by now: look again", c.instance.ID)
	case errors.Is(err, sql.ErrNotFailed):
		return nil, wrongField(http.StatusConflict, "", "not_failed", string(c.instance.State), "instance %d has not failed: there is nothing to acknowledge", c.instance.ID)
	case err != nil:
		return nil, err
	}
	face := instanceFace(c.instance)
	face.Acknowledged = acknowledgedFace(a)
	return &instanceAnswer{Status: http.StatusOK, Body: face}, nil
}

func (s *Server) unacknowledge(ctx context.Context, _ *InstancePath) (*struct{}, error) {
	return nil, s.store.Unacknowledge(ctx, callOf(ctx).instance.ID)
}

func acknowledgedFace(a sql.Acknowledgement) *Acknowledged {
	return &Acknowledged{By: a.CreatedBy, At: Time(a.CreatedAt), Note: a.Note}
}

// acknowledgedFaces are the faces of instances with the acknowledgements that hold.
func (s *Server) acknowledgedFaces(ctx context.Context, rows []sql.InstanceRow) ([]Instance, error) {
	held, err := s.store.Acknowledgements(ctx, rows)
	if err != nil {
		return nil, err
	}
	out := make([]Instance, len(rows))
	for i, r := range rows {
		out[i] = instanceFace(r)
		if a, ok := held[r.ID]; ok {
			out[i].Acknowledged = acknowledgedFace(a)
		}
	}
	return out, nil
}
