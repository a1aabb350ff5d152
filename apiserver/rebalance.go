package apiserver

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/registry"
)

// Balancer passes the wish on to the masters. It answers registry.ErrConflict where the layout of that epoch is not in
// force any more, so that an ask is about what its caller has seen.
type Balancer interface {
	Rebalance(ctx context.Context, by string, epoch int64, at dag.Millis) error
}

type (
	askRebalance struct {
		Body struct {
			Epoch int64 `json:"epoch" minimum:"1" doc:"Of the layout that the caller has seen: of another one nothing is asked."`
		}
	}
	rebalanceAnswer struct {
		Body struct {
			Epoch int64 `json:"epoch" doc:"The next layout has a higher one."`
		}
	}
)

func (s *Server) rebalanceRoutes() {
	add(s, spec{
		id: "rebalance", method: "POST", path: "/cluster/rebalance", tag: "cluster", access: access{need: roleAdmin, object: noObject}, body: jsonBody, status: 202,
		summary: "Let the masters agree on the slots anew: who was left out and answers again is let in",
	}, s.rebalance)
}

func (s *Server) rebalance(ctx context.Context, in *askRebalance) (*rebalanceAnswer, error) {
	if s.cfg.Balancer == nil {
		return nil, noRegistry()
	}
	switch err := s.cfg.Balancer.Rebalance(ctx, callOf(ctx).who.name, in.Body.Epoch, s.at()); {
	case errors.Is(err, registry.ErrConflict):
		return nil, wrongField(http.StatusConflict, "epoch", "moved_on", strconv.FormatInt(in.Body.Epoch, 10), "the layout of epoch %d is not in force any more", in.Body.Epoch)
	case errors.Is(err, registry.ErrUnavailable):
		return nil, noRegistry()
	case err != nil:
		return nil, fmt.Errorf("ask for a rebalance: %w", err)
	}
	out := &rebalanceAnswer{}
	out.Body.Epoch = in.Body.Epoch
	return out, nil
}
