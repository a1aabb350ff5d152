package binding

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/porpoise/porpoise/registry"
	"github.com/porpoise/porpoise/registry/inprocess"
)

// rows are the database's side in memory. The suites of package sql hold its tables to the same.
type rows struct {
	mu  sync.Mutex
	row Row
}

func (r *rows) Registry(ctx context.Context) (Row, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.row, ctx.Err()
}

func (r *rows) Bind(ctx context.Context, from, to string) error { return r.change(ctx, from, to) }

func (r *rows) Beat(ctx context.Context, id string) error { return r.change(ctx, id, id) }

func (r *rows) change(ctx context.Context, from, to string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.row.ID != from {
		return ErrMoved
	}
	r.row = Row{to, r.row.Beat + 1}
	return ctx.Err()
}

// site is a database with two registries beside it.
type site struct {
	*testing.T
	rows
	one, two *inprocess.Registry
	ids      int
}

func newSite(t *testing.T) *site { return &site{T: t, one: inprocess.New(), two: inprocess.New()} }

// on returns a process's binding that was not checked.
func (s *site) on(reg registry.Store) *Binding {
	return New(Config{Registry: reg, Rows: &s.rows, Logger: hclog.NewNullLogger(), Token: func() string {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.ids++
		return fmt.Sprintf("r%d", s.ids)
	}})
}

// starts wants a process to be let in within so long.
func (s *site) starts(reg registry.Store, within time.Duration) *Binding {
	s.Helper()
	b, began := s.on(reg), time.Now()
	if err := b.Check(s.Context()); err != nil {
		s.Fatalf("a start was refused: %v", err)
	}
	if took := time.Since(began); took > within {
		s.Errorf("a start took %s, want %s at most", took, within)
	}
	return b
}

func (s *site) refuses(reg registry.Store) {
	s.Helper()
	if err := s.on(reg).Check(s.Context()); !errors.Is(err, ErrForeign) {
		s.Errorf("a start with the wrong registry: %v, want ErrForeign", err)
	}
}

// lives keeps a process until kill is called.
func (s *site) lives(b *Binding) (kill func()) {
	ctx, cancel := context.WithCancel(s.Context())
	ended := make(chan error, 1)
	go func() { ended <- b.Run(ctx) }()
	return func() {
		s.Helper()
		cancel()
		if err := <-ended; err != nil {
			s.Errorf("a process ended by itself: %v", err)
		}
	}
}

func TestARegistryAndADatabaseFindEachOther(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t)
		first, again := s.starts(s.one, 0), s.starts(s.one, 0)
		if first.mark != again.mark || s.row.ID != "r1" {
			t.Errorf("bound to %v, then %v; the database says %+v", first.mark, again.mark, s.row)
		}
		s.refuses(registryOf(t, "other"))
	})
}

// registryOf is one that belongs to another database.
func registryOf(t *testing.T, id string) registry.Store {
	t.Helper()
	reg := inprocess.New()
	if _, err := reg.Put(t.Context(), Key, []byte(`{"id":"`+id+`"}`), registry.If{}); err != nil {
		t.Fatal(err)
	}
	return reg
}

// Requirement F70.
func TestOfTwoNewRegistriesOnOneNewDatabaseOneWins(t *testing.T) {
	t.Parallel()
	for seed := range uint64(50) {
		synctest.Test(t, func(t *testing.T) {
			s := newSite(t)
			random := rand.New(rand.NewPCG(seed, 7))
			var mu sync.Mutex // guards random
			never := func() bool {
				mu.Lock()
				while := time.Duration(random.IntN(20)) * time.Millisecond
				mu.Unlock()
				time.Sleep(while)
				return false
			}
			results := make(chan error, 4)
			for i := range 4 {
				reg := []*inprocess.Registry{s.one, s.two}[i%2]
				b := s.on(reg)
				f := &flaky{reg, &s.rows, never}
				b.Registry, b.Rows = f, f
				go func() {
					err := b.Check(t.Context())
					results <- err
					if err == nil {
						_ = b.Run(t.Context())
					}
				}()
			}
			let := 0
			for range 4 {
				switch err := <-results; {
				case err == nil:
					let++
				case !errors.Is(err, ErrForeign):
					t.Error(err)
				}
			}
			if let != 2 {
				t.Errorf("seed %d: %d of 4 processes were let in, want the 2 of one registry", seed, let)
			}
		})
	}
}

func TestASecondRegistryIsRefusedWhileTheClusterLives(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t)
		kill := s.lives(s.starts(s.one, 0))
		s.refuses(s.two)
		// The cluster's own registry may be away: it lives all the same.
		s.one.SetDown(true)
		s.refuses(s.two)
		s.one.SetDown(false)
		kill()
		if _, err := s.two.Get(t.Context(), Key); !errors.Is(err, registry.ErrNotFound) {
			t.Errorf("the refused registry was written to: %v", err)
		}
	})
}

func TestAWipedRegistryComesBackWithoutAnOperator(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t)
		s.lives(s.starts(s.one, 0))()
		s.one.Wipe()
		var all sync.WaitGroup
		for range 5 {
			all.Go(func() { s.lives(s.starts(s.one, quiet+time.Second))() })
		}
		all.Wait()
		s.starts(s.one, 0)
		// It has an id of its own: the one from before, should it come back, is the wrong one.
		s.refuses(registryOf(t, "r1"))
	})
}

func TestLivingProcessesPutTheIDBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t)
		kill := s.lives(s.starts(s.one, 0))
		time.Sleep(BeatEvery / 2)
		s.one.Wipe()
		s.starts(s.one, BeatEvery+lookEvery)
		if s.row.ID != "r1" {
			t.Errorf("the database was given to %s, though its cluster lived", s.row.ID)
		}
		kill()
	})
}

func TestAStartThatDiedHalfWayIsFinished(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t)
		s.starts(s.one, 0)
		if _, err := s.two.Put(t.Context(), Key, []byte(`{"id":"half","follows":"r1"}`), registry.If{}); err != nil {
			t.Fatal(err)
		}
		// Not while the cluster lives elsewhere.
		kill := s.lives(s.starts(s.one, 0))
		s.refuses(s.two)
		kill()
		s.starts(s.two, quiet+time.Second)
		s.refuses(s.one)
	})
}

func TestADatabaseThatForgotItsRegistryIsToldAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t)
		s.starts(s.one, 0)
		s.one.Wipe()
		kill := s.lives(s.starts(s.one, quiet+time.Second))
		for _, lost := range []string{"", "r1"} {
			s.mu.Lock()
			s.row.ID = lost
			s.mu.Unlock()
			time.Sleep(2*quiet + time.Second)
			s.starts(s.one, 0)
		}
		kill()
	})
}

func TestAProcessWhoseDatabaseWasGivenAwayEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t)
		b := s.starts(s.one, 0)
		if err := s.Bind(t.Context(), "r1", "elsewhere"); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 2*quiet)
		defer cancel()
		if err := b.Run(ctx); !errors.Is(err, ErrForeign) {
			t.Errorf("it ended with %v, want ErrForeign", err)
		}
	})
}

func TestAKeyThatNobodyCanReadIsForeign(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t)
		if _, err := s.one.Put(t.Context(), Key, []byte("\xffgarbage"), registry.If{}); err != nil {
			t.Fatal(err)
		}
		s.refuses(s.one)
	})
}

// flaky takes its time for each call, and loses some, before or after they are done.
type flaky struct {
	registry.Store
	Rows
	fail func() bool // after a while
}

var errLost = errors.New("the answer was lost")

func (f *flaky) Put(ctx context.Context, key string, value []byte, cond registry.If) (int64, error) {
	if f.fail() {
		return 0, errLost
	}
	n, err := f.Store.Put(ctx, key, value, cond)
	if f.fail() {
		return 0, errLost
	}
	return n, err
}

func (f *flaky) Bind(ctx context.Context, from, to string) error {
	if f.fail() {
		return errLost
	}
	err := f.Rows.Bind(ctx, from, to)
	if f.fail() {
		return errLost
	}
	return err
}

// TestTwoClustersNeverShareADatabase starts, kills and wipes at random, with starts that die at every
// step. Whatever happens, no two processes live with different registries for longer than one beat, and a
// registry that was alone is let in again.
func TestTwoClustersNeverShareADatabase(t *testing.T) {
	t.Parallel()
	for seed := range uint64(60) {
		synctest.Test(t, func(t *testing.T) { storm(t, rand.New(rand.NewPCG(seed, 70)), seed) })
	}
}

func storm(t *testing.T, random *rand.Rand, seed uint64) {
	s := newSite(t)
	var mu sync.Mutex // guards random and living
	living := map[registry.Store]int{}
	fail := func() bool {
		mu.Lock()
		lost, while := random.IntN(8) == 0, time.Duration(random.IntN(20))*time.Millisecond
		mu.Unlock()
		time.Sleep(while)
		return lost
	}
	var kills []context.CancelFunc
	var all sync.WaitGroup
	start := func(reg *inprocess.Registry) {
		ctx, cancel := context.WithCancel(t.Context())
		kills = append(kills, cancel)
		b := s.on(reg)
		f := &flaky{reg, &s.rows, fail}
		b.Registry, b.Rows = f, f
		all.Go(func() {
			if err := b.Check(ctx); err != nil {
				return
			}
			b.Registry, b.Rows = reg, &s.rows // what lives answers
			mu.Lock()
			living[reg]++
			mu.Unlock()
			_ = b.Run(ctx)
			mu.Lock()
			living[reg]--
			mu.Unlock()
		})
	}
	shared := 0
	for range 120 {
		reg := []*inprocess.Registry{s.one, s.two}[random.IntN(2)]
		switch random.IntN(6) {
		case 0, 1, 2:
			start(reg)
		case 3, 4:
			for _, kill := range kills {
				kill()
			}
			kills = nil
		case 5:
			reg.Wipe()
		}
		mu.Lock()
		pauses := time.Duration(random.IntN(12)) * time.Second
		mu.Unlock()
		time.Sleep(pauses)
		synctest.Wait()
		mu.Lock()
		if living[s.one] > 0 && living[s.two] > 0 {
			shared++
		}
		mu.Unlock()
		if shared > 0 {
			t.Fatalf("seed %d: %d processes of one registry and %d of the other live on one database", seed, living[s.one], living[s.two])
		}
	}
	for _, kill := range kills {
		kill()
	}
	all.Wait()
	s.two.Wipe()
	s.one.Wipe()
	s.starts(s.one, quiet+time.Second)
}
