package worker_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
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

var outputGiB = flag.Int("output", 1, "GiB of output in BenchmarkHugeOutput")

// BenchmarkHugeOutput has one task write much, and tells by how much the memory of the worker's
// two processes has grown at its highest.
func BenchmarkHugeOutput(b *testing.B) {
	m := workertest.NewMaster(b, "m1")
	spec := workertest.NewSpec(b, 4, m)
	control := workertest.Launch(b, spec)
	m.Submit(workertest.Shell(1, "echo warm"))
	m.Report("t1")
	pids := []int{control.Process.Pid, workertest.RunnerPID(spec.Dir)}
	before := resident(b, "VmRSS:", pids)
	for b.Loop() {
		m.Submit(workertest.Shell(2, fmt.Sprintf("head -c %dG /dev/zero | tr '\\0' x", *outputGiB)))
		late := time.Now().Add(time.Hour)
		for len(m.Reports("t2")) == 0 || m.Reports("t2")[len(m.Reports("t2"))-1].State == "running" {
			if time.Now().After(late) {
				b.Fatal("the output does not end")
			}
			<-time.After(50 * time.Millisecond)
		}
		if r := m.Report("t2"); r.State != "success" || r.LogBytes != int64(*outputGiB)<<30 {
			b.Fatalf("report = %v", r)
		}
	}
	b.ReportMetric(float64(resident(b, "VmHWM:", pids)-before)/1024, "MiB-more")
	b.ReportMetric(float64(*outputGiB)*1024/b.Elapsed().Seconds()*float64(b.N), "MiB/s")
}

// resident sums a line of the processes' memory up, in KiB.
func resident(b *testing.B, line string, pids []int) (sum int) {
	b.Helper()
	for _, pid := range pids {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		if err != nil {
			b.Fatal(err)
		}
		_, rest, _ := strings.Cut(string(text), line)
		n, err := strconv.Atoi(strings.Fields(rest)[0])
		if err != nil {
			b.Fatal(err)
		}
		sum += n
	}
	return sum
}

func BenchmarkNoop(b *testing.B) {
	m := workertest.NewMaster(b, "m1")
	workertest.Run(b, workertest.NewSpec(b, 64, m))
	m.AwaitAsks(64)
	all := make([]*rpc.Dispatch, b.N)
	for i := range all {
		all[i] = workertest.Dispatch(int64(i+1), "noop", struct{}{})
	}
	b.ReportAllocs() // those of the test's master are among them
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
