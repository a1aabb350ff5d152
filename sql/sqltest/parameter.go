package sqltest

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/porpoise/porpoise/sql"
)

// timezoneGoesWithTheInstance: whoever takes an instance reckons its dates where its start said.
func timezoneGoesWithTheInstance(t *testing.T, b *bench) {
	here := b.begin(func(s *sql.Start) { s.Timezone, s.ScheduleTime = "Europe/Berlin", 1_700_000_000_000 })
	there := b.begin()
	got := map[int64]string{}
	for _, c := range b.claim("m1:a") {
		facts, err := c.Instance.Facts()
		b.must(err)
		got[c.Instance.ID] = facts.Location.String() + " " + facts.Workflow
	}
	if got[here] != "Europe/Berlin Daily" || got[there] != "UTC Daily" {
		t.Errorf("facts = %v, want Berlin for the first and UTC for the second", got)
	}
	lost := b.begin(func(s *sql.Start) { s.Timezone = "Europe/Atlantis" })
	row, err := b.Instance(b.ctx, lost)
	b.must(err)
	if _, err := row.Facts(); err == nil {
		t.Error("a timezone that is not known any more is taken for another one")
	}
}

func (b *bench) param(name, value string) error {
	_, err := b.PutProjectParam(b.ctx, sql.ProjectParam{ProjectID: b.project.ID, Name: name, Value: value, Description: "d", UpdatedBy: "ann"})
	return err
}

func projectParamsReachInstances(t *testing.T, b *bench) {
	b.must(b.param("region", "eu"))
	b.must(b.param("Region", "apart")) // names differ by case
	b.must(b.param("region", "us\n€ '"))
	b.must(b.param("gone", "x"))
	b.must(b.DeleteProjectParam(b.ctx, b.project.ID, "gone"))
	if err := b.DeleteProjectParam(b.ctx, b.project.ID, "gone"); !errors.Is(err, sql.ErrNotFound) {
		t.Errorf("the second deletion is %v, want ErrNotFound", err)
	}
	list, err := b.ProjectParams(b.ctx, b.project.ID)
	b.must(err)
	if len(list) != 2 || list[0].Name != "Region" || list[1].Value != "us\n€ '" || list[1].UpdatedBy != "ann" || list[1].UpdatedAt == 0 {
		t.Errorf("params = %+v", list)
	}
	b.begin()
	for _, c := range b.claim("m1:a") {
		if c.ProjectParams["region"] != "us\n€ '" || len(c.ProjectParams) != 2 {
			t.Errorf("the instance sees %v", c.ProjectParams)
		}
	}
	other, err := b.CreateProject(b.ctx, sql.Project{Name: "Other"})
	b.must(err)
	_, err = b.PutProjectParam(b.ctx, sql.ProjectParam{ProjectID: other.ID, Name: "a", Value: "1"})
	b.must(err)
	b.must(b.DeleteProject(b.ctx, other.ID))
	if list, err := b.ProjectParams(b.ctx, other.ID); err != nil || len(list) != 0 {
		t.Errorf("a deleted project has params %v, %v", list, err)
	}
	if _, err := b.PutProjectParam(b.ctx, sql.ProjectParam{ProjectID: other.ID, Name: "a", Value: "1"}); !errors.Is(err, sql.ErrNotFound) {
		t.Errorf("a param of a deleted project is %v, want ErrNotFound", err)
	}
}

func projectParamsAreBounded(t *testing.T, b *bench) {
	large := strings.Repeat("x", 100<<10)
	b.must(b.param("a", large))
	b.must(b.param("b", large))
	if err := b.param("c", large); !errors.Is(err, sql.ErrFull) {
		t.Errorf("the third is %v, want ErrFull", err)
	}
	b.must(b.param("a", "small"))
	b.must(b.param("c", large))
	for i := range sql.MaxProjectParams - 3 {
		b.must(b.param(fmt.Sprintf("p%d", i), "1"))
	}
	if err := b.param("more", "1"); !errors.Is(err, sql.ErrFull) {
		t.Errorf("one more is %v, want ErrFull", err)
	}
	b.must(b.param("p7", "2")) // a change is no more
}
