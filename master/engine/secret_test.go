package engine

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/internal/rpc"
	"github.com/porpoise/porpoise/sql"
)

const secretive = "name: secretive\ntasks:\n  - {name: t, type: shell, script: x, retry: {times: 3}, env: {A: '${secret.db}', B: b}}\n"

// keep puts a secret of the project into the store.
func (b *bench) keep(keys *rpc.Keyring, name, value string) {
	b.t.Helper()
	row := sql.Secret{ProjectID: b.project.ID, Name: name}
	var err error
	row.KeyID, row.Sealed, err = keys.Seal([]byte(value), row.About())
	b.must(err)
	_, err = b.store.PutSecret(b.t.Context(), row)
	b.must(err)
}

func (b *bench) withKeys() *rpc.Keyring {
	b.t.Helper()
	keys, err := rpc.EnsureKeyring(filepath.Join(b.t.TempDir(), "secret-key"))
	b.must(err)
	b.Keys = keys
	return keys
}

// opened answers what waits for secrets, and goes on.
func (b *bench) opened() {
	b.t.Helper()
	if away := b.OpenOnce(b.t.Context()); away {
		b.t.Error("the store is away")
	}
	b.settle()
}

func TestADispatchHasTheSecretsOfItsMoment(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	keys := b.withKeys()
	b.keep(keys, "db", "first value")
	ids := b.start(secretive, 2)
	if len(b.dispatched) != 0 {
		t.Fatalf("dispatched without secrets: %v", b.dispatched)
	}
	b.keep(keys, "db", "second value")
	b.opened()
	if len(b.dispatched) != len(ids) {
		t.Fatalf("%d are dispatched, want %d", len(b.dispatched), len(ids))
	}
	d := b.dispatched[0]
	if d.GetSecrets().GetEnv()["A"] != "second value" || fmt.Sprint(d.Secrets.GetValues()) != "[second value]" || d.Env["B"] != "b" {
		t.Errorf("dispatched %v", d)
	}
	d.Secrets = nil
	if strings.Contains(d.String(), "second") {
		t.Errorf("an older worker would read it in %v", d)
	}
}

func TestATaskWithoutItsSecretFailsOnceAndSaysWhich(t *testing.T) {
	t.Parallel()
	for what, want := range map[string]string{"none": `no secret "db"`, "another key": `"db" was sealed by the key`, "no keys": `"db" was sealed by the key`, "moved": `"db" was sealed by the key`} {
		b := newBench(t)
		keys := b.withKeys()
		switch what {
		case "another key":
			b.keep(keys, "db", "canary")
			b.withKeys()
		case "no keys":
			b.keep(keys, "db", "canary")
			b.Keys = nil
		case "moved": // a row that somebody wrote for another name
			row := sql.Secret{ProjectID: b.project.ID, Name: "db"}
			other := sql.Secret{ProjectID: b.project.ID, Name: "other"}
			var err error
			row.KeyID, row.Sealed, err = keys.Seal([]byte("canary"), other.About())
			b.must(err)
			_, err = b.store.PutSecret(t.Context(), row)
			b.must(err)
		}
		id := b.start(secretive, 1)[0]
		b.opened()
		if row := b.row(id); row.State != dag.InstanceFailed || len(b.dispatched) != 0 || b.refused != 1 {
			t.Errorf("%s: the instance is %s, %d dispatched, %d asks given back", what, row.State, len(b.dispatched), b.refused)
		}
		task, err := b.store.Task(t.Context(), id, "t")
		b.must(err)
		if task.State != dag.TaskFailed || task.Reason != dag.ReasonSecret || task.Attempts != 1 {
			t.Errorf("%s: the task is %s (%s) after %d attempts", what, task.State, task.Reason, task.Attempts)
		}
		events, err := b.store.Events(t.Context(), id, 0, 50)
		b.must(err)
		if told := fmt.Sprint(events); !strings.Contains(told, want) || strings.Contains(told, "canary") {
			t.Errorf("%s: the history says %s, want %s", what, told, want)
		}
	}
}

// forgetting is a store whose secrets can't be read for a while.
type forgetting struct {
	Store
	away bool
}

func (f *forgetting) SecretsNamed(ctx context.Context, project int64, names []string) (map[string]sql.Secret, error) {
	if f.away {
		return nil, fmt.Errorf("read: %w", sql.ErrUnavailable)
	}
	return f.Store.SecretsNamed(ctx, project, names)
}

func TestADispatchWaitsWhileSecretsCantBeRead(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	store := &forgetting{Store: b.store, away: true}
	b.Engine = b.engine("m1:a", store)
	b.keep(b.withKeys(), "db", "some value")
	id := b.start(secretive, 1)[0]
	if away := b.OpenOnce(t.Context()); !away {
		t.Error("a store that does not answer is not away")
	}
	b.settle()
	if row := b.row(id); row.State != dag.InstanceRunning || len(b.dispatched) != 0 {
		t.Errorf("the instance is %s, dispatched %v", row.State, b.dispatched)
	}
	store.away = false
	b.opened()
	if len(b.dispatched) != 1 || b.dispatched[0].GetSecrets().GetEnv()["A"] != "some value" {
		t.Errorf("dispatched %v", b.dispatched)
	}
}
