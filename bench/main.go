// Command bench measures the binary as a user meets it: a standalone node that is
// started for it, called over REST, its tasks real processes.
//
// It prints one Markdown table. What a number can be at best is measured in the same
// run on the same machine: what a process costs without Porpoise, and what the disk
// takes for one durable write. It exits 1 where a bar is missed.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"time"
)

const (
	// project holds what is measured.
	project = "bench"
	// wholeTimeout bounds everything.
	wholeTimeout = 15 * time.Minute
)

// line is one row of the table. A row without a bar is told, not judged.
type line struct {
	what, measured, limit, bar string
	missed                     bool
}

func main() {
	binary := flag.String("porpoise", "bin/porpoise", "the binary")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, wholeTimeout)
	defer cancel()
	if err := run(ctx, *binary); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, binary string) error {
	dir, err := os.MkdirTemp("", "porpoise-bench-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	floor, err := measureMachine(dir)
	if err != nil {
		return err
	}
	fmt.Printf("%s, %d cores, %s/%s. Bare `sh -c true` %s at the median; one durable 4 KiB write %s; load %s.\n\n",
		runtime.Version(), runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, us(floor.exec), us(floor.fsync), load())
	fmt.Println("| what | measured | measured limit | bar | |")
	fmt.Println("|---|---:|---:|---:|---|")
	b := &bench{binary: binary, dir: dir, floor: floor}
	defer b.close()
	var missed []error
	for _, measure := range []func(context.Context) ([]line, error){b.coldStart, b.idle, b.trivial, b.shellChain, b.noopChain, b.fan, b.manyEchoes} {
		lines, err := measure(ctx)
		if err != nil {
			return err
		}
		for _, l := range lines {
			verdict := ""
			if l.bar != "" {
				verdict = "held"
			}
			if l.missed {
				verdict = "**missed**"
				missed = append(missed, fmt.Errorf("%s: %s, the bar is %s", l.what, l.measured, l.bar))
			}
			fmt.Printf("| %s | %s | %s | %s | %s |\n", l.what, l.measured, l.limit, l.bar, verdict)
		}
	}
	return errors.Join(missed...)
}

func us(d time.Duration) string {
	if d < 10*time.Millisecond {
		return fmt.Sprintf("%.2f ms", float64(d)/float64(time.Millisecond))
	}
	return fmt.Sprintf("%d ms", d.Milliseconds())
}

// load is the machine's load: a table from a busy machine says so.
func load() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	var one string
	_, _ = fmt.Sscan(string(text), &one)
	return one
}
