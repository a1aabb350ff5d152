package apiserver

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humamux"

	"github.com/porpoise/porpoise/apiserver/watch"
	"github.com/porpoise/porpoise/sql"
)

const (
	// heartbeat keeps proxies from closing a quiet stream; most wait 30 s or more.
	heartbeat = 15 * time.Second
	// maxStreams is how many streams one user may have open: browser tabs, not crawlers.
	maxStreams = 20
	// maxTopics is how many topics one stream carries.
	maxTopics = 20
	// streamPage is how many events are read at a time.
	streamPage = 200
)

// streamCount bounds the open streams per user.
type streamCount struct {
	mu   sync.Mutex
	open map[int64]int
}

func (n *streamCount) enter(user int64) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.open[user] >= maxStreams {
		return false
	}
	n.open[user]++
	return true
}

func (n *streamCount) leave(user int64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.open[user]--; n.open[user] <= 0 {
		delete(n.open, user)
	}
}

type openStream struct {
	Topics string `query:"topics" required:"true" maxLength:"2048" doc:"Comma-separated: instance:<id>, instance:<id>:<seq> to resume after an event, instances, instances:<project>, workflow:<project>/<workflow>, cluster."`
	LastID string `header:"Last-Event-ID" doc:"Set by browsers when they connect again."`
}

// topic is one thing that a stream tells of.
type topic struct {
	name     string // as it is named in messages
	instance int64  // for instance topics
	seq      int64  // the last event that was told
	resumed  bool   // seq was given
	all      bool   // instances, of every project that the caller may see
	project  int64  // instances of one project
	workflow int64  // for workflow topics
	cluster  bool   // the pulse
}

func (s *Server) streamRoutes() {
	add(s, spec{
		id: "stream", method: "GET", path: "/stream", tag: "stream", summary: "Follow changes as server-sent events", stream: true,
		produces: []string{"text/event-stream"}, access: access{object: perItem},
	}, s.openStream)
}

func (s *Server) openStream(ctx context.Context, in *openStream) (*huma.StreamResponse, error) {
	c := callOf(ctx)
	topics, err := s.parseTopics(ctx, in)
	if err != nil {
		return nil, err
	}
	if !s.streams.enter(c.who.userID) {
		return nil, problem(http.StatusTooManyRequests, fmt.Sprintf("you have %d streams open: close one", maxStreams)).with("Retry-After", "5")
	}
	return &huma.StreamResponse{Body: func(h huma.Context) {
		defer s.streams.leave(c.who.userID)
		s.metrics.streams.Inc()
		defer s.metrics.streams.Dec()
		h.SetHeader("Content-Type", "text/event-stream")
		h.SetHeader("X-Accel-Buffering", "no")
		h.SetStatus(http.StatusOK)
		r, w := humamux.Unwrap(h)
		st := &stream{s: s, call: c, topics: topics, w: w, rc: http.NewResponseController(w), request: r}
		if err := st.run(r.Context()); err != nil && r.Context().Err() == nil {
			s.log.Debug("stream ended", "request_id", c.id, "error", err)
		}
	}}, nil
}

// parseTopics reads the topics and weighs the right to each: one that the caller may
// not see is as one that is not there.
func (s *Server) parseTopics(ctx context.Context, in *openStream) ([]*topic, error) {
	names := strings.Split(in.Topics, ",")
	if len(names) > maxTopics {
		return nil, wrongField(http.StatusBadRequest, "topics", "too_many", "", "a stream has at most %d topics", maxTopics)
	}
	seen := seenBefore(in.LastID)
	var topics []*topic
	for _, name := range names {
		t, err := s.parseTopic(ctx, name)
		if err != nil {
			return nil, err
		}
		if seq, ok := seen[t.instance]; ok && t.instance != 0 {
			t.seq, t.resumed = seq, true
		}
		topics = append(topics, t)
	}
	return topics, nil
}

func (s *Server) parseTopic(ctx context.Context, name string) (*topic, error) {
	who := callOf(ctx).who
	kind, rest, more := strings.Cut(name, ":")
	switch {
	case kind == "cluster" && !more:
		return &topic{name: name, cluster: true}, nil
	case kind == "instances" && !more:
		return &topic{name: name, all: true}, nil
	case kind == "instances":
		p, err := s.store.Project(ctx, rest)
		if err == nil && who.role(p.ID) < roleViewer {
			err = sql.ErrNotFound
		}
		if err != nil {
			return nil, err
		}
		return &topic{name: name, project: p.ID}, nil
	case kind == "instance":
		idText, seqText, resumed := strings.Cut(rest, ":")
		id, ok := parseID(idText)
		if !ok {
			return nil, badID("topics", name)
		}
		t := &topic{name: "instance:" + idText, instance: id, resumed: resumed}
		if resumed && seqText != "0" {
			if t.seq, ok = parseID(seqText); !ok {
				return nil, badID("topics", name)
			}
		}
		row, err := s.store.Instance(ctx, id)
		if err == nil && who.role(row.ProjectID) < roleViewer {
			err = sql.ErrNotFound
		}
		t.project = row.ProjectID
		return t, err
	}
	if kind == "workflow" {
		return s.parseWorkflowTopic(ctx, name, rest)
	}
	return nil, wrongField(http.StatusBadRequest, "topics", "unknown_topic", name, "a topic is instance:<id>, instance:<id>:<seq>, instances, instances:<project>, workflow:<project>/<workflow> or cluster")
}

// parseWorkflowTopic reads project/workflow; neither name can hold a slash.
func (s *Server) parseWorkflowTopic(ctx context.Context, name, rest string) (*topic, error) {
	project, workflow, ok := strings.Cut(rest, "/")
	if !ok {
		return nil, wrongField(http.StatusBadRequest, "topics", "unknown_topic", name, "a workflow's topic is workflow:<project>/<workflow>")
	}
	p, err := s.store.Project(ctx, project)
	if err == nil && callOf(ctx).who.role(p.ID) < roleViewer {
		err = sql.ErrNotFound
	}
	if err != nil {
		return nil, err
	}
	w, err := s.store.Workflow(ctx, p.ID, workflow)
	if err != nil {
		return nil, err
	}
	return &topic{name: name, project: p.ID, workflow: w.ID}, nil
}

// seenBefore reads the id of the last message that a browser has got: "42:7,43:12".
func seenBefore(lastID string) map[int64]int64 {
	seen := map[int64]int64{}
	for part := range strings.SplitSeq(lastID, ",") {
		id, seq, _ := strings.Cut(part, ":")
		i, ok1 := parseID(id)
		n, ok2 := parseID(seq)
		if ok1 && ok2 && len(seen) < maxTopics {
			seen[i] = n
		}
	}
	return seen
}

// stream is one open connection. Its goroutine is the request's own.
type stream struct {
	s       *Server
	call    *call
	topics  []*topic
	w       http.ResponseWriter
	rc      *http.ResponseController
	request *http.Request
}

func (st *stream) run(ctx context.Context) error {
	var ready <-chan struct{}
	var sub *watch.Subscription
	if events := st.s.cfg.Events; events != nil {
		// Before the first read, so that nothing falls between the two.
		sub = events.Subscribe(st.wants)
		defer sub.Close()
		ready = sub.Ready()
	}
	follow := st.s.followers.follow(st.workflows())
	defer follow.close()
	var pulse <-chan struct{}
	if slices.ContainsFunc(st.topics, func(t *topic) bool { return t.cluster }) {
		watch := st.s.pulses.watch()
		defer watch.close()
		pulse = watch.ready
	}
	for _, t := range st.topics {
		if err := st.begin(ctx, t); err != nil {
			return err
		}
	}
	beat := time.NewTicker(heartbeat)
	defer beat.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ready:
			if err := st.tell(ctx, sub); err != nil {
				return err
			}
		case <-follow.ready:
			if err := st.tellWorkflows(follow.take()); err != nil {
				return err
			}
		case <-pulse:
			if err := st.tellPulse(ctx); err != nil {
				return err
			}
		case <-beat.C:
			if err := st.stillAllowed(ctx); err != nil {
				return err
			}
			// An event, not a comment: a page sees no comments, and must know how old its data is.
			if err := st.write("event: alive\ndata: {}\n\n"); err != nil {
				return err
			}
		}
	}
}

// wants is the subscription's filter: it is called for every change in the cluster.
func (st *stream) wants(c watch.Change) bool {
	return slices.ContainsFunc(st.topics, func(t *topic) bool { return st.concerns(t, c) })
}

func (st *stream) concerns(t *topic, c watch.Change) bool {
	switch {
	case t.workflow != 0, t.cluster:
		return false // it has its own source
	case t.instance != 0:
		return t.instance == c.Instance
	case t.all:
		return st.call.who.role(c.Project) >= roleViewer
	default:
		return t.project == c.Project
	}
}

// begin sends what a topic starts with: the events since the given one, or a snapshot.
func (st *stream) begin(ctx context.Context, t *topic) error {
	if t.workflow != 0 {
		w, err := st.s.store.WorkflowByID(ctx, t.workflow)
		if err != nil {
			return fmt.Errorf("read workflow %d: %w", t.workflow, err)
		}
		st.s.followers.saw(w.ID, changeOf(w))
		return st.send("workflow", t, changeOf(w))
	}
	if t.cluster {
		return st.tellPulse(ctx)
	}
	if t.instance == 0 {
		return st.send("changed", t, nil)
	}
	if t.resumed {
		return st.events(ctx, t)
	}
	row, err := st.s.store.Instance(ctx, t.instance)
	if err != nil {
		return fmt.Errorf("read instance %d: %w", t.instance, err)
	}
	t.seq = row.Seq
	return st.send("snapshot", t, instanceFace(row))
}

func (st *stream) workflows() []int64 {
	var ids []int64
	for _, t := range st.topics {
		if t.workflow != 0 {
			ids = append(ids, t.workflow)
		}
	}
	return ids
}

func (st *stream) tellWorkflows(changes map[int64]WorkflowChange) error {
	for _, t := range st.topics {
		if c, ok := changes[t.workflow]; ok && t.workflow != 0 {
			if err := st.send("workflow", t, c); err != nil {
				return err
			}
		}
	}
	return nil
}

// tellPulse sends the newest pulse; where the database is away, the next second has another.
func (st *stream) tellPulse(ctx context.Context) error {
	p, err := st.s.pulses.newest(ctx, st.s)
	if err != nil {
		return nil
	}
	for _, t := range st.topics {
		if t.cluster {
			if err := st.send("pulse", t, p.text); err != nil {
				return err
			}
		}
	}
	return nil
}

// tell passes on what has changed.
func (st *stream) tell(ctx context.Context, sub *watch.Subscription) error {
	changes, lagged := sub.Take()
	for _, t := range st.topics {
		if t.workflow != 0 || t.cluster {
			continue
		}
		if t.instance != 0 {
			if lagged || slices.ContainsFunc(changes, func(c watch.Change) bool { return c.Instance == t.instance }) {
				if err := st.events(ctx, t); err != nil {
					return err
				}
			}
			continue
		}
		if lagged {
			if err := st.send("lagged", t, nil); err != nil {
				return err
			}
			continue
		}
		for _, c := range changes {
			if !st.concerns(t, c) {
				continue
			}
			if err := st.send("changed", t, map[string]any{"instance_id": ID(c.Instance), "state": c.State, "seq": c.Seq}); err != nil {
				return err
			}
		}
	}
	return nil
}

// events sends the rows after the last that was sent: nothing is lost, however many
// changes were told as one.
func (st *stream) events(ctx context.Context, t *topic) error {
	for {
		rows, err := st.s.store.Events(ctx, t.instance, t.seq, streamPage)
		if errors.Is(err, sql.ErrUnavailable) {
			return st.send("lagged", t, nil)
		}
		if err != nil {
			return fmt.Errorf("read events of instance %d: %w", t.instance, err)
		}
		for _, r := range rows {
			t.seq = r.Seq
			if err := st.send("event", t, eventFace(r)); err != nil {
				return err
			}
		}
		if len(rows) < streamPage {
			return nil
		}
	}
}

// stillAllowed ends a stream whose caller has lost his session, token or role.
func (st *stream) stillAllowed(ctx context.Context) error {
	who, err := st.s.identify(st.request.WithContext(ctx))
	if errors.Is(err, errUnknown) {
		return errors.New("signed out")
	}
	if err != nil {
		return nil // the database is away: rights are as they were
	}
	for _, t := range st.topics {
		if t.project != 0 && who.role(t.project) < roleViewer {
			return errors.New("no longer allowed")
		}
	}
	return nil
}

// send writes one message. Its id holds how far every instance topic has come.
func (st *stream) send(kind string, t *topic, data any) error {
	var b strings.Builder
	sep := "id: "
	for _, o := range st.topics {
		if o.instance != 0 && o.seq > 0 {
			b.WriteString(sep + strconv.FormatInt(o.instance, 10) + ":" + strconv.FormatInt(o.seq, 10))
			sep = ","
		}
	}
	if b.Len() > 0 {
		b.WriteByte('\n')
	}
	b.WriteString("event: " + kind + "\ndata: ")
	b.Write(marshalJSON(message{Topic: t.name, Data: data}))
	b.WriteByte('\n')
	return st.write(b.String())
}

// message is the data of a server-sent event.
type message struct {
	Topic string `json:"topic"`
	Data  any    `json:"data,omitempty"`
}

func (st *stream) write(text string) error {
	// A client that reads nothing for a heartbeat is gone.
	_ = st.rc.SetWriteDeadline(time.Now().Add(heartbeat))
	if _, err := st.w.Write([]byte(text)); err != nil {
		return fmt.Errorf("write to stream: %w", err)
	}
	return st.rc.Flush()
}
