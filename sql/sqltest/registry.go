package sqltest

import (
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/porpoise/porpoise/sql"
)

func aClusterBelongsToOneRegistry(t *testing.T, b *bench) {
	if r, err := b.Registry(b.ctx); err != nil || r != (sql.RegistryRow{}) {
		t.Fatalf("a new cluster belongs to %+v, %v", r, err)
	}
	var won atomic.Int32
	var tries sync.WaitGroup
	for i := range 4 {
		tries.Go(func() {
			switch err := b.BindRegistry(b.ctx, "", fmt.Sprintf("r%d", i), "m1"); {
			case err == nil:
				won.Add(1)
			case !errors.Is(err, sql.ErrStale):
				t.Errorf("bind: %v, want nil or ErrStale", err)
			}
		})
	}
	tries.Wait()
	r, err := b.Registry(b.ctx)
	b.must(err)
	if won.Load() != 1 || r.ID == "" || r.BoundBy != "m1" || r.BoundAt == 0 {
		t.Fatalf("%d of 4 have bound it, to %+v", won.Load(), r)
	}
	b.must(b.BeatRegistry(b.ctx, r.ID))
	if err := b.BeatRegistry(b.ctx, "other"); !errors.Is(err, sql.ErrStale) {
		t.Errorf("a beat for another registry: %v, want ErrStale", err)
	}
	if after, err := b.Registry(b.ctx); err != nil || after.Beat != r.Beat+1 {
		t.Errorf("after one beat %+v, %v; before %+v", after, err, r)
	}

	file := filepath.Join(t.TempDir(), "backup")
	_, err = b.Backup(b.ctx, file, "test", quiet)
	b.must(err)
	to := b.open(t, t.Name()+" restored")
	_, err = to.Restore(b.ctx, file, quiet)
	b.must(err)
	if r, err := to.Registry(b.ctx); err != nil || r.ID != "" {
		t.Errorf("a restored cluster belongs to %+v, %v; want none: it may be set up anywhere", r, err)
	}
}
