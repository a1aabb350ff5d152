package schedule

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/porpoise/porpoise/dag"
	rules "github.com/porpoise/porpoise/dag/schedule"
	"github.com/porpoise/porpoise/internal/ended"
	"github.com/porpoise/porpoise/internal/failpoint"
	"github.com/porpoise/porpoise/internal/guard"
	"github.com/porpoise/porpoise/sql"
)

const (
	// readEvery is how often what is due is read, and readAhead how far: a read that fails is made up for in time.
	readEvery = time.Second
	readAhead = 3 * time.Second
	// prompt is how late a fire may be and still fire without a look at its policy: nobody calls that late. What is
	// later belongs to the master of its schedule, since it is judged with all others that are late.
	prompt = 3 * time.Second
	// maxJudged bounds the schedules whose late fires are judged in one look, and maxVerdicts the fires of all of them, and
	// of each: what is due now must not wait behind an outage. maxTogether bounds the schedules of one read.
	maxJudged   = 1000
	maxVerdicts = 5000
	maxTogether = 250
	// maxDue bounds the fires of one read, and maxSettled those of one transaction: it must not hold up starts of people.
	maxDue     = 20_000
	maxSettled = 512 // two statements of as many rows as one takes
	// lanes are the transactions of one master at the same time: MySQL works on several, SQLite on one after the other.
	lanes = 2
	// A master whose clock is wrong fires nothing and keeps its slots. What is overdue by strayAfter is therefore anybody's,
	// and looked for each strayEvery: together less than the grace of a fire, so that no policy sees it.
	strayAfter = 15 * time.Second
	strayEvery = 5 * time.Second
	// maxEnds bounds the ends of other workflows of one read.
	maxEnds = 2000
	// compareEvery is how often the clock is compared with the database's.
	compareEvery = 5 * time.Second
	msPerMinute  = 60_000
)

// Firer starts what is due; see the package.
type Firer struct {
	Config
	awaited *ended.Watch         // ends of workflows for which fires of this master wait
	mono    func() time.Duration // the clock that nobody sets

	// Of the loop alone.
	trust    trust
	warned   bool
	compared dag.Millis
	strayed  dag.Millis              // the last look at the fires of others
	read     dag.Millis              // when to read again
	due      []sql.Verdict           // what this master fires next, in order of moments
	moments  []dag.Millis            // of due
	waiting  map[int64][]sql.Verdict // what waits, by schedule
	buckets  map[int64]int           // of minutes
}

// NewFirer returns a Firer that does nothing before Run.
func NewFirer(c Config) *Firer {
	c.Logger = c.Logger.Named("firer")
	began := c.Now()
	return &Firer{
		Config: c, awaited: ended.NewWatch(), buckets: map[int64]int{},
		mono: func() time.Duration { return c.Now().Sub(began) },
	}
}

// Finished says that an instance of a workflow has ended. It never blocks and may be called by any goroutine.
func (f *Firer) Finished(workflow int64) { f.awaited.Finished(workflow) }

// Run fires until ctx ends; a settlement that is on its way then finishes.
func (f *Firer) Run(ctx context.Context) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-f.awaited.Heard():
			f.read = 0
		case <-timer.C:
		}
		next, err := f.Once(ctx)
		if err != nil && ctx.Err() == nil {
			f.Logger.Warn("schedules not fired", "error", err)
		}
		timer.Reset(next.Sub(f.now()))
	}
}

// Once reads what will be due, where it is time for that, and fires what is due. It returns when to call it again. Run
// calls it, and it must not be called beside Run.
func (f *Firer) Once(ctx context.Context) (next dag.Millis, err error) {
	now := f.now()
	// In the middle between two seconds: most fires are due at the beginning of one, and find nobody reading.
	again := now - now%1000 + 500
	if again <= now {
		again += dag.Millis(readEvery.Milliseconds())
	}
	f.watch(ctx, now)
	owned, epoch, ok := f.Slots.Begin()
	if !ok || !f.trust.fires() {
		if ok {
			f.Slots.End()
		}
		f.due, f.moments, f.read = nil, nil, 0
		return again, nil
	}
	defer f.Slots.End()
	r := &round{Firer: f, now: now, owned: owned, epoch: epoch}
	if now >= f.read || f.read > now.Add(2*readEvery) { // or the clock was set back
		f.read = again
		if err = r.look(ctx); err != nil {
			f.read = now.Add(readEvery / 2)
		}
	}
	n := 0
	for n < len(f.due) && f.moments[n] <= now {
		n++
	}
	ready := f.due[:n]
	f.due, f.moments = f.due[n:], f.moments[n:]
	err = errors.Join(err, r.settle(ctx, ready))
	// Only now: while fires are due, the instances of those before would take the processors from them.
	if len(r.started) > 0 {
		r.Started(r.started)
	}
	if len(r.stopped) > 0 {
		r.Stopped(r.stopped)
	}
	next = f.read
	if len(f.moments) > 0 {
		next = min(next, f.moments[0])
	}
	return next, err
}

// watch keeps an eye on the clock.
func (f *Firer) watch(ctx context.Context, now dag.Millis) {
	if f.trust.look(now, f.mono()) {
		f.Logger.Error("the clock leapt forward, nothing fires until the database's agrees")
		f.compared = 0
	}
	if f.trust.known && !f.trust.jumped && now.Sub(f.compared).Abs() < compareEvery {
		return
	}
	database, err := f.Store.Clock(ctx)
	if err != nil {
		f.Logger.Debug("the database's clock was not read", "error", err)
		return
	}
	f.compared = now
	fired := f.trust.fires() || !f.trust.known
	f.trust.compare(database, f.now())
	switch warns := f.trust.warns(); {
	case fired && !f.trust.fires():
		f.Logger.Error("no schedules are fired here: the clock differs from the database's", "by", f.trust.off.String())
	case warns && !f.warned:
		f.Logger.Warn("the clock differs from the database's, schedules fire as early or late", "by", f.trust.off.String())
	}
	f.warned = f.trust.warns()
	if !f.warned && f.Confirmed != nil {
		f.Confirmed()
	}
}

// round is one call of Once.
type round struct {
	*Firer
	now   dag.Millis
	owned []bool
	epoch int64
	// strays says that this look takes along what other masters leave lying.
	strays bool

	mu               sync.Mutex // of the lanes
	started, stopped []int64    // instances
}

func (r *round) ours(id int64) bool { return r.owned[id%int64(len(r.owned))] }

// mine says whether what was due of a schedule is for this master: it is its own, or its master leaves it lying. That goes by
// the database's clock, which is nobody's: by a clock that is ahead the fires of all others would be overdue.
func (r *round) mine(id int64, due dag.Millis) bool {
	return r.ours(id) || r.strays && r.now.Add(r.trust.off).Sub(due) > strayAfter
}

// look reads what is late, what waits and what other workflows' ends start, and settles it; and what is due soon.
func (r *round) look(ctx context.Context) error {
	r.due, r.moments, r.waiting = nil, nil, map[int64][]sql.Verdict{}
	if r.strays = r.now.Sub(r.strayed).Abs() >= strayEvery; r.strays {
		r.strayed = r.now
	}
	wrong := errors.Join(r.overdue(ctx), r.ends(ctx))
	rows, err := r.Store.DueFires(ctx, r.now.Add(-prompt), r.now.Add(readAhead), maxDue)
	if err != nil {
		return errors.Join(wrong, err)
	}
	for _, row := range rows {
		buckets, err := r.bucketsOf(ctx, int64(row.Due)/msPerMinute)
		if err != nil {
			return errors.Join(wrong, err)
		}
		if r.owned[rules.SlotOf(row.Due, row.Bucket, buckets, len(r.owned))] {
			r.due = append(r.due, sql.Verdict{Source: row.Source, At: row.At, State: rules.Fired})
			r.moments = append(r.moments, row.Due)
		}
	}
	return wrong
}

// overdue settles what waits, as far as it may start now, and what is late, of the schedules of this master; now
// and then that of others, too.
func (r *round) overdue(ctx context.Context) error {
	late, waiting, err := r.Store.OverdueFires(ctx, r.now, maxJudged, func(id int64, due dag.Millis) bool { return r.now.Sub(due) > prompt && r.mine(id, due) })
	if err != nil {
		return err
	}
	workflows := map[int64]struct{}{}
	var verdicts []sql.Verdict
	for _, row := range waiting {
		v := sql.Verdict{Source: row.Source, At: row.At, State: rules.Fired}
		r.waiting[row.Source] = append(r.waiting[row.Source], v)
		if r.mine(row.Source, row.Due) {
			verdicts = append(verdicts, v)
			workflows[row.WorkflowID] = struct{}{}
		}
	}
	r.awaited.Want(workflows)
	var wrong []error
	for judged := 0; len(late) > 0 && judged < maxVerdicts; {
		n := together(late)
		of, err := r.judgeAll(ctx, late[:n])
		wrong, verdicts, judged = append(wrong, err), append(verdicts, of...), judged+len(of)
		late = late[n:]
	}
	return errors.Join(append(wrong, r.settle(ctx, verdicts))...)
}

// ends starts what the ends of other workflows start, of the schedules of this master. What it does not come to is due
// at once, and late after a crash between.
func (r *round) ends(ctx context.Context) error {
	for {
		fires, more, err := r.Store.PlanEnds(ctx, maxEnds, func(id int64) bool { return r.strays || r.ours(id) })
		if err != nil {
			return err
		}
		if len(fires) > 0 {
			if err := failpoint.Hit("sched.end.planned"); err != nil {
				return err
			}
		}
		if err := r.settle(ctx, fires); err != nil || !more {
			return err
		}
	}
}

// bucketsOf returns how a minute is spread, from memory where it is known.
func (r *round) bucketsOf(ctx context.Context, minute int64) (int, error) {
	if n, ok := r.buckets[minute]; ok {
		return n, nil
	}
	n, err := r.Store.MinuteBuckets(ctx, minute)
	if err != nil {
		return 0, err
	}
	for known := range r.buckets {
		if known < minute-1 {
			delete(r.buckets, known)
		}
	}
	r.buckets[minute] = n
	return n, nil
}

// together is how many of the schedules with late fires, the first of them, are read at once.
func together(late []sql.DueFire) int {
	n := 1
	for fires := late[0].Late; n < min(len(late), maxTogether); n++ {
		if fires += late[n].Late; fires > maxVerdicts {
			break
		}
	}
	return n
}

// judgeAll judges the late fires of some schedules, or, where the store refuses to tell them, those of either half: what
// stands against one schedule holds up no other.
func (r *round) judgeAll(ctx context.Context, late []sql.DueFire) ([]sql.Verdict, error) {
	verdicts, err := r.judge(ctx, late)
	n := len(late)
	if err == nil || n == 1 || errors.Is(err, sql.ErrUnavailable) || ctx.Err() != nil {
		return verdicts, err
	}
	first, wrong := r.judgeAll(ctx, late[:n/2])
	second, also := r.judgeAll(ctx, late[n/2:])
	return append(first, second...), errors.Join(wrong, also)
}

// judge says what becomes of the late fires of schedules, all of which have rows.
func (r *round) judge(ctx context.Context, late []sql.DueFire) (verdicts []sql.Verdict, err error) {
	ids, from := make([]int64, len(late)), late[0].At
	for i, row := range late {
		ids[i], from = row.Source, min(from, row.At)
	}
	list, err := r.Store.SchedulesByID(ctx, ids)
	if err != nil {
		return nil, err
	}
	fires, err := r.Store.LateFires(ctx, ids, from, r.now)
	if err != nil {
		return nil, err
	}
	for i := range list {
		var plan *rules.Plan
		if list[i].Enabled {
			if plan, err = r.compile(ctx, &list[i]); err != nil {
				return nil, err
			}
		}
		verdicts = append(verdicts, r.judgeOne(&list[i], plan, fires[list[i].ID])...)
	}
	return verdicts, nil
}

// judgeOne says what becomes of the late fires of a schedule, which has no plan where it is paused; those that are not late
// by its own policy fire. Of very many it tells the oldest: they come first, so that a crash between leaves the same to be
// judged.
func (r *round) judgeOne(sch *sql.Schedule, plan *rules.Plan, fires []sql.Fire) []sql.Verdict {
	var verdicts []sql.Verdict
	var late []dag.Millis
	for _, fire := range fires {
		// Of a schedule that is paused, or was since, the settlement skips them.
		if plan == nil || fire.Revision < sch.FiresFrom || !plan.Late(fire.Due, r.now) {
			verdicts = append(verdicts, sql.Verdict{Source: sch.ID, At: fire.At, State: rules.Fired})
			continue
		}
		late = append(late, fire.At)
	}
	if len(late) == 0 {
		return verdicts
	}
	missed := 0
	for _, out := range plan.Judge(late, r.now) {
		v := sql.Verdict{Source: sch.ID, At: out.At, State: rules.Fired}
		if !out.Fire {
			v.State, v.Reason = rules.Missed, out.Why
			missed++
		}
		verdicts = append(verdicts, v)
	}
	if missed > 0 {
		r.Logger.Warn("fires missed", "schedule", sch.ID, "name", sch.Name, "workflow", sch.Workflow, "count", missed, "late", len(late))
	}
	return verdicts[:min(len(verdicts), maxVerdicts)]
}

// settle brings fires to their outcomes, some hundreds at a time, and very many in lanes side by side: all of one
// schedule are in one lane, in their order. What stands against some holds up no other; they stay open and are read
// again.
func (r *round) settle(ctx context.Context, verdicts []sql.Verdict) error {
	if len(verdicts) <= maxSettled {
		return r.settleLane(ctx, verdicts)
	}
	var of [lanes][]sql.Verdict
	for _, v := range verdicts {
		of[v.Source%lanes] = append(of[v.Source%lanes], v)
	}
	var wrong [lanes]error
	var wg sync.WaitGroup
	for i := range of {
		wg.Go(func() {
			wrong[i] = guard.Do(r.Logger, "settlement", func() error { return r.settleLane(ctx, of[i]) })
		})
	}
	wg.Wait()
	return errors.Join(wrong[:]...)
}

func (r *round) settleLane(ctx context.Context, verdicts []sql.Verdict) error {
	var wrong []error
	for len(verdicts) > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		n := min(len(verdicts), maxSettled)
		wrong = append(wrong, r.settleAll(context.WithoutCancel(ctx), verdicts[:n:n]))
		verdicts = verdicts[n:]
	}
	return errors.Join(wrong...)
}

// settleAll settles fires in one transaction, or, where the store refuses it, in two halves.
func (r *round) settleAll(ctx context.Context, verdicts []sql.Verdict) error {
	with := verdicts
	if len(r.waiting) > 0 {
		for _, v := range verdicts {
			with = append(with, r.waiting[v.Source]...) // a newer one takes the place of what waits
		}
	}
	if err := failpoint.Hit("sched.fire.before"); err != nil {
		return err
	}
	out, err := r.Store.SettleFires(ctx, with, r.Master, r.epoch)
	if err != nil {
		if n := len(verdicts); n > 1 && !errors.Is(err, sql.ErrUnavailable) {
			return errors.Join(r.settleAll(ctx, verdicts[:n/2:n/2]), r.settleAll(ctx, verdicts[n/2:]))
		}
		return err
	}
	r.Figures.settles(out.Fires)
	if err := failpoint.Hit("sched.fire.after"); err != nil {
		return err
	}
	r.mu.Lock()
	r.started, r.stopped = append(r.started, out.Started...), append(r.stopped, out.Stopped...)
	r.mu.Unlock()
	if len(out.Started) > 0 {
		r.Logger.Debug("schedules fired", "count", len(out.Started))
	}
	return nil
}
