package dag

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/porpoise/porpoise/dag/expression"
)

// retryDelayCap caps a growing retry delay where the task names no cap of its own.
const retryDelayCap = 24 * time.Hour

// Count returns how many retries are allowed.
func (r *Retry) Count() int {
	if len(r.Delays) > 0 {
		return len(r.Delays)
	}
	return max(r.Times, 0)
}

// Wait returns how long the k-th retry (from 1) waits after the failure before it.
func (r *Retry) Wait(k int) time.Duration {
	if len(r.Delays) > 0 {
		return max(r.Delays[min(k, len(r.Delays))-1], 0)
	}
	limit := r.MaxDelay
	if limit <= 0 {
		limit = retryDelayCap
	}
	if r.Delay <= 0 {
		return 0
	}
	wait := float64(r.Delay)
	if r.Backoff > 0 {
		wait *= math.Pow(r.Backoff, float64(k-1))
	}
	if wait >= float64(limit) { // also where it overflowed to infinity
		return limit
	}
	return time.Duration(wait)
}

// lostReasons are those by which a worker that came back tells of an attempt that it had lost.
var lostReasons = [...]Reason{"runner_lost", "worker_restarted", "lease_ended"}

// The names by which retry.when reads the failure. They go before parameters of the same name.
const (
	failureExitCode = "exit_code"
	failureReason   = "reason"
	failureAttempt  = "attempt"
)

// isFailure says whether a name in retry.when of a task is of the failure itself, or of an output that the
// failed attempt may have given.
func isFailure(t *Task, name string) bool {
	return name == failureExitCode || name == failureReason || name == failureAttempt || hasOutput(t, name)
}

// unretried says why the retry policy of a task does not follow a failed attempt by another one; it is
// empty where it does. A condition that cannot be decided does not: what may do harm twice is not
// done again on a guess.
func (in *Instance) unretried(i int, failed *Attempt) string {
	r := &in.plan.Definition.Tasks[i].Retry
	code := failed.exitCode()
	among := func(c CodeRange) bool { return c.From <= code && code <= c.To }
	switch {
	case r.OnExitCodes != nil && code == 0:
		return "not retried: it ended without an exit code, and on_exit_codes names those that are"
	case r.OnExitCodes != nil && !slices.ContainsFunc(r.OnExitCodes, among):
		return fmt.Sprintf("not retried: exit code %d is not among on_exit_codes", code)
	case slices.ContainsFunc(r.NotOnExitCodes, among):
		return fmt.Sprintf("not retried: exit code %d is among not_on_exit_codes", code)
	}
	condition := in.plan.rules[i].retry
	if condition == nil {
		return ""
	}
	values, err := in.values(i)
	if err == nil {
		values.Param = in.failure(i, failed, values.Param)
		var again bool
		if again, err = condition.Decide(values); again && err == nil {
			return ""
		}
	}
	if err != nil {
		return "not retried: retry.when cannot be decided: " + err.Error()
	}
	return "not retried: retry.when does not hold"
}

// exitCode is that of an attempt whose process ended by itself with an error, otherwise 0.
func (a *Attempt) exitCode() int {
	if a.Reason != ReasonExitCode {
		return 0
	}
	return a.ExitCode
}

// failure puts what is known of a failed attempt before the other values that an expression reads.
func (in *Instance) failure(i int, failed *Attempt, others func(string) (any, bool)) func(string) (any, bool) {
	return func(name string) (any, bool) {
		switch name {
		case failureExitCode:
			return int64(failed.exitCode()), true
		case failureReason:
			return string(failed.Reason), true
		case failureAttempt:
			return int64(in.Tasks[i].Retries + 1), true
		}
		if hasOutput(&in.plan.Definition.Tasks[i], name) {
			value, ok := failed.Outputs[name]
			return value, ok
		}
		return others(name)
	}
}

// retryCondition compiles retry.when of task i.
func (p *Plan) retryCondition(i int, out **expression.Expression) []FieldError {
	text := p.Definition.Tasks[i].Retry.When
	if text == "" {
		return nil
	}
	return p.condition(i, p.Definition.field(i)+"."+retryWhen, text, out)
}

// retryWhen is the field of the condition, relative to its task.
const retryWhen = "retry.when"
