package runner

import (
	"bytes"
	"fmt"
	"os/exec"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// BenchmarkEcho runs `echo x` through the runner, and bare in the same run, with the
// same number at once; "share" is the one over the other.
func BenchmarkEcho(b *testing.B) {
	const atOnce = 16
	h := launch(b)
	bare := bareRate(b, atOnce)
	b.ResetTimer()
	begin := time.Now()
	next, running := 0, 0
	for done := 0; done < b.N; {
		var batch []*Start
		for running < atOnce && next < b.N {
			next++
			running++
			batch = append(batch, shell(int64(next), "echo x"))
		}
		if len(batch) > 0 {
			h.start(batch...)
		}
		var forget []string
		for _, e := range h.next().Exits {
			if e.State != "success" || e.LogBytes != 2 {
				b.Fatalf("exit = %v", e)
			}
			forget = append(forget, e.Mark)
		}
		done += len(forget)
		running -= len(forget)
		h.client.Send(&Order{Forget: forget})
	}
	rate := float64(b.N) / time.Since(begin).Seconds()
	b.ReportMetric(rate, "tasks/s")
	b.ReportMetric(bare, "bare/s")
	b.ReportMetric(rate/bare, "share")
}

// bareRate is how many `sh -c 'echo x'` per second os/exec runs here, output by a pipe.
func bareRate(b *testing.B, atOnce int) float64 {
	b.Helper()
	var n atomic.Int64
	end := time.Now().Add(2 * time.Second)
	var all sync.WaitGroup
	for range atOnce {
		all.Go(func() {
			for time.Now().Before(end) {
				out, err := exec.Command("/bin/sh", "-c", "echo x").Output()
				if err != nil || !bytes.Equal(out, []byte("x\n")) {
					b.Error(fmt.Errorf("bare echo: %q, %w", out, err))
					return
				}
				n.Add(1)
			}
		})
	}
	all.Wait()
	runtime.GC()
	return float64(n.Load()) / 2
}
