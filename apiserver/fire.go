package apiserver

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/dag/schedule"
	"github.com/porpoise/porpoise/sql"
)

const (
	// maxRead bounds the fires that are read at once to explain one: an hour of a schedule of each second has 3,600.
	maxRead = 20_000
	// defaultFires is how far back the ledger goes where it is not asked otherwise.
	defaultFires = dag.Millis(24 * 60 * 60 * 1000)
)

// Fire is one moment of a schedule as the ledger has it.
type Fire struct {
	At         Time   `json:"at" doc:"The moment that it was planned for: the schedule time of its instance."`
	Due        Time   `json:"due" doc:"The moment and its jitter."`
	State      string `json:"state" enum:"planned,waiting,fired,skipped,missed,duplicate" doc:"planned and waiting have no outcome yet. skipped: a rule left it out. missed: no master was there, and the misfire policy let it go. duplicate: its instance was there already."`
	Reason     string `json:"reason,omitempty" doc:"The rule that it was skipped or missed by."`
	InstanceID ID     `json:"instance_id,omitempty" doc:"The instance that it started; of one that was skipped or missed, that somebody started in its place. Absent for none."`
	FiredAt    Time   `json:"fired_at" doc:"When it came to its outcome."`
	LateMS     int64  `json:"late_ms,omitempty" doc:"How much later than due it fired."`
	Revision   int64  `json:"revision" doc:"Of the schedule, as it was planned."`
	Master     string `json:"master,omitempty" doc:"Who set the outcome."`
	Epoch      int64  `json:"epoch,omitempty" doc:"Of the layout of slots by which it did."`
	AfterID    ID     `json:"after_instance_id,omitempty" doc:"The instance whose end it is; its schedule time, where it has one, is that of the instance which is started."`
	Call       string `json:"call,omitempty" doc:"The call whose fire it is, as its sender calls it."`
}

// FireRange is a stretch of a schedule's moments.
type FireRange struct {
	From string `query:"from" maxLength:"64" doc:"The first moment, itself included, RFC 3339; absent is a day before to."`
	To   string `query:"to" maxLength:"64" doc:"The moment before which it ends, RFC 3339; absent is now."`
}

type listFires struct {
	SchedulePath
	FireRange
	Paged
	State string `query:"state" enum:"planned,waiting,fired,skipped,missed,duplicate"`
}

type fireList struct{ Body List[Fire] }

func (s *Server) fireRoutes() {
	const one = "/projects/{project}/workflows/{workflow}/schedules/{schedule}"
	see := access{need: roleViewer, object: ofWorkflow}
	add(s, spec{id: "list-fires", method: "GET", many: true, path: one + "/fires", tag: "schedules", summary: "List what became of a schedule's fires, the oldest first", access: see}, s.listFires)
	s.fireRunRoutes(one)
	add(s, spec{id: "list-fire-days", method: "GET", many: true, path: one + "/fires/days", tag: "schedules", summary: "Count what became of a schedule's fires, by the days of its timezone", access: see}, s.listFireDays)
	s.proofRoutes(one)
	add(s, spec{id: "explain-schedule", method: "GET", path: one + "/explain", tag: "schedules", summary: "Say why a schedule fires or does not", access: see}, s.explainSchedule)
}

func fireFace(f sql.Fire) Fire {
	out := Fire{
		At: Time(f.At), Due: Time(f.Due), State: string(f.State), Reason: f.Reason, InstanceID: ID(f.Instance), FiredAt: Time(f.FiredAt),
		Revision: f.Revision, Master: f.Master, Epoch: f.Epoch, AfterID: ID(f.After), Call: f.Call,
	}
	if f.State == schedule.Fired {
		out.LateMS = max(0, f.FiredAt.Sub(f.Due).Milliseconds())
	}
	return out
}

// moments reads a range.
func (r *FireRange) moments(now dag.Millis) (from, to dag.Millis, err error) {
	to = now
	var wrong []dag.FieldError
	read := func(field, text string, into *dag.Millis) {
		if text == "" {
			return
		}
		at, err := parseTime(text)
		if err != nil {
			wrong = append(wrong, dag.FieldError{Field: field, Code: "invalid_time", Value: text, Message: err.Error()})
		}
		*into = at
	}
	read("to", r.To, &to)
	from = to - defaultFires
	if read("from", r.From, &from); len(wrong) == 0 && to < from {
		wrong = append(wrong, dag.FieldError{Field: "to", Code: "out_of_range", Value: r.To, Message: "is before from"})
	}
	if len(wrong) > 0 {
		return 0, 0, problem(http.StatusBadRequest, wrong[0].Field+": "+wrong[0].Message, wrong...)
	}
	return from, to, nil
}

func (s *Server) listFires(ctx context.Context, in *listFires) (*fireList, error) {
	from, to, err := in.moments(s.at())
	if err != nil {
		return nil, err
	}
	sch, err := s.scheduleOf(ctx, in.Schedule)
	if err != nil {
		return nil, err
	}
	rows, next, err := s.store.Fires(ctx, sch.ID, from, to, schedule.State(in.State), in.page())
	if err != nil {
		return nil, fmt.Errorf("list fires: %w", err)
	}
	return &fireList{Body: list(rows, next, fireFace)}, nil
}

// firesBetween reads all fires of a stretch, maxRead and a few more at most.
func (s *Server) firesBetween(ctx context.Context, id int64, from, to dag.Millis) (rows []sql.Fire, err error) {
	for page := (sql.Page{Limit: maxPage}); len(rows) <= maxRead; {
		more, next, err := s.store.Fires(ctx, id, from, to, "", page)
		if err != nil {
			return nil, fmt.Errorf("read fires: %w", err)
		}
		rows = append(rows, more...)
		if page.Cursor = next; next == "" {
			break
		}
	}
	return rows, nil
}

// calendarsOf are the calendars that a schedule asks for, and when the last of them was changed.
func (s *Server) calendarsOf(ctx context.Context, sch sql.Schedule) (known map[string]schedule.Calendar, changed dag.Millis, err error) {
	names := sch.Spec.CalendarNames()
	if len(names) == 0 {
		return nil, 0, nil
	}
	rows, err := s.store.Calendars(ctx, sch.ProjectID)
	if err != nil {
		return nil, 0, fmt.Errorf("read calendars of the project: %w", err)
	}
	known = map[string]schedule.Calendar{}
	for _, c := range rows {
		if key := dag.FoldName(c.Name); slices.Contains(names, key) {
			known[key], changed = c.Spec, max(changed, c.ChangedAt)
		}
	}
	return known, changed, nil
}
