package main

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/porpoise/porpoise/bench/spawn"
	"github.com/porpoise/porpoise/cmd/porpoise/client"
	"github.com/porpoise/porpoise/dag"
)

// The bars. They are promises of the product on a small machine, see docs/coverage.md.
const (
	coldBar     = time.Second
	idleBar     = 120 << 20
	trivialBar  = 20 * time.Millisecond
	noopBar     = time.Millisecond
	fanBar      = time.Second
	echoShare   = 0.5
	trivialRuns = 20
	chainLength = 100
	fanWidth    = 1000
	echoes      = 500
	// starters is how many clients start the echoes: as a few busy schedulers would.
	starters = 16
	// settle is how long a node is left alone before its memory is read.
	settle = 3 * time.Second
)

// bench is the node that is measured.
type bench struct {
	binary, dir string
	floor       machine
	node        *spawn.Node
	c           *client.Client
}

func (b *bench) close() {
	if b.node != nil {
		_ = b.node.Stop() // its data is removed anyway
	}
}

func (b *bench) save(ctx context.Context, name string, tasks []string) error {
	text := "name: " + name + "\ntasks:\n" + strings.Join(tasks, "")
	_, err := b.c.SaveWorkflow(ctx, client.Save{Project: project, Workflow: name, Format: "yaml", Text: []byte(text), Publish: true})
	return err
}

func task(name, kind, needs string) string {
	if needs != "" {
		needs = ", needs: [" + needs + "]"
	}
	return "  - {name: " + name + ", " + kind + needs + "}\n"
}

// play starts a workflow and waits for its success.
func (b *bench) play(ctx context.Context, name string) (in client.Instance, took time.Duration, err error) {
	began := time.Now()
	id, err := b.c.StartWorkflow(ctx, project, name, client.Start{})
	if err != nil {
		return in, 0, fmt.Errorf("start %s: %w", name, err)
	}
	in, err = b.c.Wait(ctx, id, nil)
	took = time.Since(began)
	if err == nil && in.State != dag.InstanceSuccess {
		err = fmt.Errorf("%s is %s (%s)", name, in.State, in.Reason)
	}
	return in, took, err
}

// coldStart is from the process's start on an empty folder to the first finished workflow.
func (b *bench) coldStart(ctx context.Context) ([]line, error) {
	began := time.Now()
	var err error
	if b.node, err = spawn.Standalone(ctx, b.binary, b.dir); err != nil {
		return nil, err
	}
	b.c = b.node.Client
	ready := time.Since(began)
	if _, err := b.c.PutProject(ctx, project, "Measured."); err != nil {
		return nil, err
	}
	if err := b.save(ctx, "trivial", []string{task("only", "type: shell, script: echo x", "")}); err != nil {
		return nil, err
	}
	if _, _, err := b.play(ctx, "trivial"); err != nil {
		return nil, err
	}
	took := time.Since(began)
	return []line{
		{what: "cold start: empty folder to ready", measured: us(ready)},
		{what: "cold start: empty folder to the first finished workflow", measured: us(took), bar: "1 s", missed: took >= coldBar},
	}, nil
}

func (b *bench) idle(ctx context.Context) ([]line, error) {
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-time.After(settle):
	}
	rss, err := b.node.RSS()
	if err != nil {
		return nil, err
	}
	return []line{{what: "memory of an idle node", measured: fmt.Sprintf("%d MB", rss>>20), bar: "120 MB", missed: rss >= idleBar}}, nil
}

func (b *bench) trivial(ctx context.Context) ([]line, error) {
	var times []time.Duration
	for range trivialRuns {
		_, took, err := b.play(ctx, "trivial")
		if err != nil {
			return nil, err
		}
		times = append(times, took)
	}
	median := quantile(times, 0.5)
	return []line{{
		what: fmt.Sprintf("trivial workflow, start to success (median of %d)", trivialRuns), measured: us(median), limit: us(b.floor.exec), bar: "20 ms", missed: median >= trivialBar,
	}}, nil
}

// chain runs tasks one after another and measures from one's end to the next one's end.
// Times are stored to the millisecond, so that p50 is the mean of the middle half of the
// gaps: it tells less than a millisecond apart, and an outlier does not move it.
func (b *bench) chain(ctx context.Context, name, kind string) (mean, p50, p99 time.Duration, err error) {
	var tasks []string
	for i := range chainLength {
		needs := ""
		if i > 0 {
			needs = fmt.Sprintf("t%d", i-1)
		}
		tasks = append(tasks, task(fmt.Sprintf("t%d", i), kind, needs))
	}
	if err := b.save(ctx, name, tasks); err != nil {
		return 0, 0, 0, err
	}
	in, _, err := b.play(ctx, name)
	if err != nil {
		return 0, 0, 0, err
	}
	done, err := b.c.Tasks(ctx, in.ID)
	if err != nil {
		return 0, 0, 0, err
	}
	var gaps []time.Duration
	for i := 1; i < len(done); i++ {
		gaps = append(gaps, done[i].FinishedAt.Sub(done[i-1].FinishedAt.Time))
	}
	whole := done[len(done)-1].FinishedAt.Sub(in.StartedAt.Time)
	p99 = quantile(gaps, 0.99) // sorts them
	var middle time.Duration
	half := gaps[len(gaps)/4 : len(gaps)*3/4]
	for _, g := range half {
		middle += g
	}
	return whole / chainLength, middle / time.Duration(len(half)), p99, nil
}

func (b *bench) shellChain(ctx context.Context) ([]line, error) {
	mean, p50, p99, err := b.chain(ctx, "shells", `type: shell, script: "true"`)
	if err != nil {
		return nil, err
	}
	return []line{
		{what: "chain of 100 shell `true`: mean per task", measured: us(mean), limit: us(b.floor.exec)},
		{what: "the same: p50 (middle half) and p99", measured: us(p50) + ", " + us(p99)},
		{what: "the same: mean, times bare fork+exec", measured: fmt.Sprintf("%.1f", float64(mean)/float64(b.floor.exec)), limit: "1"},
	}, nil
}

func (b *bench) noopChain(ctx context.Context) ([]line, error) {
	mean, p50, p99, err := b.chain(ctx, "noops", "type: noop")
	if err != nil {
		return nil, err
	}
	return []line{
		{what: "chain of 100 noop: mean per task", measured: us(mean), limit: us(b.floor.fsync)},
		{what: "the same: p50 (middle half) and p99", measured: us(p50) + ", " + us(p99), bar: "p50 1 ms", missed: p50 >= noopBar},
	}, nil
}

func (b *bench) fan(ctx context.Context) ([]line, error) {
	tasks := []string{task("first", "type: noop", "")}
	var names []string
	for i := range fanWidth {
		names = append(names, fmt.Sprintf("w%d", i))
		tasks = append(tasks, task(names[i], "type: noop", "first"))
	}
	tasks = append(tasks, task("last", "type: noop", strings.Join(names, ", ")))
	if err := b.save(ctx, "fan", tasks); err != nil {
		return nil, err
	}
	_, took, err := b.play(ctx, "fan")
	if err != nil {
		return nil, err
	}
	return []line{{what: "1 -> 1000 -> 1 of noop, start to success", measured: us(took), bar: "1 s", missed: took >= fanBar}}, nil
}

// manyEchoes starts 500 workflows at once and reads every output afterwards.
func (b *bench) manyEchoes(ctx context.Context) ([]line, error) {
	if err := b.save(ctx, "echo", []string{task("say", "type: shell, script: echo x", "")}); err != nil {
		return nil, err
	}
	ids := make([]string, echoes)
	began := time.Now()
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(starters)
	for i := range ids {
		group.Go(func() error {
			var err error
			ids[i], err = b.c.StartWorkflow(groupCtx, project, "echo", client.Start{})
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	if err := b.awaitAll(ctx, "echo"); err != nil {
		return nil, err
	}
	took := time.Since(began)
	if err := b.readAll(ctx, ids); err != nil {
		return nil, err
	}
	rate := echoes / took.Seconds()
	return []line{
		{
			what: "500 workflows of `echo x` at once, every output read", measured: fmt.Sprintf("%.0f/s", rate), limit: fmt.Sprintf("%.0f/s", b.floor.rate),
			bar: fmt.Sprintf("%.0f/s", echoShare*b.floor.rate), missed: rate < echoShare*b.floor.rate,
		},
		{what: "the same, share of the bare rate", measured: fmt.Sprintf("%.0f %%", 100*rate/b.floor.rate), bar: "50 %"},
	}, nil
}

// awaitAll waits until no instance of the workflow is on its way.
func (b *bench) awaitAll(ctx context.Context, workflow string) error {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		left, err := b.c.Instances(ctx, client.Filter{Project: project, Workflow: workflow, States: []string{"submitted", "serial_wait", "running"}, Limit: 1})
		if err != nil || len(left) == 0 {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

func (b *bench) readAll(ctx context.Context, ids []string) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(starters)
	for _, id := range ids {
		group.Go(func() error {
			var out bytes.Buffer
			if err := b.c.ReadLog(ctx, &out, id, "say", 1, "", false); err != nil {
				return fmt.Errorf("read the output of instance %s: %w", id, err)
			}
			if out.String() != "x\n" {
				return fmt.Errorf("instance %s said %q", id, out.String())
			}
			return nil
		})
	}
	return group.Wait()
}
