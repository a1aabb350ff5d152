package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/porpoise/porpoise/dag"
)

// patience is how long a healed cluster may take for what is left to do: the longest chain of
// attempts with its retries and timeouts, and a minute.
const patience = 2 * time.Minute

// outcome is what became of a world.
type outcome struct {
	opt   options
	hash  uint64
	bad   *violation
	count counts
	trace string
}

// live lets a world run: first with faults, then without.
func live(ctx context.Context, opt options, tracing bool) (o outcome, err error) {
	w, err := newWorld(ctx, opt, tracing)
	if err != nil {
		return o, err
	}
	defer func() {
		if cerr := w.close(); err == nil {
			err = cerr
		}
	}()
	w.loose()
	if err := w.run(opt.Duration); err != nil {
		return o, err
	}
	w.heal()
	for rest := patience; rest > 0 && w.bad == nil; rest -= time.Second {
		if err := w.run(w.now + time.Second); err != nil {
			return o, err
		}
		if err := w.ticker.stop(); err != nil {
			return o, err
		}
		if len(w.unfinished()) == 0 {
			break
		}
		w.client.wake()
		w.audit.drain("api")
	}
	w.final()
	w.count.Virtual = w.now
	o = outcome{opt: opt, hash: w.hash.Sum64(), bad: w.bad, count: w.count}
	if w.trace != nil {
		o.trace = w.trace.String()
	}
	return o, nil
}

// heal ends all faults.
func (w *world) heal() {
	if w.bad != nil {
		return
	}
	w.note("all faults end")
	w.healing = true
	w.db.down, w.db.slow, w.net.slow = 0, 0, 0
	if w.reg.down > w.now {
		w.reg.down = w.now
		w.reg.renewAll()
	}
	for _, key := range slices.SortedFunc(maps.Keys(w.net.cuts), func(a, b [2]string) int { return strings.Compare(a[0]+" "+a[1], b[0]+" "+b[1]) }) {
		w.net.mend(key)
	}
	w.reg.tell()
	for _, m := range w.masters {
		m.host.thaw()
		m.host.ahead = 0
		m.up()
	}
	for _, n := range w.workers {
		n.host.thaw()
		n.host.ahead = 0
		n.up()
	}
}

// unfinished lists what still has to happen before the cluster rests.
func (w *world) unfinished() []string {
	var out []string
	for _, id := range slices.Sorted(maps.Keys(w.audit.instances)) {
		if in := w.audit.instances[id]; !in.state.Final() {
			out = append(out, in.String()+w.tasksOf(in))
		}
	}
	if len(w.client.acked) < w.opt.Starts {
		out = append(out, fmt.Sprintf("%d starts are not answered", w.opt.Starts-len(w.client.acked)))
	}
	for _, id := range slices.Sorted(maps.Keys(w.audit.commands)) {
		out = append(out, fmt.Sprintf("command %d of instance %d", id, w.audit.commands[id]))
	}
	for _, id := range slices.Sorted(maps.Keys(w.audit.controls)) {
		if c := w.audit.controls[id]; !c.applied {
			out = append(out, fmt.Sprintf("control %d: %s of instance %d", id, c.verb, c.instance))
		}
	}
	if left := w.ticker.left(); left != "" {
		out = append(out, left)
	}
	for _, n := range w.workers {
		if held := n.core.Figures().Outbox; held > 0 {
			out = append(out, fmt.Sprintf("%d reports in the outbox of %s", held, n.host.name))
		}
	}
	for _, list := range w.proof.alive {
		for _, r := range list {
			out = append(out, fmt.Sprintf("process of %v on %s", r.attemptKey, r.node.host.name))
		}
	}
	slices.Sort(out)
	return out
}

func (w *world) tasksOf(in *instance) string {
	var text strings.Builder
	text.WriteString(":")
	for _, i := range in.tasks {
		row := w.audit.tasks[taskKey{in.id, i}]
		fmt.Fprintf(&text, " %d=%s/%d", i, row.state, row.attempts)
		if last := w.audit.attempts[attemptKey{row.taskKey, row.attempts}]; last != nil && !last.state.Final() {
			fmt.Fprintf(&text, "(%s on %s)", last.state, last.worker)
		}
	}
	return text.String()
}

// final holds what is left at the end against the rules.
func (w *world) final() {
	if w.bad != nil {
		return
	}
	if left := w.unfinished(); len(left) > 0 {
		w.fail("I41", "%v after the last fault there is still: %s", patience, strings.Join(left[:min(len(left), 8)], "; "))
		return
	}
	for _, key := range slices.Sorted(maps.Keys(w.client.acked)) {
		if w.audit.instances[w.client.acked[key]] == nil {
			w.fail("I02", "start %s was answered with instance %d, and there is none", key, w.client.acked[key])
		}
	}
	if n, fired := len(w.audit.instances), w.ticker.fired(); n > len(w.client.asked)+fired {
		w.fail("I03", "%d instances were made of %d starts and %d fires", n, len(w.client.asked), fired)
	}
	w.ticker.final()
	w.truth()
}

// truth compares every process with its row: I16 and I17.
func (w *world) truth() {
	good := map[taskKey]map[int]*run{} // by round
	for _, key := range slices.SortedFunc(maps.Keys(w.proof.runs), attemptKey.compare) {
		r, row := w.proof.runs[key], w.audit.attempts[key]
		if r.outcome != "success" {
			continue
		}
		// Killed, lost and given back attempts may have succeeded unheard.
		if row.state == dag.AttemptFailed && row.reason == "exit_code" {
			w.fail("I16", "%v, and its process succeeded", row)
		}
		t := w.audit.tasks[key.taskKey]
		late := row.state == dag.AttemptLost && dag.Reason(t.reason) == dag.ReasonLateSuccess && t.attempts == key.number
		if row.state != dag.AttemptSuccess && !late {
			continue
		}
		if other := good[key.taskKey][row.round]; other != nil {
			w.fail("I17", "attempts %v and %v of one round both succeeded", other.attemptKey, key)
		}
		if good[key.taskKey] == nil {
			good[key.taskKey] = map[int]*run{}
		}
		good[key.taskKey][row.round] = r
	}
}
