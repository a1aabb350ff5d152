package apiserver

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/porpoise/porpoise/sql"
)

// slowStore answers no start until it is let go.
type slowStore struct {
	Store
	came chan struct{}
	free chan struct{}
}

func (s *slowStore) Start(ctx context.Context, st sql.Start) (int64, bool, error) {
	if s.free == nil {
		return s.Store.Start(ctx, st)
	}
	s.came <- struct{}{}
	<-s.free
	return 42, false, nil
}

// unread is a body that must not be looked at.
type unread struct{ t *testing.T }

func (u unread) Read([]byte) (int, error) {
	u.t.Error("the body of a start that is refused was read")
	return 0, errors.New("read")
}

func TestStartsThatWaitForASlowDatabaseAreBounded(t *testing.T) {
	t.Parallel()
	slow := &slowStore{}
	b := newBench(t, func(c *Config) { slow.Store, c.Store = c.Store, slow })
	for _, project := range []string{"alpha", "beta"} {
		b.seed(project)
	}
	running := b.seed("gamma")
	slow.came, slow.free = make(chan struct{}), make(chan struct{})
	b.server.starting.requests = 4
	start := func(project string, body io.Reader) *httptest.ResponseRecorder {
		r := httptest.NewRequest("POST", "http://porpoise.test/api/v1/projects/"+project+"/workflows/daily/start", body)
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Authorization", "Bearer "+b.admin)
		w := httptest.NewRecorder()
		b.handler.ServeHTTP(w, r)
		return w
	}
	var waiting sync.WaitGroup
	wait := func(project string) {
		waiting.Go(func() {
			if w := start(project, strings.NewReader("{}")); w.Code != http.StatusAccepted {
				t.Errorf("a start of %s that waited = %d %s, want 202", project, w.Code, w.Body)
			}
		})
		<-slow.came
	}
	wait("alpha")
	wait("alpha")
	refused := func(project string) {
		t.Helper()
		if w := start(project, unread{t}); w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" {
			t.Errorf("a start of %s beyond its half = %d %q, want 503 with Retry-After", project, w.Code, w.Header().Get("Retry-After"))
		}
	}
	refused("alpha")
	wait("beta") // what another project has left
	refused("beta")
	b.must(202, "POST", "/api/v1/instances/"+running+"/stop", "{}")
	close(slow.free)
	waiting.Wait()
	if r := b.server.starting; len(r.of) != 0 || r.all != (load{}) {
		t.Errorf("after all were answered %+v of %v is still taken", r.all, r.of)
	}
}

func TestARoomIsBoundedByBytesToo(t *testing.T) {
	t.Parallel()
	r := newRoom("starts", hclog.NewNullLogger())
	r.bytes = 100
	if _, ok := r.enter("a", 51); ok {
		t.Error("one project has more than half")
	}
	first, ok := r.enter("a", 50)
	if !ok {
		t.Fatal("a project has not got its half")
	}
	if _, ok := r.enter("b", 26); ok {
		t.Error("a second project has more than what is free then")
	}
	first.keep(10) // it was sent without its length, and was shorter
	second, ok := r.enter("b", 26)
	if !ok {
		t.Error("what was given back is not there")
	}
	first.leave()
	second.leave()
	second.leave() // nothing
	if r.all != (load{}) {
		t.Errorf("%+v is left", r.all)
	}
}
