package main

import (
	"fmt"
	"time"

	"github.com/porpoise/porpoise/master"
)

// planning is how masters plan the fires of schedules.
type planning struct {
	PlanAhead    time.Duration `key:"schedule-plan-ahead" about:"how far ahead the fires of schedules have their rows"`
	KeepFireDays int           `key:"keep-fire-days" about:"what became of the fires of schedules is kept so many days, and then as sums"`
}

const (
	// minPlanAhead is what a database may be away for without a late fire, and maxPlanAhead what a change of a schedule
	// may have to delete.
	minPlanAhead, maxPlanAhead = time.Minute, 24 * time.Hour
	maxLeastInterval           = 24 * time.Hour
)

func defaultPlanning() planning {
	return planning{PlanAhead: 10 * time.Minute, KeepFireDays: int(master.DefaultFiresKept / (24 * time.Hour))}
}

func (p *planning) check() (wrong []error) {
	if p.PlanAhead < minPlanAhead || p.PlanAhead > maxPlanAhead {
		wrong = append(wrong, fmt.Errorf("schedule-plan-ahead: %s is not within %s and %s", p.PlanAhead, minPlanAhead, maxPlanAhead))
	}
	if p.KeepFireDays < 1 || p.KeepFireDays > maxKeepDays {
		wrong = append(wrong, fmt.Errorf("keep-fire-days: %d is not within 1 and %d", p.KeepFireDays, maxKeepDays))
	}
	return wrong
}

// frequency is how often a schedule may fire.
type frequency struct {
	LeastInterval time.Duration `key:"schedule-least-interval" about:"the shortest time between two fires that a schedule may be saved with"`
}

func defaultFrequency() frequency { return frequency{LeastInterval: time.Second} }

func (f *frequency) check() []error {
	if f.LeastInterval < time.Second || f.LeastInterval > maxLeastInterval {
		return []error{fmt.Errorf("schedule-least-interval: %s is not within 1s and %s", f.LeastInterval, maxLeastInterval)}
	}
	return nil
}
