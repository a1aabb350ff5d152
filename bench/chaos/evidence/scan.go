package evidence

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Marked is a process that carries the mark of an attempt.
type Marked struct {
	PID      int    `json:"pid"`
	Ticks    uint64 `json:"ticks"`
	Mark     string `json:"mark"`
	Instance string `json:"instance"`
	Task     string `json:"task"`
	Attempt  int    `json:"attempt"`
}

// Scan is one look at the process table.
type Scan struct {
	At        int64    `json:"at"`
	Processes []Marked `json:"processes"`
}

// Scans writes a look at the process table every second, until ctx ends. Only processes
// whose tasks write into the folder count: other clusters may be on this machine.
func Scans(ctx context.Context, folder string, f *File) error {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		f.Write(Look(folder))
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// Look scans the process table once.
func Look(folder string) Scan {
	s := Scan{At: time.Now().UnixMilli(), Processes: []Marked{}}
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return s
	}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		environ, err := os.ReadFile(filepath.Join("/proc", e.Name(), "environ"))
		if err != nil || !bytes.Contains(environ, []byte("PORPOISE_MARK=")) || !bytes.Contains(environ, []byte("chaos_folder="+folder+"\x00")) {
			continue
		}
		m, ok := marked(pid, environ)
		if ok {
			s.Processes = append(s.Processes, m)
		}
	}
	return s
}

// marked reads one process; false for one that is gone, or only waits to be reaped.
func marked(pid int, environ []byte) (Marked, bool) {
	m := Marked{PID: pid}
	for pair := range bytes.SplitSeq(environ, []byte{0}) {
		name, value, _ := strings.Cut(string(pair), "=")
		switch name {
		case "PORPOISE_MARK":
			m.Mark = value
		case "system_workflow_instance_id":
			m.Instance = value
		case "system_task_name":
			m.Task = value
		case "PORPOISE_ATTEMPT":
			m.Attempt, _ = strconv.Atoi(value)
		}
	}
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return m, false
	}
	const state, start = 0, 19
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	if len(fields) <= start || fields[state] == "Z" {
		return m, false
	}
	m.Ticks, _ = strconv.ParseUint(fields[start], 10, 64)
	return m, true
}
