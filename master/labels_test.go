package master

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/internal/rpc"
)

// zoned is a worker of the default group that stands in a zone, and writes down which tasks it was given.
func zoned(node, incarnation string, labels map[string]string, given *sync.Map) *worker {
	return &worker{
		node: node, incarnation: incarnation, groups: []string{"default"}, labels: labels, slots: 4,
		run: func(d *rpc.Dispatch) []*rpc.Report {
			given.Store(d.GetTaskName(), node)
			return succeed(d)
		},
	}
}

func TestATaskRunsOnlyWhereItsLabelsAre(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	_, addr, stop := s.master("m1", "i1")
	var given sync.Map
	eu, us := map[string]string{"zone": "eu", "disk": "ssd"}, map[string]string{"zone": "us"}
	w := zoned("eu", "x", eu, &given)
	cutEU, cutUS := s.join(w, addr), s.join(zoned("us", "x", us, &given), addr)
	id := s.start(s.save(`name: zones
tasks:
  - {name: far, type: noop, priority: highest, worker_labels: {zone: moon}}
  - {name: a, type: noop, worker_labels: {zone: us}}
  - {name: b, type: noop, needs: [a], worker_labels: {zone: us}}
  - {name: c, type: noop, needs: [b], worker_labels: {zone: eu, disk: ssd}}
`))
	w.until(t, "all but the one that nobody may have are done", func() bool { return len(w.acks) == 1 })
	if got, want := s.tasks(id), "far=ready/0 a=success/1 b=success/1 c=success/1"; got != want {
		t.Errorf("tasks = %s, want %s", got, want)
	}
	cutEU()
	cutUS()
	stop()

	// Who takes over asks for the same labels.
	_, addr, _ = s.master("m2", "i2")
	s.join(zoned("eu", "y", eu, &given), addr)
	s.join(zoned("us", "y", us, &given), addr)
	s.join(zoned("moon", "x", map[string]string{"zone": "moon", "disk": "ssd"}, &given), addr)
	s.waitFor(id, dag.InstanceSuccess)
	got := map[string]string{}
	given.Range(func(task, node any) bool { got[fmt.Sprint(task)] = fmt.Sprint(node); return true })
	var words []string
	for _, task := range slices.Sorted(maps.Keys(got)) {
		words = append(words, task+"@"+got[task])
	}
	if got, want := strings.Join(words, " "), "a@us b@us c@eu far@moon"; got != want {
		t.Errorf("given were %s, want %s", got, want)
	}
}
