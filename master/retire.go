package master

import (
	"context"
	"time"

	"github.com/porpoise/porpoise/dag"
)

// Retention says which instances that are over are kept. Zero of a field is no bound.
type Retention struct {
	Age  time.Duration // since their end
	Each int           // of one workflow, the newest
}

// retireShare is the part of the time, one in so many, in which old instances are deleted: nobody waits for that,
// and everybody waits for the database.
const retireShare = 8

// retire deletes the instances, and the fires of schedules that have too many, that need not be kept any more, batch by batch, until none is left. It is the work of the master that has
// the first slot, which saves the others from trying the same; two at once do no harm.
func (m *Master) retire(ctx context.Context) {
	rows, began := 0, m.Now()
	batch := func(do func() (int, error)) (more bool) {
		if !m.hasFirstSlot() {
			return false
		}
		start := time.Now()
		n, err := do()
		if err != nil {
			m.log.Warn("old rows not deleted", "error", err)
			return false
		}
		rows += n
		return n > 0 && pause(ctx, (retireShare-1)*time.Since(start))
	}
	until := dag.Millis(0) // of which there is nothing; what is left of an instance goes all the same
	if m.Retention.Age > 0 {
		until = dag.MillisOf(began.Add(-m.Retention.Age))
	}
	if m.Retention.Each > 0 && m.hasFirstSlot() {
		workflows, err := m.Store.Surplus(ctx, m.Retention.Each)
		if err != nil {
			m.log.Warn("instances not counted", "error", err)
		}
		for _, w := range workflows {
			for batch(func() (int, error) { return m.Store.RetireSurplus(ctx, w, m.Retention.Each) }) {
			}
		}
	}
	for batch(func() (int, error) { return m.Store.Retire(ctx, until) }) {
	}
	if m.FiresEach > 0 && m.hasFirstSlot() {
		schedules, err := m.Store.SurplusFires(ctx, m.FiresEach)
		if err != nil {
			m.log.Warn("fires not counted", "error", err)
		}
		for _, sch := range schedules {
			for batch(func() (int, error) { return m.Store.SweepSurplusFires(ctx, sch, m.FiresEach) }) {
			}
		}
	}
	folded := dag.MillisOf(began.Add(-max(daysKept, m.FiresKept+48*time.Hour))) // after the sums are made
	for batch(func() (int, error) { return m.Store.FoldDays(ctx, folded) }) {
	}
	if rows > 0 {
		m.log.Info("old rows deleted", "rows", rows, "took", m.Now().Sub(began).String())
	}
}

func (m *Master) hasFirstSlot() bool {
	slots := heldSlots{m.slots, &m.hold}
	owned, _, ok := slots.Begin()
	if !ok {
		return false
	}
	slots.End()
	return len(owned) > 0 && owned[0]
}
