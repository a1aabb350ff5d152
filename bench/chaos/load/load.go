package load

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/porpoise/porpoise/bench/chaos/evidence"
)

const (
	project = "chaos"
	// callTimeout is a patient client's; a call of which nothing is heard is unknown.
	callTimeout = 6 * time.Second
	// tryFor is how long a wish is repeated. It outlasts every single fault.
	tryFor = 90 * time.Second
	// pauseBetween is the wait between two tries of one wish.
	pauseBetween = 400 * time.Millisecond
	// maxVisits bounds the clients at one time: behind it the rate falls, which the
	// verdict sees.
	maxVisits = 200
	// repeatOneIn is how rarely a start is sent again although it was answered, as by a client
	// whom the answer did not reach.
	repeatOneIn = 10
	// maxAnswer bounds what is read of an answer.
	maxAnswer = 1 << 20
)

// Config says what the load is.
type Config struct {
	URLs     []string // of the apiservers
	Token    string
	Witness  string
	Folder   string // of the evidence
	Rate     float64
	Seed     uint64
	History  *evidence.File
	Only     []string // names of shapes; empty is all
	NoTreats bool     // nothing is paused, stopped or recovered
}

// Call is a line of the history.
type Call struct {
	Verb     string `json:"verb"` // start, pause, resume, stop, recover, unschedule
	Key      string `json:"key,omitempty"`
	Workflow string `json:"workflow,omitempty"`
	Instance string `json:"instance,omitempty"`
	Try      int    `json:"try"`
	Begin    int64  `json:"begin"`
	End      int64  `json:"end"`
	Outcome  string `json:"outcome"` // ok, refused, unknown
	Status   int    `json:"status,omitempty"`
	Error    string `json:"error,omitempty"`
}

// Load is a running client.
type Load struct {
	Config
	shapes []Shape
	turns  []int // indexes into shapes, by weight
	http   *http.Client
	wait   sync.WaitGroup

	receiver *receiver

	mu      sync.Mutex
	rng     *rand.Rand
	next    int
	turn    int
	acked   int
	paused  map[string]bool // instances that were paused and not yet resumed
	visited int
}

// New saves the workflows and returns a client that does nothing yet but to let schedules and a timer fire. The
// caller ends it with Close.
func New(ctx context.Context, c Config) (*Load, error) {
	l, err := begin(ctx, c)
	if err != nil {
		return nil, err
	}
	if l.receiver, err = receive(ctx); err != nil {
		return nil, err
	}
	if err := errors.Join(l.listen(ctx), l.schedule(ctx)); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// begin saves the workflows.
func begin(ctx context.Context, c Config) (*Load, error) {
	l := &Load{
		Config: c, http: &http.Client{Timeout: callTimeout, Transport: &http.Transport{MaxIdleConnsPerHost: maxVisits}},
		rng: rand.New(rand.NewPCG(c.Seed, 1)), paused: map[string]bool{},
	}
	wanted := map[string]bool{}
	for _, name := range c.Only {
		wanted[name] = true
	}
	for _, s := range Shapes() {
		// Those that are not started by themselves are there for the others.
		if len(wanted) == 0 || wanted[s.Name] {
			for range s.weight {
				l.turns = append(l.turns, len(l.shapes))
			}
		}
		l.shapes = append(l.shapes, s)
	}
	l.rng.Shuffle(len(l.turns), func(i, j int) { l.turns[i], l.turns[j] = l.turns[j], l.turns[i] })
	if err := l.must(ctx, http.MethodPut, "/projects/"+project, "application/json", "{}"); err != nil {
		return nil, err
	}
	for group, size := range Groups() {
		if err := l.must(ctx, http.MethodPut, "/projects/"+project+"/task-groups/"+group, "application/json", fmt.Sprintf(`{"size":%d}`, size)); err != nil {
			return nil, err
		}
	}
	for _, s := range l.shapes {
		if err := l.must(ctx, http.MethodPut, "/projects/"+project+"/workflows/"+url.PathEscape(s.Name), "application/yaml", s.yaml(c.Witness, c.Folder)); err != nil {
			return nil, err
		}
	}
	return l, nil
}

// Workflows lists the shapes that are started.
func (l *Load) Workflows() []Shape { return l.shapes }

// must makes a call and wants it to be done.
func (l *Load) must(ctx context.Context, method, path, kind, body string) error {
	_, err := l.patiently(ctx, method, path, kind, body)
	return err
}

// patiently repeats what may be said twice until it has an answer: a part may end by a failpoint before the load begins.
func (l *Load) patiently(ctx context.Context, method, path, kind, body string) (answer, error) {
	for end, try := time.Now().Add(tryFor), 0; ; try++ {
		a := l.call(ctx, method, try, path, kind, body, "")
		err := a.err
		if err == nil && a.status >= http.StatusBadRequest {
			err = fmt.Errorf("%s %s: %d %s", method, path, a.status, a.body)
		}
		later := a.err != nil || a.status >= http.StatusInternalServerError || a.status == http.StatusTooManyRequests
		if err == nil || !later || time.Now().After(end) || ctx.Err() != nil {
			return a, err
		}
		time.Sleep(pauseBetween)
	}
}

// answer is what a call gave.
type answer struct {
	status int
	body   []byte
	err    error
}

// call makes one call to one of the apiservers. A path that does not name its API is of the main one.
func (l *Load) call(ctx context.Context, method string, server int, path, kind, body, key string) answer {
	if !strings.HasPrefix(path, "/api/") {
		path = "/api/v1" + path
	}
	req, err := http.NewRequestWithContext(ctx, method, l.URLs[server%len(l.URLs)]+path, bytes.NewReader([]byte(body)))
	if err != nil {
		return answer{err: err}
	}
	req.Header.Set("Authorization", "Bearer "+l.Token)
	if kind != "" {
		req.Header.Set("Content-Type", kind)
	}
	if key != "" {
		req.Header.Set("Idempotency-Key", key)
	}
	if method == http.MethodPut {
		req.Header.Set("If-Match", "*")
	}
	resp, err := l.http.Do(req)
	if err != nil {
		return answer{err: err}
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	return answer{resp.StatusCode, text, err}
}

// Run starts workflows at the rate until ctx ends, then pauses the schedules and waits for the visits under way.
func (l *Load) Run(ctx context.Context) {
	tick := time.NewTicker(time.Duration(float64(time.Second) / l.Rate))
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			l.unschedule(ctx)
			l.wait.Wait()
			return
		case <-tick.C:
		}
		l.mu.Lock()
		full := l.visited >= maxVisits
		if !full {
			l.visited++
		}
		s := l.shapes[l.turns[l.turn%len(l.turns)]]
		l.turn++
		l.mu.Unlock()
		if full {
			continue
		}
		l.wait.Go(func() {
			l.visit(ctx, s)
			l.mu.Lock()
			l.visited--
			l.mu.Unlock()
		})
	}
}

// Acked counts the starts that were answered well.
func (l *Load) Acked() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.acked
}

// random gives a number below n.
func (l *Load) random(n int) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.rng.IntN(n)
}

// begin starts a workflow and returns the instance's id, "" if nobody ever said it.
func (l *Load) begin(ctx context.Context, s Shape) string {
	l.mu.Lock()
	l.next++
	key := fmt.Sprintf("k%d-%d", l.Seed, l.next)
	l.mu.Unlock()
	wish, path := Call{Verb: "start", Key: key, Workflow: s.Name}, "/projects/"+project+"/workflows/"+url.PathEscape(s.Name)+"/start"
	a := l.insist(ctx, wish, path)
	var made struct {
		ID string `json:"instance_id"`
	}
	if a.err != nil || json.Unmarshal(a.body, &made) != nil {
		return ""
	}
	if made.ID != "" {
		l.mu.Lock()
		l.acked++
		l.mu.Unlock()
		if l.random(repeatOneIn) == 0 {
			l.insist(ctx, wish, path)
		}
	}
	return made.ID
}
