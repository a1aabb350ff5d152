package main

import (
	"context"
	stdsql "database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/porpoise/porpoise/bench/site"
	"github.com/porpoise/porpoise/cmd/porpoise/client"
	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/dag/schedule"
	"github.com/porpoise/porpoise/sql"
)

const (
	masters = 3
	// survivedBar is a lease of 5 s, a rebalance, and the looks between.
	survivedBar = 10 * time.Second
	// around is how long before or after the moment of its fires a master is killed: what is being read, settled and
	// started is all hit in turn.
	around = time.Second
	// down is how long a supervisor takes to start it again.
	down = 5 * time.Second
	// slotsAgain is the wait for a slot to have an owner.
	slotsAgain = 30 * time.Second
	// first is the first moment of all: 0 is that of a start which no schedule made.
	first = 1
)

// survive has schedules that fire each minute while the master that fires next is killed again and again, and wants
// exactly the fires of the rules, each of which started one instance that succeeded.
func survive(ctx context.Context, o options, database string) (l lateness, err error) {
	l = lateness{what: fmt.Sprintf("%d schedules of each minute for %s, a master that fires killed each %s", o.minutely, o.lasts, o.kill), bar: survivedBar}
	b, err := begin(ctx, site.Options{Binary: o.porpoise, Database: database, Masters: masters, Workers: 1, Slots: 64})
	if err != nil {
		return l, err
	}
	defer func() { err = errors.Join(err, b.end()) }()
	// All are planned when the first are due, and the last fire of each is known.
	from := time.Now().Add(time.Duration(o.minutely)*perSchedule + ahead).Truncate(time.Minute).Add(time.Minute)
	until := from.Add(o.lasts)
	spec := schedule.Spec{Cron: "* * * * *", Start: from.UTC().Format(time.RFC3339), End: until.Add(-time.Second).UTC().Format(time.RFC3339)}
	progress("%d schedules of each minute from %s until %s, seed %d", o.minutely, spec.Start, spec.End, o.seed)
	made, err := b.schedules(ctx, "minutely", o.minutely, func(int) schedule.Spec { return spec })
	if err != nil {
		return l, err
	}
	if time.Now().After(from) {
		return l, fmt.Errorf("it took until after %s to make them", from)
	}
	killed, err := b.kills(ctx, o, from, until)
	if err != nil {
		return l, err
	}
	if err := errors.Join(sleep(ctx, time.Until(until)), b.closed(ctx, from, until, maxTold)); err != nil {
		return l, err
	}
	l.what += fmt.Sprintf(" (%d kills)", killed)
	rules, err := planned(len(made), func(i int) sql.Schedule { return made[i] }, first, dag.MillisOf(until))
	if err != nil {
		return l, err
	}
	return l, b.prove(ctx, &l, rules, first, dag.MillisOf(until))
}

// prove holds the ledger of a stretch to the rules, takes how late its fires were, and wants their instances to end well.
func (b *bed) prove(ctx context.Context, l *lateness, rules map[moment]bool, from, until dag.Millis) (err error) {
	db, err := open(b.DSN)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	unended := b.succeeded(ctx, db, until)
	got, err := readLedger(ctx, db, from, until)
	if err != nil {
		return errors.Join(unended, err)
	}
	l.late = got.late()
	progress("%d fires, %d instances, %d by the rules", len(got.fires), len(got.starts), len(rules))
	return errors.Join(unended, got.holds(rules))
}

// succeeded waits until all instances of the moments before one have.
func (b *bed) succeeded(ctx context.Context, db *stdsql.DB, until dag.Millis) error {
	for limit := time.Now().Add(settled); ; {
		var n int
		err := db.QueryRowContext(ctx, `SELECT COUNT(*) FROM workflow_instance WHERE state <> 'success' AND schedule_time < ?`, until).Scan(&n)
		if err != nil || n == 0 {
			return err
		}
		if time.Now().After(limit) {
			return fmt.Errorf("%d instances have not succeeded after %s", n, settled)
		}
		if err := sleep(ctx, time.Second); err != nil {
			return err
		}
	}
}

// kills kills the owner of the fires that are next, around their moment, and starts it again, until a moment.
func (b *bed) kills(ctx context.Context, o options, from, until time.Time) (n int, err error) {
	random := rand.New(rand.NewPCG(o.seed, 0))
	for next := from.Add(o.kill); next.Before(until); next = next.Add(o.kill) {
		at := next.Add(time.Duration(random.Int64N(int64(2*around))) - around)
		if err := sleep(ctx, time.Until(at)-around); err != nil {
			return n, err
		}
		name, err := b.owner(ctx, dag.MillisOf(next))
		if err != nil {
			return n, err
		}
		part := b.Part(name)
		if part == nil {
			return n, fmt.Errorf("the owner of the fires of %s is %q, which is no part of the cluster", next, name)
		}
		if err := sleep(ctx, time.Until(at)); err != nil {
			return n, err
		}
		progress("kill -9 of %s, %s from %s", name, time.Since(next).Round(time.Millisecond), next.Format(time.TimeOnly))
		part.Kill()
		n++
		if err := sleep(ctx, down); err != nil {
			return n, err
		}
		if err := b.Restart(ctx, part); err != nil {
			return n, err
		}
	}
	return n, nil
}

// owner names the master that fires what is due first at a moment. A slot has none for a while after each kill.
func (b *bed) owner(ctx context.Context, at dag.Millis) (string, error) {
	for limit := time.Now().Add(slotsAgain); ; {
		slots, err := b.Client.Slots(ctx)
		if err == nil && slots.Count > 0 {
			slot := schedule.SlotOf(at, 0, 1, slots.Count)
			i := slices.IndexFunc(slots.Owners, func(r client.SlotRange) bool { return r.From <= slot && slot <= r.To })
			if i >= 0 && slots.Owners[i].Master != "" {
				return slots.Owners[i].Master, nil
			}
		}
		if time.Now().After(limit) {
			return "", errors.Join(fmt.Errorf("the fires of %d have no owner after %s", at, slotsAgain), err)
		}
		if err := sleep(ctx, 100*time.Millisecond); err != nil {
			return "", err
		}
	}
}
