package interval

import (
	"fmt"
	"slices"
	"strconv"
	"time"
)

// Verdict is what an item, a group or a whole dependency comes to.
type Verdict string

// The verdicts.
const (
	Success Verdict = "success"
	Failed  Verdict = "failed"
	Waiting Verdict = "waiting"
)

// Outcome is what became of that in one run which an item names: the workflow, or the task.
type Outcome string

// The outcomes. A task that is retried is open; one that was skipped, disabled or forced to
// succeed is a success, as it is for the tasks below it.
const (
	OutcomeOpen    Outcome = "open"    // it may still change without anybody's help
	OutcomeSuccess Outcome = "success" // it ended well
	OutcomeFailure Outcome = "failure" // it ended otherwise: failed, killed, stopped, quarantined
	OutcomeAbsent  Outcome = "absent"  // the run does not have this task, or left it out
)

// Run is one instance of the workflow that an item names.
type Run struct {
	ID           int64
	ScheduleTime time.Time // the zero time where it was started by hand
	SubmittedAt  time.Time
	State        string // the state's word, for people
	Outcome      Outcome
	DryRun       bool // it ran nothing
	Partial      bool // it left tasks out from the start
}

// moment is what a run is about.
func (r *Run) moment() time.Time {
	if r.ScheduleTime.IsZero() {
		return r.SubmittedAt
	}
	return r.ScheduleTime
}

// Item is one thing that a dependency asks for: that a workflow, or a task of it, has
// succeeded in every interval of a date value.
type Item struct {
	Project  string
	Workflow string
	Task     string // "" is the workflow as a whole
	Date     string
	// Once asks for one success anywhere from the first interval to the last, and not for
	// one in each. A workflow that runs once a week never passes "thisWeek" otherwise.
	Once bool
}

// Facts is what is known of an item at one time.
type Facts struct {
	// Gone is what the item names and is not there; "" where everything is.
	Gone Gone
	// Runs are the instances whose moment lies in the item's intervals: the schedule time,
	// or where there is none the time when it was submitted. More of them do no harm.
	Runs []Run
	// Own is the instance that asks, where the item names its own workflow; else 0.
	Own int64
	// First says that the workflow has no run of an earlier moment than that of Own.
	First bool
}

// Gone is a thing that an item names and that does not exist.
type Gone string

// What may not exist.
const (
	GoneProject  Gone = "project"
	GoneWorkflow Gone = "workflow"
	GoneTask     Gone = "task"
)

// The codes of findings.
const (
	CodeSatisfied = "dependency_satisfied"   // all that was asked for has succeeded
	CodeFirstRun  = "dependency_first_run"   // the first run of a workflow that depends on itself
	CodeMissing   = "dependency_missing"     // no run yet in an interval
	CodeOpen      = "dependency_running"     // the run that counts has not ended
	CodeFailure   = "dependency_failed"      // the run that counts has failed
	CodeGone      = "dependency_gone"        // what is named does not exist
	CodeValue     = "dependency_date"        // the date value is not known
	CodeAll       = "dependency_all"         // a group of which all must succeed
	CodeAny       = "dependency_any"         // a group of which one must succeed
	CodeHeld      = "dependency_failed_wait" // failed, and on_failure is wait
	CodeMore      = "more"                   // causes that are only counted
)

// Finding is a verdict with its reason: Text is a sentence for people, Code and Args say the
// same for programs. Causes are what it rests on. Runs are the instances whose success
// counts, the earliest interval first: what they put out may be passed on.
type Finding struct {
	Verdict Verdict
	Code    string
	Args    map[string]string
	Text    string
	Causes  []Finding
	Runs    []int64
}

// maxCauses is how many causes one finding lists; the rest is only counted, because a month
// of missing hours helps nobody.
const maxCauses = 10

// Judge says whether what an item asks for has come. at is the moment that the asking
// instance is about, in the location of its schedule.
//
// In each interval one run counts: of the scheduled ones that of the latest schedule time,
// of those started by hand the newest, and of these two the one submitted later (as in
// DolphinScheduler 3.2.2, by the time of submission and not by an id or an end). Dry runs
// count for nothing, a partial run only for its tasks. A failure in any interval is a
// failure, even where another interval still waits.
//
// A workflow that depends on itself has its first run without; and an interval in which the
// asking run is the only one asks for nothing, because it would wait for itself.
func Judge(item Item, at time.Time, facts Facts) Finding {
	intervals, err := Of(item.Date, at)
	switch {
	case err != nil:
		return item.finding(Failed, CodeValue, err.Error())
	case facts.Gone != "":
		f := item.finding(Failed, CodeGone, fmt.Sprintf("%s cannot come: there is no such %s", item.what(), facts.Gone))
		f.Args["gone"] = string(facts.Gone)
		return f
	case facts.Own != 0 && facts.First:
		return item.finding(Success, CodeFirstRun, "this is the workflow's first run, so there is no earlier one to wait for")
	}
	runs := make([]*Run, 0, len(facts.Runs))
	for k := range facts.Runs {
		if r := &facts.Runs[k]; !r.DryRun && r.Outcome != OutcomeAbsent && (!r.Partial || item.Task != "") {
			runs = append(runs, r)
		}
	}
	if item.Once {
		return item.once(intervals, runs, facts.Own)
	}
	return item.each(intervals, runs, facts.Own)
}

// each wants a success in every interval.
func (item Item) each(intervals []Interval, runs []*Run, own int64) Finding {
	var open, failed []Finding
	var succeeded int
	var counted []int64
	held := hold(intervals, runs)
	for k, i := range intervals {
		others := without(own, held[k])
		switch run := counting(others); {
		case run == nil && len(held[k]) > 0: // only the one that asks
			succeeded++
		case run == nil:
			open = append(open, item.missing(i))
		case run.Outcome == OutcomeSuccess:
			succeeded++
			counted = append(counted, run.ID)
		case run.Outcome == OutcomeFailure:
			failed = append(failed, item.ended(i, run))
		default:
			open = append(open, item.running(i, run))
		}
	}
	f := item.sum(open, failed)
	f.Runs = counted
	f.Args["intervals"], f.Args["succeeded"] = strconv.Itoa(len(intervals)), strconv.Itoa(succeeded)
	if f.Verdict != Success && len(intervals) > 1 {
		f.Text += fmt.Sprintf("; %d of %d intervals of %s have succeeded", succeeded, len(intervals), item.Date)
	}
	return f
}

// once wants one success between the first interval's begin and the last one's end.
func (item Item) once(intervals []Interval, runs []*Run, own int64) Finding {
	span := spanOf(intervals)
	within := without(own, hold([]Interval{span}, runs)[0])
	successes := slices.DeleteFunc(slices.Clone(within), func(r *Run) bool { return r.Outcome != OutcomeSuccess })
	switch run, succeeded := counting(within), counting(successes); {
	case succeeded != nil:
		f := item.sum(nil, nil)
		f.Runs = []int64{succeeded.ID}
		return f
	case run == nil:
		return item.sum([]Finding{item.missing(span)}, nil)
	case run.Outcome == OutcomeFailure:
		return item.sum(nil, []Finding{item.ended(span, run)})
	default:
		return item.sum([]Finding{item.running(span, run)}, nil)
	}
}

// hold returns the runs whose moment each interval holds.
func hold(intervals []Interval, runs []*Run) [][]*Run {
	held := make([][]*Run, len(intervals))
	for _, r := range runs {
		at := r.moment()
		i, _ := slices.BinarySearchFunc(intervals, at, func(i Interval, at time.Time) int {
			if i.To.After(at) {
				return 1
			}
			return -1
		})
		if i < len(intervals) && intervals[i].Holds(at) {
			held[i] = append(held[i], r)
		}
	}
	return held
}

// without returns the runs but for the asking one.
func without(own int64, runs []*Run) []*Run {
	return slices.DeleteFunc(slices.Clone(runs), func(r *Run) bool { return own != 0 && r.ID == own })
}

// counting returns the run that counts, nil where there is none.
func counting(runs []*Run) *Run {
	var scheduled, manual *Run
	for _, r := range runs {
		of := &scheduled
		if r.ScheduleTime.IsZero() {
			of = &manual
		}
		if *of == nil || r.moment().After((*of).moment()) || r.moment().Equal((*of).moment()) && r.newerThan(*of) {
			*of = r
		}
	}
	if scheduled == nil || manual != nil && manual.newerThan(scheduled) {
		return manual
	}
	return scheduled
}

// newerThan orders runs by their submission. Ids are handed out in blocks, so that they only
// settle what is equal otherwise.
func (r *Run) newerThan(o *Run) bool {
	if c := r.SubmittedAt.Compare(o.SubmittedAt); c != 0 {
		return c > 0
	}
	return r.ID > o.ID
}
