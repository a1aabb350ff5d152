package sql

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/dag/schedule"
)

// UnplannedSchedules returns up to limit enabled schedules whose fires have rows only before a moment, those that are
// the farthest behind first; more says that there are others. Whoever plans asks again for what owns says.
func (s *Store) UnplannedSchedules(ctx context.Context, before dag.Millis, limit int, owns func(id int64) bool) (out []Schedule, more bool, err error) {
	ids, more, err := s.unplanned(ctx, before, limit, owns)
	if err == nil {
		out, err = s.SchedulesByID(ctx, ids)
	}
	if err != nil {
		return nil, false, fmt.Errorf("read unplanned schedules: %w", err)
	}
	return out, more, nil
}

// unplanned goes through an index alone: what others own may be very many, where one of them is down.
func (s *Store) unplanned(ctx context.Context, before dag.Millis, limit int, owns func(id int64) bool) (ids []int64, more bool, err error) {
	const least, most = 512, 16_384
	after := planCursor{}
	for page := least; ; page = min(4*page, most) {
		rows, err := collect(ctx, s, func(scan func(...any) error) (c planCursor, err error) { return c, scan(&c.until, &c.id) },
			`SELECT planned_until, id FROM schedule WHERE enabled = 1 AND planned_until >= ? AND planned_until < ? AND (planned_until > ? OR id > ?)
			ORDER BY planned_until, id LIMIT ?`, after.until, before, after.until, after.id, page)
		if err != nil {
			return nil, false, err
		}
		for _, after = range rows {
			switch {
			case !owns(after.id):
			case len(ids) == limit:
				return ids, true, nil
			default:
				ids = append(ids, after.id)
			}
		}
		if len(rows) < page {
			return ids, false, nil
		}
	}
}

type planCursor struct {
	until dag.Millis
	id    int64
}

// Stretch is what was planned of a schedule that stood as given: its next fires, and until when these are all.
type Stretch struct {
	Schedule Schedule
	Fires    []schedule.Fire
	Until    dag.Millis
}

var fireInsert = &table{
	name: "fire",
	cols: []string{"source_id", "planned_at", "due_at", "bucket", "revision", "open", "state", "reason", "instance_id", "fired_at", "master", "epoch"},
}

// PlanFires writes the fires of stretches, and until when their schedules are planned, in one transaction. A schedule
// that was changed, paused, deleted or planned by another since it was read is passed over. A fire that has a row
// keeps it. It returns how many fires are new.
func (s *Store) PlanFires(ctx context.Context, stretches []Stretch) (planned int, err error) {
	ids := make([]int64, len(stretches))
	for i := range stretches {
		ids[i] = stretches[i].Schedule.ID
	}
	slices.Sort(ids) // the order of locks
	err = s.write(ctx, func(tx *sqlTx) error {
		b := &batch{s: s, tx: plainTx{tx, s}}
		type row struct {
			revision int64
			until    dag.Millis
		}
		stand := make(map[int64]row, len(ids))
		err := eachChunk(ids, func(chunk []any) error {
			return b.eachRow(ctx, `SELECT id, revision, planned_until FROM schedule WHERE enabled = 1 AND id IN (`+marks(len(chunk))+`) ORDER BY id`+s.dial.forUpdate(), chunk,
				func(scan func(...any) error) error {
					var id int64
					var r row
					err := scan(&id, &r.revision, &r.until)
					stand[id] = r
					return err
				})
		})
		if err != nil {
			return err
		}
		var fires, untils []any
		for _, st := range stretches {
			if r, ok := stand[st.Schedule.ID]; !ok || r.revision != st.Schedule.Revision || r.until != st.Schedule.PlannedUntil {
				continue
			}
			for _, f := range st.Fires {
				state, open := schedule.Planned, true
				if f.Skip != "" {
					state, open = schedule.Skipped, false
				}
				fires = append(fires, st.Schedule.ID, int64(f.At), int64(f.Due), int64(schedule.Bucket(st.Schedule.ID)), st.Schedule.Revision,
					flag(open), string(state), f.Skip, int64(0), int64(0), "", int64(0))
			}
			untils = append(untils, st.Schedule.ID, int64(st.Until))
		}
		planned = len(fires) / len(fireInsert.cols)
		if err := b.rows(ctx, fireInsert, s.dial.insertNew, fires); err != nil {
			return fmt.Errorf("insert fires: %w", err)
		}
		return b.updates(ctx, schedulePlanned, untils, false)
	})
	if err != nil {
		return 0, fmt.Errorf("plan %d schedules: %w", len(stretches), err)
	}
	return planned, nil
}

var schedulePlanned = &table{
	name: "schedule",
	keys: []string{"id"},
	cols: []string{"id", "planned_until"},
	sets: []string{"planned_until"},
}

// DueFire is an open fire that is due, or soon will be.
type DueFire struct {
	Fire
	Bucket     int
	WorkflowID int64
	// Late is how many planned fires of the schedule are overdue, this one among them; of OverdueFires alone.
	Late int
}

// DueFires returns up to limit fires of schedules that are planned and due from one moment until before another, in the
// order in which they are.
func (s *Store) DueFires(ctx context.Context, from, until dag.Millis, limit int) ([]DueFire, error) {
	out, err := collect(ctx, s, func(scan func(...any) error) (f DueFire, err error) {
		return f, scan(&f.Source, &f.At, &f.Due, &f.Bucket, &f.Revision, &f.State, &f.WorkflowID)
	}, `SELECT f.source_id, f.planned_at, f.due_at, f.bucket, f.revision, f.state, s.workflow_id FROM fire f JOIN schedule s ON s.id = f.source_id
		WHERE f.open = 1 AND f.due_at >= ? AND f.due_at < ? AND f.state = 'planned' ORDER BY f.due_at, f.bucket LIMIT ?`, from, until, limit)
	if err != nil {
		return nil, fmt.Errorf("read fires that are due: %w", err)
	}
	return out, nil
}

const (
	// overduePage bounds the rows of one read, and mostOverdue the schedules with late fires that are looked at for the
	// oldest of them: beyond that the order is that of their ids.
	overduePage = 16_384
	mostOverdue = 20_000
)

// OverdueFires returns open fires that were due before now: of those that are planned the oldest of each schedule, of up to
// limit schedules that owns wants, the farthest behind first; and each one that waits for the end of an instance, whoever
// owns it, of which a schedule has one, or two for a moment. It goes through all of them: neither what others own nor what
// waits keeps what is late from being found. A schedule that was not planned up to now is left out, unless it is paused:
// not all that are late have their rows yet.
func (s *Store) OverdueFires(ctx context.Context, now dag.Millis, limit int, owns func(id int64, due dag.Millis) bool) (late, waiting []DueFire, err error) {
	return s.overdueFires(ctx, now, limit, overduePage, owns)
}

func (s *Store) overdueFires(ctx context.Context, now dag.Millis, limit, page int, owns func(id int64, due dag.Millis) bool) (late, waiting []DueFire, err error) {
	for after, more := int64(0), true; more; {
		// The sum keeps the databases from the primary key, along which is the whole ledger.
		rows, err := collect(ctx, s, func(scan func(...any) error) (f DueFire, err error) {
			return f, scan(&f.Source, &f.At, &f.Due, &f.State, &f.WorkflowID, &f.Late)
		}, `SELECT f.source_id, MIN(f.planned_at), MIN(f.due_at), f.state, MIN(s.workflow_id), COUNT(*) FROM fire f`+s.dial.along("fire_due")+` JOIN schedule s ON s.id = f.source_id
			WHERE f.open = 1 AND f.due_at < ? AND f.source_id + 0 > ? AND (s.enabled = 0 OR s.planned_until > ?)
			GROUP BY f.source_id, f.state, CASE WHEN f.state = 'waiting' THEN f.planned_at ELSE 0 END ORDER BY 1, 2 LIMIT ?`, now, after, now, page)
		if err != nil {
			return nil, nil, fmt.Errorf("read overdue fires: %w", err)
		}
		if more = len(rows) == page; more {
			// The last schedule may go on behind this page, and is read anew; one that fills it is cut.
			after = rows[page-1].Source
			if first := slices.IndexFunc(rows, func(f DueFire) bool { return f.Source == after }); first > 0 {
				rows, after = rows[:first], rows[first-1].Source
			}
		}
		for _, f := range rows {
			switch {
			case f.State == schedule.Waiting:
				waiting = append(waiting, f)
			case len(late) < mostOverdue && owns(f.Source, f.Due):
				late = append(late, f)
			}
		}
	}
	oldest := func(a, b DueFire) int { return cmp.Or(cmp.Compare(a.Due, b.Due), cmp.Compare(a.Source, b.Source)) }
	slices.SortFunc(late, oldest)
	slices.SortFunc(waiting, func(a, b DueFire) int { return cmp.Or(oldest(a, b), cmp.Compare(a.At, b.At)) })
	return late[:min(limit, len(late))], waiting, nil
}

// LateFires returns the open fires of schedules that are planned from a moment on, were due before another and have not begun
// to wait, by schedule and in the order in which they were planned. Of them it tells Source, At, Due and Revision.
func (s *Store) LateFires(ctx context.Context, ids []int64, from, before dag.Millis) (map[int64][]Fire, error) {
	out := make(map[int64][]Fire, len(ids))
	err := eachChunk(ids, func(chunk []any) error {
		fires, err := collect(ctx, s, func(scan func(...any) error) (Fire, error) {
			f := Fire{State: schedule.Planned}
			return f, scan(&f.Source, &f.At, &f.Due, &f.Revision)
		}, `SELECT source_id, planned_at, due_at, revision FROM fire WHERE source_id IN (`+marks(len(chunk))+`) AND planned_at >= ? AND open = 1 AND state = 'planned' AND due_at < ?
			ORDER BY source_id, planned_at`, append(chunk, from, before)...)
		for _, f := range fires {
			out[f.Source] = append(out[f.Source], f)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read late fires of %d schedules: %w", len(ids), err)
	}
	return out, nil
}

// MinuteBuckets returns onto how many buckets the fires of a minute, of schedules and of timers, are folded. minute counts them
// from 1970. Where it is not decided yet it is now, for good, by how many open fires the minute has.
func (s *Store) MinuteBuckets(ctx context.Context, minute int64) (buckets int, err error) {
	read := func() error {
		return explain(s.read.QueryRowContext(ctx, `SELECT buckets FROM fire_minute WHERE minute = ?`, minute).Scan(&buckets))
	}
	if err = read(); errors.Is(err, ErrNotFound) {
		err = s.write(ctx, func(tx *sqlTx) error {
			var fires int
			from, until := minute*msPerMinute, (minute+1)*msPerMinute
			err := tx.QueryRowContext(ctx, `SELECT (SELECT COUNT(*) FROM fire WHERE open = 1 AND due_at >= ? AND due_at < ?) +
				(SELECT COUNT(*) FROM timer_task WHERE open = 1 AND due_at >= ? AND due_at < ?)`, from, until, from, until).Scan(&fires)
			if err != nil {
				return err
			}
			_, err = tx.ExecContext(ctx, s.dial.insertIgnore()+`fire_minute (minute, buckets) VALUES (?, ?)`, minute, schedule.Buckets(fires))
			return err
		})
		if err == nil {
			err = read() // another may have been first
		}
	}
	if err != nil {
		return 0, fmt.Errorf("spread minute %d: %w", minute, err)
	}
	return buckets, nil
}

// ScheduleCalendars returns the calendars of a project by their folded names, for schedule.Spec.Compile.
func (s *Store) ScheduleCalendars(ctx context.Context, projectID int64) (map[string]schedule.Calendar, error) {
	list, err := s.Calendars(ctx, projectID)
	if err != nil {
		return nil, err
	}
	out := make(map[string]schedule.Calendar, len(list))
	for _, c := range list {
		out[dag.FoldName(c.Name)] = c.Spec
	}
	return out, nil
}

// Clock returns the time of the database, where that has a clock of its own, to the millisecond.
func (s *Store) Clock(ctx context.Context) (dag.Millis, error) {
	return s.clock(func(now *dag.Millis) error { return s.read.QueryRowContext(ctx, selectClock).Scan(now) })
}

// clockWithin is Clock in a transaction: what is written there must not go by the clock of whichever apiserver writes it.
func (s *Store) clockWithin(ctx context.Context, tx *sqlTx) (dag.Millis, error) {
	return s.clock(func(now *dag.Millis) error { return tx.QueryRowContext(ctx, selectClock).Scan(now) })
}

// selectClock does not go by NOW, which shows an hour twice where the server has a timezone.
const selectClock = `SELECT TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000`

func (s *Store) clock(read func(*dag.Millis) error) (now dag.Millis, err error) {
	if !s.dial.mysql {
		return s.millis(), nil
	}
	if err := read(&now); err != nil {
		return 0, fmt.Errorf("read the database's clock: %w", explain(err))
	}
	return now, nil
}
