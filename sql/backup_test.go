package sql_test

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/porpoise/porpoise/sql"
)

// The way from a standalone node to MySQL and back: what a file holds stands in either database.
func TestABackupMovesBetweenTheDatabases(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	testMySQL(t)
	quiet := func(string, int64) {}
	from := openStore(t, sql.Config{DSN: "sqlite:" + filepath.Join(t.TempDir(), "porpoise.db")})
	project, err := from.CreateProject(ctx, sql.Project{Name: "Überprojekt 😀", Description: "trailing space "})
	if err != nil {
		t.Fatal(err)
	}
	w, _, _, err := from.SaveVersion(ctx, sql.SaveVersion{ProjectID: project.ID, Name: "w", Text: "name: w\r\n\ttext '\"\\ \x00", Format: "yaml", By: "ann", Publish: true})
	if err != nil {
		t.Fatal(err)
	}
	for range 500 {
		if _, _, err := from.Start(ctx, sql.Start{WorkflowID: w.ID, ProjectID: project.ID, Version: 1, By: "ann"}); err != nil {
			t.Fatal(err)
		}
	}
	dir := t.TempDir()
	first, err := from.Backup(ctx, filepath.Join(dir, "1"), "test", quiet)
	if err != nil {
		t.Fatal(err)
	}
	there, err := sql.Open(ctx, sql.Config{DSN: newMySQL(t, t.Name())})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = there.Close() }()
	if _, err := there.Restore(ctx, filepath.Join(dir, "1"), quiet); err != nil {
		t.Fatal(err)
	}
	second, err := there.Backup(ctx, filepath.Join(dir, "2"), "test", quiet)
	if err != nil {
		t.Fatal(err)
	}
	changed := map[string]bool{"cluster": true, "cluster_registry": true, "id_block": true, "supervisor": true}
	for i, table := range first.Tables {
		if got := second.Tables[i]; got != table && !changed[table.Name] {
			t.Errorf("table %s was %+v and is %+v", table.Name, table, got)
		}
	}
	back, err := sql.Open(ctx, sql.Config{DSN: "sqlite:" + filepath.Join(t.TempDir(), "porpoise.db")})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = back.Close() }()
	if _, err := back.Restore(ctx, filepath.Join(dir, "2"), quiet); err != nil {
		t.Fatal(err)
	}
	got, err := back.Version(ctx, w.ID, 1)
	if err != nil || got.Text != "name: w\r\n\ttext '\"\\ \x00" {
		t.Errorf("there and back the text is %q, %v", got.Text, err)
	}
}
