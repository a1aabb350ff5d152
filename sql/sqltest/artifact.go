package sqltest

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/sql"
)

// bearer is the attempt of a task that was dispatched by step.
func bearer(o owned, task, number int) sql.Bearer {
	return sql.Bearer{AttemptKey: sql.AttemptKey{InstanceID: o.ID, Task: task, Attempt: number}, Token: fmt.Sprintf("t%d.%d.%d", o.ID, task, number)}
}

// leaves has an attempt leave a file of that size, whose bytes are all one digit.
func (b *bench) leaves(of sql.Bearer, name string, digit byte, size int) []byte {
	b.t.Helper()
	kept, err := b.BeginArtifacts(b.ctx, of)
	if err != nil || kept {
		b.t.Fatalf("begin: kept %t, %v", kept, err)
	}
	data := bytes.Repeat([]byte{digit}, size)
	for chunk := 0; chunk*sql.MaxArtifactChunk < size; chunk++ {
		part := data[chunk*sql.MaxArtifactChunk:]
		b.must(b.PutArtifactChunk(b.ctx, of, 0, chunk, part[:min(len(part), sql.MaxArtifactChunk)]))
	}
	sum := sha256.Sum256(data)
	b.must(b.KeepArtifacts(b.ctx, of, []sql.Artifact{{Name: name, Size: int64(size), SHA256: hex.EncodeToString(sum[:])}}))
	return data
}

// found is what an attempt finds of a task: names, each with the first byte of its content.
func (b *bench) found(by sql.Bearer, task int, name string) string {
	b.t.Helper()
	files, err := b.UsedArtifacts(b.ctx, by, task, name)
	if errors.Is(err, sql.ErrNotFound) {
		return "none"
	}
	b.must(err)
	var out []string
	for _, f := range files {
		var data []byte
		for chunk := range f.Chunks() {
			part, err := b.ArtifactChunk(b.ctx, f, chunk)
			b.must(err)
			data = append(data, part...)
		}
		if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != f.SHA256 || int64(len(data)) != f.Size {
			b.t.Errorf("%s has %d bytes, which are not those that were left", f.Name, len(data))
		}
		out = append(out, f.Name+":"+string(data[:min(1, len(data))]))
	}
	return strings.Join(out, " ")
}

func artifactsAreKeptWholeOrNotAtAll(t *testing.T, b *bench) {
	o := b.take("m1:a")
	b.must(b.commit(b.step(o, 0, dag.TaskDispatched)))
	of := bearer(o, 0, 1)
	stranger := of
	stranger.Token = "x"
	for _, who := range []sql.Bearer{stranger, {AttemptKey: of.AttemptKey}, bearer(o, 0, 2), bearer(o, 1, 1)} {
		if _, err := b.BeginArtifacts(b.ctx, who); !errors.Is(err, sql.ErrNotFound) {
			t.Errorf("%+v begins with %v, want ErrNotFound", who, err)
		}
		if err := b.PutArtifactChunk(b.ctx, who, 0, 0, []byte("x")); !errors.Is(err, sql.ErrNotFound) {
			t.Errorf("%+v puts with %v, want ErrNotFound", who, err)
		}
		if err := b.KeepArtifacts(b.ctx, who, []sql.Artifact{{Name: "x"}}); !errors.Is(err, sql.ErrNotFound) {
			t.Errorf("%+v keeps with %v, want ErrNotFound", who, err)
		}
	}

	// A transfer that broke off is nothing, and in nobody's way.
	_, err := b.BeginArtifacts(b.ctx, of)
	b.must(err)
	b.must(b.PutArtifactChunk(b.ctx, of, 0, 0, []byte("half")))
	b.must(b.PutArtifactChunk(b.ctx, of, 1, 0, []byte("more")))
	for _, files := range [][]sql.Artifact{
		nil, {{Name: "a", Size: 5}, {Name: "b", Size: 4}}, {{Name: "a", Size: 4}}, {{Name: "a", Size: 4}, {Name: "b", Size: 4}, {Name: "c", Size: 1}},
	} {
		if err := b.KeepArtifacts(b.ctx, of, files); !errors.Is(err, sql.ErrStale) {
			t.Errorf("%+v are kept with %v, want ErrStale", files, err)
		}
	}
	if list, err := b.Artifacts(b.ctx, o.ID, 0); err != nil || len(list) != 0 {
		t.Errorf("a transfer that broke off left %+v, %v", list, err)
	}
	data := b.leaves(of, "out/ä.csv", '1', 2*sql.MaxArtifactChunk+1)

	// Sent again, by whoever did not hear the answer, it stays as it is.
	if kept, err := b.BeginArtifacts(b.ctx, of); err != nil || !kept {
		t.Errorf("begun again: kept %t, %v", kept, err)
	}
	b.must(b.PutArtifactChunk(b.ctx, of, 0, 0, []byte("other")))
	b.must(b.KeepArtifacts(b.ctx, of, []sql.Artifact{{Name: "other", Size: 5}}))
	list, err := b.Artifacts(b.ctx, o.ID, 0)
	b.must(err)
	if len(list) != 1 || list[0].Name != "out/ä.csv" || list[0].Size != int64(len(data)) || list[0].Attempt != 1 || list[0].CreatedAt == 0 || list[0].Chunks() != 3 {
		t.Errorf("kept are %+v", list)
	}
	b.must(b.commit(b.step(o, 0, dag.TaskSuccess)))
	b.must(b.commit(b.step(o, 1, dag.TaskDispatched)))
	if got := b.found(bearer(o, 1, 1), 0, "out/"); got != "out/ä.csv:1" {
		t.Errorf("found %s", got)
	}
}

func theNewestSuccessIsUsed(t *testing.T, b *bench) {
	o := b.take("m1:a")
	dispatch := func(task int) sql.Bearer {
		b.must(b.commit(b.step(o, task, dag.TaskDispatched)))
		return bearer(o, task, o.Tasks[task].Attempts)
	}
	end := func(state dag.AttemptState, task dag.TaskState) {
		tr := b.step(o, 0, dag.TaskSuccess)
		o.Tasks[0].State, tr.Effects.Attempts[0].State = task, state
		b.must(b.commit(tr))
	}
	user := dispatch(1)
	first := dispatch(0)
	b.leaves(first, "r", '1', 10)
	if got := b.found(user, 0, "r"); got != "none" {
		t.Errorf("of a task that runs it finds %s", got)
	}
	end(dag.AttemptSuccess, dag.TaskSuccess)
	for _, c := range []struct{ name, want string }{{"r", "r:1"}, {"r/", "none"}, {"x", "none"}} {
		if got := b.found(user, 0, c.name); got != c.want {
			t.Errorf("as %s it finds %s, want %s", c.name, got, c.want)
		}
	}
	stranger := user
	stranger.Token = "x"
	if got := b.found(stranger, 0, "r") + b.found(user, 1, "r"); got != "nonenone" {
		t.Errorf("without the token, and of a task that left none: %s", got)
	}

	// A failed attempt counts for nothing, a late success does.
	b.leaves(dispatch(0), "r", '2', 10)
	end(dag.AttemptFailed, dag.TaskFailed)
	if got := b.found(user, 0, "r"); got != "none" {
		t.Errorf("of a task that failed it finds %s", got)
	}
	dispatch(0)
	end(dag.AttemptSuccess, dag.TaskSuccess)
	if got := b.found(user, 0, "r"); got != "r:1" {
		t.Errorf("after a success that left none it finds %s, want that of before", got)
	}
	if _, err := b.BeginArtifacts(b.ctx, bearer(o, 0, 3)); !errors.Is(err, sql.ErrNotFound) {
		t.Errorf("an attempt that is over begins with %v, want ErrNotFound", err)
	}
	late := dispatch(0)
	end(dag.AttemptLost, dag.TaskReady)
	b.leaves(late, "r", '4', 0)
	end(dag.AttemptLost, dag.TaskSuccess)
	if got := b.found(user, 0, "r"); got != "r:" {
		t.Errorf("after a late success it finds %s", got)
	}
}

func artifactsComeWithKeptTasks(t *testing.T, b *bench) {
	old := b.take("m1:a")
	b.must(b.commit(b.step(old, 0, dag.TaskDispatched)))
	b.leaves(bearer(old, 0, 1), "r", '1', 3)
	b.must(b.commit(b.step(old, 0, dag.TaskSuccess)))
	b.must(b.commit(b.step(old, 0, dag.TaskDispatched)))
	b.leaves(bearer(old, 0, 2), "r", '2', 3) // later than what was taken over
	b.must(b.commit(b.step(old, 0, dag.TaskSuccess)))
	id, _, err := b.Start(b.ctx, sql.Start{
		WorkflowID: b.workflow.ID, ProjectID: b.project.ID, Version: 1, RerunOf: old.ID, By: "ann",
		Kept: []sql.KeptTask{{Kept: dag.Kept{Task: 0, State: dag.TaskSuccess, FinishedAt: 9}, FromInstance: old.ID, FromAttempt: 1}},
	})
	b.must(err)
	for _, c := range b.claim("m1:a") {
		if c.Instance.ID != id {
			continue
		}
		o := owned{&dag.Instance{ID: id, State: dag.InstanceSubmitted, Tasks: make([]dag.TaskInstance, 2)}, c.Instance.OwnerEpoch}
		o.Tasks[0].State, o.Tasks[0].Round = dag.TaskSuccess, 1
		tr := b.step(o, 1, dag.TaskDispatched)
		tr.Effects.Tasks = []int{0, 1}
		b.must(b.commit(tr))
		if got := b.found(bearer(o, 1, 1), 0, "r"); got != "r:1" {
			t.Errorf("of a task that was taken over it finds %s", got)
		}
		return
	}
	t.Fatal("the instance was not claimed")
}

func artifactsGoWithTheirInstance(t *testing.T, b *bench) {
	o := b.take("m1:a")
	for task := range 2 {
		b.must(b.commit(b.step(o, task, dag.TaskDispatched)))
		b.leaves(bearer(o, task, 1), "r", '1', 2*sql.MaxArtifactChunk)
	}
	list, err := b.Artifacts(b.ctx, o.ID, 0)
	b.must(err)
	tr := b.step(o, 0, dag.TaskSuccess)
	o.State, o.FinishedAt, tr.Release = dag.InstanceSuccess, 9, true
	b.must(b.commit(tr))
	b.retired(dag.MillisOf(time.Now().Add(time.Hour)))
	if !b.gone(o.ID) {
		t.Fatal("the instance is there")
	}
	if _, err := b.ArtifactChunk(b.ctx, list[0], 0); !errors.Is(err, sql.ErrNotFound) {
		t.Errorf("bytes of a deleted instance: %v, want ErrNotFound", err)
	}
	if left, err := b.Artifacts(b.ctx, o.ID, 0); err != nil || len(left) != 0 {
		t.Errorf("artifacts of a deleted instance: %+v, %v", left, err)
	}
}
