package sqltest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/sql"
)

// going are the states in which a task has an attempt in flight.
var going = []dag.TaskState{dag.TaskDispatched, dag.TaskRunning, dag.TaskKilling}

// live lists all that a filter shows, as "instance/task state".
func (b *bench) live(f sql.LiveTaskFilter, limit int) (out []string) {
	b.t.Helper()
	for page := (sql.Page{Limit: limit}); ; {
		rows, next, err := b.LiveTasks(b.ctx, f, page)
		b.must(err)
		for _, r := range rows {
			out = append(out, fmt.Sprintf("%d/%s %s", r.Instance.ID, r.Task.Name, r.Task.State))
		}
		if page.Cursor = next; next == "" {
			return out
		}
	}
}

// under starts an instance that was made at a moment, with its two tasks in these states.
func (b *bench) under(at dag.Millis, first, second dag.TaskState) owned {
	b.t.Helper()
	id := b.begin(func(s *sql.Start) { s.At = at })
	got, err := b.Claim(b.ctx, []sql.Claim{{Command: sql.Command{ID: id, InstanceID: id, Kind: sql.CommandStart}, Owner: "m"}})
	b.must(err)
	o := owned{&dag.Instance{ID: id, State: dag.InstanceSubmitted, Tasks: make([]dag.TaskInstance, 2)}, got[0].Instance.OwnerEpoch}
	for i, state := range []dag.TaskState{first, second} {
		if state == dag.TaskDispatched {
			b.must(b.commit(b.step(o, i, state)))
			continue
		}
		t := b.step(o, i, state)
		o.Tasks[i].ReadyAt = at
		b.must(b.commit(t))
	}
	return o
}

func liveTasksOldestFirst(t *testing.T, b *bench) {
	var want []string
	for i := range 60 { // more than one step of instances, two of each moment
		o := b.under(dag.Millis(1000+i/2), dag.TaskDispatched, dag.TaskReady)
		want = append(want, fmt.Sprintf("%d/extract dispatched", o.ID))
	}
	b.end(b.begin(func(s *sql.Start) { s.At = 1 }), 1, 2)
	for _, limit := range []int{1, 7, 200} {
		if got := b.live(sql.LiveTaskFilter{States: going}, limit); !slices.Equal(got, want) {
			t.Errorf("by pages of %d: %v, want %v", limit, got, want)
		}
	}
	both := b.live(sql.LiveTaskFilter{States: append([]dag.TaskState{dag.TaskReady}, going...)}, 3)
	if len(both) != 120 || both[1] != fmt.Sprintf("%s/load ready", both[0][:len(both[0])-len("/extract dispatched")]) {
		t.Errorf("with those that wait: %d, the first %v", len(both), both[:2])
	}
}

func liveTasksAreFiltered(t *testing.T, b *bench) {
	second, _, _, err := b.SaveVersion(b.ctx, sql.SaveVersion{ProjectID: b.project.ID, Name: "Second", Text: "t", Format: "yaml"})
	b.must(err)
	o := b.under(1000, dag.TaskDispatched, dag.TaskReady)
	runs, waits := fmt.Sprintf("%d/extract dispatched", o.ID), fmt.Sprintf("%d/load ready", o.ID)
	ready := []dag.TaskState{dag.TaskReady}
	for name, c := range map[string]struct {
		f    sql.LiveTaskFilter
		want []string
	}{
		"all that run":        {sql.LiveTaskFilter{States: going}, []string{runs}},
		"its worker":          {sql.LiveTaskFilter{States: going, Worker: "w1"}, []string{runs}},
		"another worker":      {sql.LiveTaskFilter{States: going, Worker: "w2"}, nil},
		"its project":         {sql.LiveTaskFilter{States: ready, ProjectIDs: []int64{b.project.ID}}, []string{waits}},
		"no project":          {sql.LiveTaskFilter{States: ready, ProjectIDs: []int64{}}, nil},
		"another workflow":    {sql.LiveTaskFilter{States: ready, WorkflowID: second.ID}, nil},
		"a part of its name":  {sql.LiveTaskFilter{States: ready, Name: "oa"}, []string{waits}},
		"another name":        {sql.LiveTaskFilter{States: ready, Name: "extract"}, nil},
		"old":                 {sql.LiveTaskFilter{States: ready, OlderThan: time.Hour}, []string{waits}},
		"older than there is": {sql.LiveTaskFilter{States: ready, OlderThan: 200 * 365 * 24 * time.Hour}, nil},
	} {
		if got := b.live(c.f, 50); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
	rows, _, err := b.LiveTasks(b.ctx, sql.LiveTaskFilter{States: ready}, sql.Page{})
	b.must(err)
	if len(rows) != 1 || rows[0].Since != 1000 || rows[0].Worker != "" || rows[0].Instance.Workflow != "Daily" {
		t.Errorf("a task that waits: %+v", rows)
	}
}

// waited starts an instance long ago whose second task waited so long, and succeeded.
func (b *bench) waited(wait dag.Millis) {
	b.t.Helper()
	o := b.under(1000, dag.TaskReady, dag.TaskReady)
	b.must(b.commit(b.step(o, 1, dag.TaskDispatched)))
	done := b.step(o, 1, dag.TaskSuccess)
	o.Tasks[1].ReadyAt, o.Tasks[1].StartedAt = 1000, 1000+wait
	o.State, o.FinishedAt, done.Release = dag.InstanceSuccess, 2000+wait, true
	b.must(b.commit(done))
}

func waitsBeyondTheUsual(t *testing.T, b *bench) {
	now := dag.MillisOf(time.Now())
	listed := func(ago time.Duration, second dag.TaskState) *sql.LiveTask {
		t.Helper()
		o := b.under(now-dag.Millis(ago.Milliseconds()), dag.TaskDispatched, second)
		rows, next, err := b.LiveTasks(b.ctx, sql.LiveTaskFilter{States: []dag.TaskState{dag.TaskReady, dag.TaskRetryWait}, BeyondUsual: true}, sql.Page{})
		b.must(err)
		for _, r := range rows {
			if r.Instance.ID == o.ID {
				return &r
			}
		}
		if next != "" {
			t.Errorf("there is more behind %q", next)
		}
		return nil
	}
	if got := listed(5*time.Minute, dag.TaskReady); got != nil {
		t.Errorf("without a history five minutes are too long: %+v", got.Usual)
	}
	if got := listed(11*time.Minute, dag.TaskReady); got == nil || got.Usual.Of != 0 {
		t.Errorf("without a history eleven minutes are not too long: %+v", got)
	}
	for i := range sql.MinUsual {
		b.waited(dag.Millis(40_000 + 5_000*i)) // the ninetieth percentile is the one before the longest
	}
	if got := listed(70*time.Second, dag.TaskReady); got != nil {
		t.Errorf("70s are more than usual: %+v", got.Usual)
	}
	got := listed(90*time.Second, dag.TaskReady)
	if want := (sql.UsualWait{P90: 80 * time.Second, Of: sql.MinUsual}); got == nil || *got.Usual != want || got.Usual.Bound() != want.P90 {
		t.Errorf("90s are not more than usual: %+v", got)
	}
	if got := listed(9*time.Minute, dag.TaskRetryWait); got != nil {
		t.Errorf("a wait for another try is compared with waits for a worker: %+v", got.Usual)
	}
}
