package worker

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/porpoise/porpoise/internal/rpc"
	"github.com/porpoise/porpoise/worker/runner"
	"github.com/porpoise/porpoise/worker/task"
)

// attempt is one that is not over. The loop alone touches it.
type attempt struct {
	mark      string
	id        *rpc.AttemptID
	epoch     int64
	owner     string // node of the master that sent it, or that named the owner
	startedAt int64  // 0: not yet
	grace     int64  // ms

	start *runner.Start // nil for a call, and for one that was adopted or is over
	call  task.Call     // nil for a process
	kill  *runner.Stop  // asked for
	told  time.Duration // when its start was put into the outbox

	moving moving       // its artifacts
	exit   *runner.Exit // of a process that is over, while what it has left is sent

	until time.Duration // where the attempt is here: its deadline
	lost  bool          // where the attempt is here: it passed
	void  bool          // of an earlier generation of the cluster: nobody is to hear of it
}

// markOf names an attempt where its token must not be seen: in the environment of
// processes and in file names.
func markOf(a *rpc.AttemptID) string {
	sum := sha256.Sum256([]byte(a.GetToken()))
	buf := make([]byte, 0, 48)
	buf = strconv.AppendInt(buf, a.GetInstanceId(), 10)
	buf = append(buf, '-')
	buf = strconv.AppendInt(buf, int64(a.GetTask()), 10)
	buf = append(buf, '-')
	buf = strconv.AppendInt(buf, int64(a.GetNumber()), 10)
	buf = append(buf, '-')
	return string(hex.AppendEncode(buf, sum[:8]))
}

func (a *attempt) running() *rpc.Running {
	return &rpc.Running{Attempt: a.id, OwnerEpoch: a.epoch, StartedAt: a.startedAt}
}

func toRunner(id *rpc.AttemptID, epoch int64) *runner.Attempt {
	return &runner.Attempt{
		InstanceId: id.GetInstanceId(), Task: id.GetTask(), Number: id.GetNumber(), Token: id.GetToken(), OwnerEpoch: epoch,
	}
}

func fromRunner(a *runner.Attempt) *rpc.AttemptID {
	return &rpc.AttemptID{InstanceId: a.GetInstanceId(), Task: a.GetTask(), Number: a.GetNumber(), Token: a.GetToken()}
}

// recent is a bounded memory: what was put in first goes first.
type recent[K comparable, V any] struct {
	most   int
	values map[K]V
	order  []K
}

func newRecent[K comparable, V any](most int) *recent[K, V] {
	return &recent[K, V]{most: most, values: map[K]V{}}
}

func (r *recent[K, V]) put(k K, v V) {
	if _, ok := r.values[k]; !ok {
		r.order = append(r.order, k)
	}
	r.values[k] = v
	for len(r.values) > r.most {
		delete(r.values, r.order[0])
		r.order = r.order[1:]
	}
}

func (r *recent[K, V]) get(k K) (V, bool) {
	v, ok := r.values[k]
	return v, ok
}

// sorted gives the keys of a map in order: effects must not depend on a map's.
func sorted[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }
