// Command real runs real workflows, recorded elsewhere, through Porpoise's API and
// compares the time that they take with the time that they must take.
//
// Each file of the form {"name", "tasks": [{"id", "runtime_s", "deps"}]} becomes a
// workflow whose tasks sleep for their run time divided by a scale. They run on one
// standalone node and on a cluster of processes. The tasks themselves write down when
// they begin and end, which proves that each ran once and in order.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/porpoise/porpoise/bench/spawn"
	"github.com/porpoise/porpoise/cmd/porpoise/client"
	"github.com/porpoise/porpoise/dag"
)

const (
	// wantedSlots are those of one worker, or shared by the cluster's two.
	wantedSlots = 16
	// wantedMean is the mean run time to which a workflow is scaled.
	wantedMean = 100 * time.Millisecond
	// wantedRatio is how much longer than it must a workflow may take.
	wantedRatio = 1.10
	// runTimeout bounds one workflow.
	runTimeout = 10 * time.Minute
	project    = "real"
)

// options is what the command line says.
type options struct {
	binary, compose, inputs, mode, dsn string
	mean                               time.Duration
	slots                              int
	ratio                              float64
}

func main() {
	var o options
	flag.StringVar(&o.binary, "porpoise", "bin/porpoise", "the binary")
	flag.StringVar(&o.compose, "compose", "docker-compose.yml", "where the cluster's commands are")
	flag.StringVar(&o.inputs, "inputs", inputs(), "folder of workflows (PORPOISE_INPUTS)")
	flag.StringVar(&o.mode, "mode", "both", "standalone, cluster or both")
	flag.StringVar(&o.dsn, "database", os.Getenv("PORPOISE_TEST_MYSQL"), "MariaDB or MySQL of the cluster (PORPOISE_TEST_MYSQL)")
	flag.DurationVar(&o.mean, "mean", wantedMean, "scale run times to this mean")
	flag.IntVar(&o.slots, "slots", wantedSlots, "slots of all workers together")
	flag.Float64Var(&o.ratio, "ratio", wantedRatio, "fail where a workflow takes more than this many times what it must")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "real:", err)
		os.Exit(1)
	}
}

func inputs() string {
	if dir := os.Getenv("PORPOISE_INPUTS"); dir != "" {
		return dir
	}
	return filepath.Join("bench", "real", "testdata")
}

func run(ctx context.Context, o options) error {
	traces, err := readTraces(o.inputs)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "porpoise-real-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	fmt.Printf("Run times are scaled to a mean of %s; %d slots.\n\n", o.mean, o.slots)
	fmt.Println("| where | workflow | tasks | critical path | work / slots | makespan | ratio | once and in order |")
	fmt.Println("|---|---|---:|---:|---:|---:|---:|---|")
	var wrong []error
	if o.mode != "cluster" {
		wrong = append(wrong, standalone(ctx, o, filepath.Join(dir, "standalone"), traces))
	}
	if o.mode != "standalone" && ctx.Err() == nil {
		wrong = append(wrong, cluster(ctx, o, filepath.Join(dir, "cluster"), traces))
	}
	return errors.Join(wrong...)
}

func standalone(ctx context.Context, o options, dir string, traces []trace) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	node, err := spawn.Standalone(ctx, o.binary, dir, "--slots", fmt.Sprint(o.slots))
	if err != nil {
		return err
	}
	err = all(ctx, node.Client, o, "standalone", dir, traces)
	return errors.Join(err, node.Stop())
}

func cluster(ctx context.Context, o options, dir string, traces []trace) error {
	if o.dsn == "" {
		return errors.New("the cluster needs a database: PORPOISE_TEST_MYSQL, or scripts/with-mariadb before the command")
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	c, err := spawn.StartCluster(ctx, spawn.ClusterConfig{
		Binary: o.binary, Compose: o.compose, Dir: dir, DSN: o.dsn, Masters: 1, Workers: 2,
		Args: map[string][]string{"worker": {"--slots", fmt.Sprint(o.slots / 2)}},
	})
	if err != nil {
		return err
	}
	err = all(ctx, c.Client, o, "cluster", dir, traces)
	return errors.Join(err, c.Stop())
}

// all runs every workflow, one after another, and prints a line for each.
func all(ctx context.Context, c *client.Client, o options, where, dir string, traces []trace) error {
	if _, err := c.PutProject(ctx, project, "Recorded workflows"); err != nil {
		return err
	}
	var wrong []error
	for _, t := range traces {
		if err := one(ctx, c, o, where, dir, t); err != nil {
			wrong = append(wrong, fmt.Errorf("%s, %s: %w", where, t.Name, err))
		}
	}
	return errors.Join(wrong...)
}

func one(ctx context.Context, c *client.Client, o options, where, dir string, t trace) error {
	ctx, cancel := context.WithTimeout(ctx, runTimeout)
	defer cancel()
	t.scale(o.mean)
	text, err := t.definition(o.mean)
	if err != nil {
		return err
	}
	if _, err := c.SaveWorkflow(ctx, client.Save{Project: project, Workflow: t.workflow(), Format: "json", Text: text, Publish: true}); err != nil {
		return err
	}
	evidence := filepath.Join(dir, t.workflow()+".evidence")
	id, err := c.StartWorkflow(ctx, project, t.workflow(), client.Start{Params: map[string]string{"evidence": evidence}})
	if err != nil {
		return err
	}
	began := time.Now()
	in, err := c.Wait(ctx, id, nil)
	took := time.Since(began)
	if err != nil {
		return err
	}
	if in.State != dag.InstanceSuccess {
		return fmt.Errorf("instance %s is %s (%s)", id, in.State, in.Reason)
	}
	proof := "yes"
	proofErr := t.prove(evidence)
	if proofErr != nil {
		proof = "NO"
	}
	path, share := t.criticalPath(), t.work()/time.Duration(o.slots)
	ratio := float64(took) / float64(max(path, share))
	fmt.Printf("| %s | %s | %d | %s | %s | %s | %.3f | %s |\n", where, t.Name, len(t.Tasks), ms(path), ms(share), ms(took), ratio, proof)
	if proofErr == nil && ratio > o.ratio {
		return fmt.Errorf("took %.3f times what it must, the limit is %.2f", ratio, o.ratio)
	}
	return proofErr
}

func ms(d time.Duration) string { return fmt.Sprintf("%d ms", d.Milliseconds()) }
