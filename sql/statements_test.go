package sql_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/porpoise/porpoise/sql"
)

func TestStatementsOfSQLiteAreCountedByTheirTexts(t *testing.T) {
	t.Parallel()
	counted := sql.NewStatements()
	s, err := sql.Open(t.Context(), sql.Config{DSN: "sqlite:" + filepath.Join(t.TempDir(), "porpoise.db"), Relaxed: true, Statements: counted})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	if err := s.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	p, err := s.CreateProject(t.Context(), sql.Project{Name: "p"})
	if err != nil {
		t.Fatal(err)
	}
	w, _, _, err := s.SaveVersion(t.Context(), sql.SaveVersion{ProjectID: p.ID, Name: "w", Text: "name: w", Format: "yaml", Publish: true})
	if err != nil {
		t.Fatal(err)
	}
	const starts = 5 // the first ones without a prepared statement
	for range starts {
		if _, _, err := s.Start(t.Context(), sql.Start{WorkflowID: w.ID, ProjectID: p.ID, Version: 1}); err != nil {
			t.Fatal(err)
		}
	}
	const read = 3
	for range read {
		if _, err := s.Project(t.Context(), "p"); err != nil {
			t.Fatal(err)
		}
	}
	for _, rows := range []int{2, 4, 8} {
		if err := s.AddAudit(t.Context(), make([]sql.AuditRow, rows)); err != nil {
			t.Fatal(err)
		}
	}
	of := func(prefix string) (sum sql.Statement) {
		for _, st := range counted.List() {
			if strings.HasPrefix(st.Text, prefix) {
				sum.Count, sum.Given, sum.Changed, sum.Time = sum.Count+st.Count, sum.Given+st.Given, sum.Changed+st.Changed, sum.Time+st.Time
			}
		}
		return sum
	}
	if st := of("INSERT INTO workflow_instance"); st.Count != starts || st.Changed != starts || st.Time == 0 {
		t.Errorf("%d starts are counted as %+v", starts, st)
	}
	if st := of("SELECT id, name, description"); st.Count < read || st.Given < read || st.Time == 0 {
		t.Errorf("%d readings are counted as %+v", read, st)
	}
	texts := 0
	for _, st := range counted.List() {
		if strings.HasPrefix(st.Text, "INSERT INTO audit") {
			texts++
		}
	}
	if st := of("INSERT INTO audit"); texts != 1 || st.Count != 3 || st.Changed != 14 {
		t.Errorf("three texts of 14 rows are listed as %d, %+v", texts, st)
	}
	if st := of("COMMIT"); st.Count < starts {
		t.Errorf("%d commits are counted, want %d at least", st.Count, starts)
	}
}
