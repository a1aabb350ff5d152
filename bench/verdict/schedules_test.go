package main

import (
	"slices"
	"strings"
	"testing"
)

func fireRow(source, at int64, state string, instance, after int64) map[string]any {
	open := 0
	if state == "planned" || state == "waiting" {
		open = 1
	}
	return object("source_id", source, "planned_at", at, "due_at", at, "revision", 1, "open", open, "state", state, "reason", "", "instance_id", instance,
		"fired_at", at+5, "after_id", after)
}

// fire plans a fire and brings it to its outcome.
func (s *story) fire(source, at int64, state string, instance, after int64) {
	open, done := fireRow(source, at, "planned", 0, after), fireRow(source, at, state, instance, after)
	s.write(1600, "master-1", "fire", nil, open)
	if state != "planned" {
		s.write(at+5, "master-1", "fire", open, done)
	}
	s.tables["fires"] = append(s.tables["fires"], done)
}

// began adds an instance that a schedule started and that has ended.
func (s *story) began(id, workflow, at int64, key string) {
	row := object("id", id, "workflow_id", workflow, "version", 1, "state", "submitted", "owner", "", "owner_epoch", 0, "seq", 0, "schedule_time", at, "trigger_key", key)
	s.write(at+5, "master-1", "workflow_instance", nil, row)
	s.write(at+100, "master-1", "workflow_instance", row, with(row, "state", "success"))
	s.tables["instances"] = append(s.tables["instances"], with(row, "state", "success"))
}

// scheduled is a good story with a schedule of each second, which is paused at 4500, and one of the ends of what it starts.
func scheduled() *story {
	s := good()
	s.run["workflows"] = append(s.run["workflows"].([]any), object("name", "ticked"), object("name", "followed"))
	s.run["schedules"] = []any{object("name", "tick", "workflow", "ticked", "every_ms", 1000, "overlap", "skip"), object("name", "then", "workflow", "followed", "after", "ticked")}
	s.tables["workflows"] = append(s.tables["workflows"], object("id", 2, "name", "ticked"), object("id", 3, "name", "followed"))
	tick := object("id", 50, "workflow_id", 2, "name", "tick", "revision", 1, "enabled", 1, "planned_until", 1500, "created_at", 1500, "changed_at", 1500)
	then := with(tick, "id", 51, "workflow_id", 3, "name", "then")
	s.write(1500, "apiserver-1", "schedule", nil, tick)
	s.write(1500, "apiserver-1", "schedule", nil, then)
	s.write(1600, "master-1", "schedule", tick, with(tick, "planned_until", 9000))
	s.fire(50, 2000, "fired", 60, 0)
	s.began(60, 2, 2000, "s50")
	s.fire(51, 2101, "fired", 61, 60)
	s.began(61, 3, 2000, "s51:60")
	s.fire(50, 3000, "skipped", 0, 0)
	s.fire(50, 4000, "fired", 62, 0)
	s.began(62, 2, 4000, "s50")
	s.fire(51, 4101, "fired", 63, 62)
	s.began(63, 3, 4000, "s51:62")
	off := with(tick, "planned_until", 4500, "revision", 2, "enabled", 0, "changed_at", 4500)
	s.write(4500, "apiserver-1", "schedule", with(tick, "planned_until", 9000), off)
	s.tables["schedules"] = []map[string]any{off, then}
	return s
}

// spoil changes one row of the fires at rest, by its schedule and moment.
func (s *story) spoil(source, at int64, pairs ...any) {
	for i, f := range s.tables["fires"] {
		if f["source_id"] == source && f["planned_at"] == at {
			s.tables["fires"][i] = with(f, pairs...)
		}
	}
}

func TestEachBrokenLedgerIsSeen(t *testing.T) {
	t.Parallel()
	about := func(v Verdict) (all []Violation) {
		for _, x := range v.Violations {
			if slices.Contains([]string{"I01", "I03", "I33", "I34", "I35"}, x.Promise) {
				all = append(all, x)
			}
		}
		return all
	}
	v := told(t, scheduled())
	if list := about(v); len(list) > 0 || !slices.Contains(v.Held, "I33") || !slices.Contains(v.Held, "I34") || !slices.Contains(v.Held, "I35") {
		t.Errorf("a good ledger: %+v, held %v", list, v.Held)
	}
	for _, c := range []struct {
		promise, want string
		spoil         func(s *story)
	}{
		{"I33", "goes back", func(s *story) {
			row := object("id", 50, "workflow_id", 2, "name", "tick", "revision", 1, "enabled", 1, "planned_until", 9000)
			s.write(1700, "master-2", "schedule", row, with(row, "planned_until", 8000))
		}},
		{"I34", "is planned at rest", func(s *story) { s.spoil(50, 4000, "open", 1, "state", "planned") }},
		{"I34", "have one instance, 60", func(s *story) { s.spoil(50, 4000, "instance_id", 60) }},
		{"I34", "made 0 times", func(s *story) { s.spoil(50, 4000, "instance_id", 99) }},
		{"I34", "which is not about it", func(s *story) { s.spoil(50, 4000, "instance_id", 61) }},
		{"I34", "is skipped, and has instance 62", func(s *story) { s.spoil(50, 4000, "state", "skipped") }},
		{"I34", "40000 ms late", func(s *story) { s.run["rested"] = 60_000; s.spoil(50, 4000, "fired_at", 44_000) }},
		{"I34", "had its outcome and got another", func(s *story) {
			s.write(4600, "master-2", "fire", fireRow(50, 3000, "skipped", 0, 0), fireRow(50, 3000, "missed", 0, 0))
		}},
		{"I34", "has no fire of 3000", func(s *story) {
			s.tables["fires"] = slices.DeleteFunc(s.tables["fires"], func(f map[string]any) bool { return f["planned_at"] == int64(3000) })
		}},
		{"I34", "has a fire of 3500, which is no moment of it", func(s *story) { s.fire(50, 3500, "skipped", 0, 0) }},
		{"I34", "has a fire of 5000, which is no moment of it", func(s *story) { s.fire(50, 5000, "skipped", 0, 0) }},
		{"I34", "has a fire of 1000, which is no moment of it", func(s *story) { s.fire(50, 1000, "skipped", 0, 0) }},
		{"I34", "instance 70 was started by schedule 50 (tick), which has no fire of it", func(s *story) { s.began(70, 2, 2500, "s50") }},
		{"I34", "instance 71 began before the one before it had ended", func(s *story) {
			for _, id := range []int64{70, 71} {
				s.write(4700, "master-1", "workflow_instance", nil, object("id", id, "workflow_id", 2, "state", "submitted", "schedule_time", 4000+id, "trigger_key", "s50"))
			}
		}},
		{"I34", "has no fire of the end of instance 62", func(s *story) {
			s.tables["fires"] = slices.DeleteFunc(s.tables["fires"], func(f map[string]any) bool { return f["after_id"] == int64(62) })
		}},
		{"I34", "has two fires of the end of instance 62", func(s *story) { s.fire(51, 4102, "skipped", 0, 62) }},
		{"I34", "which is none of ticked", func(s *story) { s.fire(51, 4103, "skipped", 0, 63) }},
		{"I34", "1 of the 2 schedules are there", func(s *story) { s.tables["schedules"] = s.tables["schedules"][:1] }},
		{"I35", "after that", func(s *story) {
			s.write(4600, "master-1", "fire", fireRow(50, 4000, "planned", 0, 0), fireRow(50, 4000, "fired", 62, 0))
		}},
	} {
		s := scheduled()
		c.spoil(s)
		list := about(told(t, s))
		if !slices.ContainsFunc(list, func(v Violation) bool { return v.Promise == c.promise && strings.Contains(v.Text, c.want) }) {
			t.Errorf("%s %q is not told: %+v", c.promise, c.want, list)
		}
	}
}

func TestWhoMakesAnInstanceMayMarkIt(t *testing.T) {
	t.Parallel()
	made := with(instanceRow, "id", 80, "trigger_key", "s50")
	for name, c := range map[string]struct {
		who   string
		after map[string]any
		want  bool
	}{
		"a mark of its maker":     {"master-1", made, true},
		"a mark of somebody else": {"master-2", made, false},
		"a state by its maker":    {"master-1", with(made, "state", "stopping"), false},
	} {
		s := good()
		s.write(5000, "master-1", "workflow_instance", nil, made)
		s.write(5000, c.who, "workflow_instance", made, c.after)
		v := told(t, s)
		if got := !slices.ContainsFunc(v.Violations, func(v Violation) bool { return v.Promise == "I06" }); got != c.want {
			t.Errorf("%s: I06 held %t, want %t: %+v", name, got, c.want, v.Violations)
		}
	}
}
