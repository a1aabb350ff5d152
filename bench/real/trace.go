package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// leastMean is the shortest that tasks may be on the average: below it one measures how
// long a shell and sleep take to start, which is no scheduler's doing.
const leastMean = 100 * time.Millisecond

// trace is a workflow that somebody has run.
type trace struct {
	Name  string      `json:"name"`
	Tasks []traceTask `json:"tasks"`
}

// traceTask is one of its tasks.
type traceTask struct {
	ID       string   `json:"id"`
	RuntimeS float64  `json:"runtime_s"`
	Deps     []string `json:"deps"`
}

func (t traceTask) runtime() time.Duration { return time.Duration(t.RuntimeS * float64(time.Second)) }

// readTraces reads every *.json of a folder, in the order of the names.
func readTraces(dir string) ([]*trace, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return nil, fmt.Errorf("list traces: %w", err)
	}
	if len(paths) == 0 {
		return nil, fmt.Errorf("no *.json in %s", dir)
	}
	traces := make([]*trace, 0, len(paths))
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("read trace: %w", err)
		}
		t := &trace{}
		if err := json.Unmarshal(text, t); err != nil {
			return nil, fmt.Errorf("read trace %s: %w", path, err)
		}
		if t.Name == "" || len(t.Tasks) == 0 || t.work() <= 0 {
			return nil, fmt.Errorf("read trace %s: no name, no tasks or no work", path)
		}
		if _, err := t.criticalPath(); err != nil {
			return nil, fmt.Errorf("read trace %s: %w", path, err)
		}
		traces = append(traces, t)
	}
	return traces, nil
}

// work is the run time of all tasks together.
func (t *trace) work() time.Duration {
	var sum time.Duration
	for _, task := range t.Tasks {
		sum += task.runtime()
	}
	return sum
}

// criticalPath is the longest chain of tasks, which no number of slots makes shorter.
func (t *trace) criticalPath() (time.Duration, error) {
	index := make(map[string]int, len(t.Tasks))
	for i, task := range t.Tasks {
		index[task.ID] = i
	}
	ends := make([]time.Duration, len(t.Tasks))
	state := make([]int8, len(t.Tasks)) // 0 unseen, 1 on the way, 2 known
	var end func(i int) error
	end = func(i int) error {
		switch state[i] {
		case 1:
			return fmt.Errorf("task %s needs itself", t.Tasks[i].ID)
		case 2:
			return nil
		}
		state[i] = 1
		for _, dep := range t.Tasks[i].Deps {
			j, ok := index[dep]
			if !ok {
				return fmt.Errorf("task %s needs %s, which is not there", t.Tasks[i].ID, dep)
			}
			if err := end(j); err != nil {
				return err
			}
			ends[i] = max(ends[i], ends[j])
		}
		ends[i] += t.Tasks[i].runtime()
		state[i] = 2
		return nil
	}
	var longest time.Duration
	var wrong []error
	for i := range t.Tasks {
		wrong = append(wrong, end(i))
		longest = max(longest, ends[i])
	}
	return longest, errors.Join(wrong...)
}

// lowerBound is what no scheduler can beat with that many slots.
func (t *trace) lowerBound(slots int) time.Duration {
	path, _ := t.criticalPath() // checked when it was read
	return max(path, t.work()/time.Duration(slots))
}

// scale divides the run times. Unless one is given, it brings the lower bound to the
// wanted one, but leaves the tasks' mean at leastMean.
func (t *trace) scale(given float64, bound time.Duration, slots int) float64 {
	if given > 0 {
		return given
	}
	mean := t.work() / time.Duration(len(t.Tasks))
	return min(float64(t.lowerBound(slots))/float64(bound), float64(mean)/float64(leastMean))
}
