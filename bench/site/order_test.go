package site

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/porpoise/porpoise/cmd/porpoise/client"
	"github.com/porpoise/porpoise/dag"
)

// agent does the steps of orders, and is not to be relied on: by the last digit of an order's number it
// refuses a step at first, does it and loses the answer, or does it and answers too late. What
// comes with an Idempotency-Key that it knows it does not do again.
type agent struct {
	t      *testing.T
	server *httptest.Server

	mu    sync.Mutex
	calls map[string]int    // by step and key
	known map[string]string // what was done, by step and key
	done  map[string]int    // how often something was done, by step and order
	order []string          // what was done and undone, in order
	out   bool              // permanently out of what orders B want
	began chan struct{}     // closed at the fifth thing that is done
}

func newAgent(t *testing.T) *agent {
	t.Helper()
	a := &agent{t: t, calls: map[string]int{}, known: map[string]string{}, done: map[string]int{}, out: true, began: make(chan struct{})}
	a.server = httptest.NewServer(a)
	t.Cleanup(a.server.Close)
	return a
}

// ServeHTTP does one step, or undoes one.
func (a *agent) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	step := strings.TrimPrefix(r.URL.Path, "/")
	var what struct{ Order, Of string }
	if err := json.NewDecoder(r.Body).Decode(&what); err != nil || r.Header.Get("Idempotency-Key") == "" {
		a.t.Errorf("the agent got a call that it can't read: %v", err)
		http.Error(w, "what?", http.StatusBadRequest)
		return
	}
	status, answer, how := a.take(step, r.Header.Get("Idempotency-Key"), what.Order, what.Of)
	switch how {
	case lost:
		panic(http.ErrAbortHandler)
	case late:
		<-r.Context().Done()
		return
	case answered:
	}
	w.WriteHeader(status)
	_, _ = io.WriteString(w, answer)
}

// how says what becomes of an answer.
type how int

const (
	answered how = iota
	lost
	late
)

func (a *agent) take(step, key, order, of string) (status int, answer string, became how) {
	a.mu.Lock()
	defer a.mu.Unlock()
	at := step + " " + key
	a.calls[at]++
	call, digit := a.calls[at], order[len(order)-1]
	if step == "ship" && strings.HasPrefix(order, "B") && a.out {
		return http.StatusUnprocessableEntity, "we do not ship this", answered
	}
	if call == 1 && (digit == '1' || digit == '3') {
		return http.StatusServiceUnavailable, "not now", answered
	}
	if answer, did := a.known[at]; did {
		return http.StatusOK, answer, answered
	}
	switch step {
	case "release", "refund":
		// What is undone may be done anew under its old key.
		for key, id := range a.known {
			if id == of {
				delete(a.known, key)
			}
		}
	default:
		answer = fmt.Sprintf("%s-%s-%d", step, order, call)
	}
	a.known[at] = answer
	a.done[step+" "+order]++
	a.order = append(a.order, step+" "+order)
	if len(a.order) == 5 {
		close(a.began)
	}
	switch {
	case digit == '2' || digit == '3':
		return http.StatusOK, answer, lost
	case digit == '4' && step == "charge":
		return http.StatusOK, answer, late
	}
	return http.StatusOK, answer, answered
}

// times tells how often a step of an order was done.
func (a *agent) times(step, order string) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.done[step+" "+order]
}

// TestOrdersArePlacedOnceByAFlakyAgent runs the example order against an agent that fails in every way, and
// kills the node on the way.
func TestOrdersArePlacedOnceByAFlakyAgent(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	s := standalone(ctx, t)
	saveExample(ctx, t, s.Client, "order")
	a := newAgent(t)
	ids := map[string]string{}
	for digit := range 5 {
		for _, tens := range []string{"A-1", "A-2"} {
			order := fmt.Sprint(tens, digit)
			ids[order] = startOrder(ctx, t, s.Client, a, order)
		}
	}
	select {
	case <-a.began:
	case <-ctx.Done():
		t.Fatal("the agent was not called")
	}
	node := s.Part("standalone")
	node.Kill()
	if err := s.Restart(ctx, node); err != nil {
		t.Fatal(err)
	}
	for order, id := range ids {
		in, err := s.Client.Wait(ctx, id, nil)
		if err != nil || in.State != dag.InstanceSuccess {
			t.Errorf("order %s is %s (%s), %v", order, in.State, in.Reason, err)
		}
		for _, step := range []string{"reserve", "charge", "ship"} {
			if n := a.times(step, order); n != 1 {
				t.Errorf("%s of order %s was done %d times, want once", step, order, n)
			}
		}
	}
}

// TestAPermanentErrorUndoesAnOrderAndARecoverPlacesIt refuses the last step of an order until an operator
// has mended what was wrong.
func TestAPermanentErrorUndoesAnOrderAndARecoverPlacesIt(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	s := standalone(ctx, t)
	saveExample(ctx, t, s.Client, "order")
	a := newAgent(t)
	const order = "B-13" // refused and lost at first
	id := startOrder(ctx, t, s.Client, a, order)
	in, err := s.Client.Wait(ctx, id, nil)
	if err != nil || in.State != dag.InstanceFailed || in.Reason != dag.ReasonCompensated {
		t.Fatalf("the order is %s (%s), %v; want it undone", in.State, in.Reason, err)
	}
	a.mu.Lock()
	got := strings.Join(a.order, ", ")
	a.out = false
	a.mu.Unlock()
	if want := "reserve B-13, charge B-13, refund B-13, release B-13"; got != want {
		t.Errorf("done and undone: %s\nwant %s", got, want)
	}
	tasks, err := s.Client.Tasks(ctx, id)
	if err != nil {
		t.Fatal(err)
	}
	for _, task := range tasks {
		if task.Name == "tell an operator" && task.State != dag.TaskSuccess {
			t.Errorf("the operator was not told: %s", task.State)
		}
	}
	if _, err := s.Client.Control(ctx, id, "recover", nil); err != nil {
		t.Fatal(err)
	}
	err = s.Until(ctx, "the second round", func() error {
		in, err := s.Client.Instance(ctx, id)
		if err == nil && in.Round != 2 {
			err = fmt.Errorf("it is round %d", in.Round)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if in, err = s.Client.Wait(ctx, id, nil); err != nil || in.State != dag.InstanceSuccess {
		t.Errorf("after the recover the order is %s (%s), %v", in.State, in.Reason, err)
	}
	for step, want := range map[string]int{"reserve": 2, "charge": 2, "refund": 1, "release": 1, "ship": 1} {
		if n := a.times(step, order); n != want {
			t.Errorf("%s was done %d times, want %d", step, n, want)
		}
	}
}

func saveExample(ctx context.Context, t *testing.T, c *client.Client, name string) {
	t.Helper()
	text, err := os.ReadFile("../../examples/" + name + ".yaml")
	if err != nil {
		t.Fatal(err)
	}
	save(ctx, t, c, name, string(text))
}

func startOrder(ctx context.Context, t *testing.T, c *client.Client, a *agent, order string) string {
	t.Helper()
	id, err := c.StartWorkflow(ctx, "p", "order", client.Start{Params: map[string]string{"order": order, "agent": a.server.URL}})
	if err != nil {
		t.Fatal(err)
	}
	return id
}
