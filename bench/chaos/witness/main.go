// Command witness is what the tasks of a chaos run do: it writes down that it lives, and
// holds a lock while it does.
//
// It owns its lines in the evidence file (one write each, so that lines of many processes
// never mix) and one lock file per task. It knows nothing of Porpoise but the variables
// that a task finds in its environment. The workflows of bench/chaos start it; bench/verdict
// reads what it wrote.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// line is one line of evidence. Mono is CLOCK_MONOTONIC, which all processes of a host
// share; Wall is for the reader and for comparing with a database's clock.
type line struct {
	Event    string `json:"event"` // start, tick, term, end, overlap
	Instance string `json:"instance"`
	Workflow string `json:"workflow"`
	Task     string `json:"task"`
	Attempt  int    `json:"attempt"`
	Fence    string `json:"fence"`
	Mark     string `json:"mark"`
	PID      int    `json:"pid"`
	Ticks    uint64 `json:"ticks"` // start of the process since boot
	Boot     string `json:"boot"`
	Mono     int64  `json:"mono"`
	Wall     int64  `json:"wall"`
	RC       int    `json:"rc"`
	Role     string `json:"role,omitempty"` // child: a process that left its task's group
	Seq      int    `json:"seq"`
}

type options struct {
	dir       string
	work      time.Duration
	tick      time.Duration
	code      int
	failUntil int
	child     bool
	leave     bool
}

// witness writes the lines of one process.
type witness struct {
	options
	file *os.File
	line line
}

func main() {
	var o options
	flag.StringVar(&o.dir, "dir", "", "folder of the evidence")
	flag.DurationVar(&o.work, "for", 100*time.Millisecond, "how long to live")
	flag.DurationVar(&o.tick, "tick", 500*time.Millisecond, "how often to say so")
	flag.IntVar(&o.code, "rc", 0, "exit code")
	flag.IntVar(&o.failUntil, "fail-until", 0, "attempts below this number exit with 3")
	flag.BoolVar(&o.leave, "leave", false, "start a child in a session of its own, which ignores SIGTERM and never ends by itself")
	flag.BoolVar(&o.child, "child", false, "be that child")
	flag.Parse()
	fmt.Println("alive for", o.work) // every task has some output
	code, err := run(o)
	if err != nil {
		fmt.Fprintln(os.Stderr, "witness:", err)
		code = 99
	}
	os.Exit(code)
}

func run(o options) (int, error) {
	terms := make(chan os.Signal, 1)
	signal.Notify(terms, syscall.SIGTERM)
	w, err := open(o)
	if err != nil {
		return 0, err
	}
	if o.child {
		return 0, w.haunt()
	}
	locked, err := w.lock()
	if err != nil {
		return 0, err
	}
	if err := w.say("start", 0); err != nil {
		return 0, err
	}
	if !locked {
		if err := w.say("overlap", 0); err != nil {
			return 0, err
		}
	}
	if o.leave {
		if err := w.leaveChild(); err != nil {
			return 0, err
		}
	}
	return w.live(terms)
}

// open reads who this is from the environment.
func open(o options) (*witness, error) {
	f, err := os.OpenFile(filepath.Join(o.dir, "evidence.jsonl"), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	attempt, err := strconv.Atoi(os.Getenv("PORPOISE_ATTEMPT"))
	if err != nil {
		return nil, fmt.Errorf("read PORPOISE_ATTEMPT: %w", err)
	}
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return nil, err
	}
	w := &witness{options: o, file: f, line: line{
		Instance: os.Getenv("system_workflow_instance_id"), Workflow: os.Getenv("system_workflow_name"), Task: os.Getenv("system_task_name"),
		Attempt: attempt, Fence: os.Getenv("PORPOISE_FENCE"), Mark: os.Getenv("PORPOISE_MARK"),
		PID: os.Getpid(), Ticks: startTicks(), Boot: strings.TrimSpace(string(boot)),
	}}
	if o.child {
		w.line.Role = "child"
	}
	return w, nil
}

// startTicks is field 22 of /proc/self/stat: with the pid and the boot it names a process
// for ever.
func startTicks() uint64 {
	text, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	const start = 19 // counted from the state
	if len(fields) <= start {
		return 0
	}
	n, _ := strconv.ParseUint(fields[start], 10, 64)
	return n
}

// lock takes the task's lock without waiting. Not getting it proves that another attempt
// lives, or something that it started: children inherit it.
func (w *witness) lock() (bool, error) {
	fd, err := unix.Open(filepath.Join(w.dir, "locks", w.line.Instance+"."+w.line.Task), unix.O_RDWR|unix.O_CREAT, 0o600) // no O_CLOEXEC
	if err != nil {
		return false, fmt.Errorf("open the lock: %w", err)
	}
	err = unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}

// say writes one line in one write.
func (w *witness) say(event string, rc int) error {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &now); err != nil {
		return err
	}
	w.line.Event, w.line.RC, w.line.Mono, w.line.Wall = event, rc, now.Nano(), time.Now().UnixMilli()
	w.line.Seq++
	text, err := json.Marshal(w.line)
	if err != nil {
		return err
	}
	_, err = w.file.Write(append(text, '\n'))
	return err
}

// live ticks until the work is over or somebody asks for the end.
func (w *witness) live(terms <-chan os.Signal) (int, error) {
	end := time.NewTimer(w.work)
	defer end.Stop()
	ticks := time.NewTicker(w.tick)
	defer ticks.Stop()
	for {
		select {
		case <-terms:
			return 143, w.say("term", 143)
		case <-ticks.C:
			if err := w.say("tick", 0); err != nil {
				return 0, err
			}
		case <-end.C:
			code := w.code
			if w.line.Attempt < w.failUntil {
				code = 3
			}
			return code, w.say("end", code)
		}
	}
}

// leaveChild starts what a kill must find although it left the group.
func (w *witness) leaveChild() error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.Command(self, "-dir", w.dir, "-tick", w.tick.String(), "-child")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return cmd.Start()
}

// haunt ticks until it is killed.
func (w *witness) haunt() error {
	signal.Ignore(syscall.SIGTERM)
	for {
		time.Sleep(w.tick)
		if err := w.say("tick", 0); err != nil {
			return err
		}
	}
}
