package schedule

import (
	"slices"
	"sync"
	"time"

	rules "github.com/porpoise/porpoise/dag/schedule"
	"github.com/porpoise/porpoise/internal/rpc"
	"github.com/porpoise/porpoise/sql"
)

// Figures count what a Planner and a Firer did, from the beginning of the process on. Its zero value is ready, and any
// goroutine may use it; nil counts nothing.
type Figures struct {
	mu       sync.Mutex
	outcomes map[rules.State]int64
	late     []int64 // by rpc.LateBounds, and what is beyond
	lateMS   int64
	planned  int64
	ahead    time.Duration
}

// Message is what they are by now.
func (f *Figures) Message() *rpc.ScheduleFigures {
	f.mu.Lock()
	defer f.mu.Unlock()
	return &rpc.ScheduleFigures{
		Fired: f.outcomes[rules.Fired], Skipped: f.outcomes[rules.Skipped], Missed: f.outcomes[rules.Missed], Duplicate: f.outcomes[rules.Duplicate],
		Late: slices.Clone(f.late), LateMs: f.lateMS, Planned: f.planned, AheadMs: f.ahead.Milliseconds(),
	}
}

// reaches says how far every schedule of this master is planned ahead, at least.
func (f *Figures) reaches(ahead time.Duration) {
	if f == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ahead = ahead
}

func (f *Figures) plans(fires int) {
	if f == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.planned += int64(fires)
}

// settles counts the fires that a settlement has brought to an outcome.
func (f *Figures) settles(fires []sql.Fire) {
	if f == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	bounds := rpc.LateBounds()
	for _, fire := range fires {
		if fire.State == rules.Waiting {
			continue
		}
		if f.outcomes == nil {
			f.outcomes, f.late = map[rules.State]int64{}, make([]int64, len(bounds)+1)
		}
		f.outcomes[fire.State]++
		if fire.State == rules.Fired {
			late := max(0, fire.FiredAt.Sub(fire.Due))
			i, _ := slices.BinarySearch(bounds, late)
			f.late[i]++
			f.lateMS += late.Milliseconds()
		}
	}
}
