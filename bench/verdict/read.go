package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// maxLine bounds one line of a file: an audit row of a layout may be long.
const maxLine = 64 << 20

// shapeTask is a task as its workflow declares it.
type shapeTask struct {
	Name         string   `json:"name"`
	Needs        []string `json:"needs"`
	Retries      int      `json:"retries"`
	DelayMS      int64    `json:"delay_ms"`
	TimeoutMS    int64    `json:"timeout_ms"`
	AllowFailure bool     `json:"allow_failure"`
	Child        string   `json:"child"`
	Group        string   `json:"group"`
}

// shape is a workflow.
type shape struct {
	Name      string      `json:"name"`
	OnFailure string      `json:"on_failure"`
	Limit     int         `json:"limit"`
	Tasks     []shapeTask `json:"tasks"`
}

// runFile is run.json.
type runFile struct {
	Seed      uint64              `json:"seed"`
	Began     int64               `json:"began"`
	Healed    int64               `json:"healed"`
	Rested    int64               `json:"rested"`
	Rest      string              `json:"rest"`
	Seconds   float64             `json:"seconds"`
	Classes   []string            `json:"classes"`
	Quota     int                 `json:"quota"`
	LeastRate float64             `json:"least_rate"`
	Slots     int                 `json:"slots"`
	SQLite    bool                `json:"sqlite"`
	Points    string              `json:"failpoints"`
	Workflows []shape             `json:"workflows"`
	Groups    map[string]int      `json:"groups"`
	Schedules []planSchedule      `json:"schedules"`
	Nodes     map[string][]string `json:"nodes"`
	Versions  map[string]string   `json:"versions"`
}

// line is a line of the tasks' evidence.
type line struct {
	Event    string `json:"event"`
	Instance string `json:"instance"`
	Workflow string `json:"workflow"`
	Task     string `json:"task"`
	Attempt  int    `json:"attempt"`
	PID      int    `json:"pid"`
	Mono     int64  `json:"mono"`
	Wall     int64  `json:"wall"`
	RC       int    `json:"rc"`
	Role     string `json:"role"`
	text     string
}

// call is a line of the client's history.
type call struct {
	Verb     string `json:"verb"`
	Key      string `json:"key"`
	Workflow string `json:"workflow"`
	Instance string `json:"instance"`
	Begin    int64  `json:"begin"`
	End      int64  `json:"end"`
	Outcome  string `json:"outcome"`
	Status   int    `json:"status"`
	text     string
}

// fault is a line of the nemesis.
type fault struct {
	Class  string `json:"class"`
	Target string `json:"target"`
	Way    string `json:"way"`
	Link   string `json:"link"`
	Begin  int64  `json:"begin"`
	End    int64  `json:"end"`
	Error  string `json:"error"`
	text   string
}

// row is a row of a table, by column.
type row map[string]any

func (r row) str(column string) string {
	switch v := r[column].(type) {
	case string:
		return v
	case json.Number:
		return v.String()
	}
	return ""
}

func (r row) num(column string) int64 {
	switch v := r[column].(type) {
	case json.Number:
		n, _ := v.Int64()
		return n
	case string:
		n, _ := json.Number(v).Int64()
		return n
	}
	return 0
}

// write is one row of the audit: what a statement did to one row.
type write struct {
	Seq   int64  `json:"seq"`
	At    int64  `json:"at"`
	Who   string `json:"who"`
	Conn  int64  `json:"conn"`
	Table string `json:"tbl"`
	Op    string `json:"op"`
	O     string `json:"o"`
	N     string `json:"n"`
	old   row
	new   row
	text  string
}

// value is the row after the write, or before a delete.
func (w *write) value() row {
	if w.new != nil {
		return w.new
	}
	return w.old
}

// change is a change of the registry.
type change struct {
	At    int64  `json:"at"`
	Rev   int64  `json:"rev"`
	Op    string `json:"op"`
	Key   string `json:"key"`
	Value string `json:"value"`
	text  string
}

// scan is a look at the process table.
type scan struct {
	At        int64 `json:"at"`
	Rest      bool  `json:"rest"`
	Processes []struct {
		PID      int    `json:"pid"`
		Instance string `json:"instance"`
		Task     string `json:"task"`
		Attempt  int    `json:"attempt"`
	} `json:"processes"`
}

// decode reads numbers as they stand.
func decode(text []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	return d.Decode(into)
}

// lines reads a file of JSON lines; each value is given with its text. A file that is not
// there has none.
func lines[T any](dir, name string, add func(v T, text string)) error {
	f, err := os.Open(filepath.Join(dir, name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	in := bufio.NewScanner(f)
	in.Buffer(make([]byte, 1<<20), maxLine)
	for n := 1; in.Scan(); n++ {
		var v T
		if err := decode(in.Bytes(), &v); err != nil {
			return fmt.Errorf("%s line %d: %w", name, n, err)
		}
		add(v, in.Text())
	}
	return in.Err()
}

// rows reads a file of table rows.
func rows(dir, name string, add func(r row)) error {
	return lines(dir, name, func(r row, _ string) { add(r) })
}

// read takes everything in.
func read(dir string) (*world, error) {
	w := newWorld(dir)
	text, err := os.ReadFile(filepath.Join(dir, "run.json"))
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(text, &w.run); err != nil {
		return nil, fmt.Errorf("run.json: %w", err)
	}
	for i := range w.run.Workflows {
		w.shapes[w.run.Workflows[i].Name] = &w.run.Workflows[i]
	}
	err = errors.Join(
		lines(filepath.Join(dir, "tasks"), "evidence.jsonl", func(l line, text string) { l.text = text; w.lines = append(w.lines, &l) }),
		lines(dir, "history.jsonl", func(c call, text string) { c.text = text; w.calls = append(w.calls, &c) }),
		lines(dir, "faults.jsonl", func(f fault, text string) { f.text = text; w.faults = append(w.faults, &f) }),
		lines(dir, "registry.jsonl", func(c change, text string) { c.text = text; w.changes = append(w.changes, &c) }),
		lines(dir, "scans.jsonl", func(s scan, _ string) { w.scans = append(w.scans, &s) }),
		rows(dir, "workflows.jsonl", func(r row) { w.names[r.num("id")] = r.str("name") }),
		rows(dir, "instances.jsonl", func(r row) { w.instance(r.num("id")).row = r }),
		rows(dir, "tasks.jsonl", func(r row) { w.instance(r.num("instance_id")).task(r.num("task_index")).row = r }),
		rows(dir, "attempts.jsonl", w.addAttempt),
		rows(dir, "events.jsonl", func(r row) { in := w.instance(r.num("instance_id")); in.events = append(in.events, r) }),
		rows(dir, "schedules.jsonl", func(r row) { w.scheduled = append(w.scheduled, r) }),
		rows(dir, "fires.jsonl", func(r row) { w.fires = append(w.fires, r) }),
		rows(dir, "commands.jsonl", func(r row) { w.commands = append(w.commands, r) }),
	)
	if err == nil {
		err = lines(dir, "audit.jsonl", w.addWrite)
	}
	if err != nil {
		return nil, err
	}
	return w, w.join()
}

// addWrite takes a row of the audit.
func (w *world) addWrite(a write, text string) {
	a.text = text
	for _, side := range []struct {
		text string
		to   *row
	}{{a.O, &a.old}, {a.N, &a.new}} {
		if side.text != "" {
			if err := decode([]byte(side.text), side.to); err != nil {
				w.broken = append(w.broken, fmt.Errorf("audit %d: %w", a.Seq, err))
			}
		}
	}
	w.audit = append(w.audit, &a)
}

// clip shortens a line that is quoted.
func clip(text string) string {
	const most = 600
	if len(text) > most {
		return text[:most] + " ..."
	}
	return strings.TrimSpace(text)
}
