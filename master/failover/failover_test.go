package failover

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/porpoise/porpoise/internal/rpc"
	"github.com/porpoise/porpoise/sql"
)

// owners is a store that only knows who owns how much.
type owners struct {
	count  map[string]int
	taken  []string
	loaded []int64
	lose   bool // the answer of the next takeover
}

func (o *owners) Owners(context.Context) ([]sql.OwnerCount, error) {
	var list []sql.OwnerCount
	for owner, n := range o.count {
		list = append(list, sql.OwnerCount{Owner: owner, Instances: n})
	}
	return list, nil
}

func (o *owners) TakeOver(_ context.Context, from, to string, limit int) ([]sql.Claimed, error) {
	o.taken = append(o.taken, from)
	n := min(limit, o.count[from])
	o.count[from] -= n
	o.count[to] += n
	if o.count[from] == 0 {
		delete(o.count, from)
	}
	if o.lose {
		o.lose = false
		return nil, sql.ErrUnavailable
	}
	return make([]sql.Claimed, n), nil
}

func (o *owners) Owned(_ context.Context, owner string, after int64, limit int) ([]int64, error) {
	var ids []int64
	for id := after + 1; id <= int64(o.count[owner]) && len(ids) < limit; id++ {
		ids = append(ids, id)
	}
	return ids, nil
}

func (o *owners) Load(_ context.Context, _ string, ids []int64) ([]sql.Claimed, error) {
	o.loaded = append(o.loaded, ids...)
	return make([]sql.Claimed, len(ids)), nil
}

func (o *owners) Room() int           { return 1000 }
func (o *owners) Has(id int64) bool   { return id == 1 }
func (o *owners) Admit([]sql.Claimed) {}

func TestOnlyOwnersThatAreGoneForAWhileAreTakenOver(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := &owners{count: map[string]int{"self:now": 1, "self:before": 3, "alive:a": 5, "dead:d": 700, "late:l": 2}}
		f := New(Config{
			Self: rpc.Process{Node: "self", Incarnation: "now"}, Store: store, Instances: store, Logger: hclog.NewNullLogger(),
		})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); _ = f.Run(ctx) }()

		time.Sleep(time.Minute)
		synctest.Wait()
		if len(store.taken) > 0 {
			t.Fatalf("took over from %v before the registry said who lives", store.taken)
		}
		f.Members(map[string]bool{"self:now": true, "alive:a": true})
		synctest.Wait()
		if want := []string{"self:before"}; !slices.Equal(store.taken, want) {
			t.Fatalf("took over from %v at once, want only the node's own past %v", store.taken, want)
		}
		time.Sleep(time.Second)
		f.Members(map[string]bool{"self:now": true, "alive:a": true, "late:l": true})
		time.Sleep(10 * time.Second)
		synctest.Wait()
		cancel()
		<-done
		if slices.Contains(store.taken, "alive:a") || slices.Contains(store.taken, "late:l") || slices.Contains(store.taken, "self:now") {
			t.Errorf("took over from %v, a live master among them", store.taken)
		}
		if store.count["dead:d"] != 0 {
			t.Errorf("%d instances of the dead master were left", store.count["dead:d"])
		}
	})
}

func TestATakeoverWithoutAnAnswerIsLookedUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := &owners{count: map[string]int{"self:now": 1, "self:before": 3}, lose: true}
		f := New(Config{
			Self: rpc.Process{Node: "self", Incarnation: "now"}, Store: store, Instances: store, Logger: hclog.NewNullLogger(),
		})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); _ = f.Run(ctx) }()
		f.Members(map[string]bool{"self:now": true})
		time.Sleep(10 * time.Second)
		synctest.Wait()
		cancel()
		<-done
		if want := []int64{2, 3, 4}; !slices.Equal(store.loaded, want) {
			t.Errorf("looked up %v, want %v: all that is owned and not in memory, once", store.loaded, want)
		}
	})
}
