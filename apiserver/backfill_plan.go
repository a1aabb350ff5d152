package apiserver

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/dag/backfill"
	"github.com/porpoise/porpoise/dag/document"
	"github.com/porpoise/porpoise/sql"
)

// BackfillOptions is what a backfill is to be: a range, or a list of dates.
type BackfillOptions struct {
	BackfillRange
	Dates       []string        `json:"dates,omitempty" maxItems:"10000" doc:"These moments instead of a range; a date alone is the beginning of its day."`
	Downstream  bool            `json:"downstream,omitempty" doc:"Run for the same dates whatever waits for the workflow by a dependent task, and what waits for that, on all levels."`
	Parallel    int             `json:"parallel,omitempty" minimum:"0" maximum:"100" doc:"How many dates run at once; 0 or absent is 1."`
	OnFailure   string          `json:"on_failure,omitempty" enum:"continue,stop" doc:"What the failure of a date means to those that have not begun; absent is continue."`
	Params      map[string]Text `json:"params,omitempty" maxProperties:"1000" doc:"Values of declared parameters."`
	Version     int             `json:"version,omitempty" minimum:"0" maximum:"2147483647" doc:"0 or absent is the published version."`
	DryRun      bool            `json:"dry_run,omitempty" doc:"Go through the graph of each instance without running a task."`
	WorkerGroup string          `json:"worker_group,omitempty" maxLength:"512" doc:"For tasks that name none."`
	Priority    string          `json:"priority,omitempty" enum:"highest,high,medium,low,lowest" doc:"Absent is low: what people and schedules start goes first."`
	Preview     string          `json:"preview,omitempty" maxLength:"128" doc:"The token of a preview, which a backfill must have seen: refused with 409 where it would run something else by now."`
}

// BackfillPlan says exactly what a backfill would run.
type BackfillPlan struct {
	Token string         `json:"token" doc:"Sent as preview with the same request, it is refused where the plan would be another one by then."`
	Count int            `json:"count" doc:"How many instances there will be."`
	Parts []BackfillPart `json:"parts" nullable:"false" doc:"The workflows, in the order in which they start."`
	// LeftOut are of those downstream.
	LeftOut []LeftOutWorkflow `json:"left_out" nullable:"false" doc:"Workflows downstream that are not run, with what is below them."`
}

// BackfillPart is one workflow of a plan.
type BackfillPart struct {
	Project  string        `json:"project"`
	Workflow string        `json:"workflow"`
	Version  int           `json:"version"`
	Dates    []Time        `json:"dates" nullable:"false" doc:"In the order in which they start."`
	LeftOut  []LeftOutDate `json:"left_out" nullable:"false" doc:"Dates that are not run, and why."`
}

// LeftOutDate is a date of a range that is not run.
type LeftOutDate struct {
	ScheduleTime Time   `json:"schedule_time"`
	Had          string `json:"had" enum:"none,open,success,failure" doc:"What there is of it already: no run, one that has yet to end, or how its latest run ended."`
	InstanceID   ID     `json:"instance_id,omitempty"`
}

// plannedBackfill is a plan with the rows that it becomes.
type plannedBackfill struct {
	face   BackfillPlan
	row    sql.Backfill
	parts  []sql.BackfillPart
	dates  []sql.BackfillEntry
	newest int64
}

// planBackfill works out what a backfill is about now. Everything that is wrong is told at once.
func (s *Server) planBackfill(ctx context.Context, w sql.Workflow, o BackfillOptions) (*plannedBackfill, error) {
	o.fill(w.Published)
	if o.Version == 0 {
		return nil, wrongField(http.StatusConflict, "version", "not_published", "", "no version of the workflow is published")
	}
	var wrong []dag.FieldError
	start, _, err := s.wish(ctx, w, o.Version, StartOptions{
		Params: o.Params, Version: o.Version, Timezone: o.Timezone, DryRun: o.DryRun, WorkerGroup: o.WorkerGroup, Priority: o.Priority,
	})
	if p, ok := errors.AsType[*Problem](err); ok {
		wrong = p.Errors
	} else if err != nil {
		return nil, err
	}
	dates, more := o.moments()
	if wrong = append(wrong, more...); len(wrong) > 0 {
		return nil, problem(http.StatusUnprocessableEntity, wrong[0].Field+": "+wrong[0].Message, wrong...)
	}
	p := &plannedBackfill{row: sql.Backfill{
		ProjectID: w.ProjectID, WorkflowID: w.ID, Asked: string(marshalJSON(o.BackfillRange)), Timezone: o.Timezone,
		Rules:  backfill.Rules{Parallel: o.Parallel, OnFailure: backfill.OnFailure(o.OnFailure)},
		DryRun: o.DryRun, WorkerGroup: o.WorkerGroup, Priority: start.Priority, CreatedBy: callOf(ctx).who.name, CreatedAt: s.at(),
	}}
	if p.newest, err = s.store.NewestBackfill(ctx, w.ID); err != nil {
		return nil, fmt.Errorf("read newest backfill: %w", err)
	}
	part := sql.BackfillPart{ProjectID: w.ProjectID, WorkflowID: w.ID, Version: o.Version, Params: start.Params, OnFailure: start.OnFailure}
	p.face.LeftOut = []LeftOutWorkflow{}
	if err := s.addPart(ctx, p, w, part, dates, backfill.Only(o.Only)); err != nil {
		return nil, err
	}
	if o.Downstream {
		if err := s.addDownstream(ctx, p, w, dates, backfill.Only(o.Only)); err != nil {
			return nil, err
		}
	}
	if problem := s.checkOrder(ctx, p, o); problem != nil {
		return nil, problem
	}
	p.face.Token = p.token(o)
	return p, nil
}

// fill puts what is left out.
func (o *BackfillOptions) fill(published int) {
	for _, d := range []struct {
		field *string
		value string
	}{
		{&o.Order, string(backfill.Oldest)}, {&o.Only, string(backfill.All)}, {&o.OnFailure, string(backfill.Continue)}, {&o.Priority, "low"},
	} {
		if *d.field == "" {
			*d.field = d.value
		}
	}
	if o.Every == "" && o.Dates == nil {
		o.Every = backfill.EveryDay
	}
	o.Parallel = max(1, o.Parallel)
	if o.Version == 0 {
		o.Version = published
	}
}

// moments are the dates that are asked for, in their order.
func (o *BackfillOptions) moments() (dates []dag.Millis, wrong []dag.FieldError) {
	loc, badZone := location(o.Timezone)
	if badZone != nil {
		return nil, nil // it has been said
	}
	fail := func(field, code, value, format string, args ...any) {
		wrong = append(wrong, dag.FieldError{Field: field, Code: code, Value: document.Shown(value), Message: fmt.Sprintf(format, args...)})
	}
	read := func(field, text string) (first, last time.Time) {
		if text == "" {
			fail(field, "required", "", "say the %s moment, or list dates", map[string]string{"from": "first", "to": "last"}[field])
			return first, last
		}
		first, last, err := backfill.Moment(text, loc)
		switch {
		case err != nil:
			fail(field, document.CodeInvalid, text, "%v", err)
		case dag.MillisOf(first) <= 0 || len(scheduleTimeErrors(dag.MillisOf(last))) > 0:
			fail(field, "out_of_range", text, "must be between 1970 and 2200")
		}
		return first, last
	}
	if o.Dates != nil {
		for field, value := range map[string]string{"from": o.From, "to": o.To, "every": o.Every} {
			if value != "" {
				fail(field, dag.CodeConflict, value, "means nothing beside a list of dates")
			}
		}
		slices.SortFunc(wrong, func(a, b dag.FieldError) int { return strings.Compare(a.Field, b.Field) })
		for i, text := range o.Dates {
			first, _ := read(fmt.Sprintf("dates[%d]", i), text)
			dates = append(dates, dag.MillisOf(first))
		}
		return backfill.Sorted(dates, backfill.Order(o.Order)), wrong
	}
	from, _ := read("from", o.From)
	_, to := read("to", o.To)
	if len(wrong) > 0 {
		return nil, wrong
	}
	if to.Before(from) {
		fail("to", "out_of_range", o.To, "is before from")
		return nil, wrong
	}
	points, err := backfill.Every(o.Every, loc)
	if err != nil {
		fail("every", document.CodeInvalid, o.Every, "%v", err)
		return nil, wrong
	}
	all, count := backfill.Between(points, from, to, backfill.MaxDates)
	if count > backfill.MaxDates {
		fail("to", "too_many", o.To, "these are %d dates or more, and %d are the most: take them in parts", count, backfill.MaxDates)
		return nil, wrong
	}
	for _, at := range all {
		dates = append(dates, dag.MillisOf(at))
	}
	return backfill.Sorted(dates, backfill.Order(o.Order)), nil
}

// addPart adds a workflow with those of the dates that are to be taken.
func (s *Server) addPart(ctx context.Context, p *plannedBackfill, w sql.Workflow, part sql.BackfillPart, dates []dag.Millis, only backfill.Only) error {
	ran, err := s.store.RanAt(ctx, w.ID, dates)
	if err != nil {
		return fmt.Errorf("read what has run: %w", err)
	}
	face := BackfillPart{Project: w.Project, Workflow: w.Name, Version: part.Version, Dates: []Time{}, LeftOut: []LeftOutDate{}}
	for _, at := range dates {
		r, found := ran[at]
		if !found {
			r.Had = backfill.HadNone
		}
		if only.Leaves(r.Had) {
			face.LeftOut = append(face.LeftOut, LeftOutDate{Time(at), string(r.Had), ID(r.Instance)})
			continue
		}
		p.dates = append(p.dates, sql.BackfillEntry{Part: len(p.parts), At: at})
		face.Dates = append(face.Dates, Time(at))
	}
	p.parts = append(p.parts, part)
	p.face.Parts = append(p.face.Parts, face)
	p.face.Count += len(face.Dates)
	return nil
}

// addDownstream adds what waits for the workflow, for the same dates. All dates of a workflow start before those of the
// workflows below it: so whichever of its dates one of these looks at, it waits for something that has begun.
func (s *Server) addDownstream(ctx context.Context, p *plannedBackfill, w sql.Workflow, dates []dag.Millis, only backfill.Only) error {
	list, out, err := s.downstream(ctx, w)
	if err != nil {
		return err
	}
	p.face.LeftOut = append(p.face.LeftOut, out...)
	if n := (len(list) + 1) * len(dates); n > backfill.MaxDates || len(list) > maxDownstream {
		return wrongField(http.StatusUnprocessableEntity, "downstream", "too_many", "", "with %d workflows downstream these are %d dates, and %d dates of %d workflows are the most",
			len(list), n, backfill.MaxDates, maxDownstream)
	}
	for _, d := range list {
		part := sql.BackfillPart{ProjectID: d.workflow.ProjectID, WorkflowID: d.workflow.ID, Version: d.workflow.Published, OnFailure: d.plan.Definition.OnFailure}
		if err := s.addPart(ctx, p, d.workflow, part, dates, only); err != nil {
			return err
		}
	}
	return nil
}

// checkOrder refuses the newest first where a workflow waits for runs of its own: those would come after what waits
// for them.
func (s *Server) checkOrder(ctx context.Context, p *plannedBackfill, o BackfillOptions) error {
	if o.Order != string(backfill.Newest) {
		return nil
	}
	for i, part := range p.parts {
		plan, err := s.plans.get(ctx, part.WorkflowID, part.Version)
		if err != nil {
			return err
		}
		face := p.face.Parts[i]
		if waitsFor(face.Project, plan.Definition)[foldedName(face.Project, face.Workflow)] {
			return wrongField(http.StatusUnprocessableEntity, "order", dag.CodeConflict, o.Order,
				"workflow %s waits for earlier runs of its own, which would come after those that wait: take the oldest first", face.Workflow)
		}
	}
	return nil
}

// token tells plans apart: by what was asked, what would run and be left out, and whether another backfill of the
// workflow was made since.
func (p *plannedBackfill) token(o BackfillOptions) string {
	o.Preview = ""
	h := sha256.New()
	fmt.Fprintf(h, "%d\n%d\n", p.row.WorkflowID, p.newest)
	_, _ = h.Write(marshalJSON(o)) // a hash never fails to take data
	_, _ = h.Write(marshalJSON(p.face.Parts))
	_, _ = h.Write(marshalJSON(p.face.LeftOut))
	return fmt.Sprintf("%d.%s", p.face.Count, hex.EncodeToString(h.Sum(nil)[:16]))
}
