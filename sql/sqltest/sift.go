package sqltest

import (
	"slices"
	"testing"
	"time"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/sql"
)

// end makes a started instance a success that ran from one moment to another.
func (b *bench) end(id int64, from, to dag.Millis) {
	b.t.Helper()
	_, err := b.Claim(b.ctx, []sql.Claim{{Command: sql.Command{ID: id, InstanceID: id}, Owner: "m"}})
	b.must(err)
	b.must(b.commit(sql.Transition{
		Instance: &dag.Instance{ID: id, State: dag.InstanceSuccess, StartedAt: from, FinishedAt: to}, Plan: b.plan, Epoch: 1, Release: true,
	}))
}

func (b *bench) listed(f sql.InstanceFilter, limit int) []int64 {
	b.t.Helper()
	var got []int64
	for page := (sql.Page{Limit: limit}); ; {
		rows, next, err := b.Instances(b.ctx, f, page)
		b.must(err)
		for _, r := range rows {
			got = append(got, r.ID)
		}
		if page.Cursor = next; next == "" {
			return got
		}
	}
}

// filtersLookIntoRows goes beyond what one page may look at, with the wanted rows at its end.
func filtersLookIntoRows(t *testing.T, b *bench) {
	rare := b.begin(func(s *sql.Start) {
		s.At, s.By, s.Version, s.Params = 50, "eve", 2, map[string]string{"day": "2026-11-07"}
		s.TriggerKey = sql.BackfillKey(7)
	})
	slow := b.begin(func(s *sql.Start) { s.At = 60 })
	b.end(slow, 1000, 91000)
	quick := b.begin(func(s *sql.Start) { s.At = 70 })
	b.end(quick, 1000, 2000)
	ran := b.under(40, dag.TaskDispatched, dag.TaskReady).ID // the oldest, behind all that one page looks at
	starts := make([]sql.Start, 0, sql.MaxSifted)
	for range sql.MaxSifted {
		starts = append(starts, b.wish(func(s *sql.Start) { s.At, s.Params = 100, map[string]string{"day": "2026-11-08"} }))
	}
	b.startAll(starts)
	for name, c := range map[string]struct {
		f    sql.InstanceFilter
		want []int64
	}{
		"by":                   {sql.InstanceFilter{By: "eve"}, []int64{rare}},
		"version":              {sql.InstanceFilter{WorkflowID: b.workflow.ID, Version: 2}, []int64{rare}},
		"param":                {sql.InstanceFilter{Param: "day=2026-11-07"}, []int64{rare}},
		"part of a value":      {sql.InstanceFilter{Param: "11-07"}, []int64{rare}},
		"no such value":        {sql.InstanceFilter{Param: "day=7"}, nil},
		"longer":               {sql.InstanceFilter{LongerThan: time.Minute}, []int64{slow}},
		"longer than a little": {sql.InstanceFilter{LongerThan: time.Second}, []int64{quick, slow}},
		"trigger":              {sql.InstanceFilter{Trigger: sql.TriggerBackfill}, []int64{rare}},
		"worker":               {sql.InstanceFilter{Worker: "w1"}, []int64{ran}},
		"another worker":       {sql.InstanceFilter{Worker: "w"}, nil},
		"both":                 {sql.InstanceFilter{By: "eve", Version: 1}, nil},
	} {
		for _, limit := range []int{1, 50} {
			if got := b.listed(c.f, limit); !slices.Equal(got, c.want) {
				t.Errorf("%s by %d: listed %v, want %v", name, limit, got, c.want)
			}
		}
	}
	rows, next, err := b.Instances(b.ctx, sql.InstanceFilter{By: "eve"}, sql.Page{Limit: 50})
	if b.must(err); len(rows) != 0 || next == "" {
		t.Errorf("the first page has %d rows and cursor %q: it must end after %d rows", len(rows), next, sql.MaxSifted)
	}
	if got := len(b.listed(sql.InstanceFilter{Param: "day=2026-11-08"}, 50)); got != sql.MaxSifted {
		t.Errorf("listed %d, want %d", got, sql.MaxSifted)
	}
}

func (b *bench) startAll(starts []sql.Start) {
	b.t.Helper()
	const atATime = 50 // more would wait longer than a database that hangs is waited for
	for chunk := range slices.Chunk(starts, atATime) {
		failed := make(chan error, len(chunk))
		for _, s := range chunk {
			go func() { _, _, err := b.Start(b.ctx, s); failed <- err }()
		}
		for range chunk {
			b.must(<-failed)
		}
	}
}

func histogramCountsWhatTheListShows(t *testing.T, b *bench) {
	const hour = dag.Millis(3600_000)
	want := map[dag.Millis]int{}
	for i := range 40 {
		at := 100*hour + dag.Millis(i*i)*60_000
		b.begin(func(s *sql.Start) { s.At = at })
		want[at-at%hour]++
	}
	b.end(b.begin(func(s *sql.Start) { s.At = 101 * hour }), 1, 2)
	h, err := b.InstanceHistogram(b.ctx, sql.InstanceFilter{ProjectIDs: []int64{b.project.ID}, From: 100 * hour, To: 130 * hour}, 40)
	b.must(err)
	if h.Width != time.Hour || h.Cut {
		t.Errorf("width %v, cut %v", h.Width, h.Cut)
	}
	for _, bar := range h.Bars {
		n := want[bar.At]
		if bar.State == dag.InstanceSuccess {
			n = 1
		}
		if bar.Count != n {
			t.Errorf("%d %s at hour %d, want %d", bar.Count, bar.State, bar.At/hour, n)
		}
		if bar.State == dag.InstanceSubmitted {
			delete(want, bar.At)
		}
	}
	if len(want) != 0 {
		t.Errorf("no bar for %v", want)
	}
	all, err := b.InstanceHistogram(b.ctx, sql.InstanceFilter{}, 40)
	if b.must(err); all.From != 100*hour || len(all.Bars) == 0 {
		t.Errorf("without bounds it begins at %d with %d bars", all.From, len(all.Bars))
	}
	none, err := b.InstanceHistogram(b.ctx, sql.InstanceFilter{ProjectIDs: []int64{}}, 40)
	if b.must(err); len(none.Bars) != 0 {
		t.Errorf("who sees no project gets %v", none.Bars)
	}
}

func neighboursAreOfTheSameWorkflow(t *testing.T, b *bench) {
	second, _, _, err := b.SaveVersion(b.ctx, sql.SaveVersion{ProjectID: b.project.ID, Name: "Second", Text: "t", Format: "yaml"})
	b.must(err)
	var ids []int64
	for i := range 4 {
		ids = append(ids, b.begin(func(s *sql.Start) { s.At = dag.Millis(1000 + i/2) })) // two of each millisecond
		b.begin(func(s *sql.Start) { s.WorkflowID, s.At = second.ID, dag.Millis(1000+i/2) })
	}
	b.end(ids[0], 5000, 9000)
	b.end(ids[3], 5000, 6000)
	for i, id := range ids {
		in, err := b.Instance(b.ctx, id)
		b.must(err)
		n, err := b.Neighbours(b.ctx, in)
		b.must(err)
		var previous, next, success int64
		if i > 0 {
			previous, success = ids[i-1], ids[0]
		}
		if i < len(ids)-1 {
			next = ids[i+1]
		}
		if n.Previous != previous || n.Next != next || n.LastSuccess != success {
			t.Errorf("beside %d of %v: %+v", id, ids, n)
		}
		if !slices.Equal(n.Took, []time.Duration{time.Second, 4 * time.Second}) {
			t.Errorf("successes took %v", n.Took)
		}
	}
}
