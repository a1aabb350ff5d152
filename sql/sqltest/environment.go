package sqltest

import (
	"errors"
	"strings"
	"testing"

	"github.com/porpoise/porpoise/sql"
)

func environmentsReachInstances(t *testing.T, b *bench) {
	put := func(name string, variables map[string]string) error {
		_, err := b.PutEnvironment(b.ctx, sql.Environment{ProjectID: b.project.ID, Name: name, Variables: variables, Description: "d", UpdatedBy: "ann"})
		return err
	}
	b.must(put("Prod", map[string]string{"A": "1"}))
	b.must(put("prod", map[string]string{"A": "2\n€ '", "B": ""})) // the same, by its folded name
	b.must(put("empty", nil))
	b.must(put("gone", nil))
	b.must(b.DeleteEnvironment(b.ctx, b.project.ID, "GONE"))
	if err := b.DeleteEnvironment(b.ctx, b.project.ID, "gone"); !errors.Is(err, sql.ErrNotFound) {
		t.Errorf("the second deletion is %v, want ErrNotFound", err)
	}
	if err := put("big", map[string]string{"A": strings.Repeat("x", sql.MaxEnvironmentBytes)}); !errors.Is(err, sql.ErrFull) {
		t.Errorf("an environment over its bound is %v, want ErrFull", err)
	}
	list, err := b.Environments(b.ctx, b.project.ID)
	b.must(err)
	if len(list) != 2 || list[0].Name != "empty" || list[1].Name != "prod" || list[1].Variables["A"] != "2\n€ '" || list[1].UpdatedBy != "ann" {
		t.Errorf("environments = %+v", list)
	}
	b.begin()
	for _, c := range b.claim("m1:a") {
		if got, ok := c.Environments["empty"]; !ok || len(got) != 0 || c.Environments["prod"]["A"] != "2\n€ '" || len(c.Environments) != 2 {
			t.Errorf("the instance sees %v", c.Environments)
		}
	}
	other, err := b.CreateProject(b.ctx, sql.Project{Name: "Other"})
	b.must(err)
	_, err = b.PutEnvironment(b.ctx, sql.Environment{ProjectID: other.ID, Name: "a"})
	b.must(err)
	b.must(b.DeleteProject(b.ctx, other.ID))
	if list, err := b.Environments(b.ctx, other.ID); err != nil || len(list) != 0 {
		t.Errorf("a deleted project has environments %v, %v", list, err)
	}
	if _, err := b.PutEnvironment(b.ctx, sql.Environment{ProjectID: other.ID, Name: "a"}); !errors.Is(err, sql.ErrNotFound) {
		t.Errorf("an environment of a deleted project is %v, want ErrNotFound", err)
	}
}

func environmentsOfAllProjectsComeWithEach(t *testing.T, b *bench) {
	put := func(project int64, name, value string) {
		t.Helper()
		_, err := b.PutEnvironment(b.ctx, sql.Environment{ProjectID: project, Name: name, Variables: map[string]string{"A": value}})
		b.must(err)
	}
	put(sql.AllProjects, "Prod", "all")
	put(sql.AllProjects, "test", "all")
	put(b.project.ID, "prod", "own")
	b.begin()
	for _, c := range b.claim("m1:a") {
		if c.Environments["prod"]["A"] != "own" || c.Environments["test"]["A"] != "all" || len(c.Environments) != 2 {
			t.Errorf("the instance sees %v", c.Environments)
		}
	}
	if list, err := b.Environments(b.ctx, b.project.ID); err != nil || len(list) != 1 {
		t.Errorf("the project's own are %+v, %v", list, err)
	}
	b.must(b.DeleteEnvironment(b.ctx, sql.AllProjects, "PROD"))
	if list, err := b.Environments(b.ctx, sql.AllProjects); err != nil || len(list) != 1 || list[0].Name != "test" {
		t.Errorf("those of all projects are %+v, %v", list, err)
	}
}
