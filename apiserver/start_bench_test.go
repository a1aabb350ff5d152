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

// BenchmarkStartWithoutItsWrite is the API's own share of a start; it should stay under 150 us.
func BenchmarkStartWithoutItsWrite(b *testing.B) {
	bench := newBench(b, func(c *Config) { c.Store, c.Hints = instantStore{c.Store}, deafHints{} })
	bench.must(201, "PUT", "/api/v1/projects/alpha", "")
	bench.must(201, "PUT", "/api/v1/projects/alpha/workflows/daily", twoTasks, "Content-Type", "application/yaml")
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		r := httptest.NewRequest("POST", "http://porpoise.test/api/v1/projects/alpha/workflows/daily/start", io.NopCloser(strings.NewReader(`{"params":{"day":"2"}}`)))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Authorization", "Bearer "+bench.admin)
		w := httptest.NewRecorder()
		bench.handler.ServeHTTP(w, r)
		if w.Code != http.StatusAccepted {
			b.Fatalf("start = %d %s", w.Code, w.Body)
		}
	}
}
