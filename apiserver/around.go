package apiserver

import (
	"context"
	"fmt"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/sql"
)

// InstanceHistogram is how many instances were created when, by state.
type InstanceHistogram struct {
	From    Time     `json:"from,omitempty"`
	To      Time     `json:"to,omitempty"`
	WidthMs int64    `json:"width_ms" doc:"Of one bucket."`
	Buckets []Bucket `json:"buckets" nullable:"false" doc:"Those in which anything was created, in order of time."`
	Cut     bool     `json:"cut" doc:"A state has more instances than are counted: the oldest are left out."`
}

// Bucket is one part of a histogram.
type Bucket struct {
	At     Time                      `json:"at"`
	States map[dag.InstanceState]int `json:"states" nullable:"false"`
}

type histogram struct {
	Project  string `query:"project" maxLength:"512"`
	Workflow string `query:"workflow" maxLength:"512" doc:"Of the project; needs project."`
	State    string `query:"state" maxLength:"200" doc:"States, comma-separated."`
	From     string `query:"from" maxLength:"64" doc:"Created at or after, RFC 3339; absent: since the oldest."`
	To       string `query:"to" maxLength:"64" doc:"Created before, RFC 3339; absent: now."`
	Buckets  int    `query:"buckets" minimum:"3" maximum:"120" default:"60" doc:"At most so many parts, each of a round width."`
}

// Neighbours are the instances around one of the same workflow, and how long it usually takes.
type Neighbours struct {
	Previous    ID    `json:"previous,omitempty"`
	Next        ID    `json:"next,omitempty"`
	LastSuccess ID    `json:"last_success,omitempty" doc:"The latest before it that succeeded."`
	MedianMs    int64 `json:"median_ms" doc:"Of the last successes; 0 where there is none."`
	Samples     int   `json:"samples" doc:"How many successes the median is of, 20 at most."`
}

type (
	histogramAnswer  struct{ Body InstanceHistogram }
	neighboursAnswer struct{ Body Neighbours }
)

func (s *Server) aroundRoutes() {
	// Before the path with an id, which would take "histogram" for one.
	add(s, spec{id: "histogram-of-instances", method: "GET", many: true, path: "/instances/histogram", tag: "instances", summary: "Count instances over time, by state", access: access{object: perItem}}, s.histogram)
	add(s, spec{
		id: "neighbours", method: "GET", path: "/instances/{id}/neighbours", tag: "instances", summary: "Name the instances before and after it, and how long its workflow takes",
		access: access{need: roleViewer, object: ofInstance},
	}, s.neighbours)
}

func (s *Server) histogram(ctx context.Context, in *histogram) (*histogramAnswer, error) {
	out := &histogramAnswer{Body: InstanceHistogram{Buckets: []Bucket{}}}
	f, none, err := s.instanceFilter(ctx, &listInstances{Project: in.Project, Workflow: in.Workflow, State: in.State, From: in.From, To: in.To})
	if err != nil || none {
		return out, err
	}
	h, err := s.store.InstanceHistogram(ctx, f, in.Buckets)
	if err != nil {
		return nil, fmt.Errorf("histogram of instances: %w", err)
	}
	out.Body.From, out.Body.To, out.Body.WidthMs, out.Body.Cut = Time(h.From), Time(h.To), h.Width.Milliseconds(), h.Cut
	for _, bar := range h.Bars {
		n := len(out.Body.Buckets)
		if n == 0 || out.Body.Buckets[n-1].At != Time(bar.At) {
			out.Body.Buckets = append(out.Body.Buckets, Bucket{At: Time(bar.At), States: map[dag.InstanceState]int{}})
			n++
		}
		out.Body.Buckets[n-1].States[bar.State] = bar.Count
	}
	return out, nil
}

func (s *Server) neighbours(ctx context.Context, _ *InstancePath) (*neighboursAnswer, error) {
	n, err := s.store.Neighbours(ctx, callOf(ctx).instance)
	if err != nil {
		return nil, fmt.Errorf("neighbours: %w", err)
	}
	return &neighboursAnswer{Body: Neighbours{
		Previous: ID(n.Previous), Next: ID(n.Next), LastSuccess: ID(n.LastSuccess), MedianMs: sql.Median(n.Took).Milliseconds(), Samples: len(n.Took),
	}}, nil
}
