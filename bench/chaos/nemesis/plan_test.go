package nemesis

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

func plan(seed uint64) Plan {
	return Plan{Seed: seed, Faults: 160, Within: 10 * time.Minute, Targets: map[string][]string{
		"master": {"master-1", "master-2"}, "worker": {"worker-1"}, "apiserver": {"apiserver-1"}, "etcd": {"etcd-1", "etcd-2", "etcd-3"},
	}}
}

func TestASeedGivesTheSameFaults(t *testing.T) {
	t.Parallel()
	if !reflect.DeepEqual(plan(7).Make(), plan(7).Make()) {
		t.Error("two plans of one seed differ")
	}
	if reflect.DeepEqual(plan(7).Make(), plan(8).Make()) {
		t.Error("two seeds give one plan")
	}
}

func TestEveryClassGetsItsShareInOrder(t *testing.T) {
	t.Parallel()
	faults := plan(3).Make()
	count := map[string]int{}
	for i, f := range faults {
		count[f.Class]++
		_, whom, _ := strings.Cut(f.Class, ".")
		if whom != "stores" && !slices.Contains(plan(3).Targets[whom], f.Target) {
			t.Errorf("fault %d: %s of %s", f.N, f.Class, f.Target)
		}
		if f.For <= 0 || i > 0 && f.At < faults[i-1].At {
			t.Errorf("fault %d is at %s for %s", f.N, f.At, f.For)
		}
	}
	for _, class := range Classes() {
		if count[class] != 10 {
			t.Errorf("%s: %d of 160", class, count[class])
		}
	}
}

func TestWithoutADatabaseProcessNoneIsBroken(t *testing.T) {
	t.Parallel()
	p := plan(5)
	p.SQLite = true
	for _, f := range p.Make() {
		if f.Target == "database" || f.Link == "database" || strings.HasPrefix(f.Way, "commit") {
			t.Errorf("fault %+v", f)
		}
	}
}
