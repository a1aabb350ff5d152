package interval_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/porpoise/porpoise/dag/interval"
)

// base is what the asking instance is about: a Wednesday.
const base = "2024-03-13 04:10:00"

func on(t testing.TB, text string) time.Time {
	t.Helper()
	return moment(t, text, "Europe/Berlin")
}

// scheduled is a run of a schedule, submitted when it was due.
func scheduled(t testing.TB, id int64, when string, o interval.Outcome) interval.Run {
	t.Helper()
	at := on(t, when)
	return interval.Run{ID: id, ScheduleTime: at, SubmittedAt: at, State: state(o), Outcome: o}
}

func manual(t testing.TB, id int64, when string, o interval.Outcome) interval.Run {
	t.Helper()
	return interval.Run{ID: id, SubmittedAt: on(t, when), State: state(o), Outcome: o}
}

func late(r interval.Run, t testing.TB, when string) interval.Run {
	t.Helper()
	r.SubmittedAt = on(t, when)
	return r
}

func state(o interval.Outcome) string {
	switch o {
	case interval.OutcomeSuccess:
		return "success"
	case interval.OutcomeFailure:
		return "failed"
	case interval.OutcomeOpen, interval.OutcomeAbsent:
	}
	return "running"
}

const (
	ok   = interval.OutcomeSuccess
	bad  = interval.OutcomeFailure
	open = interval.OutcomeOpen
	none = interval.OutcomeAbsent
)

func TestJudgeTellsWhatAnItemWaitsFor(t *testing.T) {
	t.Parallel()
	flow := interval.Item{Project: "shop", Workflow: "load", Date: "today"}
	with := func(task, date string, once bool) interval.Item {
		i := flow
		i.Task, i.Date, i.Once = task, date, once
		return i
	}
	tests := []struct {
		name  string
		item  interval.Item
		facts interval.Facts
		want  interval.Verdict
		code  string
		text  string
	}{
		{
			"no run yet", flow,
			interval.Facts{},
			interval.Waiting, interval.CodeMissing,
			"shop/load has no run on 2024-03-13",
		},
		{
			"a run of another day", flow,
			interval.Facts{Runs: []interval.Run{scheduled(t, 1, "2024-03-12 02:00:00", ok)}},
			interval.Waiting, interval.CodeMissing, "shop/load has no run on 2024-03-13",
		},
		{
			"a run that goes on", flow,
			interval.Facts{Runs: []interval.Run{scheduled(t, 1, "2024-03-13 02:00:00", open)}},
			interval.Waiting, interval.CodeOpen, "shop/load in instance 1 on 2024-03-13 has not ended: it is running",
		},
		{
			"a success", flow,
			interval.Facts{Runs: []interval.Run{scheduled(t, 1, "2024-03-13 02:00:00", ok)}},
			interval.Success, interval.CodeSatisfied, "shop/load has succeeded for today",
		},
		{
			"a failure of a task", with("extract", "today", false),
			interval.Facts{Runs: []interval.Run{scheduled(t, 7, "2024-03-13 02:00:00", bad)}},
			interval.Failed, interval.CodeFailure, "task extract of shop/load in instance 7 on 2024-03-13 ended as failed",
		},
		{
			// DolphinScheduler took the one that ended last (#15807, #10936).
			"the later schedule time counts, whatever ended last", flow,
			interval.Facts{Runs: []interval.Run{scheduled(t, 2, "2024-03-13 04:00:00", bad), scheduled(t, 1, "2024-03-13 02:00:00", ok)}},
			interval.Failed, interval.CodeFailure, "instance 2",
		},
		{
			"a repetition of one schedule time counts", flow,
			interval.Facts{Runs: []interval.Run{late(scheduled(t, 3, "2024-03-13 02:00:00", ok), t, "2024-03-14 09:00:00"), scheduled(t, 4, "2024-03-13 02:00:00", bad)}},
			interval.Success, interval.CodeSatisfied, "",
		},
		{
			"a later manual run counts before the schedule's", flow,
			interval.Facts{Runs: []interval.Run{scheduled(t, 9, "2024-03-13 02:00:00", bad), manual(t, 5, "2024-03-13 03:00:00", ok)}},
			interval.Success, interval.CodeSatisfied, "",
		},
		{
			"an earlier manual run does not", flow,
			interval.Facts{Runs: []interval.Run{scheduled(t, 5, "2024-03-13 02:00:00", bad), manual(t, 9, "2024-03-13 01:00:00", ok)}},
			interval.Failed, interval.CodeFailure, "instance 5",
		},
		{
			"of two at the same moment the larger id", flow,
			interval.Facts{Runs: []interval.Run{manual(t, 5, "2024-03-13 01:00:00", bad), manual(t, 6, "2024-03-13 01:00:00", ok)}},
			interval.Success, interval.CodeSatisfied, "",
		},
		{
			"a backfill is of the day it is about", with("", "last1Days", false),
			interval.Facts{Runs: []interval.Run{late(scheduled(t, 3, "2024-03-12 02:00:00", ok), t, "2024-05-01 09:00:00")}},
			interval.Success, interval.CodeSatisfied, "",
		},
		{
			"dry runs count for nothing", flow,
			interval.Facts{Runs: []interval.Run{{ID: 1, SubmittedAt: on(t, "2024-03-13 03:00:00"), Outcome: ok, DryRun: true}}},
			interval.Waiting, interval.CodeMissing, "",
		},
		{
			"a partial run is not the workflow", flow,
			interval.Facts{Runs: []interval.Run{{ID: 1, SubmittedAt: on(t, "2024-03-13 03:00:00"), Outcome: ok, Partial: true}}},
			interval.Waiting, interval.CodeMissing, "",
		},
		{
			"a partial run is its tasks", with("extract", "today", false),
			interval.Facts{Runs: []interval.Run{{ID: 1, SubmittedAt: on(t, "2024-03-13 03:00:00"), Outcome: ok, Partial: true}}},
			interval.Success, interval.CodeSatisfied, "",
		},
		{
			"a run without the task hides none", with("extract", "today", false),
			interval.Facts{Runs: []interval.Run{scheduled(t, 1, "2024-03-13 02:00:00", ok), manual(t, 2, "2024-03-13 03:00:00", none)}},
			interval.Success, interval.CodeSatisfied, "",
		},
		{
			"every day of a week must have one", with("", "thisWeek", false),
			interval.Facts{Runs: []interval.Run{scheduled(t, 1, "2024-03-11 02:00:00", ok), scheduled(t, 3, "2024-03-13 02:00:00", ok)}},
			interval.Waiting, interval.CodeMissing, "shop/load has no run on 2024-03-12; 2 of 3 intervals of thisWeek have succeeded",
		},
		{
			"a failure says more than a gap", with("", "last3Days", false),
			interval.Facts{Runs: []interval.Run{scheduled(t, 2, "2024-03-12 02:00:00", bad)}},
			interval.Failed, interval.CodeFailure, "instance 2 on 2024-03-12 ended as failed; 0 of 3 intervals",
		},
		{
			"once in the week is enough where that is asked", with("", "thisWeek", true),
			interval.Facts{Runs: []interval.Run{scheduled(t, 1, "2024-03-11 02:00:00", ok), scheduled(t, 2, "2024-03-12 02:00:00", bad)}},
			interval.Success, interval.CodeSatisfied, "",
		},
		{
			"once, and it goes on", with("", "thisMonth", true),
			interval.Facts{Runs: []interval.Run{scheduled(t, 1, "2024-03-02 02:00:00", open)}},
			interval.Waiting, interval.CodeOpen, "instance 1 from 2024-03-01 00:00 CET to 2024-03-14 00:00 CET has not ended",
		},
		{
			"once, and it failed", with("", "thisMonth", true),
			interval.Facts{Runs: []interval.Run{scheduled(t, 1, "2024-03-02 02:00:00", bad)}},
			interval.Failed, interval.CodeFailure, "",
		},
		{"once, and none", with("", "thisMonth", true), interval.Facts{}, interval.Waiting, interval.CodeMissing, ""},
		{
			"the first run of a workflow that needs its own yesterday", with("", "last1Days", false),
			interval.Facts{Own: 8, First: true},
			interval.Success, interval.CodeFirstRun, "first run",
		},
		{
			"a later one waits for its own yesterday", with("", "last1Days", false),
			interval.Facts{Own: 8, Runs: []interval.Run{scheduled(t, 8, base, open)}},
			interval.Waiting, interval.CodeMissing, "on 2024-03-12",
		},
		{
			"no run waits for itself", with("", "thisWeek", false),
			interval.Facts{Own: 8, Runs: []interval.Run{scheduled(t, 1, "2024-03-11 02:00:00", ok), scheduled(t, 2, "2024-03-12 02:00:00", ok), scheduled(t, 8, base, open)}},
			interval.Success, interval.CodeSatisfied, "",
		},
		{
			"but for another run of its own day", flow,
			interval.Facts{Own: 8, Runs: []interval.Run{scheduled(t, 7, "2024-03-13 01:00:00", open), scheduled(t, 8, base, open)}},
			interval.Waiting, interval.CodeOpen, "instance 7",
		},
		{
			"a workflow that is not there cannot come", flow,
			interval.Facts{Gone: interval.GoneWorkflow},
			interval.Failed, interval.CodeGone, "shop/load cannot come: there is no such workflow",
		},
		{
			"a date that is none", with("", "someday", false),
			interval.Facts{},
			interval.Failed, interval.CodeValue, `"someday" is not a date value`,
		},
	}
	for _, tt := range tests {
		got := interval.Judge(tt.item, on(t, base), tt.facts)
		if got.Verdict != tt.want || got.Code != tt.code || !strings.Contains(got.Text, tt.text) {
			t.Errorf("%s: %s, %s, %q; want %s, %s, %q", tt.name, got.Verdict, got.Code, got.Text, tt.want, tt.code, tt.text)
		}
		if got.Args["workflow"] != "load" || got.Args["project"] != "shop" || got.Args["date"] != tt.item.Date || got.Args["task"] != tt.item.Task {
			t.Errorf("%s: args %v do not name the item", tt.name, got.Args)
		}
	}
}

func TestFindingsNameIntervalsAndInstances(t *testing.T) {
	t.Parallel()
	item := interval.Item{Project: "shop", Workflow: "load", Date: "last7Days"}
	f := interval.Judge(item, on(t, base), interval.Facts{Runs: []interval.Run{
		scheduled(t, 31, "2024-03-06 02:00:00", ok), scheduled(t, 32, "2024-03-07 02:00:00", ok), scheduled(t, 33, "2024-03-08 02:00:00", bad),
	}})
	want := map[string]string{
		"project": "shop", "workflow": "load", "date": "last7Days", "instance": "33", "state": "failed", "intervals": "7", "succeeded": "2",
		"from": "2024-03-07T23:00:00.000Z", "to": "2024-03-08T23:00:00.000Z",
	}
	for name, value := range want {
		if f.Args[name] != value {
			t.Errorf("arg %s is %q, want %q", name, f.Args[name], value)
		}
	}
	if len(f.Causes) != 5 || f.Causes[0].Args["succeeded"] != "" || f.Causes[1].Code != interval.CodeMissing {
		t.Errorf("causes are %+v", f.Causes)
	}
	if !slices.Equal(f.Runs, []int64{31, 32}) {
		t.Errorf("the runs that count are %v", f.Runs)
	}
	f = interval.Judge(interval.Item{Project: "shop", Workflow: "load", Date: "last24Hours"}, on(t, base), interval.Facts{})
	if len(f.Causes) != 11 || f.Causes[10].Code != interval.CodeMore || f.Causes[10].Args["count"] != "14" {
		t.Errorf("24 missing hours have %d causes, the last %+v", len(f.Causes), f.Causes[len(f.Causes)-1])
	}
	if want := "shop/load has no run from 2024-03-12 01:00 CET to 2024-03-12 02:00 CET; 0 of 24 intervals of last24Hours have succeeded"; f.Text != want {
		t.Errorf("text is %q, want %q", f.Text, want)
	}
}

// TestMoreRunsOfOtherTimesChangeNothing: what lies outside the intervals may be given, in
// any order.
func TestMoreRunsOfOtherTimesChangeNothing(t *testing.T) {
	t.Parallel()
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 2))
	outcomes := []interval.Outcome{ok, ok, bad, open, none}
	for range 2000 {
		at := on(t, base).Add(time.Duration(random.IntN(365*24)) * time.Hour)
		item := interval.Item{Workflow: "w", Date: interval.Names()[random.IntN(len(interval.Names()))], Once: random.IntN(4) == 0, Task: []string{"", "a"}[random.IntN(2)]}
		span, _ := interval.Span(item.Date, at)
		var all, within []interval.Run
		for id := range int64(random.IntN(40)) {
			when := span.From.Add(time.Duration(random.Int64N(int64(3*span.To.Sub(span.From)))) - span.To.Sub(span.From))
			r := interval.Run{ID: id + 1, SubmittedAt: when, State: "s", Outcome: outcomes[random.IntN(len(outcomes))]}
			if random.IntN(2) == 0 {
				r.ScheduleTime, r.SubmittedAt = when, when.Add(time.Duration(random.IntN(100))*time.Hour)
			}
			all = append(all, r)
			if span.Holds(when) {
				within = append(within, r)
			}
		}
		want := interval.Judge(item, at, interval.Facts{Runs: within})
		random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		got := interval.Judge(item, at, interval.Facts{Runs: all})
		if got.Verdict != want.Verdict || got.Text != want.Text || !slices.Equal(got.Runs, want.Runs) {
			t.Fatalf("%+v at %v: %s (%s) with the runs inside, %s (%s) with more", item, at, want.Verdict, want.Text, got.Verdict, got.Text)
		}
		if got.Verdict == interval.Success && len(got.Runs) == 0 {
			t.Fatalf("%+v at %v succeeded by no run", item, at)
		}
	}
}

func BenchmarkJudgeAMonth(b *testing.B) {
	at := on(b, "2024-03-31 04:00:00")
	var runs []interval.Run
	for k := range 31 * 24 {
		r := scheduled(b, int64(k+1), "2024-03-01 00:30:00", ok)
		r.ScheduleTime = r.ScheduleTime.Add(time.Duration(k) * time.Hour)
		runs = append(runs, r)
	}
	item := interval.Item{Project: "p", Workflow: "w", Date: "thisMonth"}
	for b.Loop() {
		if f := interval.Judge(item, at, interval.Facts{Runs: runs}); f.Verdict != interval.Success {
			b.Fatal(f.Text)
		}
	}
}
