package sql

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"modernc.org/sqlite"
)

// A prepared statement with a LIMIT is planned once, and not each time that it runs: to plan takes some hundred pieces of a
// connection's own memory, to run hardly any.
func TestAPreparedLimitIsPlannedOnce(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s, err := Open(ctx, Config{DSN: "sqlite:" + t.TempDir() + "/x.db", Relaxed: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	if err := s.Migrate(ctx); err != nil {
		t.Fatal(err)
	}
	s.read.SetMaxOpenConns(1)
	pieces := func() (n int) {
		c, err := s.read.Conn(ctx)
		if err != nil {
			t.Fatal(err)
		}
		err = c.Raw(func(dc any) error {
			status, ok := dc.(interface {
				Status(op sqlite.DBStatusOp, reset bool) (current, high int, err error)
			})
			if !ok {
				return fmt.Errorf("%T has no status", dc)
			}
			for _, op := range []sqlite.DBStatusOp{sqlite.DBStatusLookasideHit, sqlite.DBStatusLookasideMissSize, sqlite.DBStatusLookasideMissFull} {
				_, high, err := status.Status(op, true)
				if err != nil {
					return err
				}
				n += high
			}
			return nil
		})
		if err := errors.Join(err, c.Close()); err != nil {
			t.Fatal(err)
		}
		return n
	}
	for range 2 { // the first time as it comes, the second time it is prepared
		if _, err := s.DueLanes(ctx, 5, "", 10); err != nil {
			t.Fatal(err)
		}
	}
	pieces()
	if _, err := s.DueLanes(ctx, 6, "", 20); err != nil {
		t.Fatal(err)
	}
	if n := pieces(); n > 50 {
		t.Errorf("with other values the statement took %d pieces of memory, as if it were planned anew", n)
	}
}
