package main

import (
	"errors"
	"fmt"
	"time"
)

const (
	// A list of a large store may read, and take, this much of what it does in a small one, and so much more.
	slack = 1.5
	// spareRows are for the walks of more states, of which a small store has instances, too, but not of each in each project.
	spareRows = 500
	// spareTime is for pages that are in no cache.
	spareTime = time.Millisecond
)

// bound is what a list may cost in a large store whatever it costs in a small one, where it counts up to a bound.
type bound struct {
	rows int64
	time time.Duration
}

// judge names the lists of a large store that cost more than those of a small one: by the rows that the server has read,
// and by their median time.
func judge(few, many results) error {
	var wrong []error
	for i, m := range many.lists {
		if why := m.above(few.lists[i]); why != "" {
			wrong = append(wrong, fmt.Errorf("%s: %s, of %d instances: %s", many.database, m.what, many.instances, why))
		}
	}
	return errors.Join(wrong...)
}

// above says in words what of it is above its bar; "" is nothing.
func (m result) above(f result) string {
	if most := max(int64(slack*float64(f.examined))+spareRows, m.bound.rows); m.examined > most {
		return fmt.Sprintf("%d rows read, the bar is %d", m.examined, most)
	}
	if most := max(time.Duration(slack*float64(f.p50))+spareTime, m.bound.time); m.p50 > most {
		return fmt.Sprintf("%s ms, the bar is %s ms", ms(m.p50), ms(most))
	}
	return ""
}

// rows writes how many rows were read; "-" where the database does not count.
func (m result) rows() string {
	if m.examined < 0 {
		return "-"
	}
	return fmt.Sprint(m.examined)
}
