package interval

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"
)

// momentForm is how args write a moment: RFC 3339 in UTC with milliseconds.
const momentForm = "2006-01-02T15:04:05.000Z07:00"

// what names an item in a sentence.
func (item Item) what() string {
	if item.Task != "" {
		return fmt.Sprintf("task %s of %s/%s", item.Task, item.Project, item.Workflow)
	}
	return fmt.Sprintf("%s/%s", item.Project, item.Workflow)
}

// finding begins a finding about an item.
func (item Item) finding(v Verdict, code, text string) Finding {
	args := map[string]string{"project": item.Project, "workflow": item.Workflow, "date": item.Date}
	if item.Task != "" {
		args["task"] = item.Task
	}
	return Finding{Verdict: v, Code: code, Args: args, Text: text}
}

// at is a finding about one interval.
func (item Item) at(v Verdict, code string, i Interval, text string) Finding {
	f := item.finding(v, code, text)
	f.Args["from"], f.Args["to"] = i.From.UTC().Format(momentForm), i.To.UTC().Format(momentForm)
	return f
}

func (item Item) missing(i Interval) Finding {
	return item.at(Waiting, CodeMissing, i, fmt.Sprintf("%s has no run %s", item.what(), i.words()))
}

func (item Item) running(i Interval, r *Run) Finding {
	return item.of(Waiting, CodeOpen, i, r, "has not ended: it is "+r.State)
}

func (item Item) ended(i Interval, r *Run) Finding {
	return item.of(Failed, CodeFailure, i, r, "ended as "+r.State)
}

// of is a finding about the run that counts in an interval.
func (item Item) of(v Verdict, code string, i Interval, r *Run, end string) Finding {
	f := item.at(v, code, i, fmt.Sprintf("%s in instance %d %s %s", item.what(), r.ID, i.words(), end))
	f.Args["instance"], f.Args["state"] = strconv.FormatInt(r.ID, 10), r.State
	return f
}

// sum makes one finding of those about the intervals: a failure says more than a wait.
func (item Item) sum(open, failed []Finding) Finding {
	switch {
	case len(failed) > 0:
		return first(failed, open)
	case len(open) > 0:
		return first(open, nil)
	}
	return item.finding(Success, CodeSatisfied, fmt.Sprintf("%s has succeeded for %s", item.what(), item.Date))
}

// first is the first finding with the others as its causes, where there are others.
func first(worse, other []Finding) Finding {
	f := worse[0]
	f.Args = maps.Clone(f.Args)
	if n := len(worse) + len(other); n > 1 {
		f.Causes = cut(slices.Concat(worse, other))
	}
	return f
}

// cut keeps the first causes and counts the rest.
func cut(causes []Finding) []Finding {
	if len(causes) <= maxCauses {
		return causes
	}
	rest := len(causes) - maxCauses
	return append(causes[:maxCauses:maxCauses], Finding{
		Verdict: causes[maxCauses].Verdict, Code: CodeMore,
		Args: map[string]string{"count": strconv.Itoa(rest)}, Text: fmt.Sprintf("and %d more", rest),
	})
}

// words tells an interval as its own clock shows it: a day by its date, the rest by begin
// and end.
func (i Interval) words() string {
	if d := dayOf(i.From); d.From.Equal(i.From) && d.To.Equal(i.To) {
		return "on " + dateOf(i.From).Format(time.DateOnly)
	}
	const form = "2006-01-02 15:04 MST"
	return "from " + i.From.Format(form) + " to " + i.To.Format(form)
}
