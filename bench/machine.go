package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"time"
)

// machine is what this machine does without Porpoise.
type machine struct {
	exec  time.Duration // of one sh -c true, at the median
	fsync time.Duration // of one durable 4 KiB append, at the median
	rate  float64       // of sh -c 'echo x' through a pipe, per second, on all cores
}

const (
	execRuns  = 200
	fsyncRuns = 100
	rateRuns  = 500
)

func measureMachine(dir string) (machine, error) {
	var m machine
	var execs []time.Duration
	for range execRuns {
		began := time.Now()
		if err := exec.Command("sh", "-c", "true").Run(); err != nil {
			return m, fmt.Errorf("run sh: %w", err)
		}
		execs = append(execs, time.Since(began))
	}
	m.exec = quantile(execs, 0.5)
	file, err := os.Create(filepath.Join(dir, "fsync"))
	if err != nil {
		return m, err
	}
	defer func() { _ = file.Close() }()
	var syncs []time.Duration
	for range fsyncRuns {
		began := time.Now()
		if _, err := file.Write(make([]byte, 4096)); err != nil {
			return m, err
		}
		if err := file.Sync(); err != nil {
			return m, err
		}
		syncs = append(syncs, time.Since(began))
	}
	m.fsync = quantile(syncs, 0.5)
	m.rate, err = echoRate()
	return m, err
}

// echoRate runs sh -c 'echo x' through a pipe on every core; the best of a few degrees
// of parallelism counts.
func echoRate() (float64, error) {
	best := 0.0
	for _, parallel := range []int{runtime.NumCPU(), 2 * runtime.NumCPU(), 4 * runtime.NumCPU()} {
		var wg sync.WaitGroup
		failed := make(chan error, parallel)
		began := time.Now()
		for range parallel {
			wg.Go(func() {
				for range rateRuns / parallel {
					out, err := exec.Command("sh", "-c", "echo x").Output()
					if err == nil && !bytes.Equal(out, []byte("x\n")) {
						err = fmt.Errorf("sh said %q", out)
					}
					if err != nil {
						failed <- err
						return
					}
				}
			})
		}
		wg.Wait()
		took := time.Since(began)
		select {
		case err := <-failed:
			return 0, err
		default:
		}
		best = max(best, float64(rateRuns/parallel*parallel)/took.Seconds())
	}
	return best, nil
}

// quantile sorts the times and returns the q-th, nearest rank.
func quantile(times []time.Duration, q float64) time.Duration {
	if len(times) == 0 {
		return 0
	}
	slices.Sort(times)
	return times[min(int(q*float64(len(times))), len(times)-1)]
}
