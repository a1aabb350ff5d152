package main

import "time"

// target is a package with the bugs that its tests must catch.
type target struct {
	pkg     string // below the module
	by      string // the package whose tests must catch them; its own where empty
	limit   time.Duration
	args    []string
	mutants []mutant
}

// targets are bugs that a careless change could make. Each breaks one rule that somebody
// relies on; whoever changes a rule on purpose changes its mutant too.
var targets = []target{
	// Shrinking a random counterexample takes long, and nobody will read it.
	{pkg: "dag", args: []string{"-rapid.shrinktime=1ms", "-rapid.nofailfile"}, mutants: core},
	{pkg: "dag", args: []string{"-rapid.shrinktime=1ms", "-rapid.nofailfile"}, mutants: family},
	{pkg: "dag", args: []string{"-rapid.shrinktime=1ms", "-rapid.nofailfile"}, mutants: policies},
	{pkg: "dag", args: []string{"-rapid.shrinktime=1ms", "-rapid.nofailfile"}, mutants: decisions},
	{pkg: "dag", args: []string{"-rapid.shrinktime=1ms", "-rapid.nofailfile"}, mutants: durations},
	{pkg: "dag", args: []string{"-rapid.shrinktime=1ms", "-rapid.nofailfile"}, mutants: remembering},
	{pkg: "dag/cron", mutants: crons},
	{pkg: "dag/timer", mutants: timers},
	{pkg: "master/timer", mutants: rings},
	{pkg: "dag/schedule", args: []string{"-rapid.shrinktime=1ms", "-rapid.nofailfile"}, mutants: schedules},
	{pkg: "dag/backfill", mutants: backfills},
	{pkg: "dag/listen", mutants: filters},
	{pkg: "master/slot", args: []string{"-rapid.shrinktime=1ms", "-rapid.nofailfile", "-slot.seeds=500"}, mutants: barrier},
	{pkg: "master/dispatch", args: []string{"-rapid.shrinktime=1ms", "-rapid.nofailfile"}, mutants: giving},
	{pkg: "master/schedule", mutants: firing},
	simulated("sql", rows),
	simulated("master/engine", engine),
	simulated("master/link", links),
	simulated("master/slot", layout),
	simulated("dag", reports),
	simulated("worker", control),
	simulated("worker/lease", leases),
	simulated("sql", shared),
	simulated("master/engine", joins),
	simulated("dag", people),
	simulated("master", steady),
	simulated("master/schedule", firers),
}

// simulated are bugs in a package that only the simulator of whole clusters is to catch.
func simulated(pkg string, list []mutant) target {
	return target{
		pkg: pkg, by: "bench/sim", limit: 10 * time.Minute, mutants: list,
		args: []string{"-run", "TestClustersKeepTheirRules", "-timeout", "20m", "-sim.seeds=600", "-sim.shrink=false"},
	}
}
