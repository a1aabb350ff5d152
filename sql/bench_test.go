package sql_test

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/dag/schedule"
	"github.com/porpoise/porpoise/sql"
)

// benchmark runs f on SQLite with FULL durability and, where one is given, on MySQL.
func benchmark(b *testing.B, f func(b *testing.B, s *sql.Store)) {
	b.Run("sqlite", func(b *testing.B) {
		f(b, benchStore(b, "sqlite:"+filepath.Join(b.TempDir(), "porpoise.db")))
	})
	b.Run("mysql", func(b *testing.B) { f(b, benchStore(b, newMySQL(b, b.Name()))) })
}

func benchStore(b *testing.B, dsn string) *sql.Store {
	s, err := sql.Open(context.Background(), sql.Config{DSN: dsn})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = s.Close() })
	if err := s.Migrate(context.Background()); err != nil {
		b.Fatal(err)
	}
	return s
}

var benchPlan = &dag.Plan{Definition: &dag.Definition{Tasks: []dag.Task{{Name: "only", Type: "noop"}}}}

// benchInstances starts and claims n instances.
func benchInstances(b testing.TB, s *sql.Store, n int) []*dag.Instance {
	ctx := context.Background()
	p, err := s.CreateProject(ctx, sql.Project{Name: fmt.Sprint("p", time.Now().UnixNano())})
	if err != nil {
		b.Fatal(err)
	}
	w, _, _, err := s.SaveVersion(ctx, sql.SaveVersion{ProjectID: p.ID, Name: "w", Text: "name: w", Format: "yaml", Publish: true})
	if err != nil {
		b.Fatal(err)
	}
	out := make([]*dag.Instance, n)
	var wg sync.WaitGroup
	for i := range out {
		wg.Go(func() {
			id, _, err := s.Start(ctx, sql.Start{WorkflowID: w.ID, ProjectID: p.ID, Version: 1})
			if err != nil {
				b.Error(err)
				return
			}
			got, err := s.Claim(ctx, []sql.Claim{{Command: sql.Command{ID: id, InstanceID: id}, Owner: "m:1"}})
			if err != nil || len(got) != 1 {
				b.Errorf("claimed %d: %v", len(got), err)
			}
			out[i] = &dag.Instance{ID: id, State: dag.InstanceRunning, Round: 1, Tasks: make([]dag.TaskInstance, 1)}
		})
	}
	wg.Wait()
	return out
}

// benchStep is what one report of a task makes: the instance, a task, an attempt, an event.
func benchStep(in *dag.Instance) sql.Transition {
	in.Seq++
	t := &in.Tasks[0]
	t.State, t.Attempts = dag.TaskRunning, int(in.Seq)
	return sql.Transition{Instance: in, Plan: benchPlan, Epoch: 1, At: 1, Effects: &dag.Effects{
		Tasks: []int{0},
		Attempts: []dag.Attempt{{
			Number: int(in.Seq), Token: "0123456789abcdef", Worker: "worker-1", Incarnation: "a", State: dag.AttemptSuccess,
			DispatchedAt: 1, StartedAt: 2, FinishedAt: 3,
		}},
		Events: []dag.Event{{Seq: in.Seq, At: 1, Code: "task_state", State: "running"}},
	}}
}

// BenchmarkCommitLone is the latency of one commit that nobody shares.
func BenchmarkCommitLone(b *testing.B) {
	benchmark(b, func(b *testing.B, s *sql.Store) {
		in := benchInstances(b, s, 1)[0]
		var took []time.Duration
		for b.Loop() {
			began := time.Now()
			if err := s.Commit(context.Background(), []sql.Transition{benchStep(in)})[0]; err != nil {
				b.Fatal(err)
			}
			took = append(took, time.Since(began))
		}
		slices.Sort(took)
		b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-us")
		b.ReportMetric(float64(took[len(took)/10].Microseconds()), "p10-us")
	})
}

// TestRowsAreWrittenWithinTheirBudget holds how often the writer allocates for a transition of many that share a commit, and for a
// start: each bound value that is boxed and each text that is made anew counts, and they are most of what a busy master leaves
// to the collector. It runs alone, as all that counts allocations.
func TestRowsAreWrittenWithinTheirBudget(t *testing.T) {
	const together, transition, start = 64, 34, 105
	s, err := sql.Open(t.Context(), sql.Config{DSN: "sqlite:" + filepath.Join(t.TempDir(), "porpoise.db"), Relaxed: true})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	if err := s.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	instances := benchInstances(t, s, together)
	n := testing.AllocsPerRun(100, func() {
		turns := make([]sql.Transition, together)
		for i, in := range instances {
			turns[i] = benchStep(in)
		}
		for _, err := range s.Commit(context.Background(), turns) {
			if err != nil {
				t.Error(err)
			}
		}
	}) / together
	t.Logf("%.0f allocations for a transition", n)
	if n > transition {
		t.Errorf("a transition makes %.0f allocations, the budget is %d", n, transition)
	}
	n = testing.AllocsPerRun(100, func() {
		if _, _, err := s.Start(context.Background(), sql.Start{WorkflowID: 1, ProjectID: 1, Version: 1}); err != nil {
			t.Error(err)
		}
	})
	t.Logf("%.0f allocations for a start that is alone", n)
	if n > start {
		t.Errorf("a start makes %.0f allocations, the budget is %d", n, start)
	}
}

// BenchmarkCommitShared is the throughput of many instances whose masters commit one
// transition at a time.
func BenchmarkCommitShared(b *testing.B) {
	for _, callers := range []int{64, 500, 2000} {
		b.Run(fmt.Sprint(callers), func(b *testing.B) {
			benchmark(b, func(b *testing.B, s *sql.Store) {
				instances := benchInstances(b, s, callers)
				b.ReportAllocs()
				b.ResetTimer()
				var wg sync.WaitGroup
				for i, in := range instances {
					n := b.N / callers
					if i < b.N%callers {
						n++
					}
					wg.Go(func() {
						for range n {
							if err := s.Commit(context.Background(), []sql.Transition{benchStep(in)})[0]; err != nil {
								b.Error(err)
								return
							}
						}
					})
				}
				wg.Wait()
				b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "transitions/s")
			})
		})
	}
}

// BenchmarkStartShared is the throughput of starts from 64 callers.
func BenchmarkStartShared(b *testing.B) {
	benchmark(b, func(b *testing.B, s *sql.Store) {
		const callers = 64
		benchInstances(b, s, 1)
		b.ResetTimer()
		var wg sync.WaitGroup
		for i := range callers {
			n := b.N / callers
			if i < b.N%callers {
				n++
			}
			wg.Go(func() {
				for range n {
					if _, _, err := s.Start(context.Background(), sql.Start{WorkflowID: 1, ProjectID: 1, Version: 1}); err != nil {
						b.Error(err)
						return
					}
				}
			})
		}
		wg.Wait()
		b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "starts/s")
	})
}

// BenchmarkClaim is the throughput of a master that takes commands, as many in a call as it does.
func BenchmarkClaim(b *testing.B) {
	const together = 200
	benchmark(b, func(b *testing.B, s *sql.Store) {
		ctx := context.Background()
		benchInstances(b, s, 1)
		b.ReportAllocs()
		for b.Loop() {
			b.StopTimer()
			claims := make([]sql.Claim, together)
			var wg sync.WaitGroup
			for i := range claims {
				wg.Go(func() {
					id, _, err := s.Start(ctx, sql.Start{WorkflowID: 1, ProjectID: 1, Version: 1})
					if err != nil {
						b.Error(err)
					}
					claims[i] = sql.Claim{Command: sql.Command{ID: id, InstanceID: id}, Owner: "m:1"}
				})
			}
			wg.Wait()
			b.StartTimer()
			got, err := s.Claim(ctx, claims)
			if err != nil || len(got) != together {
				b.Fatalf("claimed %d: %v", len(got), err)
			}
		}
		b.ReportMetric(float64(b.N*together)/b.Elapsed().Seconds(), "claims/s")
	})
}

// BenchmarkSettleFires is the throughput of schedules that are due at the same moment, 500 in a transaction as a master
// settles them.
func BenchmarkSettleFires(b *testing.B) {
	const schedules, chunk = 1000, 500
	benchmark(b, func(b *testing.B, s *sql.Store) {
		ctx := context.Background()
		benchInstances(b, s, 1)
		w := benchSchedules(b, s, schedules)
		settled := 0
		for b.Loop() {
			moment := dag.Millis(1_700_000_000_000 + settled*1000)
			b.StopTimer()
			stretches := make([]sql.Stretch, len(w))
			for i := range w {
				stretches[i] = sql.Stretch{Schedule: w[i], Fires: []schedule.Fire{{At: moment, Due: moment}}, Until: moment + 1}
			}
			for part := range slices.Chunk(stretches, 100) {
				if _, err := s.PlanFires(ctx, part); err != nil {
					b.Fatal(err)
				}
			}
			for i := range w {
				w[i].PlannedUntil = moment + 1
			}
			b.StartTimer()
			for part := range slices.Chunk(w, chunk) {
				verdicts := make([]sql.Verdict, len(part))
				for i := range part {
					verdicts[i] = sql.Verdict{Source: part[i].ID, At: moment, State: schedule.Fired}
				}
				out, err := s.SettleFires(ctx, verdicts, "m", 1)
				if err != nil || len(out.Started) != len(part) {
					b.Fatalf("%d fired: %v", len(out.Started), err)
				}
			}
			settled++
		}
		b.ReportMetric(float64(settled*schedules)/b.Elapsed().Seconds(), "fires/s")
	})
}

// benchSchedules makes n schedules, of ten workflows.
func benchSchedules(b *testing.B, s *sql.Store, n int) []sql.Schedule {
	ctx := context.Background()
	out := make([]sql.Schedule, n)
	var wg sync.WaitGroup
	for part := range 10 {
		w, _, _, err := s.SaveVersion(ctx, sql.SaveVersion{ProjectID: 1, Name: fmt.Sprint("s", part), Text: "name: s", Format: "yaml", Publish: true})
		if err != nil {
			b.Fatal(err)
		}
		wg.Go(func() {
			for i := part; i < n; i += 10 {
				sch, _, err := s.SaveSchedule(ctx, sql.Schedule{
					WorkflowID: w.ID, Name: fmt.Sprint("s", i), Enabled: true, Spec: schedule.Spec{Cron: "* * * * * *"}, ChangedBy: "bench",
				}, 0)
				if err != nil {
					b.Error(err)
				}
				out[i] = sch
			}
		})
	}
	wg.Wait()
	return out
}
