package master

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/dag/listen"
	"github.com/porpoise/porpoise/internal/webhook"
	"github.com/porpoise/porpoise/sql"
)

func TestWhoStartedIsToldUpToTheEndThoughTheMasterChanges(t *testing.T) {
	t.Parallel()
	told := make(chan webhook.Event, 100)
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var e webhook.Event
		if err := json.NewDecoder(r.Body).Decode(&e); err != nil {
			t.Errorf("body: %v", err)
		}
		told <- e
	}))
	defer receiver.Close()
	next := func() webhook.Event {
		t.Helper()
		select {
		case e := <-told:
			return e
		case <-time.After(30 * time.Second):
			t.Fatal("nothing is told")
			return webhook.Event{}
		}
	}
	s := newSite(t)
	_, _, stop := s.master("m1", "i1")
	w := s.save(diamond)
	id, _, err := s.store.Start(t.Context(), sql.Start{
		WorkflowID: w.ID, ProjectID: s.project.ID, Version: w.Published, Priority: dag.PriorityMedium, By: "test",
		Reply: &sql.Reply{URL: receiver.URL, CorrelationID: "order 7", Receiver: receiver.URL, Filter: listen.Filter{Events: listen.ReplyKinds()}},
	})
	if err != nil {
		t.Fatal(err)
	}
	kinds := []listen.Kind{next().Event, next().Event}
	stop()
	_, addr, _ := s.master("m2", "i2")
	s.join(&worker{node: "w1", incarnation: "x", groups: []string{"default"}, slots: 4, run: succeed}, addr)
	s.waitFor(id, dag.InstanceSuccess)
	for last := (webhook.Event{}); last.Event != listen.Ended; {
		e := next()
		if e.CorrelationID != "order 7" || e.Seq < last.Seq {
			t.Errorf("told %+v after event %d", e, last.Seq)
		}
		if last = e; !slices.Contains(kinds, e.Event) || e.Event == listen.TaskEnded {
			kinds = append(kinds, e.Event)
		}
	}
	want := []listen.Kind{listen.Submitted, listen.Started, listen.TaskEnded, listen.TaskEnded, listen.TaskEnded, listen.TaskEnded, listen.Ended}
	if !slices.Equal(kinds, want) {
		t.Errorf("told %q, want %q", kinds, want)
	}
}
