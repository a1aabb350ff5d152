package dag

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Cache says for how long the outputs of a task's success stand for those of a later attempt, which then does not
// run. A zero MaxAge is no cache.
type Cache struct {
	Key    string // with ${name} and $[...]; empty: all that the task is and sees
	MaxAge time.Duration
}

// CacheEntry is what is kept of a success.
type CacheEntry struct {
	Key          string // names the workflow, the task and all that its outputs depend on; a hash, of 64 characters
	Instance     int64  // whose attempt succeeded
	Task, Number int    // that attempt; where the entry is taken from, they mean nothing to another plan
	Outputs      map[string]string
	At, Until    Millis // when the attempt ended, and from when on the entry may be deleted
}

// Recall gives a ready task the entry of its key. It is stale where the task does not ask for one, or where the
// entry is too old or for something else: then the task is to be run.
type Recall struct {
	Task  int
	Entry CacheEntry
}

func (Recall) input() {}

// cacheText is a task's cache.
type cacheText struct {
	Key    string    `json:"key" rule:"max=4096" doc:"What the result depends on. ${name} is replaced by a parameter or an output, never by a secret. Where nothing is said: the task's own text and all values that it sees."`
	MaxAge *Duration `json:"max_age" rule:"required,min=1s,max=365d" doc:"For how long a result is taken again, counted from the end of the attempt that gave it."`
}

func (c *cacheText) cache() Cache {
	if c == nil || c.MaxAge == nil {
		return Cache{}
	}
	return Cache{Key: c.Key, MaxAge: time.Duration(*c.MaxAge)}
}

// checkCache refuses a cache where what a success gave can't stand for another one. undone says that the task has a
// compensate.
func checkCache(field string, t *Task, undone bool) []FieldError {
	if t.Cache.MaxAge == 0 {
		return nil
	}
	conflict := func(why string) []FieldError {
		return []FieldError{{Field: field + ".cache", Code: CodeConflict, Message: why}}
	}
	switch {
	case !worksOnWorker(t.Type):
		return conflict(article(t.Type) + " " + t.Type + " task can't be cached: only what a worker does gives a result that can be taken again")
	case t.Repeat.Max > 0:
		return conflict("a task that is repeated can't be cached: each iteration is there to give something new")
	case undone:
		return conflict("a task with a compensate can't be cached: what it would undo is the work of another instance")
	}
	if err := checkText(field+".cache.key", t.Cache.Key); err != nil {
		return []FieldError{*err}
	}
	if err := checkDates(field+".cache.key", t.Cache.Key); err != nil {
		return []FieldError{*err}
	}
	return nil
}

// CacheKey is the key under which the outputs of a task's next attempt are kept and looked for; empty for none: the
// task has no cache, the run is a dry one, or a value of the key is missing. It changes with the workflow, the
// task's name, its type and its outputs. Beside them stand the text of the cache's own key, or else the spec and the
// environment that the next attempt would get. A secret counts by its name, and built-in parameters, which
// differ from instance to instance, count only where the task's text names them.
func (in *Instance) CacheKey(task int) string {
	t := &in.plan.Definition.Tasks[task]
	if t.Cache.MaxAge == 0 || in.DryRun {
		return ""
	}
	h := sha256.New()
	hashed(h, strconv.FormatInt(in.Facts.WorkflowID, 10), t.Name, t.Type)
	hashed(h, t.Outputs...)
	if t.Cache.Key != "" {
		r := resolver{in: in, task: task, t: t}
		if err := r.parameters(in.Facts); err != nil {
			return ""
		}
		key, err := datedExpand(t.Cache.Key, r.base, r.lookup)
		if err != nil {
			return ""
		}
		hashed(h, key)
	} else {
		run, err := ResolveShown(in, task, in.Facts)
		if err != nil {
			return ""
		}
		hashed(h, string(run.Spec), run.WorkingDir)
		env := in.lasting(task, run)
		for _, name := range slices.Sorted(maps.Keys(env)) {
			hashed(h, name, env[name])
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}

// hashed adds texts to a hash so that no other list of texts adds the same.
func hashed(h hash.Hash, texts ...string) {
	_, _ = io.WriteString(h, strconv.Itoa(len(texts)))
	for _, text := range texts {
		_, _ = fmt.Fprintf(h, " %d:%s", len(text), text)
	}
}

// lasting returns the environment of a run without the built-in values that its text does not name.
func (in *Instance) lasting(task int, run TaskRun) map[string]string {
	env := maps.Clone(run.Env)
	for _, b := range builtins {
		if env[b.name] == b.value(in, in.plan.Definition.Tasks[task].Name, in.Facts) && !strings.Contains(string(run.Spec), b.name) {
			delete(env, b.name)
		}
	}
	return env
}

// Recalls says that a ready task may take what is kept of an earlier success. One that was tried in an earlier round is
// run: whoever recovers or reruns it wants it done.
func (in *Instance) Recalls(task int) bool {
	t := &in.Tasks[task]
	return t.State == TaskReady && !t.delayed() && in.plan.Definition.Tasks[task].Cache.MaxAge > 0 && !in.DryRun && (in.Round == 1 || t.Attempts == 0)
}

// recall ends a ready task with what is kept of another success. Its attempt is one that nobody ran.
func (s *step) recall(ev Recall) {
	t := s.task(ev.Task)
	if t == nil || s.in.State != InstanceRunning || !s.in.Recalls(ev.Task) || ev.Entry.Key == "" || ev.Entry.Key != s.in.CacheKey(ev.Task) ||
		s.now >= min(ev.Entry.At.Add(s.in.plan.Definition.Tasks[ev.Task].Cache.MaxAge), ev.Entry.Until) {
		s.fx.Stale = true
		return
	}
	s.takeBack(ev.Task)
	s.attemptHere(ev.Task)
	t.Attempt.CachedFrom, t.Attempt.Outputs = ev.Entry.Instance, ev.Entry.Outputs
	t.Attempt.Message = "taken over from instance " + strconv.FormatInt(ev.Entry.Instance, 10)
	message := t.Attempt.Message
	s.endAttempt(ev.Task, AttemptSuccess, ReasonCached)
	s.enter(ev.Task, TaskSuccess, ReasonCached)
	t.Outputs = ev.Entry.Outputs
	s.tell(ev.Task, message)
	s.spread(ev.Task)
}

// cache has the outputs of the attempt that was ended last, which was a success, kept under its key.
func (s *step) cache() {
	a := &s.last
	if a.CacheKey == "" {
		return
	}
	s.fx.Cached = append(s.fx.Cached, CacheEntry{
		Key: a.CacheKey, Instance: s.in.ID, Task: a.Task, Number: a.Number, Outputs: a.Outputs,
		At: a.FinishedAt, Until: a.FinishedAt.Add(s.in.plan.Definition.Tasks[a.Task].Cache.MaxAge),
	})
}
