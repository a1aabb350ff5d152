package apiserver

import (
	"context"
	"fmt"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/dag/listen"
	"github.com/porpoise/porpoise/sql"
)

// ReplyOptions is who is told of what becomes of a start.
type ReplyOptions struct {
	URL           string   `json:"url" minLength:"1" maxLength:"2048" doc:"Who is called: http or https."`
	Secret        string   `json:"secret,omitempty" maxLength:"1024" doc:"Signs the calls, and is never shown; or ${secret.NAME}: one that the project has, read for each delivery. An editor may name one."`
	CorrelationID string   `json:"correlation_id,omitempty" maxLength:"255" doc:"Comes back in every call."`
	Events        []string `json:"events,omitempty" maxItems:"100" doc:"Kinds of events; absent is submitted, started, task_ended and ended."`
}

// Reply is who is told of an instance, and how far that has come.
type Reply struct {
	URL           string   `json:"url"`
	Signed        bool     `json:"signed" doc:"Calls are signed. The secret itself is never shown."`
	CorrelationID string   `json:"correlation_id"`
	Events        []string `json:"events" nullable:"false"`
	Delivery      Delivery `json:"delivery"`
}

type replyAnswer struct{ Body Reply }

type redeliverReply struct {
	InstancePath
	Body *struct {
		Skip bool `json:"skip,omitempty" doc:"Go on behind the event that could not be delivered."`
	}
}

func (s *Server) replyRoutes() {
	may := access{need: roleOperator, object: ofInstance}
	add(s, spec{id: "get-reply", method: "GET", path: "/instances/{id}/reply", tag: "instances", summary: "Show the reply that the start asked for, and how far it has come", access: may}, s.getReply)
	add(s, spec{
		id: "redeliver-reply", method: "POST", path: "/instances/{id}/reply/redeliver", tag: "instances", summary: "Deliver a reply again that was given up", status: 202,
		body: jsonBody, optional: true, access: may,
	}, s.redeliverReply)
}

// reply makes the listener of a start; nil where it asks for none.
func (s *Server) reply(ctx context.Context, projectID int64, o *ReplyOptions) (*sql.Reply, []dag.FieldError, error) {
	if o == nil {
		return nil, nil, nil
	}
	r := sql.Reply{URL: o.URL, CorrelationID: o.CorrelationID, Filter: listen.Filter{Events: words[listen.Kind](o.Events)}}
	var wrong []dag.FieldError
	r.Receiver, wrong = s.receiverOf("reply.url", o.URL)
	wrong = append(wrong, r.Filter.Check("reply")...)
	sealed, badSecret, err := s.seal(ctx, projectID, "reply.secret", o.Secret)
	if wrong = append(wrong, badSecret...); err != nil || len(wrong) > 0 {
		return nil, wrong, err
	}
	r.Secret = sealed
	if len(r.Filter.Events) == 0 {
		r.Filter.Events = listen.ReplyKinds()
	}
	return &r, nil, nil
}

func (s *Server) getReply(ctx context.Context, _ *InstancePath) (*replyAnswer, error) {
	id := callOf(ctx).instance.ID
	l, err := s.store.ListenerByID(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("read reply: %w", err)
	}
	d, err := s.store.Delivery(ctx, id, id)
	if err != nil {
		return nil, fmt.Errorf("read delivery of reply: %w", err)
	}
	return &replyAnswer{Body: Reply{URL: l.URL, Signed: len(l.Secret) > 0, CorrelationID: l.CorrelationID, Events: words[string](l.Filter.Events), Delivery: deliveryFace(d)}}, nil
}

func (s *Server) redeliverReply(ctx context.Context, in *redeliverReply) (*deliveryAnswer, error) {
	id := callOf(ctx).instance.ID
	return s.deliverAgain(ctx, id, "instance_id", id, in.Body != nil && in.Body.Skip)
}
