package apiserver

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/dag/schedule"
	"github.com/porpoise/porpoise/sql"
)

// maxSchedulesAtOnce bounds the schedules that one request saves.
const maxSchedulesAtOnce = 1000

// NamedSchedule is one of many schedules that are saved together.
type NamedSchedule struct {
	Workflow string `json:"workflow" minLength:"1" maxLength:"512"`
	Name     string `json:"name" minLength:"1" maxLength:"512"`
	ScheduleRules
	Enabled *bool `json:"enabled,omitempty" doc:"Absent leaves it as it is; a new one is enabled."`
}

type putSchedules struct {
	ProjectPath
	Body struct {
		Schedules []NamedSchedule `json:"schedules" minItems:"1" maxItems:"1000" nullable:"false"`
		Together  bool            `json:"together,omitempty" doc:"true saves them in one transaction: all or, whatever comes between, none. Else all are checked, and then saved one by one."`
		Preview   bool            `json:"preview,omitempty" doc:"true checks them, and saves nothing."`
		Calendars []NamedCalendar `json:"calendars,omitempty" maxItems:"1000" doc:"Of a preview: what the project's calendars will be by the time the schedules are saved, beside those that it has."`
	}
}

// NamedCalendar is a calendar that is not there yet, or as it will be.
type NamedCalendar struct {
	Name string   `json:"name" minLength:"1" maxLength:"512"`
	Days []string `json:"days" minItems:"1" maxItems:"1000" nullable:"false" doc:"As of PUT calendar."`
}

type putSchedulesAnswer struct {
	Body struct {
		Created int `json:"created" doc:"None of a preview."`
		Changed int `json:"changed" doc:"Those that were there already, whether they are the same or not."`
	}
}

type enableSchedules struct {
	ProjectPath
	Body struct {
		Workflow string `json:"workflow,omitempty" maxLength:"512" doc:"Only schedules of this workflow."`
		Text     string `json:"q,omitempty" maxLength:"512" doc:"Only those with this in their name."`
		IDs      []ID   `json:"ids,omitempty" maxItems:"10000" doc:"Only these."`
		Reason   string `json:"reason,omitempty" maxLength:"500" doc:"Of a pause: why, for those who find them paused."`
		Preview  bool   `json:"preview,omitempty" doc:"true counts, and changes nothing."`
	}
}

type enabledAnswer struct {
	Body struct {
		Matched int `json:"matched" doc:"Those that would change."`
		Changed int `json:"changed"`
	}
}

func (s *Server) scheduleBulkRoutes() {
	const all = "/projects/{project}/schedules"
	may := func(need role) access { return access{need: need, object: ofProject} }
	add(s, spec{
		id: "put-schedules", method: "PUT", path: all, tag: "schedules", summary: "Make or change up to 1,000 schedules; where one is wrong none is saved", status: 200,
		body: jsonBody, access: may(roleEditor),
	}, s.putSchedules)
	add(s, spec{
		id: "pause-schedules", method: "POST", path: all + "/pause", tag: "schedules", summary: "Pause every schedule that a filter wants", status: 200,
		body: jsonBody, access: may(roleOperator),
	}, s.enableMany(false))
	add(s, spec{
		id: "resume-schedules", method: "POST", path: all + "/resume", tag: "schedules", summary: "Resume every schedule that a filter wants", status: 200,
		body: jsonBody, access: may(roleOperator),
	}, s.enableMany(true))
	add(s, spec{
		id: "preview-schedule-rules", method: "POST", path: all + "/preview", tag: "schedules", summary: "Check a schedule's document and say when it fires next", status: 200,
		body: jsonBody, access: may(roleViewer),
	}, s.previewSchedule)
}

// enableMany resumes or pauses by a filter. It takes those alone that are otherwise, so that the same request again
// goes on where one was cut short.
func (s *Server) enableMany(enabled bool) func(ctx context.Context, in *enableSchedules) (*enabledAnswer, error) {
	return func(ctx context.Context, in *enableSchedules) (*enabledAnswer, error) {
		c := callOf(ctx)
		if p := checkMessage("reason", in.Body.Reason); p != nil {
			return nil, p
		}
		is := !enabled
		f := sql.ScheduleFilter{ProjectID: c.project.ID, Text: in.Body.Text, Enabled: &is}
		if in.Body.Workflow != "" {
			w, err := s.store.Workflow(ctx, c.project.ID, in.Body.Workflow)
			if errors.Is(err, sql.ErrNotFound) {
				return nil, wrongField(http.StatusUnprocessableEntity, "workflow", dag.CodeUnknownWorkflow, in.Body.Workflow, "the project has no such workflow")
			}
			if err != nil {
				return nil, fmt.Errorf("read workflow: %w", err)
			}
			f.WorkflowID = w.ID
		}
		wanted := map[ID]bool{}
		for _, id := range in.Body.IDs {
			wanted[id] = true
		}
		out := &enabledAnswer{}
		var ids []int64
		for page := (sql.Page{Limit: maxPage}); ; {
			rows, next, err := s.store.Schedules(ctx, f, page)
			if err != nil {
				return nil, fmt.Errorf("find schedules: %w", err)
			}
			for _, sch := range rows {
				if len(wanted) == 0 || wanted[ID(sch.ID)] {
					ids = append(ids, sch.ID)
				}
			}
			if page.Cursor = next; next == "" {
				break
			}
		}
		if out.Body.Matched = len(ids); in.Body.Preview || len(ids) == 0 {
			return out, nil
		}
		changed, err := s.store.EnableSchedules(ctx, ids, enabled, in.Body.Reason, c.who.name)
		if err != nil {
			return nil, fmt.Errorf("enable schedules: %w", err)
		}
		out.Body.Changed = changed
		return out, nil
	}
}

func (s *Server) putSchedules(ctx context.Context, in *putSchedules) (*putSchedulesAnswer, error) {
	list := in.Body.Schedules
	if len(list) > maxSchedulesAtOnce {
		return nil, wrongField(http.StatusUnprocessableEntity, "schedules", "too_many", "", "at most %d schedules are saved at once", maxSchedulesAtOnce)
	}
	check, err := s.newScheduleCheck(ctx, callOf(ctx).project.ID)
	if err != nil {
		return nil, err
	}
	wrong := check.with(in.Body.Calendars)
	if len(in.Body.Calendars) > 0 && !in.Body.Preview {
		wrong = append(wrong, dag.FieldError{Field: "calendars", Code: "conflict", Message: "means something only together with preview; PUT calendar saves one"})
	}
	workflows, more, err := check.all(ctx, list)
	if err != nil {
		return nil, err
	}
	if wrong = append(wrong, more...); len(wrong) > 0 {
		return nil, problem(http.StatusUnprocessableEntity, wrong[0].Field+": "+wrong[0].Message, wrong...)
	}
	if in.Body.Preview {
		return &putSchedulesAnswer{}, nil
	}
	rows := make([]sql.Schedule, len(list))
	for i := range list {
		if rows[i], err = check.toSave(ctx, workflows[dag.FoldName(list[i].Workflow)], list[i].Name, list[i].ScheduleRules, list[i].Enabled); err != nil {
			return nil, err
		}
	}
	out := &putSchedulesAnswer{}
	if in.Body.Together {
		made, bad, err := s.store.SaveSchedules(ctx, rows)
		if err != nil && bad >= 0 {
			err = s.scheduleNotSaved(ctx, rows[bad], new(int), err)
		}
		out.Body.Created, out.Body.Changed = made, len(rows)-made
		return out, err
	}
	for i, row := range rows {
		_, created, err := s.store.SaveSchedule(ctx, row, -1)
		if err != nil {
			return nil, fmt.Errorf("the first %d of %d schedules are saved: %w", i, len(rows), s.scheduleNotSaved(ctx, row, new(int), err))
		}
		if created {
			out.Body.Created++
		} else {
			out.Body.Changed++
		}
	}
	return out, nil
}

// with has the check go by calendars as if they were saved, and returns all that is wrong with them.
func (c *scheduleCheck) with(calendars []NamedCalendar) []dag.FieldError {
	var wrong []dag.FieldError
	for i, one := range calendars {
		spec := schedule.Calendar{Days: one.Days}
		for _, e := range checkCalendar("name", one.Name, spec) {
			e.Field = fmt.Sprintf("calendars[%d].%s", i, e.Field)
			wrong = append(wrong, e)
		}
		c.calendars[dag.FoldName(one.Name)] = spec
	}
	return wrong
}

// all returns the workflows that schedules are of, by their folded names, and all that is wrong.
func (c *scheduleCheck) all(ctx context.Context, list []NamedSchedule) (map[string]sql.Workflow, []dag.FieldError, error) {
	project := callOf(ctx).project.ID
	var wrong []dag.FieldError
	workflows, names := map[string]sql.Workflow{}, map[string]int{}
	for i, one := range list {
		at := fmt.Sprintf("schedules[%d].", i)
		fail := func(list ...dag.FieldError) {
			for _, e := range list {
				e.Field = at + e.Field
				wrong = append(wrong, e)
			}
		}
		key := dag.FoldName(one.Workflow)
		w, ok := workflows[key]
		if !ok {
			var err error
			w, err = c.server.store.Workflow(ctx, project, one.Workflow)
			if errors.Is(err, sql.ErrNotFound) {
				fail(dag.FieldError{Field: "workflow", Code: dag.CodeUnknownWorkflow, Value: one.Workflow, Message: "the project has no such workflow"})
				continue
			}
			if err != nil {
				return nil, nil, fmt.Errorf("read workflow: %w", err)
			}
			workflows[key] = w
		}
		fail(dag.CheckName("name", one.Name)...)
		if before, twice := names[key+"/"+dag.FoldName(one.Name)]; twice {
			fail(dag.FieldError{Field: "name", Code: dag.CodeDuplicateName, Value: one.Name, Message: fmt.Sprintf("schedules[%d] has this name too", before)})
		}
		names[key+"/"+dag.FoldName(one.Name)] = i
		found, err := c.of(ctx, w, one.ScheduleRules)
		if err != nil {
			return nil, nil, err
		}
		if len(found) == 0 {
			if found, err = c.never(ctx, w, one.Name, one.ScheduleRules, one.Enabled); err != nil {
				return nil, nil, err
			}
		}
		if fail(found...); len(wrong) >= maxErrors {
			break
		}
	}
	return workflows, wrong, nil
}
