package apiserver

import (
	"context"
	"fmt"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/sql"
)

// HoldStore holds the whole cluster, and lets it go.
type HoldStore interface {
	Hold(ctx context.Context) (sql.Hold, error)
	SetHold(ctx context.Context, by, reason string) (sql.Hold, bool, error)
	ReleaseHold(ctx context.Context) (sql.Released, error)
}

// Hold says whether the cluster is held.
type Hold struct {
	Held   bool   `json:"held" doc:"Nothing is claimed, dispatched or timed out; what runs goes on."`
	Since  Time   `json:"since,omitempty"`
	By     string `json:"by,omitempty"`
	Reason string `json:"reason,omitempty"`
}

// Released is what the end of a hold has moved.
type Released struct {
	Hold
	WasHeld   bool `json:"was_held" doc:"False: there was nothing to release, and nothing was moved."`
	Seconds   int  `json:"seconds" doc:"How long it was held."`
	Instances int  `json:"instances" doc:"Unfinished instances that their masters read again."`
	Moments   int  `json:"moments" doc:"Deadlines, delays and ends of waits that were moved by what the hold took from them."`
}

type (
	holdAnswer struct {
		Status int
		Body   Hold
	}
	releasedAnswer struct{ Body Released }
	setHold        struct {
		Body *struct {
			Reason string `json:"reason,omitempty" maxLength:"1000" doc:"For people."`
		}
	}
)

func (s *Server) holdRoutes() {
	add(s, spec{
		id: "get-hold", method: "GET", path: "/cluster/hold", tag: "cluster", summary: "Whether the cluster is held, since when and by whom", access: access{object: noObject},
	}, s.getHold)
	admin := access{need: roleAdmin, object: noObject}
	add(s, spec{
		id: "hold-cluster", method: "POST", path: "/cluster/hold", tag: "cluster", access: admin, body: jsonBody, optional: true, status: 202,
		summary: "Hold everything: nothing is claimed, dispatched or timed out until the release; what runs goes on",
	}, s.holdCluster)
	add(s, spec{
		id: "release-cluster", method: "POST", path: "/cluster/release", tag: "cluster", access: admin,
		summary: "End the hold: all deadlines and delays move by as much as it took from them",
	}, s.releaseCluster)
}

func holdFace(h sql.Hold) Hold {
	return Hold{Held: h.Held(), Since: Time(h.Since), By: h.By, Reason: h.Reason}
}

func (s *Server) getHold(ctx context.Context, _ *struct{}) (*holdAnswer, error) {
	h, err := s.store.Hold(ctx)
	if err != nil {
		return nil, err
	}
	return &holdAnswer{Status: 200, Body: holdFace(h)}, nil
}

// holdCluster answers 202 where it begins a hold, and 200 with the one that is in force already.
func (s *Server) holdCluster(ctx context.Context, in *setHold) (*holdAnswer, error) {
	reason := ""
	if in.Body != nil {
		reason = in.Body.Reason
	}
	h, began, err := s.store.SetHold(ctx, callOf(ctx).who.name, reason)
	if err != nil {
		return nil, err
	}
	out := &holdAnswer{Status: 200, Body: holdFace(h)}
	if began {
		out.Status = 202
	}
	return out, nil
}

func (s *Server) releaseCluster(ctx context.Context, _ *struct{}) (*releasedAnswer, error) {
	r, err := s.store.ReleaseHold(ctx)
	if err != nil {
		return nil, err
	}
	out := Released{WasHeld: r.Was.Held(), Instances: r.Instances, Moments: r.Moments}
	if out.WasHeld {
		out.Seconds = int(r.At.Sub(r.Was.Since).Seconds())
	}
	return &releasedAnswer{Body: out}, nil
}

// addHold says first of all that the cluster is held, where that keeps an instance from going on.
func (s *Server) addHold(ctx context.Context, state dag.InstanceState, e *Explanation) error {
	if state.Final() {
		return nil
	}
	h, err := s.store.Hold(ctx)
	if err != nil || !h.Held() {
		return err
	}
	held := Explanation{Code: "held", Args: map[string]string{"by": h.By}, Text: "the cluster is held by " + h.By, Since: Time(h.Since)}
	if h.Reason != "" {
		held.Args["reason"] = h.Reason
		held.Text = fmt.Sprintf("%s: %s", held.Text, h.Reason)
	}
	e.Causes = append([]Explanation{held}, e.Causes...)
	return nil
}
