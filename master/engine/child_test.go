package engine

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/internal/rpc"
	"github.com/porpoise/porpoise/sql"
)

const (
	parent = `name: parent
params: {day: x, region: y}
tasks:
  - {name: a, type: sub_workflow, workflow: child, params: {day: "${day}", what: all}, outputs: [rows]}
  - {name: b, type: shell, script: "echo $rows", needs: [a]}
`
	child = "name: child\nparams: {day: none, what: none}\ntasks:\n  - {name: work, type: shell, script: ok, outputs: [rows]}\n"
)

// family is two engines over one store, of which hints reach both.
type family struct {
	*bench
	other *Engine
}

func newFamily(t *testing.T, definitions ...string) *family {
	f := &family{bench: newBench(t)}
	f.other = f.engine("m2:b", f.store)
	f.hinted(f.Engine)
	f.hinted(f.other)
	for _, text := range definitions {
		f.save(text)
	}
	return f
}

func (f *family) hinted(e *Engine) {
	e.Hint = func(h *rpc.Hint) {
		for _, id := range h.GetControls() {
			f.Nudge(id)
			f.other.Nudge(id)
		}
		for _, workflow := range h.GetFinished() {
			f.Finished(workflow)
			f.other.Finished(workflow)
		}
	}
}

func (f *family) save(text string) {
	f.t.Helper()
	name, _, _ := strings.Cut(strings.TrimPrefix(text, "name: "), "\n")
	create := sql.AnyVersion
	_, _, _, err := f.store.SaveVersion(f.t.Context(), sql.SaveVersion{
		ProjectID: f.project.ID, Name: name, Text: text, Format: "yaml", IfMatch: &create, Publish: true, By: "test",
	})
	f.must(err)
}

// rest takes the steps of both engines until there is nothing to do at this moment.
func (f *family) rest() {
	f.t.Helper()
	ctx := f.t.Context()
	for range 200 {
		again := false
		for _, e := range []*Engine{f.Engine, f.other} {
			e.ControlOnce(ctx)
			e.ChildrenOnce(ctx)
			e.DependentsOnce(ctx)
			again = e.WakeOnce(ctx) || again
			for e.StepOne() {
				again = true
			}
			n, _ := e.CommitOnce(ctx)
			e.children.mu.Lock()
			again = again || n > 0 || len(e.children.launches)+len(e.children.ends) > 0
			e.children.mu.Unlock()
			again = again || !e.controls.empty() || !e.wakes.empty()
		}
		if !again {
			return
		}
	}
	f.t.Fatal("the engines do not come to rest")
}

// give has an engine take all commands, and returns their instances.
func (f *family) give(e *Engine) (ids []int64) {
	f.t.Helper()
	commands, _, err := f.store.Commands(f.t.Context(), nil, 100, sql.CommandCursor{})
	f.must(err)
	var claims []sql.Claim
	for _, c := range commands {
		claims = append(claims, sql.Claim{Command: c, Owner: e.Owner})
		ids = append(ids, c.InstanceID)
	}
	claimed, err := f.store.Claim(f.t.Context(), claims)
	f.must(err)
	e.Admit(claimed)
	f.rest()
	return ids
}

// begin starts the parent on the first engine, and gives its child to the second.
func (f *family) begin() (up, down int64) {
	f.t.Helper()
	up = f.start(parent, 1)[0]
	f.rest()
	ids := f.give(f.other)
	if len(ids) != 1 {
		f.t.Fatalf("commands for %v, want one for the child", ids)
	}
	return up, ids[0]
}

// report ends the attempt that was dispatched last, as its worker would.
func (f *family) report(state dag.AttemptState, outputs map[string]string) {
	f.t.Helper()
	d := f.dispatched[len(f.dispatched)-1]
	for _, e := range []*Engine{f.Engine, f.other} {
		if e.Has(d.GetAttempt().GetInstanceId()) {
			e.Report(f.t.Context(), &rpc.Report{Attempt: d.GetAttempt(), State: string(state), Outputs: outputs}, func(string, string) {})
		}
	}
	f.rest()
}

func (f *family) wish(id int64, verb dag.Verb) {
	f.t.Helper()
	_, err := f.store.AddControl(f.t.Context(), sql.ControlRow{InstanceID: id, Verb: verb, By: "ann"})
	f.must(err)
	f.Nudge(id)
	f.other.Nudge(id)
	f.rest()
}

func (f *family) want(id int64, state dag.InstanceState) sql.InstanceRow {
	f.t.Helper()
	row := f.row(id)
	if row.State != state {
		f.t.Fatalf("instance %d is %s (%s), want %s", id, row.State, row.Reason, state)
	}
	return row
}

func (f *family) task(id int64, name string) sql.TaskRow {
	f.t.Helper()
	row, err := f.store.Task(f.t.Context(), id, name)
	f.must(err)
	return row
}

func TestAChildRunsOnAnotherMasterAndItsOutputsComeBack(t *testing.T) {
	t.Parallel()
	f := newFamily(t, child)
	up, down := f.begin()
	row := f.want(down, dag.InstanceRunning)
	if row.Parent != (sql.Parent{Instance: up, Task: "a", Attempt: 1}) || row.Depth != 1 || row.CreatedBy != "test" ||
		row.TriggerKey != sql.ChildKey(up, 0, 1, 0) || row.Params["day"] != "20261121" || row.Params["what"] != "all" || len(row.Params) != 2 {
		t.Errorf("the child is %+v", row)
	}
	if got := f.task(up, "a"); got.State != dag.TaskRunning || got.Child != down {
		t.Errorf("while the child runs, its task is %+v", got)
	}
	f.report(dag.AttemptSuccess, map[string]string{"rows": "3", "other": "x"})
	f.want(down, dag.InstanceSuccess)
	if got := f.task(up, "a"); got.State != dag.TaskSuccess || got.Outputs["rows"] != "3" || len(got.Outputs) != 1 {
		t.Errorf("after the child, its task is %+v", got)
	}
	if last := f.dispatched[len(f.dispatched)-1]; last.GetTaskName() != "b" || last.GetEnv()["rows"] != "3" {
		t.Errorf("dispatched %+v", last)
	}
	f.report(dag.AttemptSuccess, nil)
	f.want(up, dag.InstanceSuccess)
	f.nothingLeft()
}

// nothingLeft says that no command and no unanswered row remains.
func (f *family) nothingLeft() {
	f.t.Helper()
	f.PollChildren(f.t.Context())
	commands, _, err := f.store.Commands(f.t.Context(), nil, 100, sql.CommandCursor{})
	f.must(err)
	if len(commands) != 0 {
		f.t.Errorf("commands left: %+v", commands)
	}
	for _, e := range []*Engine{f.Engine, f.other} {
		rows, err := f.store.ControlsOf(f.t.Context(), e.Owner)
		f.must(err)
		if len(rows) != 0 || len(e.children.waited) != 0 {
			f.t.Errorf("%s has %+v to answer and waits for %v", e.Owner, rows, e.children.waited)
		}
	}
}

func TestDatesOfAChildAreThoseOfItsParentsTimezone(t *testing.T) {
	t.Parallel()
	f := newFamily(t, child)
	at := dag.Millis(1_774_740_600_000)
	up := f.start(parent, 1, func(s *sql.Start) { s.ScheduleTime, s.Timezone = at, "Asia/Shanghai" })[0]
	f.rest()
	down := f.give(f.other)[0]
	if row := f.row(down); row.Parent.Instance != up || row.Timezone != "Asia/Shanghai" || row.ScheduleTime != at {
		t.Errorf("the child is of %q at %d, want the parent's timezone and schedule time", row.Timezone, row.ScheduleTime)
	}
}

func TestStopGoesDownAndWaitsForTheChild(t *testing.T) {
	t.Parallel()
	f := newFamily(t, child)
	up, down := f.begin()
	f.wish(up, dag.VerbStop)
	f.want(up, dag.InstanceStopping)
	f.want(down, dag.InstanceStopping)
	f.report(dag.AttemptKilled, nil)
	f.want(down, dag.InstanceStopped)
	f.want(up, dag.InstanceStopped)
	f.nothingLeft()

	// Recover goes on with the very child, in a new round of it.
	f.wish(up, dag.VerbRecover)
	f.give(f.Engine)
	f.give(f.other)
	if row := f.want(down, dag.InstanceRunning); row.Round != 2 || row.Parent.Attempt != 2 {
		t.Errorf("the recovered child is %+v", row)
	}
	f.report(dag.AttemptSuccess, map[string]string{"rows": "4"})
	f.want(down, dag.InstanceSuccess)
	if got := f.task(up, "a"); got.State != dag.TaskSuccess || got.Attempts != 2 || got.Outputs["rows"] != "4" || got.Child != down {
		t.Errorf("the recovered task is %+v", got)
	}
}

func TestPauseAndResumeGoDown(t *testing.T) {
	t.Parallel()
	f := newFamily(t, child)
	up, down := f.begin()
	f.wish(up, dag.VerbPause)
	f.want(up, dag.InstancePaused)
	f.want(down, dag.InstancePausing)
	f.report(dag.AttemptReturned, nil)
	f.want(down, dag.InstancePaused)
	f.wish(up, dag.VerbResume)
	f.give(f.Engine)
	f.give(f.other)
	f.want(down, dag.InstanceRunning)
	f.report(dag.AttemptSuccess, nil)
	f.want(down, dag.InstanceSuccess)
	if got := f.task(up, "a").State; got != dag.TaskSuccess {
		t.Errorf("after the child, its task is %s", got)
	}
}

func TestAPausedParentHearsOfItsChildsEnd(t *testing.T) {
	t.Parallel()
	f := newFamily(t, child)
	up, down := f.begin()
	f.wish(up, dag.VerbPause)
	f.report(dag.AttemptSuccess, nil)
	f.want(down, dag.InstanceSuccess)
	if ids := f.give(f.other); !slices.Equal(ids, []int64{up}) {
		t.Fatalf("commands for %v, want one for the parent", ids)
	}
	f.want(up, dag.InstancePaused)
	if got := f.task(up, "a").State; got != dag.TaskSuccess {
		t.Errorf("after the child, its task is %s", got)
	}
	f.nothingLeft()
}

// What calls a parent back that rests is read by another goroutine than the one that steps it, and may come after its first commit.
func TestAParentThatIsCalledBackStaysUntilItHasHeard(t *testing.T) {
	t.Parallel()
	f := newFamily(t, child)
	up, down := f.begin()
	f.wish(up, dag.VerbPause)
	f.report(dag.AttemptSuccess, nil)
	f.want(down, dag.InstanceSuccess)
	commands, _, err := f.store.Commands(t.Context(), nil, 100, sql.CommandCursor{})
	f.must(err)
	if len(commands) != 1 || commands[0].InstanceID != up {
		t.Fatalf("commands %v, want one for the parent", commands)
	}
	claimed, err := f.store.Claim(t.Context(), []sql.Claim{{Command: commands[0], Owner: f.other.Owner}})
	f.must(err)
	f.other.Admit(claimed)
	for f.other.StepOne() {
		f.other.CommitOnce(t.Context())
	}
	if !f.other.Has(up) {
		t.Fatal("it has gone without what it was called for")
	}
	f.rest()
	f.want(up, dag.InstancePaused)
	if got := f.task(up, "a").State; got != dag.TaskSuccess {
		t.Errorf("after the child, its task is %s", got)
	}
	f.nothingLeft()
}

func TestAnEvictedParentComesBackForItsChild(t *testing.T) {
	t.Parallel()
	f := newFamily(t, child)
	up, _ := f.begin()
	f.now = f.now.Add(evictAfter + sweepEvery)
	f.Evict(f.now)
	if f.inMemory(up) || !f.Has(up) {
		t.Fatal("a parent that only waits stays in memory")
	}
	f.report(dag.AttemptSuccess, nil)
	if got := f.task(up, "a").State; got != dag.TaskSuccess || !f.inMemory(up) {
		t.Errorf("after the child, its task is %s", got)
	}
}

func TestWhatNobodyToldIsFoundByThePoll(t *testing.T) {
	t.Parallel()
	for _, evicted := range []bool{false, true} {
		f := newFamily(t, child)
		up, down := f.begin()
		// The child is set aside, which tells nobody.
		f.must(f.store.Quarantine(t.Context(), down, 1, dag.ReasonCrashed, "it cannot be read"))
		f.rest()
		f.want(up, dag.InstanceRunning)
		if evicted {
			f.now = f.now.Add(evictAfter + sweepEvery)
			f.Evict(f.now)
			f.PollChildren(t.Context())
			f.rest()
		}
		f.PollChildren(t.Context())
		f.rest()
		row := f.want(up, dag.InstanceFailed)
		attempts, err := f.store.Attempts(t.Context(), up, 0)
		f.must(err)
		if row.Reason != dag.ReasonTaskFailed || attempts[0].Reason != dag.ReasonChildFailed || !strings.Contains(attempts[0].Message, "quarantined") {
			t.Errorf("the parent is %s, its attempt %+v", row.Reason, attempts[0])
		}
	}
}

func TestATakenOverParentHearsOfAChildThatEndedMeanwhile(t *testing.T) {
	t.Parallel()
	f := newFamily(t, child)
	up, down := f.begin()
	f.Engine = New(Config{Owner: "m3:c", Store: f.store, Dispatcher: f.bench, Links: f.bench, Alarms: f.bench, Publish: func(*rpc.Change) {}, Logger: hclog.NewNullLogger(), Now: f.clock})
	f.report(dag.AttemptFailed, nil)
	f.want(down, dag.InstanceFailed)
	f.want(up, dag.InstanceRunning)
	claimed, err := f.store.TakeOver(t.Context(), "m1:a", "m3:c", 10)
	f.must(err)
	f.Admit(claimed)
	f.rest()
	f.want(up, dag.InstanceFailed)
	attempts, err := f.store.Attempts(t.Context(), up, 0)
	f.must(err)
	if a := attempts[0]; a.Reason != dag.ReasonChildFailed || !strings.Contains(a.Message, "work") || a.Child != down {
		t.Errorf("the attempt ended as %+v", a)
	}
}

func TestARetryStartsANewChild(t *testing.T) {
	t.Parallel()
	f := newFamily(t, child)
	text := strings.Replace(parent, "outputs: [rows]", "outputs: [rows], retry: {times: 1, delay: 1m}", 1)
	up := f.start(text, 1)[0]
	f.rest()
	first := f.give(f.other)[0]
	f.report(dag.AttemptFailed, nil)
	f.now = f.now.Add(2 * evictAfter)
	f.ring()
	f.rest()
	second := f.give(f.other)
	if len(second) != 1 || second[0] == first || f.row(second[0]).Parent.Attempt != 2 {
		t.Fatalf("the retry made %v after %d", second, first)
	}
	f.report(dag.AttemptSuccess, nil)
	if got := f.task(up, "a"); got.State != dag.TaskSuccess || got.Attempts != 2 {
		t.Errorf("after the retry it is %+v", got)
	}
}

func TestAChildThatCannotStartFailsItsAttempt(t *testing.T) {
	t.Parallel()
	for text, says := range map[string]string{
		"name: x\ntasks:\n  - {name: a, type: sub_workflow, workflow: none}\n":                      `there is no workflow "none"`,
		"name: x\ntasks:\n  - {name: a, type: sub_workflow, workflow: child, project: none}\n":      `there is no project "none"`,
		"name: x\ntasks:\n  - {name: a, type: sub_workflow, workflow: child, version: 7}\n":         "has no version 7",
		"name: x\ntasks:\n  - {name: a, type: sub_workflow, workflow: child, params: {color: 1}}\n": `no parameter "color"`,
	} {
		f := newFamily(t, child)
		up := f.start(strings.Replace(text, "tasks:", "params: {day: x, region: y}\ntasks:", 1), 1)[0]
		f.rest()
		f.want(up, dag.InstanceFailed)
		attempts, err := f.store.Attempts(t.Context(), up, 0)
		f.must(err)
		if a := attempts[0]; a.Reason != dag.ReasonChildRefused || !strings.Contains(a.Message, says) {
			t.Errorf("%s: the attempt ended as %+v, want it to say %s", text, a, says)
		}
	}
}

func TestSubWorkflowsAreNestedEightDeepAndNoDeeper(t *testing.T) {
	t.Parallel()
	f := newFamily(t)
	top := f.start("name: again\nparams: {day: x, region: y}\ntasks:\n  - {name: a, type: sub_workflow, workflow: again}\n", 1)[0]
	f.rest()
	depth := 0
	for ids := f.give(f.other); len(ids) > 0; ids = f.give(f.other) {
		if depth++; f.row(ids[0]).Depth != depth {
			t.Fatalf("instance %d has depth %d, want %d", ids[0], f.row(ids[0]).Depth, depth)
		}
	}
	f.want(top, dag.InstanceFailed)
	if depth != dag.MaxDepth {
		t.Errorf("children down to depth %d, want %d", depth, dag.MaxDepth)
	}
}

// forgetful is a store whose next answers are lost, although it did what was asked.
type forgetful struct {
	*sql.Store
	lost int // answers that are still to be lost
}

func (s *forgetful) Commit(ctx context.Context, transitions []sql.Transition) []error {
	errs := s.Store.Commit(ctx, transitions)
	if s.lost > 0 {
		s.lost--
		for i := range errs {
			errs[i] = sql.ErrUnavailable
		}
	}
	return errs
}

func TestALostAnswerMakesOneChild(t *testing.T) {
	t.Parallel()
	f := newFamily(t, child)
	u := &forgetful{Store: f.store}
	f.Engine = f.engine(f.Owner, u)
	f.hinted(f.Engine)
	up := f.start(parent, 1)[0]
	u.lost = 3
	f.rest()
	ids := f.give(f.other)
	if len(ids) != 1 {
		t.Fatalf("commands for %v, want one child", ids)
	}
	u.lost = 3
	f.wish(up, dag.VerbStop)
	f.want(ids[0], dag.InstanceStopping)
	kids, _, err := f.store.ChildrenOf(t.Context(), up, sql.Page{})
	f.must(err)
	if len(kids) != 1 {
		t.Errorf("%d children, want 1", len(kids))
	}
}
