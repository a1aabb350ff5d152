package site

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/porpoise/porpoise/dag"
)

// Requirements F60 and I44: a backup of a running node, restored, runs what ran again, and what ran on from before
// is killed and not listened to.
func TestARestoredNodeRunsWhatRanAgain(t *testing.T) {
	t.Parallel()
	ctx := deadline(t)
	j := &journey{T: t, ctx: ctx, site: standalone(ctx, t)}
	w := begin(ctx, t, j.site)
	data := filepath.Join(j.site.Dir, "standalone")
	file := filepath.Join(t.TempDir(), "backup")
	j.says(0, "backup", "--data", data, file)
	j.says(2, "backup", "--data", data, file)
	j.says(2, "backup", "--data", t.TempDir(), file+"2")
	j.says(2, "restore", file+".none")
	j.says(1, "restore", "--data", data, file) // the node is running
	node := j.site.Part("standalone")
	node.Kill()
	j.says(2, "restore", "--data", data, file) // its database is not empty
	for _, name := range []string{"porpoise.db", "porpoise.db-wal", "porpoise.db-shm", "etcd"} {
		if err := os.RemoveAll(filepath.Join(data, name)); err != nil {
			t.Fatal(err)
		}
	}
	j.says(0, "restore", "--data", data, file)
	if err := j.site.Restart(ctx, node); err != nil {
		t.Fatal(err)
	}
	w.begun(ctx, t, j.site, 2)
	if first := w.lines()[0]; !gone(first) {
		t.Errorf("process %s of the generation before runs beside its successor", first)
	}
	w.open(t)
	task, attempts := w.succeeds(ctx, t)
	if len(attempts) != 2 || attempts[0].State != dag.AttemptLost || attempts[1].State != dag.AttemptSuccess || task.State != dag.TaskSuccess {
		t.Errorf("task %s, attempts %+v; want one lost and one that succeeded", task.State, attempts)
	}
}

// Requirement W32: everything waits from hold to release, and is told why.
func TestAHeldNodeWaitsForItsRelease(t *testing.T) {
	t.Parallel()
	ctx := deadline(t)
	j := &journey{T: t, ctx: ctx, site: standalone(ctx, t)}
	save(ctx, t, j.site.Client, "gated", gated)
	if out := j.says(0, "hold", "--reason", "upgrade"); out == "" {
		t.Error("hold said nothing")
	}
	j.says(0, "hold", "--show", "-o", "json")
	j.says(0, "release")
	j.says(0, "release")
	w := begin(ctx, t, j.site)
	w.open(t)
	w.once(ctx, t)
}
