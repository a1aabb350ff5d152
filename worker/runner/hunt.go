package runner

import (
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/porpoise/porpoise/worker/lease"
)

// reapAfter is the age from which a zombie that looks like a task's leader, and is
// known to be none, is one.
const reapAfter = 10 * time.Second

// birthmark names a process for ever.
type birthmark struct {
	pid   int
	ticks uint64
}

// hunter searches the process table for what attempts have started, wherever it has
// gone: by the mark in its environment, by its parent, group and session, and by what
// was seen of it before. It ends what belongs to attempts that are over. This process is
// the subreaper of all tasks, so what lost its parent is found below it.
type hunter struct {
	*Runner
	known  map[birthmark]string    // attempt of a process, as seen before
	strays map[birthmark][]string  // attempts that ran when a process of nobody was first seen
	zombie map[birthmark]time.Time // first seen
	termed map[string]uint64       // attempts that were told to end, and when, in ticks since boot
	told   map[birthmark]bool      // processes outside of their task's group that have had TERM
}

// huntOrder names the attempts whose processes are to be told to end, or to be killed.
type huntOrder struct{ term, kill map[string]bool }

// add takes in a task that is being stopped.
func (o *huntOrder) add(t *task) {
	which := &o.term
	if t.stop.phase == stopKill {
		which = &o.kill
	}
	if *which == nil {
		*which = map[string]bool{}
	}
	(*which)[t.start.Mark] = true
}

type huntResult struct {
	alive  map[string][]int32
	seen   map[string]bool // attempts that this search looked for
	termed map[string]bool // attempts whose processes outside of the group have had TERM
	again  bool            // something is left that belongs to no attempt
}

// run searches each time it is asked; the asker names the attempts to be killed.
func (h *hunter) run() {
	h.known, h.strays, h.zombie = map[birthmark]string{}, map[birthmark][]string{}, map[birthmark]time.Time{}
	h.termed, h.told = map[string]uint64{}, map[birthmark]bool{}
	for order := range h.Runner.hunter {
		result := h.hunt(order)
		h.inbox.put(func() { h.inbox.hunts = append(h.inbox.hunts, result) })
	}
}

func (h *hunter) hunt(order huntOrder) *huntResult {
	before, leaders := h.live()
	below := descendants(allProcesses(), os.Getpid())
	owners := h.attribute(below, leaders)
	below, owners = h.freeze(order.kill, below, owners, leaders)
	live, leaders := h.live()

	result := &huntResult{alive: map[string][]int32{}, seen: map[string]bool{}, termed: order.term}
	for mark := range before {
		result.seen[mark] = true
	}
	told := map[birthmark]bool{}
	first := h.note(order.term)
	known, strays, zombies := map[birthmark]string{}, map[birthmark][]string{}, map[birthmark]time.Time{}
	for _, p := range below {
		result.again = result.again || !live[owners[p.pid]]
		mark, id := owners[p.pid], birthmark{p.pid, p.ticks}
		_, leads := leaders[p.pid]
		switch {
		case p.zombie:
			h.reapOrphan(p, leads, zombies)
		case mark == "":
			h.stray(p, id, live, strays)
		case !live[mark]:
			if !leads {
				h.log.Warn("process of an ended attempt killed", "pid", p.pid, "mark", mark)
				killProcess(p, unix.SIGKILL)
			}
		default:
			if known[id] = mark; h.known[id] == "" {
				score(p.pid)
			}
			result.alive[mark] = append(result.alive[mark], int32(p.pid))
			if order.kill[mark] {
				killProcess(p, unix.SIGKILL)
			} else if order.term[mark] && h.tell(p, id, first[mark], h.termed[mark], leaders[p.group] == mark) {
				told[id] = true
			}
		}
	}
	h.known, h.strays, h.zombie, h.told = known, strays, zombies, told
	return result
}

const (
	// frozenFrom is how many processes of a killed attempt are stopped first: fewer can be killed before they
	// multiply. maxFreezes bounds the looks for new ones.
	frozenFrom = 16
	maxFreezes = 20
)

// freeze stops the processes of attempts that are to be killed where they are many: what forks faster
// than it is killed can't fork while it is stopped.
func (h *hunter) freeze(kill map[string]bool, below []process, owners map[int]string, leaders map[int]string) ([]process, map[int]string) {
	if len(kill) == 0 {
		return below, owners
	}
	stopped := map[birthmark]bool{}
	for range maxFreezes {
		doomed, fresh := 0, false
		for _, p := range below {
			id := birthmark{p.pid, p.ticks}
			if p.zombie || !kill[owners[p.pid]] {
				continue
			}
			doomed++
			fresh = fresh || !stopped[id]
		}
		if doomed < frozenFrom || !fresh {
			break
		}
		for _, p := range below {
			if id := (birthmark{p.pid, p.ticks}); !p.zombie && kill[owners[p.pid]] && !stopped[id] {
				killProcess(p, unix.SIGSTOP)
				stopped[id] = true
			}
		}
		// What was seen keeps its attempt, also where its parent is gone by now.
		for _, p := range below {
			if mark := owners[p.pid]; mark != "" {
				h.known[birthmark{p.pid, p.ticks}] = mark
			}
		}
		below = descendants(allProcesses(), os.Getpid())
		owners = h.attribute(below, leaders)
	}
	return below, owners
}

// note remembers when attempts were told to end, and forgets those that are over. It names those that
// are told now.
func (h *hunter) note(term map[string]bool) (first map[string]bool) {
	now := uint64(lease.Now() / tick)
	first = map[string]bool{}
	for mark := range term {
		if h.termed[mark] == 0 {
			h.termed[mark], first[mark] = now, true
		}
	}
	for mark := range h.termed {
		if !term[mark] {
			delete(h.termed, mark)
		}
	}
	return first
}

// tick is the unit of a process's start time in /proc: USER_HZ is 100 everywhere.
const tick = 10 * time.Millisecond

// tell sends TERM to a process that has left its task's group, by setsid or in a shell with
// job control, so that the group's signal misses it. What was started after the attempt was told is its own
// way to end. It says whether the process has had its TERM, now or before.
func (h *hunter) tell(p process, id birthmark, first bool, termed uint64, grouped bool) bool {
	if h.told[id] {
		return true
	}
	if grouped || (!first && p.ticks >= termed) {
		return false
	}
	killProcess(p, unix.SIGTERM)
	killProcess(p, unix.SIGCONT)
	return true
}

// live holds the marks of the attempts that are not over, and the pids of their leaders.
func (h *hunter) live() (marks map[string]bool, leaders map[int]string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	marks, leaders = make(map[string]bool, len(h.tasks)), make(map[int]string, len(h.byID))
	for mark := range h.tasks {
		marks[mark] = true
	}
	for _, t := range h.byID {
		leaders[t.pid] = t.start.Mark
	}
	return marks, leaders
}

// descendants keeps the processes below a pid, parents before children.
func descendants(all []process, root int) []process {
	children := map[int][]process{}
	for _, p := range all {
		children[p.parent] = append(children[p.parent], p)
	}
	below := children[root]
	for i := 0; i < len(below); i++ {
		below = append(below, children[below[i].pid]...)
	}
	return below
}

// attribute says to which attempt each process belongs.
func (h *hunter) attribute(below []process, leaders map[int]string) map[int]string {
	owners := make(map[int]string, len(below))
	for _, p := range below {
		mark, _ := strings.CutPrefix(markOf(p.pid), h.markHead)
		if mark == "" {
			mark = leaders[p.pid]
		}
		if mark == "" {
			mark = h.known[birthmark{p.pid, p.ticks}]
		}
		if mark == "" {
			mark = owners[p.parent]
		}
		if mark == "" {
			mark = leaders[p.group]
		}
		if mark == "" {
			mark = leaders[p.session]
		}
		owners[p.pid] = mark
	}
	return owners
}

// reapOrphan takes the status of a child that no task waits for. A child that leads a
// group in our session may be a task whose birth is not known yet.
func (h *hunter) reapOrphan(p process, leads bool, zombies map[birthmark]time.Time) {
	if p.parent != os.Getpid() || leads {
		return
	}
	if p.group == p.pid && p.session == h.sid {
		id, now := birthmark{p.pid, p.ticks}, time.Now()
		first, ok := h.zombie[id]
		if !ok {
			first = now
		}
		if zombies[id] = first; now.Sub(first) < reapAfter {
			return
		}
	}
	_, _ = unix.Wait4(p.pid, nil, unix.WNOHANG, nil)
}

// stray ends a process that no attempt can be named for when every attempt that could
// have started it is over.
func (h *hunter) stray(p process, id birthmark, live map[string]bool, strays map[birthmark][]string) {
	suspects, ok := h.strays[id]
	if !ok {
		for mark := range live {
			suspects = append(suspects, mark)
		}
	}
	suspects = slices.DeleteFunc(suspects, func(mark string) bool { return !live[mark] })
	if len(suspects) == 0 && ok {
		h.log.Warn("process of an ended attempt killed", "pid", p.pid)
		killProcess(p, unix.SIGKILL)
	}
	strays[id] = suspects
}

// killLeftovers ends what an earlier runner of this data folder has left behind: by the
// mark, and by pid where start time and boot are those in the journal.
func killLeftovers(markHead string, lines map[string]*lifeline, boot string) []int {
	born := map[int]*Born{}
	for _, line := range lines {
		if line.born != nil && line.exit == nil && line.born.Boot == boot {
			born[int(line.born.Pid)] = line.born
		}
	}
	var killed []int
	before := map[birthmark]bool{} // one that is just ending shows no environment any more
	for range 50 {
		all := allProcesses()
		doomed := map[int]bool{}
		for _, p := range all {
			b := born[p.pid]
			same := b != nil && b.Ticks != 0 && b.Ticks == p.ticks
			if same || before[birthmark{p.pid, p.ticks}] || strings.HasPrefix(markOf(p.pid), markHead) {
				doomed[p.pid] = true
			}
		}
		left := 0
		for _, p := range all {
			if p.zombie || (!doomed[p.pid] && !doomed[p.parent] && !doomed[p.session]) {
				continue
			}
			left++
			before[birthmark{p.pid, p.ticks}] = true
			if killProcess(p, unix.SIGKILL) {
				killed = append(killed, p.pid)
			}
		}
		if left == 0 {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	return killed
}
