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
	KeepFires    int           `key:"keep-fires-per-schedule" about:"of one schedule's fires the newest are kept, and the others as sums; 0 is all"`
}

const (
	// minPlanAhead is what a database may be away for without a late fire, and maxPlanAhead what a change of a schedule
	// may have to delete.
	minPlanAhead, maxPlanAhead = time.Minute, 24 * time.Hour
	// defaultKeepFires is more than a month of a schedule of each minute, and a day of one of each second.
	defaultKeepFires = 100_000
	maxLeastInterval = 24 * time.Hour
)

func defaultPlanning() planning {
	return planning{PlanAhead: 10 * time.Minute, KeepFireDays: int(master.DefaultFiresKept / (24 * time.Hour)), KeepFires: defaultKeepFires}
}

func (p *planning) check() (wrong []error) {
	if p.PlanAhead < minPlanAhead || p.PlanAhead > maxPlanAhead {
		wrong = append(wrong, fmt.Errorf("schedule-plan-ahead: %s is not within %s and %s", p.PlanAhead, minPlanAhead, maxPlanAhead))
	}
	if p.KeepFireDays < 1 || p.KeepFireDays > maxKeepDays {
		wrong = append(wrong, fmt.Errorf("keep-fire-days: %d is not within 1 and %d", p.KeepFireDays, maxKeepDays))
	}
	if p.KeepFires < 0 {
		wrong = append(wrong, fmt.Errorf("keep-fires-per-schedule: %d is less than 0", p.KeepFires))
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
