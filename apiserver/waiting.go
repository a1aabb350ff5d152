package apiserver

import (
	"net/http"
	"strings"
	"sync"
)

// Waiting answers on the API's port while the process starts and waits for something else: it lives, and it
// is not ready. It may be called by any goroutine.
type Waiting struct {
	base string

	mu  sync.Mutex // guards why
	why string
}

// NewWaiting returns a Waiting; basePath is that of the API.
func NewWaiting(basePath string) *Waiting { return &Waiting{base: basePath, why: "it starts"} }

// For says what is waited for, in words.
func (s *Waiting) For(why string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.why = why
}

// ServeHTTP answers /healthz with 200, since a restart would not help, and all else with 503.
func (s *Waiting) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	why := s.why
	s.mu.Unlock()
	if strings.TrimPrefix(r.URL.Path, s.base) == "/healthz" {
		sayStatus(w, r, "not ready: "+why)
		return
	}
	writeProblem(w, r, unavailable("not ready: "+why))
}
