package main

import (
	"encoding/json"
	"fmt"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// story is a run that is made up: one instance of two tasks, b after a.
type story struct {
	run      map[string]any
	evidence []map[string]any
	history  []map[string]any
	audit    []map[string]any
	tables   map[string][]map[string]any
}

// object is a row in the audit's form.
func object(pairs ...any) map[string]any {
	m := map[string]any{}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i].(string)] = pairs[i+1]
	}
	return m
}

func with(m map[string]any, pairs ...any) map[string]any {
	fresh := maps.Clone(m)
	maps.Copy(fresh, object(pairs...))
	return fresh
}

// write adds a row of the audit.
func (s *story) write(at int64, who, table string, before, after map[string]any) {
	line := map[string]any{"seq": len(s.audit) + 1, "at": at, "who": who, "conn": 1, "tbl": table, "op": "U", "o": nil, "n": nil}
	for key, row := range map[string]map[string]any{"o": before, "n": after} {
		if row != nil {
			text, _ := json.Marshal(row)
			line[key] = string(text)
		}
	}
	if before == nil {
		line["op"] = "I"
	} else if after == nil {
		line["op"] = "D"
	}
	s.audit = append(s.audit, line)
}

// extend gives an attempt more time, and what else after has, by another connection than that of its instance.
func (s *story) extend(who string, after map[string]any) {
	s.write(1600, who, "task_attempt", attemptRow(0, 1, "dispatched"), with(after, "complete_by", 9))
	s.audit[len(s.audit)-1]["conn"] = 2
}

// lives adds the evidence of an attempt, in milliseconds.
func (s *story) lives(task string, attempt int, from, to int64, rc int) {
	for _, l := range []struct {
		event string
		at    int64
	}{{"start", from}, {"end", to}} {
		s.evidence = append(s.evidence, object("event", l.event, "instance", "7", "workflow", "two", "task", task, "attempt", attempt, "pid", 10,
			"mono", l.at*1_000_000, "wall", l.at, "rc", rc))
	}
}

var (
	instanceRow = object("id", 7, "workflow_id", 1, "version", 1, "state", "submitted", "reason", "", "round", 0, "owner", "", "owner_epoch", 0, "seq", 0, "schedule_time", 0, "trigger_key", "m7")
	running     = with(instanceRow, "state", "running", "round", 1, "owner", "master-1:x", "owner_epoch", 1, "seq", 1)
	success     = with(running, "state", "success", "owner", "", "seq", 2)
)

// attemptRow is an attempt of a task in a state.
func attemptRow(task, number int, state string) map[string]any {
	return object("instance_id", 7, "task_index", task, "number", number, "round", 1, "token", "t", "worker", "worker-1", "incarnation", "i", "state", state,
		"reason", "", "kill_reason", "", "exit_code", 0, "complete_by", 0)
}

func taskRow(index int, name, state string) map[string]any {
	return object("instance_id", 7, "task_index", index, "name", name, "state", state, "reason", "", "round", 1, "attempts", 1, "retries", 0, "lost", 0)
}

// good is a story that breaks no promise.
func good() *story {
	s := &story{tables: map[string][]map[string]any{}}
	s.run = object("seed", 1, "began", 0, "healed", 10_000, "rested", 11_000, "rest", "", "seconds", 10, "classes", []string{}, "quota", 0, "least_rate", 0.01, "slots", 2,
		"workflows", []any{object("name", "two", "tasks", []any{object("name", "a", "retries", 1, "delay_ms", 500), object("name", "b", "needs", []string{"a"})})})
	s.history = []map[string]any{object("verb", "start", "key", "k1", "workflow", "two", "instance", "7", "begin", 900, "end", 950, "outcome", "ok", "status", 202)}
	s.write(940, "apiserver-1", "workflow_instance", nil, instanceRow)
	s.write(940, "apiserver-1", "command", nil, object("id", 7, "kind", "start", "instance_id", 7))
	s.write(1000, "master-1", "command", object("id", 7, "kind", "start", "instance_id", 7), nil)
	s.write(1000, "master-1", "workflow_instance", instanceRow, with(instanceRow, "owner", "master-1:x", "owner_epoch", 1))
	s.write(1010, "master-1", "workflow_instance", with(instanceRow, "owner", "master-1:x", "owner_epoch", 1), running)
	for i, name := range []string{"a", "b"} {
		s.write(1010, "master-1", "task_instance", nil, taskRow(i, name, "waiting"))
	}
	s.write(1500, "master-1", "workflow_instance", running, with(running, "seq", 2))
	for i, name := range []string{"a", "b"} {
		s.write(1500, "master-1", "task_instance", taskRow(i, name, "waiting"), taskRow(i, name, "dispatched"))
		s.write(1500, "master-1", "task_attempt", nil, attemptRow(i, 1, "dispatched"))
	}
	s.extend("master-1", attemptRow(0, 1, "dispatched"))
	s.lives("a", 1, 2000, 2500, 0)
	s.lives("b", 1, 3000, 3500, 0)
	s.write(4000, "master-1", "workflow_instance", with(running, "seq", 2), success)
	for i, name := range []string{"a", "b"} {
		s.write(4000, "master-1", "task_instance", taskRow(i, name, "dispatched"), taskRow(i, name, "success"))
		s.write(4000, "master-1", "task_attempt", attemptRow(i, 1, "dispatched"), attemptRow(i, 1, "success"))
		s.tables["tasks"] = append(s.tables["tasks"], taskRow(i, name, "success"))
		s.tables["attempts"] = append(s.tables["attempts"], attemptRow(i, 1, "success"))
	}
	s.tables["instances"] = []map[string]any{success}
	s.tables["workflows"] = []map[string]any{object("id", 1, "name", "two")}
	s.tables["events"] = []map[string]any{object("instance_id", 7, "seq", 1), object("instance_id", 7, "seq", 2)}
	s.tables["scans"] = []map[string]any{object("at", 11_000, "rest", true, "processes", []any{})}
	return s
}

// told has a story judged.
func told(t *testing.T, s *story) Verdict {
	t.Helper()
	dir := t.TempDir()
	files := map[string][]map[string]any{"tasks/evidence": s.evidence, "history": s.history, "audit": s.audit}
	maps.Copy(files, s.tables)
	if err := os.Mkdir(filepath.Join(dir, "tasks"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, rows := range files {
		var b strings.Builder
		for _, r := range rows {
			text, err := json.Marshal(r)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&b, "%s\n", text)
		}
		if err := os.WriteFile(filepath.Join(dir, name+".jsonl"), []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	text, _ := json.Marshal(s.run)
	if err := os.WriteFile(filepath.Join(dir, "run.json"), text, 0o600); err != nil {
		t.Fatal(err)
	}
	w, err := read(dir)
	if err != nil {
		t.Fatal(err)
	}
	return w.judge()
}

func TestAGoodRunIsGood(t *testing.T) {
	t.Parallel()
	if v := told(t, good()); !v.Good {
		t.Errorf("violations %+v, short %v", v.Violations, v.Short)
	}
}

// claims gives slot 0 to master-1 and slot 1 to master-2, and has the instance, which has ended, claimed by who,
// within a second of its first claim, for a command of slot.
func (s *story) claims(slot int, who string) {
	value, _ := json.Marshal(object("epoch", 3, "owners", []int{0, 1},
		"members", []any{object("node", "master-1", "incarnation", "x"), object("node", "master-2", "incarnation", "x")}))
	s.tables["registry"] = append(s.tables["registry"], object("at", 1, "op", "put", "key", "/c/layout/commit", "value", string(value)))
	for i, by := range []string{"master-1", who} {
		at := int64(5000 + 500*i)
		command := object("id", 70+i, "kind", "start", "instance_id", 7, "slot", i*slot, "lent", 0)
		free := with(success, "owner", "", "layout_epoch", 0)
		s.write(at, by, "command", command, nil)
		s.write(at, by, "workflow_instance", free, with(free, "owner", by+":x", "owner_epoch", i+2, "layout_epoch", 3))
	}
}

func TestAClaimIsHeldAgainstItsOwnCommand(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		slot int
		who  string
		want bool
	}{"its slot": {1, "master-2", true}, "another's slot": {0, "master-2", false}} {
		s := good()
		s.claims(c.slot, c.who)
		v := told(t, s)
		if got := !slices.ContainsFunc(v.Violations, func(v Violation) bool { return v.Promise == "I10" }); got != c.want {
			t.Errorf("%s: I10 held %t, want %t: %+v", name, got, c.want, v.Violations)
		}
	}
}

func TestAnInstanceMayBeClaimedAndLetGoByOneCommitBeforeItBegins(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		what    string
		before  map[string]any
		promise string
	}{
		{"submitted", instanceRow, ""},
		{"paused already", with(instanceRow, "state", "paused"), "I06"},
		{"another epoch missed", with(instanceRow, "owner_epoch", -1), "I07"},
	} {
		s := good()
		before := with(c.before, "id", 8)
		s.write(5000, "apiserver-1", "workflow_instance", nil, with(instanceRow, "id", 8, "trigger_key", "m8"))
		s.write(5010, "master-1", "workflow_instance", before, with(before, "state", "paused", "round", 1, "owner_epoch", 1, "seq", 3))
		v := told(t, s)
		at := slices.IndexFunc(v.Violations, func(v Violation) bool { return v.Promise == "I06" || v.Promise == "I07" })
		switch {
		case c.promise == "" && at >= 0:
			t.Errorf("%s: %+v", c.what, v.Violations)
		case c.promise != "" && !slices.ContainsFunc(v.Violations, func(v Violation) bool { return v.Promise == c.promise }):
			t.Errorf("%s: %s is held: %+v", c.what, c.promise, v.Violations)
		}
	}
}

// handOver has the owner give the instance away, and another master write it.
func (s *story) handOver(next string) {
	given := with(running, "owner", "master-2:y", "owner_epoch", 2)
	s.write(1300, "master-1", "workflow_instance", running, given)
	s.write(1320, "master-2", "workflow_instance", given, given)
	s.write(1340, next, "workflow_instance", given, given)
}

func TestAnOwnerMayGiveAnInstanceAway(t *testing.T) {
	t.Parallel()
	for next, want := range map[string]bool{"master-2": true, "master-3": false} {
		s := good()
		s.handOver(next)
		v := told(t, s)
		if got := !slices.ContainsFunc(v.Violations, func(v Violation) bool { return v.Promise == "I08" }); got != want {
			t.Errorf("%s goes on: I08 held %t, want %t: %+v", next, got, want, v.Violations)
		}
	}
}

// layout adds a COMMIT that gives slot 0 to master-1 and slot 1 to master-2.
func (s *story) layout() {
	members := []any{object("node", "master-1", "incarnation", "x"), object("node", "master-2", "incarnation", "y")}
	for i, m := range members {
		text, _ := json.Marshal(m)
		s.tables["registry"] = append(s.tables["registry"], object("at", 1, "rev", i, "op", "put", "key", fmt.Sprintf("/porpoise/members/master/%d", i), "value", string(text)))
	}
	text, _ := json.Marshal(object("epoch", 1, "members", members, "owners", []int{0, 1}))
	s.tables["registry"] = append(s.tables["registry"], object("at", 1, "rev", 3, "op", "put", "key", "/porpoise/layout/commit", "value", string(text)))
}

// claimed adds a claim of instance 7, which nobody owns, by a command of a slot. SQLite's connections have no names.
func (s *story) claimed(owner string, slot int) {
	command := object("id", len(s.audit), "kind", "resume", "instance_id", 7, "slot", slot, "lent", 0)
	s.write(1400, node(owner), "command", command, nil)
	s.write(1400, node(owner), "workflow_instance", with(running, "owner", "", "layout_epoch", 1), with(running, "owner", owner, "owner_epoch", 2, "layout_epoch", 1))
}

func TestAClaimAnswersForItsOwnCommandOnly(t *testing.T) {
	t.Parallel()
	for slot, want := range []bool{false, true} {
		s := good()
		s.layout()
		s.claimed("master-1:x", 0)
		s.claimed("master-2:y", slot)
		v := told(t, s)
		if got := !slices.ContainsFunc(v.Violations, func(v Violation) bool { return v.Promise == "I10" }); got != want {
			t.Errorf("master-2 takes from slot %d: I10 held %t, want %t: %+v", slot, got, want, v.Violations)
		}
	}
}

func TestEachBrokenPromiseIsSeen(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		promise, what string
		spoil         func(s *story)
	}{
		{"I01", "two instances of one trigger", func(s *story) {
			s.write(5000, "apiserver-1", "workflow_instance", nil, with(instanceRow, "id", 8))
		}},
		{"I02", "an acked start that is not there", func(s *story) {
			s.history = append(s.history, with(s.history[0], "key", "k2", "instance", "99"))
		}},
		{"I02", "one key with two instances", func(s *story) {
			s.write(5000, "apiserver-1", "workflow_instance", nil, with(instanceRow, "id", 8, "trigger_key", "m8"))
			s.history = append(s.history, with(s.history[0], "instance", "8"))
		}},
		{"I03", "a refused start that made something", func(s *story) { s.history[0] = with(s.history[0], "outcome", "refused") }},
		{"I04", "a start command taken twice", func(s *story) {
			s.write(1001, "master-2", "command", object("id", 7, "kind", "start", "instance_id", 7), nil)
		}},
		{"I05", "a command that nobody takes", func(s *story) {
			s.write(940, "apiserver-1", "command", nil, object("id", 9, "kind", "start", "instance_id", 9))
			s.run["rested"] = 60_000
		}},
		{"I06", "a master that writes another's instance", func(s *story) {
			s.write(2000, "master-2", "workflow_instance", running, running)
		}},
		{"I06", "a task's row without its instance's", func(s *story) {
			s.write(2000, "master-2", "task_attempt", attemptRow(0, 1, "dispatched"), attemptRow(0, 1, "running"))
		}},
		{"I06", "more time from another master", func(s *story) { s.extend("master-2", attemptRow(0, 1, "dispatched")) }},
		{"I06", "a state by another connection", func(s *story) { s.extend("master-1", attemptRow(0, 1, "running")) }},
		{"I07", "a new owner with the old epoch", func(s *story) {
			s.write(2000, "master-2", "workflow_instance", running, with(running, "owner", "master-2:y"))
		}},
		{"I08", "two owners of one epoch", func(s *story) {
			s.write(2000, "master-1", "workflow_instance", running, with(running, "owner", "master-1:z"))
		}},
		{"I08", "a former owner that goes on in its successor's epoch", func(s *story) {
			next := with(running, "owner", "master-2:y", "owner_epoch", 2)
			s.write(2000, "master-1", "workflow_instance", running, next)
			s.write(2010, "master-2", "workflow_instance", next, with(next, "seq", 2))
			s.write(2020, "master-1", "workflow_instance", next, with(next, "seq", 3))
		}},
		{"I11", "an attempt that starts twice", func(s *story) { s.lives("a", 1, 2600, 2700, 0) }},
		{"I12", "two attempts side by side", func(s *story) {
			s.lives("a", 2, 2400, 2700, 0)
			s.tables["attempts"] = append(s.tables["attempts"], attemptRow(0, 2, "lost"))
		}},
		{"I12", "a lock that was taken", func(s *story) { s.evidence = append(s.evidence, with(s.evidence[0], "event", "overlap")) }},
		{"I13", "a gap in the numbers", func(s *story) { s.tables["attempts"] = append(s.tables["attempts"], attemptRow(0, 3, "lost")) }},
		{"I13", "more failures than retries", func(s *story) {
			for n := 2; n <= 4; n++ {
				s.tables["attempts"] = append(s.tables["attempts"], attemptRow(1, n, "failed"))
			}
		}},
		{"I14", "a task before its need", func(s *story) { s.evidence[2]["mono"] = 2_100_000_000 }},
		{"I15", "evidence that the database does not know", func(s *story) { s.lives("b", 2, 3600, 3700, 0) }},
		{"I16", "a success that failed", func(s *story) { s.evidence[3]["rc"] = 1 }},
		{"I16", "a failure of which the task says nothing", func(s *story) {
			s.tables["attempts"][1] = with(attemptRow(1, 1, "failed"), "reason", "exit_code", "exit_code", 2)
			s.evidence = s.evidence[:2]
		}},
		{"I16", "a failure that succeeded", func(s *story) { s.tables["attempts"][1]["state"] = "failed" }},
		{"I16", "a late success that failed", func(s *story) {
			s.evidence[3]["rc"] = 1
			s.tables["attempts"][1]["state"] = "lost"
			s.tables["tasks"][1] = with(s.tables["tasks"][1], "reason", "late_success")
		}},
		{"I17", "a success after a late one", func(s *story) {
			s.tables["attempts"][0]["state"] = "lost"
			s.tables["tasks"][0] = with(s.tables["tasks"][0], "reason", "late_success")
			s.lives("a", 2, 2600, 2700, 0)
			s.tables["attempts"] = append(s.tables["attempts"], attemptRow(0, 2, "success"))
		}},
		{"I17", "two successes", func(s *story) {
			s.lives("a", 2, 2600, 2700, 0)
			s.tables["attempts"] = append(s.tables["attempts"], attemptRow(0, 2, "success"))
		}},
		{"I18", "a retry that does not wait", func(s *story) {
			s.evidence[1]["rc"] = 1
			s.tables["attempts"][0] = with(attemptRow(0, 1, "failed"), "exit_code", 1)
			s.lives("a", 2, 2600, 2700, 0)
			s.tables["attempts"] = append(s.tables["attempts"], attemptRow(0, 2, "success"))
		}},
		{"I20", "life after a kill", func(s *story) {
			s.tables["attempts"][0]["state"] = "killed"
			s.evidence = append(s.evidence, with(s.evidence[1], "event", "tick", "wall", 6000, "mono", 6_000_000_000))
		}},
		{"I21", "a start while paused", func(s *story) {
			s.write(2900, "master-1", "workflow_instance", running, with(running, "state", "paused", "owner", ""))
		}},
		{"I22", "a final state that changes", func(s *story) {
			s.write(5000, "master-1", "workflow_instance", success, with(success, "state", "failed"))
		}},
		{"I23", "an arrow that is not there", func(s *story) {
			s.write(5000, "master-1", "task_attempt", attemptRow(0, 1, "running"), attemptRow(0, 1, "dispatched"))
		}},
		{"I24", "a success with a failed task", func(s *story) { s.tables["tasks"][0]["state"] = "failed" }},
		{"I26", "a gap in the events", func(s *story) { s.tables["events"][1]["seq"] = 3 }},
		{"I27", "a process at rest", func(s *story) {
			s.tables["scans"][0]["processes"] = []any{object("pid", 3, "instance", "7", "task", "a", "attempt", 1)}
		}},
		{"I28", "a process of an ended attempt", func(s *story) {
			s.tables["scans"] = append([]map[string]any{object("at", 9500, "processes", []any{object("pid", 3, "instance", "7", "task", "a", "attempt", 1)})}, s.tables["scans"]...)
		}},
		{"I30", "more than its slots", func(s *story) { s.run["slots"] = 0 }},
		{"I31", "two instances where one may run", func(s *story) {
			s.run["workflows"].([]any)[0].(map[string]any)["limit"] = 1
			for _, id := range []int{8, 9} {
				s.write(5000, "apiserver-1", "workflow_instance", nil, with(instanceRow, "id", id))
				s.write(5100, "master-1", "workflow_instance", with(instanceRow, "id", id), with(running, "id", id))
				s.tables["instances"] = append(s.tables["instances"], with(success, "id", id))
			}
		}},
		{"I31", "more tasks of a group than it has places", func(s *story) {
			s.run["workflows"].([]any)[0].(map[string]any)["tasks"].([]any)[0].(map[string]any)["group"] = "press"
			s.run["groups"] = object("press", 0)
		}},
		{"I25", "a child that its parent has not heard of", func(s *story) {
			s.tables["attempts"][0]["child_id"] = 8
			s.write(1500, "master-1", "workflow_instance", nil, with(instanceRow, "id", 8))
			s.tables["instances"] = append(s.tables["instances"], with(success, "id", 8, "parent_instance_id", 7, "parent_task", "a", "parent_attempt", 1, "state", "failed"))
		}},
		{"I25", "two children of one attempt", func(s *story) {
			s.tables["attempts"][0]["child_id"] = 8
			for _, id := range []int{8, 9} {
				s.tables["instances"] = append(s.tables["instances"], with(success, "id", id, "parent_instance_id", 7, "parent_task", "a", "parent_attempt", 1))
			}
		}},
		{"I36", "another version", func(s *story) {
			s.write(2000, "master-1", "workflow_instance", running, with(running, "version", 2))
		}},
		{"I41", "a wish without an answer", func(s *story) {
			for at := int64(9_000); at < 60_000; at += 10_000 {
				s.history = append(s.history, object("verb", "start", "key", "k2", "workflow", "two", "begin", at, "end", at+10, "outcome", "unknown"))
			}
		}},
		{"I41", "no rest", func(s *story) { s.run["rest"] = "1 instance is not final" }},
		{"I43", "a takeover without a fault", func(s *story) {
			s.write(2000, "master-2", "workflow_instance", running, with(running, "owner", "master-2:y", "owner_epoch", 2))
		}},
	} {
		t.Run(c.promise+" "+c.what, func(t *testing.T) {
			t.Parallel()
			s := good()
			c.spoil(s)
			v := told(t, s)
			for _, found := range v.Violations {
				if found.Promise == c.promise {
					return
				}
			}
			t.Errorf("not seen; seen are %+v", v.Violations)
		})
	}
}

func TestAPanicIsSeenUnlessItWasAskedFor(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"panic: failpoint task.insert.before":                                          true,
		`[ERROR] engine: instance made the engine panic: panic="failpoint kill.send"`:  true,
		"panic: runtime error: index out of range":                                     false,
		`[ERROR] engine: instance made the engine panic: panic="runtime error: index"`: false,
	} {
		dir := t.TempDir()
		if err := os.Mkdir(filepath.Join(dir, "logs"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "logs", "master-1.log"), []byte("it begins\n"+text+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		r := &report{world: newWorld(dir), id: "I42", notes: map[string]int{}}
		noPanic(r)
		if got := len(r.found) == 0; got != want || r.looked == 0 {
			t.Errorf("%q: held %t, want %t", text, got, want)
		}
	}
}

func TestARunnerThatDiesAtAFailpointTakesACodeWithIt(t *testing.T) {
	t.Parallel()
	for points, want := range map[string]bool{"shim.exitrec.before=panic@4!": true, "": false} {
		s := good()
		s.run["failpoints"] = points
		s.evidence[3]["rc"] = 3
		s.tables["attempts"][1] = with(attemptRow(1, 1, "failed"), "reason", "runner_lost")
		v := told(t, s)
		if got := !slices.ContainsFunc(v.Violations, func(v Violation) bool { return v.Promise == "I16" }); got != want {
			t.Errorf("failpoints %q: I16 held %t, want %t: %+v", points, got, want, v.Violations)
		}
	}
}

func TestARunOfTooLittleCountsForNothing(t *testing.T) {
	t.Parallel()
	s := good()
	s.run["least_rate"] = 5
	s.run["classes"], s.run["quota"] = []string{"kill.master"}, 1
	if v := told(t, s); v.Good || len(v.Short) != 2 {
		t.Errorf("good %t, short %v", v.Good, v.Short)
	}
}

func TestTheJudgeSharesNothingWithTheProduct(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range files {
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, spec := range f.Imports {
			if strings.Contains(spec.Path.Value, ".") {
				t.Errorf("%s imports %s: the judge knows only the standard library", path, spec.Path.Value)
			}
		}
	}
}
