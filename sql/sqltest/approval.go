package sqltest

import (
	"errors"
	"slices"
	"testing"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/sql"
)

// asks makes the transition in which the first task of o waits for people.
func (b *bench) asks(o owned) sql.Transition {
	b.t.Helper()
	b.plan.Definition.Tasks[0].Type = dag.TypeApproval // the plan of this bench alone
	t := b.step(o, 0, dag.TaskRunning)
	task := &o.Tasks[0]
	task.Attempts++
	task.Attempt = dag.Attempt{Task: 0, Number: task.Attempts, Round: 1, State: dag.AttemptRunning, DispatchedAt: 5, StartedAt: 5}
	t.Effects.Attempts = []dag.Attempt{task.Attempt}
	return t
}

// says makes the transition in which somebody decides on the first task of o.
func (b *bench) says(o owned, d dag.Decision) sql.Transition {
	b.t.Helper()
	t := b.step(o, 0, dag.TaskRunning)
	o.Tasks[0].Attempt.Decisions = append(o.Tasks[0].Attempt.Decisions, d)
	t.Effects.Decisions = []dag.Decision{d}
	return t
}

func (b *bench) asked() []sql.ApprovalRow {
	b.t.Helper()
	list, _, err := b.Approvals(b.ctx, nil, true, sql.Page{})
	b.must(err)
	return list
}

func decisionsOutliveTheirMaster(t *testing.T, b *bench) {
	o := b.take("m1:a")
	b.must(b.commit(b.asks(o)))
	if list := b.asked(); len(list) != 1 || list[0] != (sql.ApprovalRow{InstanceID: o.ID, Task: 0, Attempt: 1, CreatedAt: 5}) {
		t.Fatalf("what waits is %+v", list)
	}
	none, _, err := b.Approvals(b.ctx, []int64{b.project.ID + 1}, false, sql.Page{})
	b.must(err)
	some, _, err := b.Approvals(b.ctx, []int64{b.project.ID}, false, sql.Page{})
	b.must(err)
	if len(none) != 0 || len(some) != 1 {
		t.Errorf("another project has %d approvals that wait, this one %d", len(none), len(some))
	}

	ann := dag.Decision{Task: 0, Number: 1, By: "ann", Approve: true, Reason: "it is tested", Values: map[string]string{"percent": "10"}, At: 6}
	tr := b.says(o, ann)
	late := tr
	late.Epoch = 99
	if err := b.commit(late); !errors.Is(err, sql.ErrNotOwner) {
		t.Fatalf("commit of a lost instance: %v", err)
	}
	if got, err := b.Decisions(b.ctx, o.ID, 0, 1); err != nil || len(got) != 0 {
		t.Fatalf("a master that lost the instance wrote %+v, %v", got, err)
	}
	b.must(b.commit(tr))
	b.must(b.commit(tr)) // its answer was lost
	bob := dag.Decision{Task: 0, Number: 1, By: "bob", At: 7}
	b.must(b.commit(b.says(o, bob)))

	again, err := b.Load(b.ctx, "m1:a", []int64{o.ID})
	b.must(err)
	if got := again[0].Attempts[0].Decisions; len(got) != 2 || !same(got[0], ann) || !same(got[1], bob) {
		t.Errorf("read again the decisions are %+v", got)
	}

	end := b.step(o, 0, dag.TaskSuccess)
	b.must(b.commit(end))
	if list := b.asked(); len(list) != 0 {
		t.Errorf("what waits after the end is %+v", list)
	}
	got, err := b.Decisions(b.ctx, o.ID, 0, 1)
	b.must(err)
	if !slices.EqualFunc(got, []dag.Decision{ann, bob}, same) {
		t.Errorf("after the end the decisions are %+v", got)
	}
}

func same(a, b dag.Decision) bool {
	if len(a.Values) != len(b.Values) || a.Values["percent"] != b.Values["percent"] {
		return false
	}
	a.Values, b.Values = nil, nil
	return a.Task == b.Task && a.Number == b.Number && a.By == b.By && a.Approve == b.Approve && a.Reason == b.Reason && a.At == b.At
}

func aWishCarriesWhatItSays(t *testing.T, b *bench) {
	o := b.take("m1:a")
	asked := sql.ControlRow{
		InstanceID: o.ID, Verb: dag.VerbApprove, Tasks: []string{"extract"}, Attempt: 3, By: "ann", Reason: "it's \"fine\"\n", Values: map[string]string{"percent": "10"},
	}
	made, err := b.AddControl(b.ctx, asked)
	b.must(err)
	for what, read := range map[string]func() ([]sql.ControlRow, error){
		"of the instance": func() ([]sql.ControlRow, error) { return b.Controls(b.ctx, o.ID) },
		"of the owner":    func() ([]sql.ControlRow, error) { return b.ControlsOf(b.ctx, "m1:a") },
		"loaded": func() ([]sql.ControlRow, error) {
			c, err := b.Load(b.ctx, "m1:a", []int64{o.ID})
			return c[0].Controls, err
		},
	} {
		rows, err := read()
		b.must(err)
		if len(rows) != 1 || rows[0].ID != made.ID || rows[0].Reason != asked.Reason || rows[0].Values["percent"] != "10" || rows[0].Attempt != 3 {
			t.Errorf("%s: %+v", what, rows)
		}
	}
}
