package worker_test

import (
	"bytes"
	"os/exec"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/porpoise/porpoise/internal/rpc"
	"github.com/porpoise/porpoise/worker/workertest"
)

// BenchmarkEcho runs `echo x` through worker and runner over a real stream, and bare in
// the same run; "share" is the one over the other.
func BenchmarkEcho(b *testing.B) {
	m := workertest.NewMaster(b, "m1")
	workertest.Run(b, workertest.NewSpec(b, 16, m))
	m.AwaitAsks(16)
	bare := bareRate(b, 16)
	all := make([]*rpc.Dispatch, b.N)
	for i := range all {
		all[i] = workertest.Shell(int64(i+1), "echo x")
	}
	b.ResetTimer()
	begin := time.Now()
	m.Submit(all...)
	m.AwaitFinals(b.N)
	rate := float64(b.N) / time.Since(begin).Seconds()
	b.ReportMetric(rate, "tasks/s")
	b.ReportMetric(bare, "bare/s")
	b.ReportMetric(rate/bare, "share")
}

func BenchmarkNoop(b *testing.B) {
	m := workertest.NewMaster(b, "m1")
	workertest.Run(b, workertest.NewSpec(b, 64, m))
	m.AwaitAsks(64)
	all := make([]*rpc.Dispatch, b.N)
	for i := range all {
		all[i] = workertest.Dispatch(int64(i+1), "noop", struct{}{})
	}
	b.ResetTimer()
	begin := time.Now()
	m.Submit(all...)
	m.AwaitFinals(b.N)
	b.ReportMetric(float64(b.N)/time.Since(begin).Seconds(), "tasks/s")
}

// bareRate is how many `sh -c 'echo x'` per second os/exec runs here, output by a pipe.
func bareRate(b *testing.B, atOnce int) float64 {
	b.Helper()
	var n atomic.Int64
	begin := time.Now()
	end := begin.Add(2 * time.Second)
	var all sync.WaitGroup
	for range atOnce {
		all.Go(func() {
			for time.Now().Before(end) {
				out, err := exec.Command("/bin/sh", "-c", "echo x").Output()
				if err != nil || !bytes.Equal(out, []byte("x\n")) {
					b.Errorf("bare echo: %q, %v", out, err)
					return
				}
				n.Add(1)
			}
		})
	}
	all.Wait()
	return float64(n.Load()) / time.Since(begin).Seconds()
}
