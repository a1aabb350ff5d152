package dag

import (
	"reflect"
	"time"
)

// recall offers what may be kept to some task: now and then it is too old, or for something else.
func (w *world) recall() {
	i := w.pick("recall", func(t *TaskInstance) bool { return t.State != "" })
	if i < 0 {
		return
	}
	entry := CacheEntry{
		Key: w.in.CacheKey(i), Instance: 3, Outputs: map[string]string{"n": "kept"},
		At: w.now.Add(-time.Duration(die(w.t, "age", 80)) * time.Second), Until: w.now.Add(time.Duration(die(w.t, "until", 20)-2) * time.Second),
	}
	if die(w.t, "key", 5) == 0 {
		entry.Key = "another"
	}
	fits := w.slowRecalls(i, entry)
	if fx := w.step(Recall{Task: i, Entry: entry}); fx.Stale == fits {
		w.fail("%+v for task %d: heard %v, want %v", entry, i, !fx.Stale, fits)
	}
}

// slowRecalls says whether a task takes an entry over instead of running.
func (a *auditor) slowRecalls(i int, e CacheEntry) bool {
	t, def := &a.in.Tasks[i], &a.plan.Definition.Tasks[i]
	switch {
	case a.in.DryRun || a.in.State != "running" || def.Cache.MaxAge == 0 || !offered(t):
		return false
	case a.in.Round > 1 && t.Attempts > 0:
		return false
	}
	return e.Key != "another" && a.now-e.At < 60_000 && a.now < e.Until
}

// checkCached: what a worker's success gave is kept, and nothing else, under the key that its attempt began with: a need
// that the task did not wait for may have given an output since. What was taken over was not run.
func (a *auditor) checkCached(ev Input, before *Instance, fx Effects) {
	if given, ok := ev.(Assign); ok && !fx.Stale {
		a.keys[given.Token] = before.CacheKey(given.Task)
	}
	var want []CacheEntry
	for _, r := range fx.Attempts {
		if r.CachedFrom != 0 {
			given, ok := ev.(Recall)
			is := a.in.Tasks[r.Task]
			if !ok || given.Task != r.Task || r.Worker != "" || r.State != AttemptSuccess || is.State != TaskSuccess || is.Reason != "cached" ||
				before.Tasks[r.Task].State != TaskReady || !reflect.DeepEqual(is.Outputs, given.Entry.Outputs) || r.CachedFrom != given.Entry.Instance {
				a.fail("%+v ended task %d as %+v", ev, r.Task, r)
			}
		} else if r.State == AttemptSuccess && r.Worker != "" && a.plan.Definition.Tasks[r.Task].Cache.MaxAge > 0 && !a.in.DryRun {
			want = append(want, CacheEntry{
				Key: a.keys[r.Token], Instance: a.in.ID, Task: r.Task, Number: r.Number, Outputs: r.Outputs, At: r.FinishedAt, Until: r.FinishedAt + 60_000,
			})
		}
	}
	if !reflect.DeepEqual(fx.Cached, want) {
		a.fail("%+v keeps %+v, want %+v", ev, fx.Cached, want)
	}
}
