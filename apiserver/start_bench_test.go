package apiserver

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/porpoise/porpoise/sql"
)

// instantStore takes starts without writing them, so that what is left is the API's own.
type instantStore struct{ Store }

func (instantStore) Start(context.Context, sql.Start) (int64, bool, error) { return 42, false, nil }

// deafHints forget at once.
type deafHints struct{}

func (deafHints) Command(int64) {}
func (deafHints) Control(int64) {}

// starting is a server whose starts are not written, and one start.
func starting(t testing.TB) (start func()) {
	bench := newBench(t, func(c *Config) { c.Store, c.Hints = instantStore{c.Store}, deafHints{} })
	bench.must(201, "PUT", "/api/v1/projects/alpha", "")
	bench.must(201, "PUT", "/api/v1/projects/alpha/workflows/daily", twoTasks, "Content-Type", "application/yaml")
	return func() {
		r := httptest.NewRequest("POST", "http://porpoise.test/api/v1/projects/alpha/workflows/daily/start", io.NopCloser(strings.NewReader(`{"params":{"day":"2"}}`)))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Authorization", "Bearer "+bench.admin)
		w := httptest.NewRecorder()
		bench.handler.ServeHTTP(w, r)
		if w.Code != http.StatusAccepted {
			t.Errorf("start = %d %s", w.Code, w.Body)
		}
	}
}

// BenchmarkStartWithoutItsWrite is the API's own share of a start; it should stay under 150 us.
func BenchmarkStartWithoutItsWrite(b *testing.B) {
	start := starting(b)
	b.ReportAllocs()
	for b.Loop() {
		start()
	}
}

// TestAStartIsAnsweredWithinItsBudget holds how often the API allocates for one, with the request and the recorder of the test: what is
// done for every request anew, such as a schema that is compiled or a header that is parsed twice, shows here. It runs alone, as all
// that counts allocations.
func TestAStartIsAnsweredWithinItsBudget(t *testing.T) {
	const budget = 285
	n := testing.AllocsPerRun(500, starting(t))
	t.Logf("%.0f allocations", n)
	if n > budget {
		t.Errorf("a start makes %.0f allocations, the budget is %d", n, budget)
	}
}
