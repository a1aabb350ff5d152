package dag

// delayed says that a ready task waits for the end of its delay: it is not offered to anybody.
func (t *TaskInstance) delayed() bool { return t.State == TaskReady && t.Reason == ReasonDelayed }

// Delayed says that a ready task waits for the end of its delay: it takes no worker and no place.
func (in *Instance) Delayed(task int) bool { return in.Tasks[task].delayed() }

// delay lets a task that could start wait first. A delay goes on while the instance is paused, as retry
// waits do: it holds nothing.
func (s *step) delay(i int) {
	t := &s.in.Tasks[i]
	s.enter(i, TaskReady, ReasonDelayed)
	t.ReadyAt = s.now
	t.NextAt = s.now.Add(s.in.plan.Definition.Tasks[i].Delay)
	s.do(Arm{Timer: Timer{Kind: TimerDelay, Task: i, Number: t.Attempts}, At: t.NextAt})
}

// delayOver starts a task whose delay has ended. Its age in the queue counts from now.
func (s *step) delayOver(i int) {
	t := &s.in.Tasks[i]
	t.Reason, t.NextAt, t.ReadyAt = "", 0, s.now
	s.touch(i)
	if s.in.State != InstanceRunning || !s.in.plan.here(i) {
		s.offer(i)
	} else if s.startHere(i) {
		s.spread(i)
	}
}

// offer gives a ready task to the dispatcher; while the instance pauses or is paused, it only stands
// ready until resume. The time in which a worker must take it counts from here.
func (s *step) offer(i int) {
	if s.in.State != InstanceRunning {
		return
	}
	s.do(Enqueue{Task: i})
	t := &s.in.Tasks[i]
	if after := s.in.plan.Definition.Tasks[i].QueueTimeout.After; after > 0 {
		t.NextAt = s.now.Add(after)
		s.touch(i)
		s.do(Arm{Timer: Timer{Kind: TimerQueue, Task: i, Number: t.Attempts}, At: t.NextAt})
	}
}

// taken ends the time in which a worker must take a ready task.
func (s *step) taken(i int) {
	t := &s.in.Tasks[i]
	if t.NextAt == 0 {
		return
	}
	t.NextAt = 0
	s.touch(i)
	s.do(Disarm{Timer: Timer{Kind: TimerQueue, Task: i, Number: t.Attempts}})
}

// takeBack is the opposite of offer, for a task that stays ready while its instance pauses.
func (s *step) takeBack(i int) {
	s.do(Dequeue{Task: i})
	s.taken(i)
}

// queueOver carries out the timeout of a ready task that no worker took. It has no attempt that could be
// tried again, so it fails for good.
func (s *step) queueOver(i int) {
	action := s.in.plan.Definition.Tasks[i].QueueTimeout.Action
	s.in.Tasks[i].NextAt = 0 // it has fired, whatever follows
	s.touch(i)
	if action != TimeoutFail {
		s.event(Event{Code: EventQueueTimeout, Task: i, Warning: true})
	}
	if action != TimeoutWarn {
		s.letGo(i)
		s.do(Dequeue{Task: i})
		s.failForGood(i, ReasonQueueTimeout, "")
	}
}
