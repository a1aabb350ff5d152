package backfill

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/porpoise/porpoise/sql"
)

// shelf is a store of backfills 1 to 4, and slots of which the odd ones are owned.
type shelf struct {
	stepped []int64
	stopped []sql.ControlRow
	noted   []int64
	steps   map[int64]sql.BackfillStep
	broken  int64
	closed  bool
}

var errAway = errors.New("away")

func (s *shelf) ActiveBackfills(_ context.Context, after int64, limit int) ([]int64, error) {
	all := []int64{1, 2, 3, 5}
	from := slices.IndexFunc(all, func(id int64) bool { return id > after })
	if from < 0 {
		return nil, nil
	}
	return all[from:min(len(all), from+limit)], nil
}

func (s *shelf) StepBackfill(_ context.Context, id int64) (sql.BackfillStep, error) {
	s.stepped = append(s.stepped, id)
	if id == s.broken {
		return sql.BackfillStep{}, errAway
	}
	return s.steps[id], nil
}

func (s *shelf) AddControl(_ context.Context, c sql.ControlRow) (sql.ControlRow, error) {
	s.stopped = append(s.stopped, c)
	if c.InstanceID == 31 {
		return c, sql.ErrNotFound
	}
	return c, nil
}

func (s *shelf) BackfillStopping(_ context.Context, _ int64, instances []int64) error {
	s.noted = append(s.noted, instances...)
	return nil
}

func (s *shelf) Begin() ([]bool, int64, bool) { return []bool{false, true}, 1, !s.closed }
func (s *shelf) End()                         {}

func filler(s *shelf, started, stopped *[]int64) *Filler {
	return New(Config{
		Store: s, Slots: s, Logger: hclog.NewNullLogger(),
		Started: func(ids []int64) { *started = append(*started, ids...) },
		Stopped: func(ids []int64) { *stopped = append(*stopped, ids...) },
	})
}

func TestAMasterTakesOnTheBackfillsOfItsSlots(t *testing.T) {
	t.Parallel()
	s := &shelf{broken: 1, steps: map[int64]sql.BackfillStep{
		3: {Started: []int64{7, 8}, More: true},
		5: {Stop: []int64{30, 31}, By: "ann"},
	}}
	var started, stopped []int64
	f := filler(s, &started, &stopped)
	more, err := f.Once(t.Context())
	if !errors.Is(err, errAway) || !more {
		t.Errorf("more %v, %v; want more, and the error of the first", more, err)
	}
	if want := []int64{1, 3, 5}; !slices.Equal(s.stepped, want) {
		t.Errorf("stepped %v, want %v: one that fails holds up no other", s.stepped, want)
	}
	if !slices.Equal(started, []int64{7, 8}) || !slices.Equal(stopped, []int64{30, 31}) || !slices.Equal(s.noted, []int64{30, 31}) || s.stopped[0].By != "ann" {
		t.Errorf("started %v, stopped %v, noted %v, wishes %+v", started, stopped, s.noted, s.stopped)
	}
	s.closed, s.stepped = true, nil
	if _, err := f.Once(t.Context()); err != nil || len(s.stepped) != 0 {
		t.Errorf("without slots it stepped %v, %v", s.stepped, err)
	}
}

func TestAnEndIsNoticedAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &shelf{steps: map[int64]sql.BackfillStep{1: {WorkflowIDs: []int64{70}}}}
		var none []int64
		f := filler(s, &none, &none)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- f.Run(ctx) }()
		time.Sleep(2 * stepPause) // of the bubble: no real time passes
		synctest.Wait()
		s.stepped = nil
		f.Finished(71)
		time.Sleep(2 * stepPause)
		synctest.Wait()
		if len(s.stepped) != 0 {
			t.Errorf("the end of a workflow that no backfill has made it step %v", s.stepped)
		}
		f.Finished(70)
		synctest.Wait()
		if len(s.stepped) != 3 {
			t.Errorf("after an end it stepped %v, want its three", s.stepped)
		}
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// Beside a backfill of very many short dates, the starts of others must find a processor.
func TestBackfillsStartABoundedNumberOfDatesASecond(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		twenty := sql.BackfillStep{Started: make([]int64, 20), More: true}
		s := &shelf{steps: map[int64]sql.BackfillStep{1: twenty, 3: twenty, 5: twenty}}
		var started, none []int64
		f := filler(s, &started, &none)
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		if err := f.Run(ctx); err != nil {
			t.Error(err)
		}
		if n := len(started); n < 3000 || n > 4100 {
			t.Errorf("%d dates in ten seconds, want nearly 400 a second", n)
		}
	})
}
