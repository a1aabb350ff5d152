package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"
)

// trace is a recorded workflow.
type trace struct {
	Name   string `json:"name"`
	Source string `json:"source"`
	Tasks  []struct {
		ID      string   `json:"id"`
		Runtime float64  `json:"runtime_s"`
		Deps    []string `json:"deps"`
	} `json:"tasks"`

	index  map[string]int
	sleeps []time.Duration // scaled, in whole milliseconds
}

func readTraces(dir string) ([]trace, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s holds no .json file", dir)
	}
	var traces []trace
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		var t trace
		if err := json.Unmarshal(text, &t); err != nil {
			return nil, fmt.Errorf("read %s: %w", file, err)
		}
		if t.Name == "" {
			t.Name = strings.TrimSuffix(filepath.Base(file), ".json")
		}
		t.index = make(map[string]int, len(t.Tasks))
		for i, task := range t.Tasks {
			if _, twice := t.index[task.ID]; twice {
				return nil, fmt.Errorf("read %s: task %s is there twice", file, task.ID)
			}
			t.index[task.ID] = i
		}
		for _, task := range t.Tasks {
			for _, dep := range task.Deps {
				if _, ok := t.index[dep]; !ok {
					return nil, fmt.Errorf("read %s: task %s needs %s, which is not there", file, task.ID, dep)
				}
			}
		}
		traces = append(traces, t)
	}
	slices.SortFunc(traces, func(a, b trace) int { return len(a.Tasks) - len(b.Tasks) })
	return traces, nil
}

// scale divides the run times so that their mean is the given one.
func (t *trace) scale(mean time.Duration) {
	var total float64
	for _, task := range t.Tasks {
		total += task.Runtime
	}
	by := mean.Seconds() / (total / float64(len(t.Tasks)))
	t.sleeps = make([]time.Duration, len(t.Tasks))
	for i, task := range t.Tasks {
		t.sleeps[i] = time.Duration(task.Runtime * by * float64(time.Second)).Round(time.Millisecond)
	}
}

// workflow is the trace's name as a workflow may have it.
func (t *trace) workflow() string { return plain(t.Name) }

// plain keeps what a name may hold.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("._-", r) {
			return r
		}
		return '_'
	}, s)
}

// taskName gives a task its number, because two ids may become the same name.
func (t *trace) taskName(i int) string { return fmt.Sprintf("%d-%s", i, plain(t.Tasks[i].ID)) }

// definition makes the workflow. Each task appends a line before and after it sleeps;
// lines as short as these are written whole, so that their order is that of time.
func (t *trace) definition(mean time.Duration) ([]byte, error) {
	type task struct {
		Name   string   `json:"name"`
		Type   string   `json:"type"`
		Needs  []string `json:"needs,omitempty"`
		Script string   `json:"script"`
	}
	def := struct {
		Name        string            `json:"name"`
		Description string            `json:"description"`
		Params      map[string]string `json:"params"`
		Tasks       []task            `json:"tasks"`
	}{
		Name: t.workflow(), Description: fmt.Sprintf("Recorded by %s, scaled to a mean of %s.", t.Source, mean), Params: map[string]string{"evidence": ""},
	}
	for i, recorded := range t.Tasks {
		out := task{
			Name: t.taskName(i), Type: "shell",
			Script: fmt.Sprintf("echo 'begin %d' >>\"$evidence\"; sleep %.3f; echo 'end %d' >>\"$evidence\"", i, t.sleeps[i].Seconds(), i),
		}
		for _, dep := range recorded.Deps {
			out.Needs = append(out.Needs, t.taskName(t.index[dep]))
		}
		def.Tasks = append(def.Tasks, out)
	}
	return json.Marshal(def)
}

// work is the sleep of all tasks together.
func (t *trace) work() time.Duration {
	var total time.Duration
	for _, d := range t.sleeps {
		total += d
	}
	return total
}

// criticalPath is the longest chain of sleeps.
func (t *trace) criticalPath() time.Duration {
	ends := make([]time.Duration, len(t.Tasks))
	known := make([]bool, len(t.Tasks))
	var end func(i int) time.Duration
	end = func(i int) time.Duration {
		if !known[i] {
			known[i] = true
			var begin time.Duration
			for _, dep := range t.Tasks[i].Deps {
				begin = max(begin, end(t.index[dep]))
			}
			ends[i] = begin + t.sleeps[i]
		}
		return ends[i]
	}
	var longest time.Duration
	for i := range t.Tasks {
		longest = max(longest, end(i))
	}
	return longest
}

// prove reads what the tasks wrote: each began once and ended once, and none began
// before all that it needs had ended.
func (t *trace) prove(file string) error {
	f, err := os.Open(file)
	if err != nil {
		return fmt.Errorf("the tasks left no evidence: %w", err)
	}
	defer func() { _ = f.Close() }()
	begun, ended := make([]int, len(t.Tasks)), make([]int, len(t.Tasks))
	var wrong []error
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		var what string
		var i int
		if _, err := fmt.Sscanf(lines.Text(), "%s %d", &what, &i); err != nil || i < 0 || i >= len(t.Tasks) {
			return fmt.Errorf("evidence %q is of no task", lines.Text())
		}
		if what == "end" {
			ended[i]++
			continue
		}
		begun[i]++
		for _, dep := range t.Tasks[i].Deps {
			if ended[t.index[dep]] == 0 {
				wrong = append(wrong, fmt.Errorf("%s began before %s had ended", t.Tasks[i].ID, dep))
			}
		}
	}
	for i, task := range t.Tasks {
		if begun[i] != 1 || ended[i] != 1 {
			wrong = append(wrong, fmt.Errorf("%s began %d times and ended %d times", task.ID, begun[i], ended[i]))
		}
	}
	if len(wrong) > 5 {
		wrong = append(wrong[:5], fmt.Errorf("and %d more", len(wrong)-5))
	}
	return errors.Join(append(wrong, lines.Err())...)
}
