package master

import (
	"github.com/porpoise/porpoise/internal/rpc"
	"github.com/porpoise/porpoise/master/schedule"
)

// maxQueues bounds the worker groups whose queues a master tells of: their names come from definitions, and a message
// has a bound.
const maxQueues = 500

// figures adds what the loops have counted.
func (m *Master) figures(f *rpc.MasterFigures, schedules *schedule.Figures) *rpc.MasterFigures {
	f.Schedules = schedules.Message()
	f.Instances = int32(m.engine.Held())
	f.Commits, f.CommitsRefused = m.engine.Turns()
	f.Claimed, f.ClaimsLost = m.intake.Counts()
	timers := m.timers.Counts()
	f.Timers = &rpc.TimerFigures{
		Called: timers.Called, Succeeded: timers.Succeeded, Retried: timers.Retried, Failed: timers.Failed,
		Late: timers.Late, LateMs: timers.LateMS, UnderWay: int32(timers.UnderWay),
	}
	queues := m.placer.Figures()
	for _, q := range queues[:min(len(queues), maxQueues)] {
		f.Queues = append(f.Queues, &rpc.QueueFigures{
			Group: q.Group, Waiting: int32(q.Waiting), OldestAt: int64(q.Oldest), Offered: q.Offered, Given: q.Given,
		})
	}
	return f
}
