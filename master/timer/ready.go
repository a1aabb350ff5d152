package timer

const (
	// maxCalls bounds the tasks that are claimed and not finished, maxReceiver those of one receiver: one that hangs
	// keeps the others' calls from nothing. A claim that waits for its moment counts, too.
	maxCalls    = 4096
	maxReceiver = 2048
)

// ready holds the tasks whose claim may begin, by receiver, and how many of each receiver are under way.
type ready struct {
	queues map[string][]*task
	turn   []string // receivers that have a queue, in the order of their turns
	busy   map[string]int
	total  int
}

func newReady() ready { return ready{queues: map[string][]*task{}, busy: map[string]int{}} }

func receiverOf(t *task) string {
	if t.spec == nil {
		return ""
	}
	return t.spec.receiver
}

func (r *ready) push(t *task) {
	name := receiverOf(t)
	if len(r.queues[name]) == 0 {
		r.turn = append(r.turn, name)
	}
	r.queues[name] = append(r.queues[name], t)
}

// take returns up to n tasks for which there is room, one of each receiver after the other; they are under way then.
func (r *ready) take(n int) (out []*task) {
	for full := 0; len(out) < n && r.total < maxCalls && full < len(r.turn); {
		name := r.turn[0]
		r.turn = append(r.turn[1:], name)
		if r.busy[name] >= maxReceiver {
			full++
			continue
		}
		full = 0
		queue := r.queues[name]
		out = append(out, queue[0])
		queue[0] = nil
		r.busy[name]++
		r.total++
		if r.queues[name] = queue[1:]; len(queue) == 1 {
			delete(r.queues, name)
			r.turn = r.turn[:len(r.turn)-1]
		}
	}
	return out
}

// end says that a task is not under way any more.
func (r *ready) end(t *task) {
	name := receiverOf(t)
	r.total--
	if r.busy[name]--; r.busy[name] == 0 {
		delete(r.busy, name)
	}
}
