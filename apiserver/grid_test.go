package apiserver

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/sql"
)

const gridPath = "/api/v1/projects/alpha/workflows/daily/grid"

// fails goes on to where the first task has failed, and with it the instance.
func (b *bench) fails(id string) {
	from := time.Now()
	b.drive(id, dag.Begin{}, dag.Assign{Task: 0, Worker: "w1", Incarnation: "b1", Token: "t1"},
		dag.Report{Task: 0, Number: 1, Token: "t1", State: dag.AttemptRunning, StartedAt: dag.MillisOf(from)},
		dag.Report{Task: 0, Number: 1, Token: "t1", State: dag.AttemptFailed, StartedAt: dag.MillisOf(from), FinishedAt: dag.MillisOf(from)})
}

func (b *bench) startDaily() string {
	b.t.Helper()
	w := b.must(202, "POST", "/api/v1/projects/alpha/workflows/daily/start", "")
	return decode[struct {
		InstanceID string `json:"instance_id"`
	}](b.t, w).InstanceID
}

func (b *bench) grid(query string) Grid {
	b.t.Helper()
	return decode[Grid](b.t, b.must(200, "GET", gridPath+query, ""))
}

func gridIDs(g Grid) (ids []string) {
	for _, in := range g.Instances {
		ids = append(ids, jsonID(int64(in.ID)))
	}
	return ids
}

func TestAGridHasTheRowsOfTheNewestVersionAndThoseThatAreGone(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	first := b.seed("alpha")
	b.fails(first)
	// The newest version writes its tasks in another order than they run, and has lost one.
	b.must(201, "PUT", "/api/v1/projects/alpha/workflows/daily", `name: daily
tasks:
  - {name: report, type: noop, needs: [extract]}
  - {name: extract, type: shell, script: echo}
`, "Content-Type", "application/yaml", "If-Match", `"1"`)
	second := b.startDaily()
	b.begin(second)
	g := b.grid("")
	if want := []string{"extract", "report", "load"}; !slices.Equal(g.Tasks, want) || g.Gone != 2 || g.Version != 2 {
		t.Fatalf("rows %v, gone from %d, version %d; want %v, 2, 2", g.Tasks, g.Gone, g.Version, want)
	}
	if want := []string{first, second}; !slices.Equal(gridIDs(g), want) {
		t.Fatalf("columns %v, want the newest last: %v", gridIDs(g), want)
	}
	if got := []string{g.Instances[0].Cells, g.Instances[1].Cells}; !slices.Equal(got, []string{"f.u", "qw."}) {
		t.Errorf("cells = %q", got)
	}
	if g.States["f"] != dag.TaskFailed || g.States["u"] != dag.TaskUpstreamFailed {
		t.Errorf("letters = %v", g.States)
	}
	if took := g.Instances[0].Took; took != string(gridTimes[len(gridTimes)/2]) || g.Instances[1].Took != "" {
		t.Errorf("took = %q and %q: one has ended, which is its own median", took, g.Instances[1].Took)
	}
	if in := g.Instances[0]; in.State != dag.InstanceFailed || in.Trigger != "manual" || in.Version != 1 || in.Seq == 0 {
		t.Errorf("column = %+v", in)
	}
}

func TestAGridIsPagedAndFiltered(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ids := []string{b.seed("alpha")}
	b.fails(ids[0])
	for range 4 {
		ids = append(ids, b.startDaily())
	}
	b.begin(ids[2])
	newest := b.grid("?limit=2")
	if !slices.Equal(gridIDs(newest), ids[3:]) || newest.Next == "" {
		t.Fatalf("the first page has %v, next %q", gridIDs(newest), newest.Next)
	}
	older := b.grid("?limit=3&before=" + newest.Next)
	if !slices.Equal(gridIDs(older), ids[:3]) || older.Next != "" {
		t.Errorf("the page before has %v, next %q", gridIDs(older), older.Next)
	}
	failed := b.grid("?state=failed,stopped")
	if !slices.Equal(gridIDs(failed), ids[:1]) || !slices.Equal(failed.Tasks, newest.Tasks) {
		t.Errorf("the failed are %v with the rows %v", gridIDs(failed), failed.Tasks)
	}
	other := b.seed("beta")
	named := b.grid("?ids=" + strings.Join([]string{ids[2], other, ids[0], "999999"}, ","))
	if !slices.Equal(gridIDs(named), []string{ids[0], ids[2]}) {
		t.Errorf("named are %v, another project's %s is none of them", gridIDs(named), other)
	}
}

func TestAGridKeepsWhatHasEndedUntilItRunsAgain(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	id := b.seed("alpha")
	if got := b.grid("").Instances[0].Cells; got != ".2" {
		t.Errorf("before it begins: %q", got)
	}
	b.fails(id)
	for range 2 {
		if got := b.grid("").Instances[0].Cells; got != "fu" {
			t.Errorf("cells = %q, want the failure", got)
		}
	}
	if kept := len(b.server.cells.kept); kept != 1 {
		t.Errorf("%d instances are kept, want the one that has ended", kept)
	}
	n, _ := parseID(id)
	row, err := b.db.Instance(t.Context(), n)
	if err != nil {
		t.Fatal(err)
	}
	// A new round begins with an event: what was kept is of an older one.
	row.Seq, row.State = row.Seq+1, dag.InstanceRunning
	b.server.cells.kept[n].cells[0].State = dag.TaskDisabled
	if read, err := b.server.cells.get(t.Context(), &row); err != nil || read[0].State != dag.TaskFailed {
		t.Errorf("after it runs again: %+v, %v", read, err)
	}
}

func TestATasksHistoryIsNewestFirst(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	first := b.seed("alpha")
	b.fails(first)
	second := b.startDaily()
	b.begin(second)
	const path = "/api/v1/projects/alpha/workflows/daily/tasks/"
	got := decode[List[TaskRun]](t, b.must(200, "GET", path+"extract/history", "")).Items
	if len(got) != 2 || jsonID(int64(got[0].InstanceID)) != second || got[0].State != dag.TaskReady || got[1].State != dag.TaskFailed ||
		got[1].InstanceState != dag.InstanceFailed || got[1].Attempts != 1 || got[1].ReadyAt == 0 || got[1].FinishedAt < got[1].StartedAt {
		t.Errorf("history = %+v", got)
	}
	if none := decode[List[TaskRun]](t, b.must(200, "GET", path+"nothing/history", "")).Items; len(none) != 0 {
		t.Errorf("of no such task: %+v", none)
	}
}

func TestLettersOfDurationsAreRightToOneAndAHalfPercent(t *testing.T) {
	t.Parallel()
	for _, base := range []int64{0, 250, 12_000, 3_600_000} {
		for _, part := range []float64{0.3, 0.5, 0.98, 1, 1.4, 3.4} {
			ms := int64(float64(base) * part)
			letter, ok := gridTime(ms, base)
			if !ok {
				t.Errorf("%d ms beside %d has no letter", ms, base)
				continue
			}
			// As the console reads it.
			back := float64(base+1)*pow(gridStep, strings.IndexByte(gridTimes, letter)-len(gridTimes)/2) - 1
			if off := back - float64(ms); off > 0.016*float64(ms+1) || -off > 0.016*float64(ms+1) {
				t.Errorf("%d ms beside %d comes back as %.1f", ms, base, back)
			}
		}
	}
	if letter, ok := gridTime(60_000, 1_000); ok || letter != gridFar {
		t.Errorf("sixty times the median = %q, %t", letter, ok)
	}
}

func pow(x float64, n int) float64 {
	if n < 0 {
		return 1 / pow(x, -n)
	}
	out := 1.0
	for range n {
		out *= x
	}
	return out
}

func TestEqualNeighboursAreWrittenOnce(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{"": "", "s": "s", "sssf": "s3f", "fss.": "fs2.", "ssssssssssss": "s12"} {
		if got := runLength([]byte(in)); got != want {
			t.Errorf("runLength(%q) = %q, want %q", in, got, want)
		}
	}
}

// TestTwoThousandTasksOfThirtyInstancesAreSmall holds what a grid may weigh: durations that jitter by a quarter, a failure
// in every third instance with all below it blocked, and some retries.
func TestTwoThousandTasksOfThirtyInstancesAreSmall(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	const rows, instances = 2000, 30
	g := Grid{Tasks: make([]string, rows)}
	for i := range rows {
		g.Tasks[i] = fmt.Sprintf("t%d.%d", i/50, i%50)
	}
	columns := make([]gridColumn, instances)
	for c := range columns {
		columns[c] = newGridColumn(rows)
		for row := range rows {
			took := time.Duration(float64(row+50) * (0.75 + r.Float64()/2) * float64(time.Millisecond))
			cell := sql.Cell{State: dag.TaskSuccess, Attempts: 1 + r.IntN(50)/49, StartedAt: 1000, FinishedAt: 1000 + dag.Millis(took.Milliseconds())}
			if c%3 == 0 && row > 1500 {
				cell = sql.Cell{State: dag.TaskUpstreamFailed}
			}
			columns[c].set(row, cell)
		}
	}
	g.Median = gridBase(columns, rows)
	g.Instances = make([]GridInstance, instances)
	for c := range columns {
		columns[c].encode(g.Median, &g.Instances[c])
	}
	cells := 0
	for _, in := range g.Instances {
		cells += len(in.Cells) + len(in.Took)
	}
	whole := len(marshalJSON(g))
	t.Logf("letters of the cells: %d bytes, the whole answer: %d", cells, whole)
	if cells > 61<<10 || whole > 112<<10 {
		t.Errorf("letters of the cells: %d bytes, the whole answer: %d", cells, whole)
	}
}

func TestAGridEndsWhereItIsAskedTo(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	first := b.seed("alpha")
	b.startDaily()
	g := b.grid("")
	if len(g.Instances) != 2 {
		t.Fatalf("the grid has %v", gridIDs(g))
	}
	number, _ := parseID(first)
	b.exec(`UPDATE workflow_instance SET created_at = 1000 WHERE id = ?`, number)
	if got := gridIDs(b.grid("?until=2026-01-01T00:00:00Z")); !slices.Equal(got, []string{first}) {
		t.Errorf("until New Year the grid has %v, want %v", got, first)
	}
	if w := b.must(400, "GET", gridPath+"?until=soon", ""); !strings.Contains(w.Body.String(), `"field":"until"`) {
		t.Errorf("the refusal names no field until: %s", w.Body)
	}
}
