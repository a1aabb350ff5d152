package sqltest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/sql"
)

func listsAreStableUnderInserts(t *testing.T, b *bench) {
	want := map[int64]bool{}
	for i := range 25 {
		want[b.begin(func(s *sql.Start) { s.At = dag.Millis(1000 + i/4) })] = true // many of one millisecond
	}
	var got []sql.InstanceRow
	for page := (sql.Page{Limit: 4}); ; {
		list, next, err := b.Instances(b.ctx, sql.InstanceFilter{}, page)
		b.must(err)
		got = append(got, list...)
		b.begin(func(s *sql.Start) { s.At = 1 << 40 }) // in front of all
		if page.Cursor = next; next == "" {
			break
		}
	}
	if len(got) != len(want) {
		t.Fatalf("%d listed, want %d", len(got), len(want))
	}
	for i, r := range got {
		if !want[r.ID] {
			t.Errorf("instance %d listed twice, or not asked for", r.ID)
		}
		delete(want, r.ID)
		if i > 0 && (r.CreatedAt > got[i-1].CreatedAt || r.CreatedAt == got[i-1].CreatedAt && r.ID >= got[i-1].ID) {
			t.Errorf("instance %d of %d comes after %d of %d", r.ID, r.CreatedAt, got[i-1].ID, got[i-1].CreatedAt)
		}
	}
}

func filtersShowWhatTheyName(t *testing.T, b *bench) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	other, err := b.CreateProject(b.ctx, sql.Project{Name: "Other"})
	b.must(err)
	second, _, _, err := b.SaveVersion(b.ctx, sql.SaveVersion{ProjectID: other.ID, Name: "Second", Text: "t", Format: "yaml"})
	b.must(err)
	workflows := []sql.Workflow{b.workflow, second}
	states := []dag.InstanceState{dag.InstanceSubmitted, dag.InstanceRunning, dag.InstanceSuccess}
	var all []sql.InstanceRow
	for range 60 {
		w := workflows[r.IntN(2)]
		st := b.wish(func(s *sql.Start) {
			s.WorkflowID, s.ProjectID, s.At = w.ID, w.ProjectID, dag.Millis(100+r.IntN(20))
		})
		id, _, err := b.Start(b.ctx, st)
		b.must(err)
		row := sql.InstanceRow{ID: id, WorkflowID: w.ID, ProjectID: w.ProjectID, CreatedAt: st.At, State: states[r.IntN(3)]}
		if row.State != dag.InstanceSubmitted {
			_, err := b.Claim(b.ctx, []sql.Claim{{Command: sql.Command{ID: id, InstanceID: id}, Owner: "m"}})
			b.must(err)
			b.must(b.commit(sql.Transition{Instance: &dag.Instance{ID: id, State: row.State}, Plan: b.plan, Epoch: 1}))
		}
		all = append(all, row)
	}
	for range 40 {
		f := randomFilter(r, workflows, states)
		var want []int64
		counts := map[dag.InstanceState]int{}
		for _, row := range all {
			if shows(f, row) {
				want = append(want, row.ID)
				counts[row.State]++
			}
		}
		var got []int64
		for page := (sql.Page{Limit: 1 + r.IntN(20)}); ; {
			list, next, err := b.Instances(b.ctx, f, page)
			b.must(err)
			for _, row := range list {
				got = append(got, row.ID)
			}
			if page.Cursor = next; next == "" {
				break
			}
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("filter %+v shows %v, want %v", f, got, want)
		}
		n, err := b.InstanceCounts(b.ctx, f)
		b.must(err)
		if fmt.Sprint(n) != fmt.Sprint(counts) {
			t.Errorf("filter %+v counts %v, want %v", f, n, counts)
		}
	}
}

func randomFilter(r *rand.Rand, workflows []sql.Workflow, states []dag.InstanceState) sql.InstanceFilter {
	var f sql.InstanceFilter
	if r.IntN(2) == 0 {
		f.ProjectIDs = []int64{}
		for _, w := range workflows {
			if r.IntN(2) == 0 {
				f.ProjectIDs = append(f.ProjectIDs, w.ProjectID)
			}
		}
	}
	if r.IntN(3) == 0 {
		f.WorkflowID = workflows[r.IntN(2)].ID
	}
	for _, s := range states {
		if r.IntN(2) == 0 {
			f.States = append(f.States, s)
		}
	}
	if r.IntN(2) == 0 {
		f.From = dag.Millis(100 + r.IntN(20))
	}
	if r.IntN(2) == 0 {
		f.To = dag.Millis(100 + r.IntN(20))
	}
	return f
}

func shows(f sql.InstanceFilter, r sql.InstanceRow) bool {
	return (f.ProjectIDs == nil || slices.Contains(f.ProjectIDs, r.ProjectID)) &&
		(f.WorkflowID == 0 || f.WorkflowID == r.WorkflowID) &&
		(len(f.States) == 0 || slices.Contains(f.States, r.State)) &&
		(f.From == 0 || r.CreatedAt >= f.From) && (f.To == 0 || r.CreatedAt < f.To)
}

func foreignCursorsAreRefused(t *testing.T, b *bench) {
	for range 3 {
		b.begin()
	}
	_, good, err := b.Instances(b.ctx, sql.InstanceFilter{}, sql.Page{Limit: 1})
	b.must(err)
	for _, bad := range []string{"x", "%", "e30", "bnVsbA", good + "A", good[1:], "eyJsIjoiaW5zdGFuY2VzIiwiayI6eyJBdCI6IngifX0", string(make([]byte, 5000))} {
		if _, _, err := b.Instances(b.ctx, sql.InstanceFilter{}, sql.Page{Cursor: bad}); !errors.Is(err, sql.ErrBadCursor) {
			t.Errorf("cursor %.40q: %v, want ErrBadCursor", bad, err)
		}
	}
	for name, list := range map[string]func(sql.Page) error{
		"projects": func(p sql.Page) error { _, _, err := b.Projects(b.ctx, p); return err },
		"tasks":    func(p sql.Page) error { _, _, err := b.Tasks(b.ctx, 1, p); return err },
		"versions": func(p sql.Page) error { _, _, err := b.Versions(b.ctx, 1, p); return err },
	} {
		if err := list(sql.Page{Cursor: good}); !errors.Is(err, sql.ErrBadCursor) {
			t.Errorf("%s took a cursor of instances: %v", name, err)
		}
	}
}
