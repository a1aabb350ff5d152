package sqltest

import (
	"errors"
	"testing"
	"time"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/dag/timer"
	"github.com/porpoise/porpoise/sql"
)

func aReplacedTimerGoesOn(t *testing.T, b *bench) {
	old := b.timer("tick", "* * * * * *")
	b.timer("tock", "* * * * * *")
	b.must(b.EnableTimer(b.ctx, b.project.ID, old.ID, "ann"))
	claimed := b.claimFirst("m1:a", dag.MillisOf(time.Now().Add(time.Minute)))
	next := sql.Timer{ProjectID: b.project.ID, Name: "Tick", CreatedBy: "bob", Spec: timer.Spec{Cron: "* * * * * *", Method: "GET", URL: "http://example.org/y"}}
	clash := next
	clash.Name = "TOCK"
	if _, err := b.ReplaceTimer(b.ctx, old.ID, clash); !errors.Is(err, sql.ErrExists) {
		t.Errorf("by the name of another: %v, want ErrExists", err)
	}
	made, err := b.ReplaceTimer(b.ctx, old.ID, next)
	b.must(err)
	got, err := b.Timer(b.ctx, b.project.ID, made.ID)
	if b.must(err); made.ID == old.ID || got.Name != "Tick" || !got.Enabled || got.Spec.URL != "http://example.org/y" || got.CreatedBy != "bob" {
		t.Errorf("the new one is %+v", got)
	}
	if _, err := b.Timer(b.ctx, b.project.ID, old.ID); !errors.Is(err, sql.ErrNotFound) {
		t.Errorf("the old one: %v, want ErrNotFound", err)
	}
	// What the old one has claimed is called by that one; the new one begins behind it.
	tasks := b.tasksOf(made.ID)
	if len(tasks) < 100 || tasks[0].PlannedAt <= claimed.PlannedAt {
		t.Errorf("%d tasks are planned, the first at %d; the old one has claimed %d", len(tasks), tasks[0].PlannedAt, claimed.PlannedAt)
	}
	if _, err := b.ReplaceTimer(b.ctx, old.ID, next); !errors.Is(err, sql.ErrNotFound) {
		t.Errorf("replaced again: %v, want ErrNotFound", err)
	}
	b.must(b.DisableTimer(b.ctx, b.project.ID, made.ID, "ann"))
	if off, err := b.ReplaceTimer(b.ctx, made.ID, next); err != nil || off.Enabled || len(b.tasksOf(off.ID)) != 0 {
		t.Errorf("in the place of one that is off: %+v, %v", off, err)
	}
}
