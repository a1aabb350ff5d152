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

// Calendar is a named set of days, on which schedules of its project do not fire, or do alone.
type Calendar struct {
	Name      string   `json:"name"`
	Days      []string `json:"days" nullable:"false"`
	ChangedBy string   `json:"changed_by"`
	ChangedAt Time     `json:"changed_at"`
}

// CalendarPath names a calendar of a project in a path.
type CalendarPath struct {
	ProjectPath
	Calendar string `path:"calendar" maxLength:"512" doc:"The calendar's name."`
}

type putCalendar struct {
	CalendarPath
	Body struct {
		Days []string `json:"days" minItems:"1" maxItems:"1000" nullable:"false" doc:"A date 2026-12-25, a range 2026-12-24..2027-01-06, a day of every year 12-25, or a day of the week such as saturday."`
	}
}

type calendarList struct{ Body List[Calendar] }

type calendarAnswer struct {
	Status int
	Body   Calendar
}

func (s *Server) calendarRoutes() {
	const all, one = "/projects/{project}/calendars", "/projects/{project}/calendars/{calendar}"
	may := func(need role) access { return access{need: need, object: ofProject} }
	add(s, spec{id: "list-calendars", method: "GET", path: all, tag: "schedules", summary: "List a project's calendars", access: may(roleViewer)}, s.listCalendars)
	add(s, spec{id: "get-calendar", method: "GET", path: one, tag: "schedules", summary: "Show a calendar", access: may(roleViewer)}, s.getCalendar)
	add(s, spec{id: "put-calendar", method: "PUT", path: one, tag: "schedules", summary: "Make a calendar, or give it other days", body: jsonBody, access: may(roleEditor)}, s.putCalendar)
	add(s, spec{id: "delete-calendar", method: "DELETE", path: one, tag: "schedules", summary: "Delete a calendar that no schedule asks for", access: may(roleEditor)}, s.deleteCalendar)
}

func calendarFace(c sql.Calendar) Calendar {
	return Calendar{Name: c.Name, Days: c.Spec.Days, ChangedBy: c.ChangedBy, ChangedAt: Time(c.ChangedAt)}
}

func (s *Server) listCalendars(ctx context.Context, _ *ProjectPath) (*calendarList, error) {
	rows, err := s.store.Calendars(ctx, callOf(ctx).project.ID)
	if err != nil {
		return nil, fmt.Errorf("list calendars: %w", err)
	}
	return &calendarList{Body: list(rows, "", calendarFace)}, nil
}

func (s *Server) getCalendar(ctx context.Context, in *CalendarPath) (*calendarAnswer, error) {
	row, err := s.store.Calendar(ctx, callOf(ctx).project.ID, in.Calendar)
	if err != nil {
		return nil, fmt.Errorf("read calendar: %w", err)
	}
	return &calendarAnswer{Status: http.StatusOK, Body: calendarFace(row)}, nil
}

// checkCalendar returns all that is wrong with a calendar whose name is that field.
func checkCalendar(field, name string, spec schedule.Calendar) []dag.FieldError {
	wrong := append(dag.CheckName(field, name), spec.Check("days")...)
	if dag.FoldName(name) == schedule.BusinessDays {
		wrong = append(wrong, dag.FieldError{Field: field, Code: dag.CodeReservedName, Value: name, Message: "this calendar is always there: Monday to Friday"})
	}
	return wrong
}

func (s *Server) putCalendar(ctx context.Context, in *putCalendar) (*calendarAnswer, error) {
	c := callOf(ctx)
	row := sql.Calendar{ProjectID: c.project.ID, Name: in.Calendar, Spec: schedule.Calendar{Days: in.Body.Days}, ChangedBy: c.who.name}
	if wrong := checkCalendar("calendar", row.Name, row.Spec); len(wrong) > 0 {
		return nil, problem(http.StatusUnprocessableEntity, wrong[0].Field+": "+wrong[0].Message, wrong...)
	}
	known, err := s.store.Calendar(ctx, row.ProjectID, row.Name)
	switch {
	case err == nil && known.Name != row.Name:
		return nil, nameTaken("calendar", row.Name, known.Name)
	case err != nil && !errors.Is(err, sql.ErrNotFound):
		return nil, fmt.Errorf("read calendar: %w", err)
	}
	saved, created, err := s.store.SaveCalendar(ctx, row)
	if errors.Is(err, sql.ErrFull) {
		return nil, wrongField(http.StatusConflict, "calendar", "too_many", row.Name, "a project has at most %d calendars", sql.MaxCalendars)
	}
	if err != nil {
		return nil, fmt.Errorf("save calendar: %w", err)
	}
	status := http.StatusOK
	if created {
		status = http.StatusCreated
	}
	return &calendarAnswer{Status: status, Body: calendarFace(saved)}, nil
}

func (s *Server) deleteCalendar(ctx context.Context, in *CalendarPath) (*struct{}, error) {
	if err := s.store.DeleteCalendar(ctx, callOf(ctx).project.ID, in.Calendar); err != nil {
		return nil, fmt.Errorf("delete calendar: %w", err)
	}
	return nil, nil
}
