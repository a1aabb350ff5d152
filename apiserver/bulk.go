package apiserver

import (
	"context"
	"fmt"
	"sync"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/sql"
)

// BulkWish is one verb for many instances.
type BulkWish struct {
	Verb      string   `json:"verb" enum:"pause,resume,stop,recover,rerun"`
	Force     bool     `json:"force,omitempty" doc:"Of stop: do not wait for the workers' word."`
	Instances []Chosen `json:"instances" minItems:"1" maxItems:"100" nullable:"false"`
}

// Chosen is one instance as it was seen.
type Chosen struct {
	ID    ID  `json:"id"`
	Round int `json:"round,omitempty" minimum:"0" maximum:"2147483647" doc:"The round that was seen: in a later one nothing more is done, so that the same request twice is the same as once."`
}

// BulkAnswer says what was done, in the order of the request.
type BulkAnswer struct {
	Items []BulkResult `json:"items" nullable:"false"`
}

// BulkResult is what became of the wish about one instance.
type BulkResult struct {
	ID      ID                `json:"id"`
	Result  string            `json:"result" enum:"asked,already,refused,forbidden,not_found,unavailable" doc:"asked: a master is told. already: it is so, or on its way."`
	State   dag.InstanceState `json:"state,omitempty" doc:"Before the wish."`
	Message string            `json:"message,omitempty"`
}

type (
	bulk       struct{ Body BulkWish }
	bulkAnswer struct{ Body BulkAnswer }
)

// bulkWriters is how many wishes of one request are written at a time: enough for the
// store to put them into few transactions.
const bulkWriters = 16

func (s *Server) bulkRoutes() {
	// Before the paths with an id, which would take "bulk" for one.
	add(s, spec{
		id: "control-instances", method: "POST", path: "/instances/bulk", tag: "control", summary: "Ask the same of up to 100 instances; each is weighed by itself",
		body: jsonBody, access: access{object: perItem},
	}, s.bulk)
}

func (s *Server) bulk(ctx context.Context, in *bulk) (*bulkAnswer, error) {
	out := &bulkAnswer{Body: BulkAnswer{Items: make([]BulkResult, len(in.Body.Instances))}}
	places := make(chan struct{}, bulkWriters)
	var all sync.WaitGroup
	for i, one := range in.Body.Instances {
		places <- struct{}{}
		all.Go(func() {
			out.Body.Items[i] = s.bulkOne(ctx, in.Body, one)
			<-places
		})
	}
	all.Wait()
	return out, nil
}

// bulkOne does for one instance what its own route would do, rights included.
func (s *Server) bulkOne(ctx context.Context, b BulkWish, one Chosen) BulkResult {
	r := BulkResult{ID: one.ID}
	who := callOf(ctx).who
	in, err := s.store.Instance(ctx, int64(one.ID))
	if err == nil && who.role(in.ProjectID) < roleViewer {
		err = sql.ErrNotFound
	}
	if err != nil {
		return r.failed(s.problemOf(ctx, err))
	}
	r.State = in.State
	switch {
	case who.role(in.ProjectID) < roleOperator:
		r.Result, r.Message = "forbidden", "this needs the role operator in project "+in.Project
		return r
	case one.Round > 0 && in.Round > one.Round:
		r.Result = "already"
		return r
	}
	written, err := s.wishFor(ctx, in, sql.ControlRow{Verb: dag.Verb(b.Verb), Force: b.Force && b.Verb == string(dag.VerbStop)})
	switch {
	case err != nil:
		return r.failed(s.problemOf(ctx, err))
	case !written:
		r.Result = "already"
		return r
	}
	r.Result = "asked"
	s.recordOne(ctx, b.Verb, fmt.Sprintf("id=%d", in.ID))
	return r
}

func (r BulkResult) failed(p *Problem) BulkResult {
	r.Message = p.Error()
	switch {
	case p.Status == 404:
		r.Result = "not_found"
	case p.Status >= 500:
		r.Result = "unavailable"
	default:
		r.Result = "refused"
	}
	return r
}

// recordOne writes down one of the changes that a request made beside its own row.
func (s *Server) recordOne(ctx context.Context, action, object string) {
	c := callOf(ctx)
	row := sql.AuditRow{CreatedAt: s.at(), Address: c.ip, Actor: c.who.name, Action: action, Object: object, Outcome: "done", Detail: "in bulk " + c.id}
	s.queue(ctx, row)
}
