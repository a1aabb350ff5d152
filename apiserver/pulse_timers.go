package apiserver

import (
	"context"
	"fmt"
	"time"

	"github.com/porpoise/porpoise/internal/rpc"
)

const (
	// slicedBefore and slicedAhead are the minutes of firings that are shown: masters write five to ten minutes ahead.
	slicedBefore = 1
	slicedAhead  = 10
)

// PulseTimers is how the calls of timers go, over the last ten seconds.
type PulseTimers struct {
	UnderWay  int      `json:"under_way" doc:"Firings that masters have claimed and that have no result yet."`
	Called    *float64 `json:"called_per_s,omitempty" doc:"Tries; absent while nothing was measured."`
	Succeeded *float64 `json:"succeeded_per_s,omitempty"`
	Retried   *float64 `json:"retried_per_s,omitempty" doc:"Failed, and there will be another try."`
	Failed    *float64 `json:"failed_per_s,omitempty" doc:"Failed for good."`
	P50       *int64   `json:"late_p50_ms,omitempty" doc:"How late first tries are at the most, of the better half; absent while there were none."`
	P99       *int64   `json:"late_p99_ms,omitempty" doc:"The same of 99 of 100."`
}

// TimerMinute is what timers plan for a minute, by bucket.
type TimerMinute struct {
	At      Time    `json:"at"`
	Due     []int64 `json:"due" nullable:"false" doc:"Open firings by bucket modulo 32."`
	Buckets int     `json:"buckets,omitempty" doc:"Onto how many buckets the minute is folded for the masters; absent while that is not decided."`
	Partly  bool    `json:"partly,omitempty" doc:"There are more than are counted one by one: the counts are foretold."`
}

// TimerSlices are the firings of all timers that are due soon.
type TimerSlices struct {
	At      Time             `json:"at" doc:"When they were counted."`
	Minutes []TimerMinute    `json:"minutes" nullable:"false"`
	Overdue int              `json:"overdue" doc:"Open firings that were due more than a second ago, 10,000 at most. What is tried again is due at its next try."`
	Oldest  Time             `json:"oldest,omitempty" doc:"The moment of the oldest open firing, where that was over a second ago."`
	Enabled int              `json:"enabled" doc:"Timers."`
	Tasks   map[string]int64 `json:"tasks" nullable:"false" doc:"Firings that came to their end, by state, since there are timers."`
}

type timerSlicesAnswer struct{ Body TimerSlices }

func (s *Server) pulseTimerRoutes() {
	add(s, spec{
		id: "list-timer-slices", method: "GET", path: "/cluster/timers", tag: "cluster", summary: "Count the firings of timers that are due soon, by minute and bucket",
		access: access{object: noObject},
	}, s.timerSlices)
}

func (s *Server) timerSlices(ctx context.Context, _ *struct{}) (*timerSlicesAnswer, error) {
	now := s.at()
	slices, oldest, err := s.store.TimerSlices(ctx, now.Add(-slicedBefore*time.Minute), slicedBefore+slicedAhead)
	if err != nil {
		return nil, err
	}
	load, err := s.store.TimerLoad(ctx, now.Add(-timerOverdue))
	if err != nil {
		return nil, err
	}
	out := TimerSlices{At: Time(now), Minutes: make([]TimerMinute, len(slices)), Overdue: load.Overdue, Enabled: load.Enabled, Tasks: map[string]int64{}}
	for i, m := range slices {
		out.Minutes[i] = TimerMinute{At: Time(m.Minute), Due: m.Due[:], Buckets: m.Buckets, Partly: m.Partly}
	}
	if oldest < now.Add(-timerOverdue) {
		out.Oldest = Time(oldest)
	}
	for state, n := range load.Tasks {
		out.Tasks[string(state)] = n
	}
	return &timerSlicesAnswer{Body: out}, nil
}

// timerCounters are the counters of a master's timers, by their names in a sample.
func timerCounters(f *rpc.TimerFigures) map[string]int64 {
	out := map[string]int64{"timer.called": f.GetCalled(), "timer.succeeded": f.GetSucceeded(), "timer.retried": f.GetRetried(), "timer.failed": f.GetFailed()}
	for i := range len(rpc.LateBounds()) + 1 {
		out[lateCounter(i)] = 0
		if late := f.GetLate(); i < len(late) {
			out[lateCounter(i)] = late[i]
		}
	}
	return out
}

func lateCounter(i int) string { return fmt.Sprintf("timer.late%d", i) }

// pulseTimers adds up what the masters say of their timers.
func pulseTimers(figures map[string]*rpc.MasterFigures, meter *meter) PulseTimers {
	out := PulseTimers{}
	for _, f := range figures {
		out.UnderWay += int(f.GetTimers().GetUnderWay())
	}
	if _, _, _, ok := meter.span(); !ok {
		return out
	}
	for name, into := range map[string]**float64{"called": &out.Called, "succeeded": &out.Succeeded, "retried": &out.Retried, "failed": &out.Failed} {
		rate := meter.sum("timer." + name)
		*into = &rate
	}
	bounds := rpc.LateBounds()
	counts, all := make([]int64, len(bounds)+1), int64(0)
	for i := range counts {
		counts[i] = meter.risen(lateCounter(i))
		all += counts[i]
	}
	share := func(percent int64) *int64 {
		sum := int64(0)
		for i, n := range counts {
			if sum += n; sum*100 >= all*percent {
				ms := bounds[min(i, len(bounds)-1)].Milliseconds()
				return &ms
			}
		}
		return nil
	}
	if all > 0 {
		out.P50, out.P99 = share(50), share(99)
	}
	return out
}
