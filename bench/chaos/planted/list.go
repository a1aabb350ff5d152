package main

import (
	"slices"
	"time"
)

// family is a course of faults that several bugs share, so that one run with nothing planted
// shows that it is the bugs that are flagged, and not the course.
type family struct {
	name   string
	faults string   // classes, by commas; "" for none
	more   []string // further arguments of the run
	gap    time.Duration
	within time.Duration
	rate   float64
}

// count is how many faults there are: one after each gap.
func (f family) count() int {
	if f.faults == "" {
		return 0
	}
	return int(f.within/f.gap) + 1
}

const (
	soon  = 5 * time.Second
	later = 12 * time.Second // for long faults, one after the other
)

var (
	calm   = family{name: "calm", within: 15 * time.Second, rate: 2}
	deaths = family{name: "deaths", faults: "kill.master", gap: soon, within: 40 * time.Second, rate: 2}
	both   = family{name: "both", faults: "kill.master,kill.worker", gap: soon, within: 60 * time.Second, rate: 1.5}
	// slow masters agree late on a layout while others come and go.
	slow = family{name: "slow", faults: "kill.master,slow.master", more: []string{"-link", "etcd", "-least", "5s"}, gap: 4 * time.Second, within: 60 * time.Second, rate: 5}
	// apart takes a master from the registry for longer than its lease, and from nothing
	// else: it goes on with what another one has taken over.
	apart = family{name: "apart", faults: "cut.master", more: []string{"-link", "etcd", "-least", "10s"}, gap: later, within: 75 * time.Second, rate: 3}
	// mute workers hear their masters and are not heard.
	mute  = family{name: "mute", faults: "cut.worker", more: []string{"-link", "masters", "-way", "hole_up", "-least", "5s"}, gap: later, within: 45 * time.Second, rate: 2}
	gone  = family{name: "gone", faults: "cut.worker", more: []string{"-link", "all", "-least", "12s"}, gap: later, within: 45 * time.Second, rate: 0.8}
	stuck = family{name: "stuck", faults: "cut.worker,pause.worker", gap: soon, within: 45 * time.Second, rate: 0.8}
	// torn masters die while the database does not answer.
	torn   = family{name: "torn", faults: "kill.master,cut.stores", more: []string{"-way", "hole", "-least", "5s"}, gap: 4 * time.Second, within: 60 * time.Second, rate: 3}
	stores = family{name: "stores", faults: "cut.apiserver,kill.apiserver,cut.stores,kill.stores,cut.master", gap: soon, within: 60 * time.Second, rate: 4}
)

// bugs are faults that a careless change could make. Each breaks one rule that somebody
// relies on; whoever changes a rule on purpose changes its bug too. The numbers in
// brackets are those of the catalogue of mutants.
func bugs() []bug {
	all := append(append(engineBugs(), workerBugs()...), storeBugs()...)
	// Those that need no fault to come out are the quick ones.
	slices.SortStableFunc(all, func(x, y bug) int { return len(x.under.faults) - len(y.under.faults) })
	return all
}

// storeBugs break what the database is to hold.
func storeBugs() []bug {
	const commit, takeover, claim, start, batch = "sql/commit.go", "sql/takeover.go", "sql/claim.go", "sql/start.go", "sql/batch.go"
	return []bug{
		{
			name: "(1) the epoch is not compared at a commit", promise: "I06", under: apart, shapes: "stubborn,hopeless",
			edits: []edit{
				{commit, `case !found || row.epoch != o.commit.Epoch:`, `case !found:`},
				{commit, "	instanceTurn = &table{\n		name: \"workflow_instance\",\n		keys: []string{\"id\", \"owner_epoch\"},", "	instanceTurn = &table{\n		name: \"workflow_instance\",\n		keys: []string{\"id\"},"},
				{commit, "\t\t\t\"id\", \"owner_epoch\", \"reason\", \"round\", \"crash_count\", \"seq\", \"write_id\", \"started_at\", \"finished_at\", \"deadline\", \"state\", \"owner\",\n\t\t},\n\t\tsets: []string{\"reason\",", "\t\t\t\"id\", \"reason\", \"round\", \"crash_count\", \"seq\", \"write_id\", \"started_at\", \"finished_at\", \"deadline\", \"state\", \"owner\",\n\t\t},\n\t\tsets: []string{\"reason\","},
				// One that begins with its claim has its epoch among the same values.
				{"master/intake/intake.go", `if c.Kind != sql.CommandStart || c.Lent`, `if c.Kind != "" || c.Lent`},
				{commit, "		keys: []string{\"id\", \"owner_epoch\"},\n		cols: []string{\"id\", \"owner_epoch\", \"reason\",", "		keys: []string{\"id\"},\n		cols: []string{\"id\", \"reason\","},
				{commit, `append(*args, in.ID, o.commit.Epoch)`, `append(*args, in.ID)`},
			},
		},
		{
			name: "(2) a commit that wrote nothing is called done", promise: "I11", under: apart, shapes: "stubborn,hopeless",
			edits: []edit{{commit, "		case !found || row.epoch != o.commit.Epoch:\n			o.err = ErrNotOwner", "		case !found || row.epoch != o.commit.Epoch:"}},
		},
		{
			name: "a takeover does not raise the epoch", promise: "I07", under: deaths, shapes: "long,chain",
			edits: []edit{
				{takeover, `UPDATE workflow_instance SET owner = ?, owner_epoch = owner_epoch + 1, crash_count`, `UPDATE workflow_instance SET owner = ?, crash_count`},
				{takeover, `		o.epoch++
`, ``},
			},
		},
		{
			name: "a claim leaves its command", promise: "I41", under: calm, shapes: "chain",
			edits: []edit{{claim, "b.s.dial.deleteFrom(\"command\")+` WHERE id IN (%s)`", "b.s.dial.deleteFrom(\"command\")+` WHERE id IN (%s) AND 1 = 0`"}},
		},
		{
			name: "a claim takes the instance from its owner", promise: "I43", under: deaths, shapes: "stopped,paused,chain",
			edits: []edit{
				{claim, `if !found || in.owner != "" {`, `if !found {`},
				{claim, `WHERE owner = '' AND id IN (%s)`, `WHERE id IN (%s)`},
				{claim, "b.s.dial.deleteFrom(\"command\")+` WHERE id IN (%s)`", "b.s.dial.deleteFrom(\"command\")+` WHERE kind <> 'start' AND id IN (%s)`"},
			},
		},
		{
			name: "(6) the Idempotency-Key is not looked up", promise: "I02", under: calm, shapes: "diamond",
			edits: []edit{
				{start, `		case !seen:
			rows[st.request()]`, `		case !seen || seen:
			st.Idempotency.Key += "x" + ManualKey(st.ID)
			rows[st.request()]`},
			},
		},
		{
			name: "(3) a start is acked before its commit", promise: "I02", under: stores, shapes: "diamond",
			edits: []edit{{
				start, "	if err := s.writer.doOrLeave(ctx, o); err != nil {",
				"	go s.writer.doOrLeave(context.WithoutCancel(ctx), o)\n	if ctx != nil {\n		return st.ID, false, nil\n	}\n	if err := s.writer.doOrLeave(ctx, o); err != nil {",
			}},
		},
		{
			name: "an unknown commit is called done", promise: "I02", under: stores, shapes: "chain",
			edits: []edit{{batch, "		case err == nil && done:\n			return nil\n		case err == nil:\n			return cause", "		case err == nil && (done || !done):\n			return nil"}},
		},
		{
			name: "(17) used retries are not stored", promise: "I13", under: deaths, shapes: "hopeless",
			edits: []edit{{commit, `int64(r.Retries), int64(r.Lost)`, `int64(0), int64(r.Lost)`}},
		},
	}
}
