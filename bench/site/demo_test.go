package site

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/porpoise/porpoise/dag"
)

// demoSite starts a demo with all its processes.
func demoSite(ctx context.Context, t *testing.T, flags ...string) *Site {
	t.Helper()
	s := standalone(ctx, t, append([]string{"--demo"}, flags...)...)
	if err := s.Until(ctx, "all are there", func() error { return everybody(ctx, s) }); err != nil {
		t.Fatal(err)
	}
	return s
}

func everybody(ctx context.Context, s *Site) error {
	masters, err := s.Client.Masters(ctx)
	if err != nil {
		return err
	}
	workers, err := s.Client.Workers(ctx)
	if err != nil {
		return err
	}
	if len(masters) != 3 || len(workers) != 3 || !strings.Contains(s.Parts[0].Log(), "Kill one and watch") {
		return fmt.Errorf("%d masters, %d workers", len(masters), len(workers))
	}
	return nil
}

// pidOf reads the newest pid of one of the demo's processes from its log.
func pidOf(t *testing.T, s *Site, process string) int {
	t.Helper()
	found := regexp.MustCompile(`process started: process=`+process+` pid=(\d+)`).FindAllStringSubmatch(s.Parts[0].Log(), -1)
	if len(found) == 0 {
		t.Fatalf("no pid of %s in the log:\n%s", process, s.Parts[0].Tail())
	}
	pid, _ := strconv.Atoi(found[len(found)-1][1])
	return pid
}

func TestADemoGoesOnWithoutAnyOneOfItsProcesses(t *testing.T) {
	t.Parallel()
	ctx := deadline(t)
	s := demoSite(ctx, t, "--demo-restart", "1s")
	w := begin(ctx, t, s)

	// Whichever master has the instance: each dies once, and the task runs on.
	for _, process := range []string{"master-1", "master-2", "master-3"} {
		pid := pidOf(t, s, process)
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		err := s.Until(ctx, process+" is back", func() error {
			if pidOf(t, s, process) == pid {
				return fmt.Errorf("it is still pid %d", pid)
			}
			return everybody(ctx, s)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	w.open(t)
	w.once(ctx, t)
}

func TestADemosTaskRunsElsewhereAfterItsWorkerDied(t *testing.T) {
	t.Parallel()
	ctx := deadline(t)
	s := demoSite(ctx, t, "--demo-restart", "0")
	w := begin(ctx, t, s)
	first := w.attempts(ctx, t)[0].Worker
	if err := syscall.Kill(pidOf(t, s, first), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	w.begun(ctx, t, s, 2)
	w.open(t)
	task, attempts := w.succeeds(ctx, t)
	if len(attempts) != 2 || attempts[0].State != dag.AttemptLost || attempts[1].Worker == first || task.State != dag.TaskSuccess {
		t.Errorf("task %s, attempts = %+v, want one lost on %s and one elsewhere", task.State, attempts, first)
	}
	if log := s.Parts[0].Log(); !strings.Contains(log, "process ended and stays away: process="+first) {
		t.Errorf("the log does not tell of the death of %s:\n%s", first, log)
	}
}

func TestADemosProcessesEndWithTheirParent(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]syscall.Signal{"asked": syscall.SIGTERM, "asked twice": syscall.SIGINT, "killed": syscall.SIGKILL} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx := deadline(t)
			s := demoSite(ctx, t)
			var pids []int
			for _, process := range []string{"master-1", "master-2", "master-3", "worker-1", "worker-2", "worker-3"} {
				pids = append(pids, pidOf(t, s, process))
			}
			switch end {
			case syscall.SIGKILL:
				s.Parts[0].Kill()
			case syscall.SIGINT:
				s.Parts[0].killed = true // its end is no surprise, whatever it says
				s.Parts[0].Signal(end)
				s.Parts[0].Signal(end)
				_ = s.Parts[0].Wait(ctx)
			default:
				if err := s.Parts[0].Stop(); err != nil {
					t.Error(err)
				}
			}
			err := s.Until(ctx, "nothing is left", func() error {
				for _, pid := range pids {
					if !gone(strconv.Itoa(pid)) {
						return fmt.Errorf("%d is there", pid)
					}
				}
				return nil
			})
			if err != nil {
				t.Error(err)
			}
			if _, err := os.Stat(filepath.Join(s.Dir, "standalone", "demo", "worker-3.log")); err != nil {
				t.Error(err)
			}
		})
	}
}
