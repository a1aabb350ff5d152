// Command chaos runs a whole cluster as processes under load, breaks it by a seeded plan,
// heals it, and has its evidence judged by bench/verdict.
//
// It owns the course of a run and the folder with what it leaves; the parts are in its
// folders (rig, proxy, nemesis, load, evidence, witness). It is never part of the product.
// "make chaos" and "make chaos-smoke" start it; it exits 1 unless the verdict is good.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

func main() {
	var o options
	flag.Uint64Var(&o.seed, "seed", uint64(time.Now().Unix()), "of the plan and the load")
	flag.IntVar(&o.faults, "faults", 60, "faults in all, evenly over the classes")
	flag.DurationVar(&o.within, "within", 4*time.Minute, "how long the faults go on")
	// The promise of I41 is 60 s and the work that is left: the longest task lives 40 s. The
	// verdict judges; this only ends the wait.
	flag.DurationVar(&o.restFor, "rest", 150*time.Second, "how long to wait after the faults until nothing is left to do")
	flag.Float64Var(&o.rate, "rate", 1.5, "starts per second")
	flag.Float64Var(&o.leastRate, "least-rate", 0.5, "acked starts per second below which a run counts for nothing")
	flag.IntVar(&o.quota, "quota", 3, "faults of each class below which a run counts for nothing")
	flag.StringVar(&o.binary, "porpoise", "", "binary of the product; built when not given")
	flag.StringVar(&o.verdict, "verdict", "", "binary of the judge; built when not given")
	flag.StringVar(&o.programs, "programs", "", "folder with the programs etcd and witness; built when not given")
	flag.StringVar(&o.dir, "dir", "", "folder for what the run leaves; a temporary one when not given")
	flag.BoolVar(&o.sqlite, "sqlite", false, "one SQLite file for all instead of MariaDB")
	flag.IntVar(&o.masters, "masters", 3, "masters")
	flag.IntVar(&o.workers, "workers", 3, "workers")
	flag.IntVar(&o.apiservers, "apiservers", 2, "apiservers")
	flag.IntVar(&o.etcd, "etcd", 3, "members of etcd")
	flag.IntVar(&o.slots, "slots", 12, "of every worker")
	flag.StringVar(&o.level, "log-level", "info", "of the product")
	only := flag.String("only", "", "classes of fault, by commas; empty is all")
	shapes := flag.String("shapes", "", "workflows of the load, by commas; empty is all")
	flag.StringVar(&o.failpoints, "failpoints", "", "failpoints of a product built with that tag, as point=action;...; what dies of them is started again")
	flag.StringVar(&o.link, "link", "", "the only kind of link that is cut or slow: etcd, database, masters or self; all when not given")
	flag.StringVar(&o.way, "way", "", "how links are cut: cut, hole, hole_up, hole_down, commit_before or commit_after; every way when not given")
	flag.DurationVar(&o.least, "least", 0, "no fault is shorter")
	flag.BoolVar(&o.quiet, "quiet", false, "do not print each fault")
	flag.Parse()
	o.only, o.shapes = list(*only), list(*shapes)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := run(ctx, o)
	if errors.Is(err, errVerdict) {
		stop()
		os.Exit(1)
	}
	if err != nil {
		stop()
		fmt.Fprintln(os.Stderr, "chaos:", err)
		os.Exit(2)
	}
}

func list(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(text, ",")
}
