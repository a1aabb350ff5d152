package apiserver

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/dag/schedule"
	"github.com/porpoise/porpoise/sql"
)

const (
	// maxTold is how many fires that are not as they should be an answer lists of each kind.
	maxTold = 100
	// proofTime is how long a proof goes on, of the time that a handler has: then it says how far it came.
	proofTime = 20 * time.Second
	// provedAtOnce is how many fires a proof reads at once.
	provedAtOnce = 2000
	// maxProofs is how often a proof begins anew where the schedule changes, or fires are pruned, meanwhile.
	maxProofs = 3
	msPerDay  = 24 * 60 * 60 * 1000
)

// ProofStore has what a schedule's fires are held to.
type ProofStore interface {
	FiresFrom(ctx context.Context, scheduleID int64, from, to dag.Millis, limit int) ([]sql.Fire, error)
	PrunedDays(ctx context.Context, scheduleID int64, from, to dag.Millis) ([]sql.PrunedDay, error)
	Triggers(ctx context.Context, ids []int64) (map[int64]sql.StartedAs, error)
	FoldedUntil(ctx context.Context) (dag.Millis, error)
	RetiredUpTo(ctx context.Context, workflowID int64) (id int64, err error)
	Fireless(ctx context.Context, sch *sql.Schedule, from, to dag.Millis, limit int) ([]dag.Millis, error)
}

// ProofDay is a day whose fires are not as many as the rules name.
type ProofDay struct {
	Day     string `json:"day" format:"date" doc:"Of UTC."`
	Planned int64  `json:"planned" doc:"By the rules."`
	Counted int64  `json:"counted" doc:"In its sums and the rows that are left."`
}

// ScheduleProof adds up what became of a schedule's fires, and holds them to its rules.
type ScheduleProof struct {
	From     Time             `json:"from"`
	To       Time             `json:"to" doc:"No later than what is planned by now."`
	Verdict  string           `json:"verdict" enum:"holds,fails,unproven" doc:"holds: all was compared, and nothing speaks against it: what was planned is the sum of the outcomes and of what is open, no fire is missing or beside the rules, and fires and instances are each other's. fails: something speaks against it. unproven: nothing does, and not all could be compared; why says what."`
	Holds    bool             `json:"holds" doc:"The verdict is holds."`
	Planned  int64            `json:"planned" doc:"By the rules where they were compared, else the fires that there are."`
	Outcomes map[string]int64 `json:"outcomes" nullable:"false" doc:"How many fires are in each state. planned and waiting are open."`
	Open     int64            `json:"open"`
	MeanLate int64            `json:"mean_late_ms" doc:"How much later than due those fired that did, on average."`
	Pruned   int64            `json:"pruned" doc:"How many of them are left as the sums of their days (UTC) alone, counted, and held to the rules, by whole days."`
	Retired  int64            `json:"retired" doc:"How many of those that fired had an instance that retention has deleted: it was not looked for."`

	Compared   bool       `json:"compared" doc:"Rows were held to the rules one by one."`
	Why        string     `json:"why,omitempty" doc:"Why the fires, or some of them, were not compared with the rules."`
	WhyCode    string     `json:"why_code,omitempty" enum:"broken,folded,changed,before,unplanned,no_time,moved,no_rule" doc:"The same as a code. With no_rule nothing is unproven: fires of ends and calls are foretold by no rule."`
	Since      Time       `json:"since,omitempty" doc:"Rows from here on were compared: the rules were others before."`
	Until      Time       `json:"until,omitempty" doc:"Where the time was up: rows from here on were not looked at. Ask for them on their own."`
	Missing    []Time     `json:"missing" nullable:"false" doc:"Moments that the rules name and that have no row, at most 100."`
	Unexpected []Time     `json:"unexpected" nullable:"false" doc:"Rows of moments that the rules do not name, at most 100."`
	NoInstance []Time     `json:"no_instance" nullable:"false" doc:"Fires that fired and whose instance is not there, or is another's, at most 100."`
	NoFire     []Time     `json:"no_fire" nullable:"false" doc:"Schedule times of instances that the schedule started and that have no fire, at most 100."`
	WrongDays  []ProofDay `json:"wrong_days" nullable:"false" doc:"Days of pruned fires that have others than the rules name, at most 100."`
}

const (
	verdictHolds    = "holds"
	verdictFails    = "fails"
	verdictUnproven = "unproven"
)

type proveSchedule struct {
	SchedulePath
	FireRange
}

type proofAnswer struct{ Body ScheduleProof }

func (s *Server) proofRoutes(one string) {
	add(s, spec{
		id: "prove-schedule", method: "GET", many: true, path: one + "/proof", tag: "schedules", summary: "Show that every planned fire came to an outcome",
		access: access{need: roleViewer, object: ofWorkflow},
	}, s.proveSchedule)
	add(s, spec{
		id: "prove-schedules", method: "GET", many: true, path: "/schedules/proof", tag: "schedules", summary: "Add up the proofs of all schedules, and list those that do not hold",
		access: access{object: perItem},
	}, s.proveSchedules)
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
	p, err := s.prove(ctx, sch, from, to, time.Now().Add(proofTime))
	if err != nil {
		return nil, err
	}
	return &proofAnswer{Body: p}, nil
}

// prove holds the fires of a schedule from one moment until before another to its rules and to the instances, until a time is up. It
// reads page by page, so that it begins anew where the schedule was changed, or fires were pruned, between.
func (s *Server) prove(ctx context.Context, sch sql.Schedule, from, to dag.Millis, stop time.Time) (ScheduleProof, error) {
	for try := 1; ; try++ {
		x := prover{s: s, sch: sch, from: from, asked: min(to, s.at()), to: max(from, min(to, sch.PlannedUntil)), stop: stop}
		if err := x.run(ctx); err != nil {
			return ScheduleProof{}, fmt.Errorf("prove schedule %d: %w", sch.ID, err)
		}
		after, err := s.store.PrunedDays(ctx, sch.ID, x.from, x.to)
		if err != nil {
			return ScheduleProof{}, err
		}
		again, err := s.store.ScheduleByID(ctx, sch.ID)
		if err != nil {
			return ScheduleProof{}, fmt.Errorf("read schedule %d again: %w", sch.ID, err)
		}
		same := again.Revision == sch.Revision && slices.EqualFunc(after, x.days, func(a, b sql.PrunedDay) bool { return a.Day == b.Day && a.Pruned == b.Pruned })
		switch {
		case same:
			return x.end(), nil
		case try == maxProofs || time.Now().After(stop):
			x.doubt("moved", "the schedule was changed, or fires were pruned, meanwhile: ask again")
			x.missing, x.unexpected, x.p, x.p.Planned = 0, 0, x.p.told(), 0
			for _, n := range x.p.Outcomes {
				x.p.Planned += n
			}
			return x.end(), nil
		}
		sch = again
	}
}

// prover holds the fires of one schedule to what they should be.
type prover struct {
	s    *Server
	sch  sql.Schedule
	from dag.Millis
	to   dag.Millis // no later than what is planned
	// asked is until when fires should be planned: up to now, where that much was asked for.
	asked dag.Millis
	stop  time.Time

	days  []sql.PrunedDay
	plan  *schedule.Plan // nil where no rule foretells the fires, or nobody can read it
	since dag.Millis     // from here on the plan is that of the rows
	next  dag.Millis     // the next moment that the rules name outside of pruned days
	steps int

	p                   ScheduleProof
	missing, unexpected int64 // all of them, also beyond those that are told
	unproven            bool
	whole               bool       // the rules were always these, and nothing is folded: what is before since has no rows
	folded              dag.Millis // before it days have no sums of their own
}

// told is the proof without what speaks against it.
func (p ScheduleProof) told() ScheduleProof {
	p.Missing, p.Unexpected, p.NoInstance, p.NoFire, p.WrongDays = []Time{}, []Time{}, []Time{}, []Time{}, []ProofDay{}
	return p
}

// doubt notes that something could not be compared; the first reason is told.
func (x *prover) doubt(code, why string) {
	x.unproven = true
	if x.p.WhyCode == "" || x.p.WhyCode == "no_rule" {
		x.p.WhyCode, x.p.Why = code, why
	}
}

func (x *prover) run(ctx context.Context) (err error) {
	if x.days, err = x.s.store.PrunedDays(ctx, x.sch.ID, x.from, x.to); err != nil {
		return err
	}
	sums, err := x.s.store.SumFires(ctx, x.sch.ID, x.from, x.to)
	if err != nil {
		return err
	}
	x.p = ScheduleProof{
		From: Time(x.from), To: Time(x.to), Planned: sums.Total(), Outcomes: map[string]int64{}, Open: sums.Open(), Pruned: sums.Pruned,
	}.told()
	for state, n := range sums.States {
		x.p.Outcomes[string(state)] = n
	}
	if fired := sums.States[schedule.Fired]; fired > 0 {
		x.p.MeanLate = sums.LateMs / fired
	}
	if err := x.rules(ctx); err != nil {
		return err
	}
	if err := x.walk(ctx); err != nil {
		return err
	}
	x.sums()
	if x.sch.Spec.After == nil {
		times, err := x.s.store.Fireless(ctx, &x.sch, max(x.from, x.folded), x.to, maxTold)
		if err != nil {
			return err
		}
		for _, at := range times {
			x.p.NoFire = append(x.p.NoFire, Time(at))
		}
	}
	return nil
}

// rules finds by which rules the rows were planned, and from when on.
func (x *prover) rules(ctx context.Context) error {
	calendars, changed, err := x.s.calendarsOf(ctx, x.sch)
	if err != nil {
		return err
	}
	plan, wrong := x.sch.Spec.Compile(x.sch.ID, calendars, 0)
	// Of one that never was another everything is known: before it was made it named nothing.
	x.since = x.sch.CreatedAt
	x.whole = x.sch.Revision == 1
	if !x.whole {
		x.since = max(x.sch.ChangedAt, changed)
	}
	if x.folded, err = x.s.store.FoldedUntil(ctx); err != nil {
		return err
	}
	if x.folded > x.since {
		x.since, x.whole = x.folded, false
	}
	switch {
	case len(wrong) > 0:
		x.doubt("broken", "the rules can't be read any more: "+wrong[0].Error())
		return nil
	case !x.sch.Spec.ByClock():
		x.p.WhyCode, x.p.Why = "no_rule", "it fires at ends of another workflow or by calls, which no rule foretells: only the instances were looked for"
		return nil
	case !x.whole && x.since == x.folded && x.since > x.from:
		x.doubt("folded", "the sums of days before "+x.folded.Time().UTC().Format(time.DateOnly)+" are folded into one")
		if x.since >= x.to {
			return nil
		}
	case !x.whole && x.since >= x.to && x.from < x.to:
		x.doubt("changed", "the rules were others: the schedule was changed, paused or resumed since")
		return nil
	case !x.whole && x.since > x.from:
		x.doubt("before", "what is before was planned by other rules, or the schedule was paused")
	}
	x.plan, x.p.Compared, x.p.Since = plan, true, Time(max(x.from, x.since))
	if x.next = max(x.from, x.since) - 1; !x.sch.Enabled {
		x.next = math.MaxInt64
		return nil
	}
	if f, ok := plan.Next(max(x.to, x.since) - 1); ok && f.At < x.asked {
		x.doubt("unplanned", "masters have planned it only until "+x.sch.PlannedUntil.Time().Format(time.RFC3339)+": fires from then on have no rows")
	}
	x.advance()
	return nil
}

// advance goes to the next moment of the rules that may have a row.
func (x *prover) advance() {
	for {
		x.steps++
		f, ok := x.plan.Next(x.next)
		if !ok {
			x.next = math.MaxInt64
			return
		}
		if x.next = f.At; !x.isPruned(f.At) {
			return
		}
		x.next = dag.Millis((int64(f.At)/msPerDay+1)*msPerDay - 1)
	}
}

func (x *prover) isPruned(at dag.Millis) bool {
	_, found := slices.BinarySearchFunc(x.days, int64(at)/msPerDay, func(d sql.PrunedDay, day int64) int { return int(d.Day - day) })
	return found
}

// walk goes over rules and rows together, in the order of their moments.
func (x *prover) walk(ctx context.Context) error {
	for at := x.from; ; {
		rows, err := x.s.store.FiresFrom(ctx, x.sch.ID, at, x.to, provedAtOnce)
		if err != nil {
			return err
		}
		for i := range rows {
			x.row(&rows[i])
		}
		if err := x.instances(ctx, rows); err != nil {
			return err
		}
		if len(rows) < provedAtOnce {
			x.upTo(x.to)
			return ctx.Err()
		}
		at = rows[len(rows)-1].At + 1
		if x.late() {
			x.cutAt(at)
			return ctx.Err()
		}
	}
}

// late says that the time is up.
func (x *prover) late() bool { return time.Now().After(x.stop) }

// cutAt ends the walk before a moment.
func (x *prover) cutAt(at dag.Millis) {
	x.p.Until = Time(at)
	x.doubt("no_time", "there are too many fires to look at all in time, those from "+at.Time().Format(time.RFC3339)+" on are left: ask for less")
	x.next = math.MaxInt64
}

// row holds one to the rules.
func (x *prover) row(f *sql.Fire) {
	if x.plan == nil || x.p.Until != 0 || f.At < x.since && !x.whole || x.isPruned(f.At) {
		return
	}
	x.upTo(f.At)
	if f.At == x.next {
		x.advance()
		return
	}
	if x.unexpected++; len(x.p.Unexpected) < maxTold {
		x.p.Unexpected = append(x.p.Unexpected, Time(f.At))
	}
}

// upTo notes the moments of the rules before another, which have no row.
func (x *prover) upTo(before dag.Millis) {
	for x.plan != nil && x.next < before {
		if x.missing++; len(x.p.Missing) < maxTold {
			x.p.Missing = append(x.p.Missing, Time(x.next))
		}
		if x.steps%provedAtOnce == 0 && x.late() {
			x.cutAt(x.next + 1)
			return
		}
		x.advance()
	}
}

// instances notes the fires that fired, or were made up for, and whose instance is not there, or is about another moment.
func (x *prover) instances(ctx context.Context, rows []sql.Fire) error {
	var ids []int64
	for i := range rows {
		if rows[i].Instance != 0 {
			ids = append(ids, rows[i].Instance)
		}
	}
	found, err := x.s.store.Triggers(ctx, ids)
	if err != nil {
		return err
	}
	retired := int64(-1) // read after the instances: what is gone by then has its mark
	for i := range rows {
		f := &rows[i]
		if f.State != schedule.Fired && f.Instance == 0 {
			continue
		}
		at, key := f.Trigger()
		started, there := found[f.Instance]
		if started == (sql.StartedAs{At: at, Key: key}) {
			continue
		}
		if retired < 0 {
			if retired, err = x.s.store.RetiredUpTo(ctx, x.sch.WorkflowID); err != nil {
				return err
			}
		}
		switch {
		case !there && f.Instance > 0 && f.Instance <= retired:
			x.p.Retired++
		case len(x.p.NoInstance) < maxTold:
			x.p.NoInstance = append(x.p.NoInstance, Time(f.At))
		}
	}
	return nil
}

// sums holds pruned days to the rules by how many fires they have.
func (x *prover) sums() {
	for _, d := range x.days {
		first, end := dag.Millis(d.Day*msPerDay), min(dag.Millis((d.Day+1)*msPerDay), x.sch.PlannedUntil)
		switch {
		case x.plan == nil:
			return
		case !x.whole && first < x.since:
			x.doubt("before", "what is before was planned by other rules, or the schedule was paused")
			continue
		case x.late():
			x.cutAt(first)
			return
		}
		named := int64(0)
		for after := max(first, x.since) - 1; x.sch.Enabled; named++ {
			f, ok := x.plan.Next(after)
			if !ok || f.At >= end {
				break
			}
			after = f.At
		}
		if counted := d.Pruned + d.Rows; counted != named {
			x.p.Planned += named - counted
			if len(x.p.WrongDays) < maxTold {
				x.p.WrongDays = append(x.p.WrongDays, ProofDay{Day: first.Time().UTC().Format(time.DateOnly), Planned: named, Counted: counted})
			}
		}
	}
}

// end comes to the verdict.
func (x *prover) end() ScheduleProof {
	p := x.p
	p.Planned += x.missing - x.unexpected
	switch {
	case len(p.Missing)+len(p.Unexpected)+len(p.NoInstance)+len(p.NoFire)+len(p.WrongDays) > 0:
		p.Verdict = verdictFails
	case x.unproven:
		p.Verdict = verdictUnproven
	default:
		p.Verdict, p.Holds = verdictHolds, true
	}
	return p
}
