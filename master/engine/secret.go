package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/internal/rpc"
	"github.com/porpoise/porpoise/sql"
)

// Secrets keeps the sealed values that tasks name.
type Secrets interface {
	// SecretsNamed returns those of the names that a task of the project sees, by name.
	SecretsNamed(ctx context.Context, projectID int64, names []string) (map[string]sql.Secret, error)
}

// Keys opens what was sealed by the key of that id; about must be what it was sealed for.
type Keys interface {
	Open(id string, sealed, about []byte) ([]byte, error)
}

// maxOpenings bounds the attempts whose secrets one question to the store is about.
const maxOpenings = 200

// opening is an attempt that waits for the values of its secrets. They are read anew for every attempt, when its
// dispatch is committed, so that a value that was changed counts from the next attempt on.
type opening struct {
	actor   *actor
	attempt dag.Attempt
	names   []string
}

// opened is the answer: the values by name, as far as there are any, or why one of them can't be opened.
type opened struct {
	attempt dag.Attempt
	values  map[string]string
	err     error
}

// openingQueue holds the attempts that wait, in the order in which they came.
type openingQueue struct {
	some chan struct{}

	mu      sync.Mutex // guards waiting
	waiting []opening
}

func newOpeningQueue() *openingQueue { return &openingQueue{some: make(chan struct{}, 1)} }

func (q *openingQueue) push(o opening) {
	q.mu.Lock()
	q.waiting = append(q.waiting, o)
	q.mu.Unlock()
	select {
	case q.some <- struct{}{}:
	default:
	}
}

// peek returns those that have waited longest, all of one project.
func (q *openingQueue) peek() []opening {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := 0
	for n < min(len(q.waiting), maxOpenings) && q.waiting[n].actor.ids.project == q.waiting[0].actor.ids.project {
		n++
	}
	return slices.Clone(q.waiting[:n])
}

func (q *openingQueue) drop(n int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting = q.waiting[n:]
}

// opener reads the secrets of attempts until ctx ends.
func (e *Engine) opener(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-e.openings.some:
		}
		for ctx.Err() == nil {
			away := true // as after a panic
			e.guard("secrets", func() { away = e.OpenOnce(ctx) })
			if !away {
				break
			}
			select {
			case <-ctx.Done():
			case <-time.After(awayWait):
			}
		}
	}
}

// OpenOnce reads the secrets of the attempts that wait for them, opens them and brings them to their instances.
// away says that the store did not answer; they then wait on.
func (e *Engine) OpenOnce(ctx context.Context) (away bool) {
	for asks := e.openings.peek(); len(asks) > 0; asks = e.openings.peek() {
		var names []string
		for _, o := range asks {
			names = append(names, o.names...)
		}
		slices.Sort(names)
		rows, err := e.Store.SecretsNamed(ctx, asks[0].actor.ids.project, slices.Compact(names))
		if err != nil {
			e.log.Warn("secrets not read", "attempts", len(asks), "error", err)
			return true
		}
		for _, o := range asks {
			// One that finds no place in the mailbox was dropped with its instance: whoever loads that asks again.
			e.mailTo(o.actor, mail{opened: e.open(o, rows)})
		}
		e.openings.drop(len(asks))
	}
	return false
}

// open decrypts what an attempt names.
func (e *Engine) open(o opening, rows map[string]sql.Secret) *opened {
	out := &opened{attempt: o.attempt, values: make(map[string]string, len(o.names))}
	for _, name := range o.names {
		row, ok := rows[name]
		if !ok {
			continue // Resolve says so, with the place that names it
		}
		value, err := e.unseal(row)
		if err != nil {
			e.log.Error("secret not opened", "project", row.ProjectID, "secret", name, "key", row.KeyID, "error", err)
			out.err = fmt.Errorf("%w: %q was sealed by the key %s, by which this master can't open it", errSealed, name, row.KeyID)
			return out
		}
		out.values[name] = string(value)
	}
	return out
}

func (e *Engine) unseal(row sql.Secret) ([]byte, error) {
	if e.Keys == nil {
		return nil, rpc.ErrNoKeyring
	}
	return e.Keys.Open(row.KeyID, row.Sealed, row.About())
}

// withSecrets sends an attempt off whose secrets are opened, unless it is over by now.
func (e *Engine) withSecrets(a *actor, o *opened) {
	live := a.in.Tasks[o.attempt.Task].Attempt
	if live.Number != o.attempt.Number || live.Token != o.attempt.Token {
		return
	}
	message, err := e.describe(a, live, o)
	if live.State == dag.AttemptDispatched {
		e.send(a, live, message, err)
		return
	}
	// An earlier owner has sent it, and its worker has begun it: what is missing is word of who owns it now.
	if err == nil {
		e.tellOwner(a.in.ID, live, message)
	}
}

// tellOwner gives an attempt that was taken over its message, and sends it where its worker has yet to hear of it.
func (e *Engine) tellOwner(instance int64, attempt dag.Attempt, message *rpc.Dispatch) {
	if worker, ok := e.nodes.complete(refKey{instance, attempt.Task, attempt.Number}, message); ok {
		e.Links.Again(worker, message)
	}
}

// complete keeps the message of an attempt, and returns its worker's process if that is linked.
func (n *nodes) complete(key refKey, message *rpc.Dispatch) (worker rpc.Process, linked bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	r := n.byAttempt[key]
	if r == nil {
		return rpc.Process{}, false
	}
	r.dispatch = message
	known := n.byNode[r.node]
	if known.incarnation == "" || known.incarnation != r.incarnation {
		return rpc.Process{}, false // its hello brings it
	}
	r.untold = false
	return rpc.Process{Node: r.node, Incarnation: r.incarnation}, true
}

// whyNot is the reason of an attempt that can't be described.
func whyNot(err error) dag.Reason {
	if _, ok := errors.AsType[dag.NoSecretError](err); ok || errors.Is(err, errSealed) {
		return dag.ReasonSecret
	}
	return dag.ReasonParams
}

// errSealed says that a secret is there, and that it can't be opened.
var errSealed = errors.New("a secret can't be opened")

// putSecrets moves what holds secrets to the part of the message that older workers don't read.
func putSecrets(message *rpc.Dispatch, run dag.TaskRun) {
	if len(run.Secrets) == 0 {
		return
	}
	message.Secrets = &rpc.Secrets{Env: run.SecretEnv}
	if run.SecretSpec {
		message.Secrets.Spec, message.Spec = message.Spec, nil
	}
	for _, value := range run.Secrets {
		message.Secrets.Values = append(message.Secrets.Values, value)
	}
	slices.Sort(message.Secrets.Values)
}
