package apiserver

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/porpoise/porpoise/sql"
)

// tokenStore knows one token, and answers after a while.
type tokenStore struct {
	Store
	reads atomic.Int64
}

func (s *tokenStore) TokenByHash(context.Context, string) (sql.Token, error) {
	s.reads.Add(1)
	time.Sleep(100 * time.Millisecond)
	return sql.Token{ID: 1, UserID: 1}, nil
}

func (*tokenStore) UserByID(context.Context, int64) (sql.User, error) {
	return sql.User{ID: 1, Name: "ada"}, nil
}

func (*tokenStore) Memberships(context.Context, int64) ([]sql.Member, error) { return nil, nil }

func TestCallersWithOneTokenAskASlowDatabaseTogether(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := &tokenStore{}
		k := newIdentities(store, time.Now)
		var all sync.WaitGroup
		for range 500 {
			all.Go(func() {
				if who, err := k.byToken(t.Context(), "hash"); err != nil || who.name != "ada" {
					t.Errorf("byToken = %+v, %v", who, err)
				}
			})
		}
		all.Wait()
		if n := store.reads.Load(); n > 2 {
			t.Errorf("500 callers made %d readings, want the first one's and one for all others", n)
		}
	})
}
