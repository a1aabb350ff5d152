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
	// maxProved bounds the fires that a proof holds to the rules one by one: two weeks of a schedule of each minute.
	maxProved = 20_000
	// maxTold is how many fires that are not as they should be an answer lists of each kind.
	maxTold = 100
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

type proveSchedule struct {
	SchedulePath
	FireRange
}

// ScheduleProof adds up what became of a schedule's fires, and holds them to its rules.
type ScheduleProof struct {
	From     Time             `json:"from"`
	To       Time             `json:"to" doc:"No later than what is planned by now."`
	Holds    bool             `json:"holds" doc:"Nothing speaks against it: what was planned is the sum of the outcomes and of what is open, no fire is missing or beside the rules, and each that fired has its instance."`
	Planned  int64            `json:"planned" doc:"By the rules where they were compared, else the rows that there are."`
	Outcomes map[string]int64 `json:"outcomes" nullable:"false" doc:"How many fires are in each state. planned and waiting are open."`
	Open     int64            `json:"open"`
	MeanLate int64            `json:"mean_late_ms" doc:"How much later than due those fired that did, on average."`
	Pruned   int64            `json:"pruned" doc:"How many of them are left as the sums of their days (UTC) alone, counted by whole days."`

	Compared   bool   `json:"compared" doc:"The rows were held to the rules one by one."`
	Why        string `json:"why,omitempty" doc:"Why the rows, or some of them, were not compared."`
	WhyCode    string `json:"why_code,omitempty" enum:"pruned,broken,changed,before,too_many,no_rule" doc:"The same as a code."`
	Since      Time   `json:"since,omitempty" doc:"Rows from here on were compared: the rules were others before."`
	Missing    []Time `json:"missing" nullable:"false" doc:"Moments that the rules name and that have no row, at most 100."`
	Unexpected []Time `json:"unexpected" nullable:"false" doc:"Rows of moments that the rules do not name, at most 100."`
	NoInstance []Time `json:"no_instance" nullable:"false" doc:"Fires that fired and whose instance is not there, or is another's, at most 100."`
}

type proofAnswer struct{ Body ScheduleProof }

func (s *Server) fireRoutes() {
	const one = "/projects/{project}/workflows/{workflow}/schedules/{schedule}"
	see := access{need: roleViewer, object: ofWorkflow}
	add(s, spec{id: "list-fires", method: "GET", path: one + "/fires", tag: "schedules", summary: "List what became of a schedule's fires, the oldest first", access: see}, s.listFires)
	s.fireRunRoutes(one)
	add(s, spec{id: "list-fire-days", method: "GET", path: one + "/fires/days", tag: "schedules", summary: "Count what became of a schedule's fires, by the days of its timezone", access: see}, s.listFireDays)
	add(s, spec{id: "prove-schedule", method: "GET", path: one + "/proof", tag: "schedules", summary: "Show that every planned fire came to an outcome", access: see}, s.proveSchedule)
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

func (s *Server) proveSchedule(ctx context.Context, in *proveSchedule) (*proofAnswer, error) {
	from, to, err := in.moments(s.at())
	if err != nil {
		return nil, err
	}
	sch, err := s.scheduleOf(ctx, in.Schedule)
	if err != nil {
		return nil, err
	}
	// What is after it has no rows yet.
	to = max(from, min(to, sch.PlannedUntil))
	sums, err := s.store.SumFires(ctx, sch.ID, from, to)
	if err != nil {
		return nil, fmt.Errorf("sum fires: %w", err)
	}
	p := ScheduleProof{
		From: Time(from), To: Time(to), Planned: sums.Total(), Outcomes: map[string]int64{}, Open: sums.Open(), Pruned: sums.Pruned,
		Missing: []Time{}, Unexpected: []Time{}, NoInstance: []Time{},
	}
	for state, n := range sums.States {
		p.Outcomes[string(state)] = n
	}
	if fired := sums.States[schedule.Fired]; fired > 0 {
		p.MeanLate = sums.LateMs / fired
	}
	if err := s.holdToRules(ctx, sch, from, to, &p); err != nil {
		return nil, err
	}
	p.Holds = len(p.Missing)+len(p.Unexpected)+len(p.NoInstance) == 0
	return &proofAnswer{Body: p}, nil
}

// holdToRules compares the rows of a stretch with what the rules say, from the moment on since which they are the same.
func (s *Server) holdToRules(ctx context.Context, sch sql.Schedule, from, to dag.Millis, p *ScheduleProof) error {
	calendars, changed, err := s.calendarsOf(ctx, sch)
	if err != nil {
		return err
	}
	since := max(from, sch.ChangedAt, changed)
	plan, wrong := sch.Spec.Compile(sch.ID, calendars, 0)
	switch {
	case p.Pruned > 0:
		p.WhyCode, p.Why = "pruned", "some of the rows are left as sums alone"
	case len(wrong) > 0:
		p.WhyCode, p.Why = "broken", "the rules can't be read any more: "+wrong[0].Error()
	case since >= to:
		p.WhyCode, p.Why = "changed", "the rules were others: the schedule was changed, paused or resumed since"
	}
	if p.Why != "" {
		return nil
	}
	if !sch.Spec.ByClock() {
		return s.holdToInstances(ctx, sch, from, to, p)
	}
	if since > from {
		p.WhyCode, p.Why = "before", "what is before was planned by other rules, or the schedule was paused"
	}
	var rules []schedule.Fire
	if sch.Enabled {
		rules, _ = plan.Fires(since, to, maxProved+1)
	}
	rows, err := s.firesBetween(ctx, sch.ID, from, to)
	if err != nil {
		return err
	}
	if len(rules) > maxProved || len(rows) > maxProved {
		p.WhyCode, p.Why = "too_many", fmt.Sprintf("there are more than %d fires: ask for less", maxProved)
		return nil
	}
	p.Compared, p.Since = true, Time(since)
	before := 0
	for before < len(rows) && rows[before].At < since {
		before++
	}
	missing, unexpected := differences(rules, rows[before:])
	p.Missing, p.Unexpected = append(p.Missing, missing...), append(p.Unexpected, unexpected...)
	p.Planned = int64(before + len(rules))
	return s.findInstances(ctx, sch, rows, p)
}

// holdToInstances holds the fires of ends and calls to the instances that they started: no rule foretells them.
func (s *Server) holdToInstances(ctx context.Context, sch sql.Schedule, from, to dag.Millis, p *ScheduleProof) error {
	p.WhyCode, p.Why = "no_rule", "it fires at ends of another workflow or by calls, which no rule foretells: only the instances were looked for"
	rows, err := s.firesBetween(ctx, sch.ID, from, to)
	if err != nil || len(rows) > maxProved {
		return err
	}
	return s.findInstances(ctx, sch, rows, p)
}

// differences are the moments of one list that the other does not have, at most 100 each way. Both are in order.
func differences(rules []schedule.Fire, rows []sql.Fire) (missing, unexpected []Time) {
	i, j := 0, 0
	for i < len(rules) || j < len(rows) {
		switch {
		case j == len(rows) || i < len(rules) && rules[i].At < rows[j].At:
			missing = append(missing, Time(rules[i].At))
			i++
		case i == len(rules) || rows[j].At < rules[i].At:
			unexpected = append(unexpected, Time(rows[j].At))
			j++
		default:
			i, j = i+1, j+1
		}
	}
	return missing[:min(len(missing), maxTold)], unexpected[:min(len(unexpected), maxTold)]
}

// firesBetween reads all fires of a stretch, up to a few more than a proof compares.
func (s *Server) firesBetween(ctx context.Context, id int64, from, to dag.Millis) (rows []sql.Fire, err error) {
	for page := (sql.Page{Limit: maxPage}); len(rows) <= maxProved; {
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

// findInstances notes the fires that fired, or were made up for, and whose instance is not there, or is about another moment.
func (s *Server) findInstances(ctx context.Context, sch sql.Schedule, rows []sql.Fire, p *ScheduleProof) error {
	for chunk := range slices.Chunk(rows, maxPage) {
		wanted := map[int64]sql.Fire{}
		f := sql.InstanceFilter{ProjectIDs: []int64{sch.ProjectID}}
		for _, row := range chunk {
			if row.State == schedule.Fired || row.Instance != 0 {
				wanted[row.Instance] = row
				f.IDs = append(f.IDs, row.Instance)
			}
		}
		if len(f.IDs) == 0 {
			continue
		}
		found, _, err := s.store.Instances(ctx, f, sql.Page{Limit: maxPage})
		if err != nil {
			return fmt.Errorf("read instances: %w", err)
		}
		for _, in := range found {
			row := wanted[in.ID]
			if at, key := row.Trigger(); in.ScheduleTime == at && in.TriggerKey == key {
				delete(wanted, in.ID)
			}
		}
		for _, row := range chunk {
			if _, ok := wanted[row.Instance]; ok && (row.State == schedule.Fired || row.Instance != 0) && len(p.NoInstance) < maxTold {
				p.NoInstance = append(p.NoInstance, Time(row.At))
			}
		}
	}
	return nil
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
