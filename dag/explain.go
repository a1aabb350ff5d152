package dag

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// maxCauses is how many causes one explanation lists; the rest is only counted, because
// a task may need thousands and nobody reads them.
const maxCauses = 10

// Explanation says why an instance or a task is as it is, as a tree: Text is a sentence
// for people, Code and Args say the same for programs.
type Explanation struct {
	Code   string            `json:"code"`
	Args   map[string]string `json:"args,omitempty"`
	Text   string            `json:"text"`
	Since  Millis            `json:"since,omitempty"`
	Causes []Explanation     `json:"causes,omitempty"`
}

// ExplanationCodes lists every code that Explain gives, so that whoever puts them into
// words can prove that none is missing.
func ExplanationCodes() []string {
	codes := []string{"not_in_scope", "more", "waiting_finally", "waiting_undo", "waiting_repeat", "delayed", "ready_elsewhere", "cached"}
	for _, s := range instanceTable.rows {
		codes = append(codes, string(s.State))
	}
	for _, s := range taskTable.rows {
		codes = append(codes, string(s.State))
	}
	slices.Sort(codes)
	return slices.Compact(codes)
}

// Explain says why a task is in its state, or with task -1 why the instance is. It knows
// what the rows know: for a ready task only that it is ready; why no worker takes it is
// the dispatcher's to add.
func (in *Instance) Explain(now Millis, task int) Explanation {
	if task < 0 || task >= len(in.Tasks) {
		return in.explainInstance(now)
	}
	return in.explainTask(now, task)
}

// explainTask explains one task; what it waits for is explained one level deep.
func (in *Instance) explainTask(now Millis, i int) Explanation {
	t := &in.Tasks[i]
	e := in.line(i, string(t.State), "")
	name := in.name(i)
	if t.Attempts > 0 {
		e.Args["attempt"] = strconv.Itoa(t.Attempts)
	}
	switch t.State {
	case "":
		e.Code, e.Text = "not_in_scope", fmt.Sprintf("%s is not part of this start", name)
	case TaskWaiting:
		in.explainWaiting(now, i, &e)
	case TaskReady:
		e.Since = t.ReadyAt
		in.explainReady(now, i, &e)
		if in.State == InstancePausing || in.State == InstancePaused {
			e.Causes = append(e.Causes, in.paused())
		}
	case TaskDispatched:
		e.Since = t.Attempt.DispatchedAt
		e.Args["worker"] = t.Attempt.Worker
		e.Text = fmt.Sprintf("attempt %d of %s is on its way to worker %s", t.Attempts, name, t.Attempt.Worker)
	case TaskRunning:
		in.explainRunning(now, i, &e)
	case TaskRetryWait:
		e.Args["at"] = moment(t.NextAt)
		if t.Reason == ReasonRepeat {
			in.explainRepeat(now, i, &e)
			break
		}
		e.Text = fmt.Sprintf("attempt %d of %s failed%s; attempt %d may start in %s", t.Attempts, name, because(t.Reason), t.Attempts+1, left(now, t.NextAt))
	case TaskKilling:
		if in.plan.Parent(i) {
			in.explainChild(now, i, &e)
			break
		}
		e.Args["worker"] = t.Attempt.Worker
		e.Args["reason"] = string(t.Attempt.KillReason)
		e.Text = fmt.Sprintf("worker %s was told to end attempt %d of %s%s", t.Attempt.Worker, t.Attempts, name, because(t.Attempt.KillReason))
	case TaskUpstreamFailed:
		e.Since = t.FinishedAt
		e.Text = fmt.Sprintf("%s never ran, because what it needs did not succeed", name)
		e.Causes = in.roots(i)
	case TaskSuccess, TaskForcedSuccess, TaskFailed, TaskKilled, TaskSkipped, TaskDisabled:
		e.Since = t.FinishedAt
		e.Text = in.ending(i)
		if t.Reason == ReasonCached {
			e.Code = string(ReasonCached)
		}
	}
	return e
}

// explainWaiting lists the needs of a task that are not done.
func (in *Instance) explainWaiting(now Millis, i int, e *Explanation) {
	if in.State == InstanceSubmitted || in.State == InstanceSerialWait {
		e.Text = fmt.Sprintf("%s waits for its instance to begin", in.name(i))
		e.Causes = append(e.Causes, in.explainInstance(now))
		return
	}
	n := 0
	for _, need := range in.plan.Pred[i] {
		if in.Tasks[need].State == "" || in.Tasks[need].State.Final() {
			continue
		}
		if n++; n <= maxCauses {
			c := in.line(need, string(in.Tasks[need].State), "")
			if in.Tasks[need].State != TaskWaiting {
				c = in.explainTask(now, need)
			} else {
				c.Text = fmt.Sprintf("%s is itself waiting", in.name(need))
			}
			e.Causes = append(e.Causes, c)
		}
	}
	switch t := &in.plan.Definition.Tasks[i]; {
	case t.Compensates > 0:
		e.Code, e.Args["undoes"] = "waiting_undo", in.name(in.undoes(i))
		e.Text = fmt.Sprintf("%s undoes %s, if the workflow fails", in.name(i), in.name(in.undoes(i)))
		return
	case n == 0 && t.Finally:
		left := in.left(phaseFinally)
		e.Code, e.Args["open"] = "waiting_finally", strconv.Itoa(left)
		e.Text = fmt.Sprintf("%s comes last; %s not finished", in.name(i), are(left, "other task"))
		return
	}
	e.Args["needs"] = strconv.Itoa(n)
	e.Text = fmt.Sprintf("%s waits for %s that it needs", in.name(i), count(n, "task"))
	e.Causes = more(e.Causes, n)
}

// explainReady tells of a task that could start.
func (in *Instance) explainReady(now Millis, i int, e *Explanation) {
	t := &in.Tasks[i]
	switch {
	case t.delayed():
		e.Code, e.Args["at"] = "delayed", moment(t.NextAt)
		e.Text = fmt.Sprintf("%s is delayed; it may start in %s", in.name(i), left(now, t.NextAt))
		return
	case t.AvoidWorker != "":
		e.Code, e.Args["worker"] = "ready_elsewhere", t.AvoidWorker
		e.Text = fmt.Sprintf("%s is ready to run, on another worker than %s while its group has one", in.name(i), t.AvoidWorker)
	default:
		e.Text = fmt.Sprintf("%s is ready to run", in.name(i))
	}
	if t.NextAt != 0 {
		e.Args["deadline"] = moment(t.NextAt)
		e.Text += fmt.Sprintf("; a worker must take it in %s", left(now, t.NextAt))
	}
}

// explainRunning tells of a worker's attempt, or of a wait.
func (in *Instance) explainRunning(now Millis, i int, e *Explanation) {
	t := &in.Tasks[i]
	e.Since = t.Attempt.StartedAt
	if in.plan.Parent(i) {
		in.explainChild(now, i, e)
		return
	}
	if in.plan.Definition.Tasks[i].Type == TypeDependent {
		e.Args["dependent"] = in.name(i)
		e.Text = fmt.Sprintf("%s waits for runs of other workflows", in.name(i))
		return
	}
	if in.approval(i) != nil {
		in.explainApproval(now, i, e)
		return
	}
	if t.Attempt.Worker == "" {
		e.Args["until"] = moment(t.NextAt)
		e.Text = fmt.Sprintf("%s waits for another %s", in.name(i), left(now, t.NextAt))
		return
	}
	e.Args["worker"] = t.Attempt.Worker
	e.Text = fmt.Sprintf("attempt %d of %s runs on worker %s", t.Attempts, in.name(i), t.Attempt.Worker)
	if t.Attempt.Deadline != 0 {
		e.Args["deadline"] = moment(t.Attempt.Deadline)
		e.Text += fmt.Sprintf("; its timeout is in %s", left(now, t.Attempt.Deadline))
	}
}

// explainChild tells of an attempt that waits for its child instance.
func (in *Instance) explainChild(now Millis, i int, e *Explanation) {
	if in.plan.maps(i) {
		in.explainItems(now, i, e)
		return
	}
	t := &in.Tasks[i]
	child := strconv.FormatInt(t.Attempt.Child, 10)
	e.Since, e.Args["child"] = t.Attempt.StartedAt, child
	e.Text = fmt.Sprintf("attempt %d of %s waits for its child instance %s", t.Attempts, in.name(i), child)
	if t.State == TaskKilling {
		e.Args["reason"] = string(t.Attempt.KillReason)
		e.Text = fmt.Sprintf("child instance %s of attempt %d of %s was told to stop%s", child, t.Attempts, in.name(i), because(t.Attempt.KillReason))
		return
	}
	if t.Attempt.Deadline != 0 {
		e.Args["deadline"] = moment(t.Attempt.Deadline)
		e.Text += fmt.Sprintf("; its timeout is in %s", left(now, t.Attempt.Deadline))
	}
}

// explainApproval tells of an approval that is asked for: who has approved, and how many more must.
func (in *Instance) explainApproval(now Millis, i int, e *Explanation) {
	t, needed := &in.Tasks[i], in.approval(i).Needed()
	missing := max(needed-len(t.Attempt.Decisions), 0)
	e.Args["approval"], e.Args["missing"], e.Args["quorum"] = in.name(i), strconv.Itoa(missing), strconv.Itoa(needed)
	e.Text = fmt.Sprintf("%s waits for %d of %s", in.name(i), missing, count(needed, "approval"))
	var by []string
	for _, d := range t.Attempt.Decisions {
		by = append(by, d.By)
	}
	if len(by) > 0 {
		e.Args["approved_by"] = strings.Join(by, ", ")
		e.Text += ": " + e.Args["approved_by"] + map[bool]string{true: " has", false: " have"}[len(by) == 1] + " approved"
	}
	if t.NextAt != 0 {
		e.Args["expires"] = moment(t.NextAt)
		e.Text += fmt.Sprintf("; that expires in %s", left(now, t.NextAt))
	}
}

// ending tells how a task ended.
func (in *Instance) ending(i int) string {
	t := &in.Tasks[i]
	switch t.State {
	case TaskSuccess:
		if t.Reason == ReasonCached {
			return fmt.Sprintf("%s did not run%s", in.name(i), because(t.Reason))
		}
		return fmt.Sprintf("%s succeeded", in.name(i))
	case TaskForcedSuccess:
		return fmt.Sprintf("%s was declared successful", in.name(i))
	case TaskSkipped:
		if t.passedOver() {
			return fmt.Sprintf("%s was passed over%s", in.name(i), because(t.Reason))
		}
		return fmt.Sprintf("%s was skipped", in.name(i))
	case TaskDisabled:
		return fmt.Sprintf("%s is disabled", in.name(i))
	case TaskKilled:
		return fmt.Sprintf("%s was killed%s", in.name(i), because(t.Reason))
	case TaskFailed:
		text := fmt.Sprintf("%s failed%s", in.name(i), because(t.Reason))
		if !in.plan.here(i) && t.Reason != ReasonExpression && t.Attempts > 0 {
			text += " after " + count(t.Attempts, "attempt")
		}
		if in.done(i) {
			text += ", which it may"
		}
		return text
	case "", TaskWaiting, TaskReady, TaskDispatched, TaskRunning, TaskRetryWait, TaskKilling, TaskUpstreamFailed:
	}
	return ""
}

// roots finds the failures above a task that never ran, nearest first.
func (in *Instance) roots(i int) []Explanation {
	seen := map[int]bool{i: true}
	todo := []int{i}
	var causes []Explanation
	n := 0
	for head := 0; head < len(todo); head++ {
		for _, need := range in.plan.Pred[todo[head]] {
			if seen[need] {
				continue
			}
			seen[need] = true
			switch in.Tasks[need].State {
			case TaskUpstreamFailed:
				todo = append(todo, need)
			case TaskFailed, TaskKilled:
				if in.done(need) {
					continue
				}
				if n++; n <= maxCauses {
					c := in.line(need, string(in.Tasks[need].State), in.ending(need))
					c.Args["attempt"] = strconv.Itoa(in.Tasks[need].Attempts)
					causes = append(causes, c)
				}
			case "", TaskWaiting, TaskReady, TaskDispatched, TaskRunning, TaskRetryWait, TaskKilling,
				TaskSuccess, TaskForcedSuccess, TaskSkipped, TaskDisabled:
			}
		}
	}
	return more(causes, n)
}

// explainInstance explains the instance by its tasks: failures first, then what is under way.
func (in *Instance) explainInstance(now Millis) Explanation {
	e := Explanation{Code: string(in.State), Args: map[string]string{"instance": strconv.FormatInt(in.ID, 10)}, Since: in.FinishedAt}
	if !in.State.Final() {
		e.Args["open"], e.Args["active"] = strconv.Itoa(in.open()), strconv.Itoa(in.active)
	}
	if in.Reason != "" {
		e.Args["reason"] = string(in.Reason)
	}
	e.Text = in.sentence()
	if in.State == InstanceSubmitted || in.State == InstanceSerialWait || in.State == InstanceQuarantined {
		return e
	}
	n := 0
	list := func(want func(t *TaskInstance) bool) {
		for i := range in.Tasks {
			if t := &in.Tasks[i]; !want(t) || t.State.Final() && !in.broken(i) {
				continue
			}
			if n++; n <= maxCauses {
				e.Causes = append(e.Causes, in.explainTask(now, i))
			}
		}
	}
	list(func(t *TaskInstance) bool { return t.State == TaskFailed })
	list(func(t *TaskInstance) bool { return t.State == TaskKilled && t.Reason == ReasonKilledByUser })
	list(func(t *TaskInstance) bool { return t.State.Live() || t.State == TaskRetryWait || t.State == TaskReady })
	e.Causes = more(e.Causes, n)
	return e
}

// sentence tells an instance's state.
func (in *Instance) sentence() string {
	switch in.State {
	case InstanceSubmitted:
		return "the instance waits for a master to begin it"
	case InstanceSerialWait:
		return "the instance waits for a place: its workflow runs as many as its concurrency allows"
	case InstanceRunning:
		if in.Reason == ReasonTimeout {
			return fmt.Sprintf("the instance ran over its timeout; %s being ended", are(in.open(), "task"))
		}
		return fmt.Sprintf("the instance runs; %s not finished", are(in.open(), "task"))
	case InstancePausing:
		return fmt.Sprintf("the instance pauses as soon as %s no longer on a worker", are(in.active, "task"))
	case InstancePaused:
		return fmt.Sprintf("the instance is paused; %s not finished", are(in.open(), "task"))
	case InstanceStopping:
		if in.active == 0 {
			return "the instance stops as soon as its child instances have ended"
		}
		return fmt.Sprintf("the instance stops as soon as %s no longer on a worker", are(in.active, "task"))
	case InstanceStopped:
		if in.Reason.displaced() {
			return "the instance was stopped" + because(in.Reason)
		}
		return "the instance was stopped; recover continues it"
	case InstanceFailed:
		return "the instance failed" + because(in.Reason)
	case InstanceSuccess:
		return "the instance succeeded"
	case InstanceQuarantined:
		return "no master touches this instance, because working on it ended masters"
	}
	return ""
}

func (in *Instance) paused() Explanation {
	return Explanation{Code: string(in.State), Args: map[string]string{"instance": strconv.FormatInt(in.ID, 10), "open": strconv.Itoa(in.open()), "active": strconv.Itoa(in.active)}, Text: "the instance is " + string(in.State) + ", so nothing starts"}
}

// line begins an explanation about a task.
func (in *Instance) line(i int, code, text string) Explanation {
	e := Explanation{Code: code, Args: map[string]string{"task": in.name(i)}, Text: text}
	if r := in.Tasks[i].Reason; r != "" {
		e.Args["reason"] = string(r)
	}
	return e
}

func (in *Instance) name(i int) string { return in.plan.Definition.Tasks[i].Name }

// more ends a list of causes that was cut with how many are missing.
func more(causes []Explanation, n int) []Explanation {
	if n <= len(causes) {
		return causes
	}
	rest := n - len(causes)
	return append(causes, Explanation{
		Code: "more", Args: map[string]string{"count": strconv.Itoa(rest)}, Text: fmt.Sprintf("and %d more", rest),
	})
}

// because puts a reason into a sentence; unknown ones, which workers may send, stand as they are.
func because(r Reason) string {
	switch r {
	case "":
		return ""
	case ReasonTimeout:
		return " because it ran over its timeout"
	case ReasonKilledByUser:
		return " because somebody asked for it"
	case ReasonKilledOutside:
		return " because its process was killed from outside"
	case ReasonStopped, ReasonForcedStop:
		return " because the instance was stopped"
	case ReasonWorkflowFailed:
		return " because another task failed and on_failure is end"
	case ReasonWorkflowTimeout:
		return " because the instance ran over its timeout"
	case ReasonTaskFailed:
		return " because a task failed"
	case ReasonTaskKilled:
		return " because a task was killed"
	case ReasonWorkerLost:
		return " because its worker was lost"
	case ReasonUnanswered:
		return " because its worker gave no answer for it in time"
	case ReasonExitCode:
		return " because its process ended with an error"
	case ReasonLateSuccess:
		return " because its success arrived after it was called lost"
	case ReasonChildFailed:
		return " because its child instance failed"
	case ReasonChildAgain:
		return " because its child instance was run again"
	case ReasonChildStopped:
		return " because its child instance was stopped"
	case ReasonDependencyFailed:
		return " because what it waited for has failed"
	case ReasonChildRefused:
		return " because its child instance could not be started"
	case ReasonNeedsSkipped:
		return " because all that it needs was passed over"
	case ReasonJoin:
		return " because its join rule was not met"
	case ReasonNotChosen:
		return " because other tasks were chosen"
	case ReasonWhen:
		return " because its condition did not hold"
	case ReasonExpression:
		return " because an expression could not be decided"
	case ReasonNotNeeded:
		return " because there was nothing to undo"
	case ReasonCompensated:
		return " and what had succeeded was undone"
	case ReasonNotCompensated:
		return " and undoing what had succeeded failed, too"
	case ReasonNoBranch:
		return " because no case held and it has no else"
	case ReasonOutputs:
		return " because what it gathered is too large"
	case ReasonRepeat:
		return " because the condition of its repeat_until does not hold yet"
	case ReasonRepeatBound:
		return " because the condition of its repeat_until did not hold within its max"
	case ReasonRejected:
		return " because somebody rejected it"
	case ReasonExpired:
		return " because nobody decided on it in time"
	case ReasonDiscarded:
		return " because there was no place for it and when_full is discard"
	case ReasonReplaced:
		return " because a newer instance took its place"
	case ReasonSecret:
		return " because a secret that it names could not be given to it"
	case ReasonNotRetried:
		return " because its retry policy excludes such a failure"
	case ReasonQueueTimeout:
		return " because no worker took it in time"
	case ReasonCached:
		return " because what an earlier success gave is still good"
	case ReasonDelayed, ReasonUpstreamFailed, ReasonReturned, ReasonCrashed, ReasonParams:
	}
	return " (" + string(r) + ")"
}

func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return strconv.Itoa(n) + " " + thing + "s"
}

func are(n int, thing string) string {
	if n == 1 {
		return "1 " + thing + " is"
	}
	return strconv.Itoa(n) + " " + thing + "s are"
}

func left(now, at Millis) string { return max(at.Sub(now), 0).String() }

func moment(at Millis) string { return at.Time().Format("2006-01-02T15:04:05.000Z07:00") }
