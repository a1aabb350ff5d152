package site

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/porpoise/porpoise/cmd/porpoise/client"
	"github.com/porpoise/porpoise/dag"
)

const brief = `name: brief
tasks:
  - {name: task, type: shell, script: sleep 0.3}
`

const (
	// loadEvery is the pause between two starts of the load.
	loadEvery = 40 * time.Millisecond
	// rounds is how often everything is restarted.
	rounds = 2
	// rollingBar is for the worst of a hundred starts, from the start to the run, on a machine that does nothing else.
	rollingBar = 3 * time.Second
	// rollingSlack is what a machine that does may take.
	rollingSlack = 4
)

// restart asks one of the demo's processes to end, and waits for the registration of its next life.
func restart(ctx context.Context, t *testing.T, s *Site, process string) {
	t.Helper()
	life := func() (string, error) {
		masters, err := s.Client.Masters(ctx)
		if err != nil {
			return "", err
		}
		workers, err := s.Client.Workers(ctx)
		for _, n := range append(masters, workers...) {
			if n.Name == process {
				return n.StartedAt.String(), err
			}
		}
		return "", err
	}
	before, err := life()
	if err != nil || before == "" {
		t.Fatalf("%s is not there: %v", process, err)
	}
	if err := syscall.Kill(pidOf(t, s, process), syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	err = s.Until(ctx, process+" is back", func() error {
		now, err := life()
		if err == nil && (now == "" || now == before) {
			err = fmt.Errorf("it is not there again")
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Requirement F67: every master and then every worker is restarted under load, and nothing fails or is killed.
func TestARollingRestartFailsNothing(t *testing.T) {
	t.Parallel()
	ctx := deadline(t)
	s := demoSite(ctx, t, "--demo-restart", "100ms")
	save(ctx, t, s.Client, "brief", brief)
	var ids []string
	stop := make(chan struct{})
	var load sync.WaitGroup
	load.Go(func() {
		tick := time.NewTicker(loadEvery)
		defer tick.Stop()
		for {
			select {
			case <-stop:
				return
			case <-tick.C:
			}
			id, err := s.Client.StartWorkflow(ctx, "p", "brief", client.Start{})
			if err != nil {
				t.Errorf("start: %v", err)
				return
			}
			ids = append(ids, id)
		}
	})
	for range rounds {
		for _, process := range []string{"master-1", "master-2", "master-3", "worker-1", "worker-2", "worker-3"} {
			restart(ctx, t, s, process)
		}
	}
	close(stop)
	load.Wait()
	var waits []time.Duration
	for _, id := range ids {
		in, err := s.Client.Wait(ctx, id, nil)
		if err != nil || in.State != dag.InstanceSuccess {
			t.Fatalf("instance %s is %s (%s), %v", id, in.State, in.Reason, err)
		}
		attempts, err := s.Client.Attempts(ctx, id, "task")
		if err != nil || len(attempts) == 0 {
			t.Fatalf("attempts of %s: %v, %v", id, attempts, err)
		}
		for _, a := range attempts {
			if a.State != dag.AttemptSuccess && a.State != dag.AttemptReturned {
				t.Errorf("attempt %d of instance %s is %s (%s): %s", a.Number, id, a.State, a.Reason, a.Message)
			}
		}
		waits = append(waits, attempts[len(attempts)-1].StartedAt.Sub(in.CreatedAt.Time))
	}
	slices.Sort(waits)
	worst := waits[len(waits)*99/100]
	t.Logf("%d instances, from the start to the run: median %s, p99 %s (bar %s)", len(waits), waits[len(waits)/2], worst, rollingBar)
	if worst > rollingSlack*rollingBar {
		t.Errorf("p99 from the start to the run is %s", worst)
	}
}
