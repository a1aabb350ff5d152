package site

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const (
	// clockTick is the unit of processor time in /proc; Linux shows 100 per second to
	// every program, whatever the kernel uses inside.
	clockTick = time.Second / 100
	// sweepTries and sweepPause bound how long Stop waits for a killed leftover to go.
	sweepTries = 200
	sweepPause = 10 * time.Millisecond
)

// Cost is what the processes of a site use.
type Cost struct {
	Processes int
	RSS       int64         // resident bytes, summed: pages that two processes share count twice
	CPU       time.Duration // user and system time so far, of living processes and their reaped children
}

// Cost sums over all the product's processes: the parts, and the runners that live in
// sessions of their own. Task processes count once they are reaped.
func (s *Site) Cost() (Cost, error) {
	pids, err := s.processes()
	if err != nil {
		return Cost{}, err
	}
	var sum Cost
	for _, pid := range pids {
		rss, cpu, err := processCost(pid)
		if err != nil {
			continue // it ended while we looked
		}
		sum.Processes++
		sum.RSS += rss
		sum.CPU += cpu
	}
	return sum, nil
}

// Cost is what the part's own process uses, without those that it has started.
func (p *Part) Cost() (Cost, error) {
	rss, cpu, err := processCost(p.PID)
	if err != nil {
		return Cost{}, fmt.Errorf("cost of %s: %w", p.Name, err)
	}
	return Cost{Processes: 1, RSS: rss, CPU: cpu}, nil
}

// DatabaseCost is what the server of a cluster's database uses, with whatever else it serves: one that runs on this machine, as
// a process that we may look at. On SQLite it is nothing, since the file is in the product's own processes.
func (s *Site) DatabaseCost(ctx context.Context) (Cost, error) {
	dsn, ok := strings.CutPrefix(s.DSN, "mysql:")
	if !ok {
		return Cost{}, nil
	}
	path, err := Ask(ctx, dsn, "SELECT @@pid_file")
	if err != nil {
		return Cost{}, err
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return Cost{}, fmt.Errorf("find the database server: %w", err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return Cost{}, fmt.Errorf("find the database server: %w", err)
	}
	rss, cpu, err := processCost(pid)
	if err != nil {
		return Cost{}, fmt.Errorf("cost of the database server: %w", err)
	}
	return Cost{Processes: 1, RSS: rss, CPU: cpu}, nil
}

// Proportional is the resident memory of all the product's processes, in which what several share counts once.
func (s *Site) Proportional() (sum int64, err error) {
	pids, err := s.processes()
	if err != nil {
		return 0, err
	}
	for _, pid := range pids {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
		if err != nil {
			continue // it ended while we looked
		}
		_, rest, _ := strings.Cut(string(text), "\nPss:")
		var kib int64
		if _, err := fmt.Sscan(rest, &kib); err != nil {
			return 0, fmt.Errorf("memory of process %d: %w", pid, err)
		}
		sum += kib << 10
	}
	return sum, nil
}

// processes finds every process that names the site's folder on its command line: that
// is how a runner is known, which no part is the parent of for sure.
func (s *Site) processes() ([]int, error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	var pids []int
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		line, err := os.ReadFile(filepath.Join("/proc", e.Name(), "cmdline"))
		if err == nil && bytes.Contains(line, []byte(s.Dir+"/")) {
			pids = append(pids, pid)
		}
	}
	return pids, nil
}

// processCost reads one process's resident bytes and processor time, proc(5).
func processCost(pid int) (rss int64, cpu time.Duration, err error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, 0, err
	}
	// The program's name, in brackets, may hold anything; the fields begin after it.
	i := bytes.LastIndexByte(text, ')')
	fields := strings.Fields(string(text[i+1:]))
	const state, utime, rssPages = 0, 11, 21 // counted from the state
	if i < 0 || len(fields) <= rssPages || fields[state] == "Z" {
		return 0, 0, fmt.Errorf("process %d: no such fields", pid)
	}
	var ticks int64
	for _, f := range fields[utime : utime+4] { // utime stime cutime cstime
		n, err := strconv.ParseInt(f, 10, 64)
		if err != nil {
			return 0, 0, fmt.Errorf("process %d: %w", pid, err)
		}
		ticks += n
	}
	pages, err := strconv.ParseInt(fields[rssPages], 10, 64)
	if err != nil {
		return 0, 0, fmt.Errorf("process %d: %w", pid, err)
	}
	return pages * int64(os.Getpagesize()), time.Duration(ticks) * clockTick, nil
}

// sweep kills what the parts left behind: a runner outlives its worker on purpose.
func (s *Site) sweep() error {
	for range sweepTries {
		pids, err := s.processes()
		if err != nil {
			return err
		}
		if len(pids) == 0 {
			return nil
		}
		for _, pid := range pids {
			_ = syscall.Kill(pid, syscall.SIGKILL) // gone already is as good
		}
		time.Sleep(sweepPause)
	}
	return errors.New("processes of the site are still there after they were killed")
}
