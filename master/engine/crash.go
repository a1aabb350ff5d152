package engine

import (
	"context"
	"fmt"
	"time"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/internal/guard"
	"github.com/porpoise/porpoise/internal/rpc"
	"github.com/porpoise/porpoise/sql"
)

// maxCrashes is how often an instance may be taken up without ever getting to a commit, and how
// often one master may panic over it. A master that it takes down takes its other instances
// down too.
const maxCrashes = 3

// crashed drops an instance over which the engine panicked, to be taken up again from its rows with
// a higher crash count; after the last time it is quarantined instead. The asks of its turn go
// back; reports that it had not answered are sent again.
func (e *Engine) crashed(a *actor, cause any, stack []byte) {
	e.mu.Lock()
	e.crashes[a.in.ID]++
	count := e.crashes[a.in.ID]
	e.mu.Unlock()
	e.log.Error("instance made the engine panic", "instance", a.in.ID, "count", count, "panic", fmt.Sprint(cause), "stack", string(stack))
	turn := a.turn
	a.turn = nil
	if a.beginning != nil {
		e.failBeginning(a, turn)
		return
	}
	e.drop(a, turn)
	for _, m := range a.taken {
		e.refuse(m)
	}
	a.taken = nil
	if count >= maxCrashes {
		e.quarantineRow(a, fmt.Sprintf("working on it panicked %d times: %v", count, cause))
		return
	}
	e.retakes.push(a.in.ID)
}

// refuse gives an ask that came with a mail back to its worker.
func (e *Engine) refuse(m mail) {
	if assign, ok := m.input.(dag.Assign); ok && m.assigned {
		e.Dispatcher.Refuse(rpc.Process{Node: assign.Worker, Incarnation: assign.Incarnation}, m.instant)
	}
}

// guard runs one step of a loop. A panic that is no instance's is told and survived: the loop goes on
// with its next step.
func (e *Engine) guard(step string, do func()) {
	_ = guard.Do(e.log, step, func() error { do(); return nil }) // it has been told
}

// quarantineRow makes the row of an instance that is not in memory say why it is not processed.
func (e *Engine) quarantineRow(a *actor, message string) {
	e.forgetCrashes(a.in.ID)
	ctx, cancel := context.WithTimeout(context.Background(), quarantineWait)
	defer cancel()
	if err := e.Store.Quarantine(ctx, a.in.ID, a.epoch, dag.ReasonCrashed, message); err != nil {
		e.log.Error("quarantine not written", "instance", a.in.ID, "error", err)
	}
}

// forgetCrashes is for an instance that this master has no longer.
func (e *Engine) forgetCrashes(instance int64) {
	e.mu.Lock()
	delete(e.crashes, instance)
	e.mu.Unlock()
}

// quarantineWait bounds the write that sets an instance aside.
const quarantineWait = 5 * time.Second

// retake takes up again the instances that made the engine panic. It returns false if the store is away.
func (e *Engine) retake(ctx context.Context) bool {
	ids := e.retakes.take()
	if len(ids) == 0 {
		return true
	}
	claimed, err := e.Store.Retake(ctx, e.Owner, ids)
	if err != nil {
		e.log.Warn("instances not taken up again", "count", len(ids), "error", err)
		e.retakes.push(ids...)
		return false
	}
	e.Admit(claimed)
	return true
}

// tooManyCrashes says why an instance is not to be taken up, or "".
func tooManyCrashes(c *sql.Claimed) string {
	if c.Instance.CrashCount > maxCrashes {
		return fmt.Sprintf("taken up %d times without a commit", c.Instance.CrashCount)
	}
	return ""
}
