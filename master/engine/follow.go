package engine

import (
	"strconv"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/internal/failpoint"
	"github.com/porpoise/porpoise/internal/rpc"
)

// follow does what a committed turn asks for. It returns false once the instance has
// left memory.
func (e *Engine) follow(a *actor, done *commit) bool {
	e.written.Add(1)
	for i := range done.fx.Attempts {
		if attempt := &done.fx.Attempts[i]; attempt.State.Final() {
			e.nodes.end(a.in.ID, attempt.Task, attempt.Number)
		} else if attempt.State != dag.AttemptDispatched {
			e.nodes.started(a.in.ID, attempt.Task, attempt.Number)
		}
	}
	e.children.note(a.in.ID, done.fx.Attempts)
	e.children.noteItems(a.in, done.fx.Items)
	e.dependents.note(a, done.fx.Attempts)
	e.act(a, done)
	e.answer(done)
	e.hint(a, done)
	e.Publish(&rpc.Change{
		InstanceId: a.in.ID, WorkflowId: a.ids.workflow, ProjectId: a.ids.project,
		Seq: a.in.Seq, State: string(a.in.State),
	})
	if done.release {
		e.forgetCrashes(a.in.ID)
		e.drop(a, nil)
		return false
	}
	return true
}

// act carries out the actions that follow a commit, or need none.
func (e *Engine) act(a *actor, turn *commit) {
	for _, o := range turn.opened {
		e.withSecrets(a, o)
	}
	for _, action := range turn.fx.Actions {
		switch action := action.(type) {
		case dag.Dispatch:
			e.dispatch(a, action.Attempt)
		case dag.Kill:
			e.kill(a, action.Attempt)
		case dag.Arm:
			if action.Timer.Kind == dag.TimerRetry {
				_ = failpoint.Hit("retry.arm.before")
			}
			e.Alarms.Arm(Alarm{a.in.ID, action.Timer}, int64(action.At))
		case dag.Disarm:
			e.Alarms.Disarm(Alarm{a.in.ID, action.Timer})
		case dag.Enqueue:
			switch {
			case !a.runnable(action.Task):
			case a.recalls(action.Task):
				e.askCache(a, action.Task)
			case !a.gate(action.Task):
				e.askGroup(a, action.Task)
			}
		case dag.Dequeue, dag.Finish, dag.Rest:
			// Done before the commit, as is the rest of Enqueue.
		}
	}
}

// dispatch sends a committed attempt to its worker, as soon as its secrets are there.
func (e *Engine) dispatch(a *actor, attempt dag.Attempt) {
	if names := a.plan.Secrets(attempt.Task); len(names) > 0 {
		e.openings.push(opening{actor: a, attempt: attempt, names: names})
		return
	}
	message, err := e.describe(a, attempt, nil)
	e.send(a, attempt, message, err)
}

// send sends an attempt that was described. One that could not even be described fails here, as it would on
// the worker.
func (e *Engine) send(a *actor, attempt dag.Attempt, message *rpc.Dispatch, err error) {
	if err != nil {
		e.mailTo(a, mail{input: dag.Report{
			Task: attempt.Task, Number: attempt.Number, Token: attempt.Token, State: dag.AttemptFailed,
			Reason: whyNot(err), Message: err.Error(), FinishedAt: attempt.DispatchedAt,
		}})
		e.Dispatcher.Refuse(rpc.Process{Node: attempt.Worker, Incarnation: attempt.Incarnation}, a.instant(attempt.Task))
		return
	}
	e.nodes.add(ref{
		instance: a.in.ID, task: attempt.Task, number: attempt.Number, token: attempt.Token,
		node: attempt.Worker, incarnation: attempt.Incarnation, since: attempt.DispatchedAt, dispatch: message,
	})
	if failpoint.Hit("dispatch.send.before") != nil {
		return
	}
	e.Links.Dispatch(rpc.Process{Node: attempt.Worker, Incarnation: attempt.Incarnation}, message)
	_ = failpoint.Hit("dispatch.send.after")
}

// describe makes the message of an attempt; secrets is nil for a task that names none.
func (e *Engine) describe(a *actor, attempt dag.Attempt, secrets *opened) (*rpc.Dispatch, error) {
	facts := a.in.Facts
	if secrets != nil {
		if secrets.err != nil {
			return nil, secrets.err
		}
		facts.Secrets = secrets.values
	}
	run, err := dag.Resolve(a.in, attempt.Task, facts)
	if err != nil {
		return nil, err
	}
	task := &a.plan.Definition.Tasks[attempt.Task]
	message := &rpc.Dispatch{
		Attempt: attemptID(a.in.ID, attempt), OwnerEpoch: a.epoch,
		Type: run.Type, Spec: run.Spec, Env: run.Env, Outputs: run.Outputs, WorkingDir: run.WorkingDir,
		TaskName: task.Name, Workflow: a.in.Facts.Workflow, Project: a.in.Facts.Project,
		IdempotencyKey: idempotencyKey(a.in.ID, &attempt),
		KillGraceMs:    e.KillGrace.Milliseconds(),
		DryRun:         a.in.DryRun,
	}
	putSecrets(message, run)
	if !a.in.DryRun {
		putFiles(message, a.plan, attempt.Task)
	}
	return message, nil
}

func (e *Engine) kill(a *actor, attempt dag.Attempt) {
	message := &rpc.Kill{
		Attempt: attemptID(a.in.ID, attempt), OwnerEpoch: a.epoch,
		Reason: string(attempt.KillReason), GraceMs: e.KillGrace.Milliseconds(),
	}
	e.nodes.killing(a.in.ID, attempt.Task, attempt.Number, message)
	if failpoint.Hit("kill.send.before") != nil {
		return
	}
	e.Links.Kill(attempt.Worker, message)
	_ = failpoint.Hit("kill.send.after")
}

func attemptID(instance int64, attempt dag.Attempt) *rpc.AttemptID {
	return &rpc.AttemptID{
		InstanceId: instance, Task: int32(attempt.Task), Number: int32(attempt.Number), Token: attempt.Token,
	}
}

// idempotencyKey names a task of an instance, whatever its attempts, to the systems that the task calls; of a
// task that is repeated, each iteration is another call.
func idempotencyKey(instance int64, attempt *dag.Attempt) string {
	key := "porpoise-" + strconv.FormatInt(instance, 10) + "-" + strconv.Itoa(attempt.Task)
	if attempt.Iteration > 1 {
		key += "-" + strconv.Itoa(attempt.Iteration)
	}
	return key
}
