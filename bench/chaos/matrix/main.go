// Command matrix runs a small cluster once for every failpoint and every action: a panic
// at the step, a sleep past the lease, an error; and demands a good verdict, and that the
// step was reached.
//
// The product is built with the tag failpoints for it; see internal/failpoint. "make
// crash-matrix" runs all cells. It prints a table and exits 1 if a cell is bad.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/porpoise/porpoise/bench/site"
)

// actions are what happens at a point. The sleep is longer than every lease.
var actions = []string{"panic@%d!", "sleep(8s)@%d!", "error@%d!"}

func main() {
	var o options
	flag.StringVar(&o.only, "only", "", "only points whose name contains one of these, by commas")
	flag.StringVar(&o.dir, "keep", "", "folder for binaries and evidence; a temporary one when not given")
	flag.IntVar(&o.sample, "every", 1, "only each n-th cell")
	flag.BoolVar(&o.mariadb, "mariadb", false, "on MariaDB, whose audit also knows who wrote; SQLite is the quicker one")
	flag.StringVar(&o.action, "action", "", "only actions of this name: panic, sleep or error")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, o); err != nil {
		stop()
		fmt.Fprintln(os.Stderr, "matrix:", err)
		os.Exit(1)
	}
}

// options say which cells run, and where.
type options struct {
	only, action, dir string
	sample            int
	mariadb           bool
}

// wants says whether the n-th cell is to run.
func (o options) wants(p point, action string, n int) bool {
	named := slices.ContainsFunc(strings.Split(o.only, ","), func(text string) bool { return strings.Contains(p.name, text) })
	return named && strings.HasPrefix(action, o.action) && n%o.sample == 0 && (!p.noError || !strings.HasPrefix(action, "error"))
}

func run(ctx context.Context, o options) error {
	if o.dir == "" {
		var err error
		if o.dir, err = os.MkdirTemp("", "porpoise-matrix."); err != nil {
			return err
		}
		defer func() { _ = os.RemoveAll(o.dir) }()
	}
	if err := build(ctx, o.dir); err != nil {
		return err
	}
	bad, n := 0, 0
	for _, p := range points() {
		for _, action := range actions {
			n++
			if !o.wants(p, action, n) {
				continue
			}
			begin := time.Now()
			action := fmt.Sprintf(action, max(p.nth, 1))
			err := o.cell(ctx, p, action)
			verdict := "good"
			if err != nil {
				verdict = "BAD: " + err.Error()
				bad++
			}
			fmt.Printf("%-28s %-14s %6.1fs  %s\n", p.name, action, time.Since(begin).Seconds(), verdict)
			if ctx.Err() != nil {
				return ctx.Err()
			}
		}
	}
	if bad > 0 {
		return fmt.Errorf("%d cells are bad", bad)
	}
	return nil
}

// build makes the programs, the product with its failpoints.
func build(ctx context.Context, dir string) error {
	for _, program := range []string{"bench/chaos", "bench/verdict", "bench/etcd", "bench/chaos/witness"} {
		if _, err := site.Build(ctx, program, dir); err != nil {
			return err
		}
	}
	root, err := site.Root()
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-tags", "failpoints", "-o", filepath.Join(dir, "porpoise"), "./cmd/porpoise")
	cmd.Dir, cmd.Env = root, append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build the product: %w\n%s", err, out)
	}
	return nil
}

// cell is one run.
func (o options) cell(ctx context.Context, p point, action string) error {
	dir := o.dir
	name := strings.NewReplacer("(", "-", ")", "", "!", "", "@", "-").Replace(p.name + "." + action)
	out := filepath.Join(dir, name)
	if err := os.RemoveAll(out); err != nil {
		return err
	}
	args := []string{
		"-porpoise", filepath.Join(dir, "porpoise"), "-verdict", filepath.Join(dir, "verdict"), "-programs", dir, "-dir", out, "-seed", "1", "-quiet", fmt.Sprintf("-sqlite=%t", !o.mariadb),
		"-masters", "2", "-workers", "2", "-apiservers", "1", "-etcd", "1", "-slots", "8", "-within", "10s", "-quota", "0", "-least-rate", "0",
		"-rate", "2", "-failpoints", p.name + "=" + action, "-rest", "90s",
	}
	if p.faults == "" {
		args = append(args, "-faults", "0")
	} else {
		args = append(args, "-faults", "2", "-only", p.faults)
	}
	cmd := exec.CommandContext(ctx, filepath.Join(dir, "chaos"), args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = time.Minute
	text, err := cmd.CombinedOutput()
	switch {
	case errors.As(err, new(*exec.ExitError)) && cmd.ProcessState.ExitCode() == 1:
		return fmt.Errorf("the verdict is bad, see %s/verdict.json", out)
	case err != nil:
		return fmt.Errorf("%w: %s", err, text[max(0, len(text)-500):])
	}
	if _, err := os.Stat(filepath.Join(out, "points", p.name)); err != nil {
		return errors.New("the point was never reached")
	}
	return os.RemoveAll(out)
}
