package master

import (
	"context"
	"flag"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/internal/rpc"
	"github.com/porpoise/porpoise/sql"
)

var seed = flag.Uint64("seed", uint64(time.Now().UnixNano()), "of the random tests")

// flaky is a store whose answers get lost: a call may not reach it, or be done and not be
// answered. The caller hears the same of both.
type flaky struct {
	*sql.Store

	mu     sync.Mutex
	random *rand.Rand
	calls  int
	lost   int
}

// fault says whether a call reaches the store, and whether its answer comes back.
func (f *flaky) fault() (reaches, answered bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	draw := f.random.IntN(10)
	if f.calls++; f.calls == 2 {
		draw = 2 // done and not answered: at least one of each run
	}
	if draw < 4 {
		f.lost++
	}
	return draw >= 2, draw >= 4
}

func (f *flaky) Commit(ctx context.Context, transitions []sql.Transition) []error {
	reaches, answered := f.fault()
	var errs []error
	if reaches {
		errs = f.Store.Commit(ctx, transitions)
	}
	if answered {
		return errs
	}
	errs = make([]error, len(transitions))
	for i := range errs {
		errs[i] = sql.ErrUnavailable
	}
	return errs
}

func (f *flaky) Claim(ctx context.Context, claims []sql.Claim) ([]sql.Claimed, error) {
	reaches, answered := f.fault()
	var claimed []sql.Claimed
	var err error
	if reaches {
		claimed, err = f.Store.Claim(ctx, claims)
	}
	if answered {
		return claimed, err
	}
	return nil, sql.ErrUnavailable
}

// TestLostAnswersOfTheStoreLoseAndDoubleNothing runs workflows while two of five answers
// of the store are lost.
func TestLostAnswersOfTheStoreLoseAndDoubleNothing(t *testing.T) {
	t.Parallel()
	t.Logf("seed %d", *seed)
	s := newSite(t)
	f := &flaky{Store: s.store, random: rand.New(rand.NewPCG(*seed, 1))}
	s.faulty = f
	_, addr, _ := s.master("m1", "i1")
	attempts := map[int64]map[int32]int{} // by instance and task
	w := &worker{node: "w1", incarnation: "x", groups: []string{"default"}, slots: 4}
	w.run = func(d *rpc.Dispatch) []*rpc.Report {
		id := d.GetAttempt()
		if attempts[id.GetInstanceId()] == nil {
			attempts[id.GetInstanceId()] = map[int32]int{}
		}
		attempts[id.GetInstanceId()][id.GetTask()]++
		return succeed(d)
	}
	s.join(w, addr)
	workflow := s.save(diamond)
	var ids []int64
	for range 10 {
		ids = append(ids, s.start(workflow))
	}
	for _, id := range ids {
		s.waitFor(id, dag.InstanceSuccess)
		if got, want := s.tasks(id), "a=success/1 b=success/1 c=success/1 d=success/1"; got != want {
			t.Errorf("tasks of instance %d = %s, want %s", id, got, want)
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for id, tasks := range attempts {
		for task, n := range tasks {
			if n != 1 {
				t.Errorf("task %d of instance %d ran %d times", task, id, n)
			}
		}
	}
	if f.lost == 0 {
		t.Error("no answer was lost: the test tested nothing")
	}
}
