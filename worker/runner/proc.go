package runner

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// markEnv is the variable that names the attempt in all that a task starts. It is no
// secret: who runs as the worker's user can read it.
const markEnv = "PORPOISE_MARK"

// process is one line of the process table.
type process struct {
	pid, parent, group, session int
	ticks                       uint64 // start since boot: with pid and boot id it names a process for ever
	zombie                      bool
}

// readProcess reads /proc/PID/stat. The command in it may hold spaces and brackets:
// the fields start after the last bracket.
func readProcess(pid int) (process, bool) {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return process{}, false
	}
	fields := strings.Fields(string(data[bytes.LastIndexByte(data, ')')+1:]))
	if len(fields) < 20 {
		return process{}, false
	}
	p := process{pid: pid, zombie: fields[0] == "Z" || fields[0] == "X"}
	p.parent, _ = strconv.Atoi(fields[1])
	p.group, _ = strconv.Atoi(fields[2])
	p.session, _ = strconv.Atoi(fields[3])
	p.ticks, _ = strconv.ParseUint(fields[19], 10, 64)
	return p, true
}

// allProcesses reads the process table.
func allProcesses() []process {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer func() { _ = dir.Close() }()
	names, _ := dir.Readdirnames(-1)
	all := make([]process, 0, len(names))
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		if p, ok := readProcess(pid); ok {
			all = append(all, p)
		}
	}
	return all
}

// markOf reads the mark in a process's environment, empty if there is none.
func markOf(pid int) string {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil {
		return ""
	}
	for pair := range bytes.SplitSeq(data, []byte{0}) {
		if mark, ok := bytes.CutPrefix(pair, []byte(markEnv+"=")); ok {
			return string(mark)
		}
	}
	return ""
}

// killProcess sends a signal to exactly that process: the pidfd is opened first and the
// start time read again after, so that a reused pid is never hit.
func killProcess(p process, signal unix.Signal) bool {
	fd, err := unix.PidfdOpen(p.pid, 0)
	if err != nil {
		return false
	}
	defer func() { _ = unix.Close(fd) }()
	if now, ok := readProcess(p.pid); !ok || now.ticks != p.ticks {
		return false
	}
	return unix.PidfdSendSignal(fd, signal, nil, 0) == nil
}

// bootID is the kernel's id of this boot.
func bootID() string {
	data, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return string(bytes.TrimSpace(data))
}

// socketIn is the address of the runner's socket in a folder that is open as fd: the
// path itself may be longer than the 107 bytes that an address holds.
func socketIn(dir *os.File) string {
	return filepath.Join("/proc/self/fd", strconv.Itoa(int(dir.Fd())), "runner.sock")
}
