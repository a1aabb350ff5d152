package engine

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/internal/rpc"
	"github.com/porpoise/porpoise/sql"
)

// What became of a request to recover an attempt.
const (
	RecoverLoaded    = "loaded"     // its instance was not in memory
	RecoverReloaded  = "reloaded"   // its instance was, but did not know it
	RecoverSentAgain = "sent_again" // the last message for it was sent again
	RecoverAlive     = "alive"      // its worker has shown it lately
	RecoverUnderWay  = "under_way"  // its instance is just being worked on
	RecoverGivenUp   = "given_up"   // its task fails
)

// freshBeat is how old the sign of life of an attempt may be that is called alive: workers show each
// within two minutes.
const freshBeat = 3 * time.Minute

// Recover does what can be done for an attempt whose time is past: it repeats the last message, which its
// worker knows by the token, takes an instance up that memory has lost, or gives the attempt up if
// that is asked for. While no link to the worker is there it does nothing and returns "": the worker's lease
// decides then.
func (e *Engine) Recover(ctx context.Context, r sql.RecoveryRow, now time.Time) (string, sql.RecoveryState, error) {
	e.mu.Lock()
	a := e.actors[r.InstanceID]
	e.mu.Unlock()
	if a == nil {
		if e.wake(r.InstanceID) {
			return RecoverLoaded, sql.RecoveryApplied, nil
		}
		claimed, err := e.Store.Load(ctx, e.Owner, []int64{r.InstanceID})
		if err != nil {
			return "", "", fmt.Errorf("recover instance %d: %w", r.InstanceID, err)
		}
		e.Admit(claimed)
		return RecoverLoaded, sql.RecoveryApplied, nil
	}
	known, linked := e.nodes.look(refKey{r.InstanceID, r.Task, r.Attempt})
	switch {
	case known == nil:
		return e.readAgain(a, r), sql.RecoveryApplied, nil
	case r.Step == string(dag.AttemptRunning) && now.Sub(known.beat) < freshBeat:
		return RecoverAlive, sql.RecoveryDone, nil
	case linked == "":
		return "", "", nil
	case r.GiveUp:
		e.post(r.InstanceID, mail{input: dag.Lost{
			Task: r.Task, Number: r.Attempt, Token: known.token, GiveUp: true,
			Message: fmt.Sprintf("worker %s gave no answer in time, asked %d times", known.node, r.Failures-1),
		}})
		return RecoverGivenUp, sql.RecoveryError, nil
	case known.kill != nil:
		e.Links.Kill(known.node, known.kill)
	case known.dispatch != nil:
		e.Links.Again(rpc.Process{Node: known.node, Incarnation: linked}, known.dispatch)
	}
	return RecoverSentAgain, sql.RecoveryApplied, nil
}

// readAgain drops an instance whose memory does not know an attempt of its rows, unless it is just
// being worked on: then the rows may be about to change.
func (e *Engine) readAgain(a *actor, r sql.RecoveryRow) string {
	standing, resting := a.standing()
	if !resting || e.stillResting(standing) != a {
		return RecoverUnderWay
	}
	e.log.Warn("attempt in the rows is not in memory, instance read again", "instance", r.InstanceID, "task", r.Task, "attempt", r.Attempt)
	e.drop(a, nil)
	e.retakes.push(r.InstanceID)
	return RecoverReloaded
}

// look returns a copy of a ref, nil for none, and the process of its worker that is linked.
func (n *nodes) look(key refKey) (known *ref, linked string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	r := n.byAttempt[key]
	if r == nil {
		return nil, ""
	}
	copied := *r
	if worker := n.byNode[r.node]; worker != nil {
		linked = worker.incarnation
	}
	return &copied, linked
}

// maxExtended bounds the attempts of one write that gives them more time.
const maxExtended = 256

// Extend gives more time to the running attempts that their workers have shown since they got theirs, in
// the rows; it is to be called every second or so and mostly has nothing to do.
func (e *Engine) Extend(ctx context.Context, now time.Time) error {
	for chunk := range slices.Chunk(e.nodes.extendable(now), maxExtended) {
		keys := make([]sql.AttemptKey, len(chunk))
		for i, key := range chunk {
			keys[i] = sql.AttemptKey{InstanceID: key.instance, Task: key.task, Attempt: key.number}
		}
		if err := e.Store.ExtendAttempts(ctx, e.Owner, dag.MillisOf(now), keys); err != nil {
			return err
		}
		e.nodes.extended(chunk, now)
	}
	return nil
}

// extendable returns the attempts that may have more time, in order.
func (n *nodes) extendable(now time.Time) []refKey {
	n.mu.Lock()
	defer n.mu.Unlock()
	var keys []refKey
	for key, r := range n.byAttempt {
		if r.started && r.kill == nil && r.beat.After(r.extended) && now.Sub(r.extended) >= sql.RunWithin/2 {
			keys = append(keys, key)
		}
	}
	slices.SortFunc(keys, func(a, b refKey) int { return compareRefs(*n.byAttempt[a], *n.byAttempt[b]) })
	return keys
}

func (n *nodes) extended(keys []refKey, now time.Time) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, key := range keys {
		if r := n.byAttempt[key]; r != nil {
			r.extended = now
		}
	}
}
