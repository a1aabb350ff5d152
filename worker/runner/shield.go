package runner

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

const (
	// taskScore and ownScore are who is killed first where memory runs out: a task, and not who
	// keeps the others' output and would report its end.
	taskScore = "800"
	ownScore  = "-500"
	// taskNice lets whoever keeps leases and streams alive run before tasks that use the whole machine.
	taskNice = 10
)

// Shield protects this process where memory runs out, if it may: root may, and who was started
// so. Tasks do not inherit it.
func Shield() { _ = os.WriteFile("/proc/self/oom_score_adj", []byte(ownScore), 0) }

// expose makes a task what is given up first. What it has started by now is of its group, or is found by
// the next hunt.
func expose(pid int) {
	score(pid)
	_ = unix.Setpriority(unix.PRIO_PGRP, pid, taskNice)
}

func score(pid int) {
	_ = os.WriteFile("/proc/"+strconv.Itoa(pid)+"/oom_score_adj", []byte(taskScore), 0)
}
