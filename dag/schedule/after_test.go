package schedule_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/dag/schedule"
)

func TestAnEndFiresInPlaceOfMoments(t *testing.T) {
	t.Parallel()
	s := schedule.Spec{After: &schedule.After{Workflow: "Shop/Load"}, Timezone: "Europe/Berlin", Overlap: schedule.Wait, Params: map[string]string{"k": "v"}}
	p, wrong := s.Compile(1, nil, time.Second)
	if len(wrong) > 0 {
		t.Fatalf("refused: %+v", wrong)
	}
	if fires, until := p.Fires(0, 1<<40, 10); len(fires) > 0 || until != math.MaxInt64 {
		t.Errorf("moments are planned: %v until %d", fires, until)
	}
	if _, ok := p.NextOn(0); ok || p.Location().String() != "Europe/Berlin" {
		t.Errorf("there is a next moment, or it is in %s", p.Location())
	}
	if mark, _ := p.Mark(1000); mark != "" {
		t.Errorf("the clocks have to do with an end: %s", mark)
	}
	if p.Late(0, 1<<40) {
		t.Error("an end of long ago is late")
	}
	if project, workflow := s.After.Names("own"); project != "Shop" || workflow != "Load" {
		t.Errorf("names %s and %s", project, workflow)
	}
	own := schedule.After{Workflow: "Load", States: []dag.InstanceState{dag.InstanceFailed, dag.InstanceStopped}}
	if project, workflow := own.Names("own"); project != "own" || workflow != "Load" {
		t.Errorf("of its own project it names %s and %s", project, workflow)
	}
	if !slices.Equal(s.After.Ends(), []dag.InstanceState{dag.InstanceSuccess}) || !slices.Equal(own.Ends(), own.States) {
		t.Errorf("the ends are %v and %v", s.After.Ends(), own.Ends())
	}
}

func TestABadEndNamesAllThatIsWrong(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		spec schedule.Spec
		want string
	}{
		{schedule.Spec{After: &schedule.After{}}, "after.workflow required"},
		{schedule.Spec{After: &schedule.After{Workflow: "a/b/c"}}, "after.workflow invalid_name"},
		{schedule.Spec{After: &schedule.After{Workflow: "/b"}}, "after.workflow invalid_name"},
		{schedule.Spec{After: &schedule.After{Workflow: "a/"}}, "after.workflow invalid_name"},
		{
			schedule.Spec{After: &schedule.After{Workflow: "w", States: []dag.InstanceState{"done", dag.InstanceRunning, dag.InstanceFailed, dag.InstanceFailed}}},
			"after.states[0] not_in_enum, after.states[1] not_in_enum, after.states[3] conflict",
		},
		{
			schedule.Spec{
				After: &schedule.After{Workflow: "w"}, Cron: "x", Dialect: "unix", At: []string{"2026-01-01"}, Start: "x", End: "x", Jitter: "1m",
				Calendar: &schedule.CalendarRule{}, Misfire: &schedule.Misfire{}, Timezone: "Mars", Overlap: "x",
			},
			"timezone invalid, cron conflict, dialect conflict, at conflict, start conflict, end conflict, calendar conflict, jitter conflict, misfire conflict, overlap not_in_enum",
		},
	} {
		p, wrong := c.spec.Compile(1, nil, time.Second)
		var got []string
		for _, w := range wrong {
			got = append(got, w.Field+" "+w.Code)
		}
		if s := strings.Join(got, ", "); s != c.want || p != nil {
			t.Errorf("%+v: %s, want %s", c.spec, s, c.want)
		}
	}
}

func TestWhatLeadsToAWorkflowIsFound(t *testing.T) {
	t.Parallel()
	// The end of 1 starts 2, that of 2 starts 3 and 4, and 5 and 6 start each other.
	before := map[int64][]int64{2: {1}, 3: {2}, 4: {2, 1}, 5: {6}, 6: {5}}
	walk := func(ids []int64) (out []int64, err error) {
		for _, id := range ids {
			out = append(out, before[id]...)
		}
		return out, nil
	}
	for _, c := range []struct {
		from, to int64
		want     bool
	}{{1, 1, true}, {1, 2, true}, {1, 3, true}, {2, 4, true}, {3, 4, false}, {4, 1, false}, {5, 6, true}, {1, 5, false}, {9, 1, false}} {
		if got, err := schedule.Leads(c.from, c.to, walk); err != nil || got != c.want {
			t.Errorf("the end of %d leads to %d: %v, %v; want %v", c.from, c.to, got, err, c.want)
		}
	}
	broken := errors.New("broken")
	if _, err := schedule.Leads(1, 2, func([]int64) ([]int64, error) { return nil, broken }); !errors.Is(err, broken) {
		t.Errorf("what cannot be read: %v", err)
	}
	next := int64(10)
	if _, err := schedule.Leads(1, 2, func(ids []int64) (out []int64, _ error) {
		for range 600 * len(ids) {
			next++
			out = append(out, next)
		}
		return out, nil
	}); err == nil {
		t.Error("a walk without an end ends with no error")
	}
}
