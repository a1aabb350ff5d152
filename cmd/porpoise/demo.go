package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/porpoise/porpoise/registry"
	"github.com/porpoise/porpoise/sql"
)

const (
	// demoMasters and demoWorkers are enough for two to go on while one is gone.
	demoMasters = 3
	demoWorkers = 3
	// demoDir holds the processes' own folders and logs.
	demoDir = "demo"
	// demoRestart leaves time to see the others take over before the killed one is back.
	demoRestart = 10 * time.Second
	// demoReady bounds the start of all processes: a loaded machine with a cold disk needs seconds.
	demoReady = 60 * time.Second
	// demoStop is what a process may take beyond its drain before it is killed.
	demoStop = drainSlack + 5*time.Second
)

// child is a process of a demo: this program in one role, with a log file of its own.
type child struct {
	name string
	args []string
	log  string
}

// demo runs the masters and workers of a cluster on this host, each a process that may be killed.
// They share the database's file, and this process's registry and apiserver.
type demo struct {
	*parts
	exe     string
	restart time.Duration
	drain   time.Duration
	all     map[registry.Role][]child
}

// processes are those of a demo that run now, for people to end them. Its methods may be called by any goroutine.
type processes struct {
	mu      sync.Mutex // guards running
	running map[string]*os.Process
}

func newProcesses() *processes { return &processes{running: map[string]*os.Process{}} }

// Nodes lists those that run, by name.
func (p *processes) Nodes() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Sorted(maps.Keys(p.running))
}

// Kill ends a process as a power cut would, or answers sql.ErrNotFound.
func (p *processes) Kill(node string) error {
	p.mu.Lock()
	process := p.running[node]
	p.mu.Unlock()
	if process == nil {
		return sql.ErrNotFound
	}
	if err := process.Kill(); errors.Is(err, os.ErrProcessDone) {
		return sql.ErrNotFound
	} else if err != nil {
		return fmt.Errorf("kill process %d: %w", process.Pid, err)
	}
	return nil
}

func (p *processes) began(node string, process *os.Process) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.running[node] = process
}

func (p *processes) ended(node string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.running, node)
}

// pid is that of a process that runs, 0 for none.
func (p *processes) pid(node string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if process := p.running[node]; process != nil {
		return process.Pid
	}
	return 0
}

// start starts the masters, or the workers, which end before them.
func (d *demo) start(role registry.Role, children []child) {
	name, bound := "processes of "+string(role), demoStop
	if role == registry.Worker {
		bound += d.drain
	}
	d.run(name, bound, func(ctx context.Context) error {
		var group errgroup.Group
		for _, c := range children {
			group.Go(func() error { return d.keep(ctx, c) })
		}
		return group.Wait()
	})
}

// children lists the processes of a role, with folders of their own. All that a worker of another host
// gets by a join token, the demo's workers are given.
func (d *demo) children(role registry.Role, cfg *standaloneConfig, etcdAddress string) ([]child, error) {
	count := demoMasters
	if role == registry.Worker {
		count = demoWorkers
	}
	var list []child
	for i := range count {
		name := fmt.Sprintf("%s-%d", role, i+1)
		dir := d.data.file(demoDir, name)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, fmt.Errorf("folder of %s: %w", name, err)
		}
		args := []string{string(role), "--data", dir, "--node", name, "--etcd", "https://" + etcdAddress, "--log-level", cfg.LogLevel, fmt.Sprintf("--log-json=%t", cfg.LogJSON)}
		if role == registry.Master {
			args = append(args, "--rpc", "127.0.0.1:0", "--database", "sqlite:"+d.data.file(databaseFile), "--cluster-key", d.data.file(clusterKeyFile),
				"--secret-key-file", d.data.file(secretKeyFile), "--listeners-reach", cfg.ListenersReach,
				"--keep-days", fmt.Sprint(cfg.KeepDays), "--keep-per-workflow", fmt.Sprint(cfg.KeepPerWorkflow),
				"--keep-fire-days", fmt.Sprint(cfg.KeepFireDays), "--keep-fires-per-schedule", fmt.Sprint(cfg.KeepFires), "--schedule-plan-ahead", cfg.PlanAhead.String())
		} else {
			args = append(args, "--slots", fmt.Sprint(cfg.Slots), "--drain-for", cfg.DrainFor.String(),
				"--heartbeat-timeout", cfg.Timeout.String(), "--heartbeat-cycle", cfg.Cycle.String(), "--heartbeat-period", cfg.Period.String(),
				"--heartbeat-batch", fmt.Sprint(cfg.Batch), "--heartbeat-max-retry", fmt.Sprint(cfg.MaxRetry))
			certificate, err := d.authority.NewCertificate(registry.Worker, name)
			if err != nil {
				return nil, err
			}
			if err := certificate.Save(filepath.Join(dir, certificateDir)); err != nil {
				return nil, err
			}
		}
		log := dir + ".log"
		if err := os.WriteFile(log, nil, 0o600); err != nil { // each demo's begins empty
			return nil, fmt.Errorf("log of %s: %w", name, err)
		}
		list = append(list, child{name: name, args: args, log: log})
	}
	return list, nil
}

// keep runs a process until ctx ends. One that was killed is gone for a while, then it comes back.
func (d *demo) keep(ctx context.Context, c child) error {
	// The kernel ends the process with the thread that started it: the thread stays ours.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for ctx.Err() == nil {
		how := d.once(ctx, c)
		if ctx.Err() != nil {
			return nil
		}
		if d.restart == 0 {
			d.log.Warn("process ended and stays away", "process", c.name, "how", how, "start_it_by", d.exe+" "+strings.Join(c.args, " "))
			<-ctx.Done()
			return nil
		}
		d.log.Warn("process ended", "process", c.name, "how", how, "again_in", d.restart.String())
		pause(ctx, d.restart)
	}
	return nil
}

// once runs a process to its end and tells how it ended.
func (d *demo) once(ctx context.Context, c child) string {
	log, err := os.OpenFile(c.log, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err.Error()
	}
	defer func() { _ = log.Close() }() // the process has its own copy
	cmd := exec.Command(d.exe, c.args...)
	cmd.Env, cmd.Stdout, cmd.Stderr = taskEnvironment(os.Environ()), log, log
	// A group of its own: Ctrl-C is for the parent alone, which then asks once. And nothing outlives it.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		return err.Error()
	}
	d.processes.began(c.name, cmd.Process)
	defer d.processes.ended(c.name)
	d.log.Info("process started", "process", c.name, "pid", cmd.Process.Pid)
	ended := make(chan struct{})
	var asking sync.WaitGroup
	asking.Go(func() {
		select {
		case <-ctx.Done():
			_ = cmd.Process.Signal(syscall.SIGTERM) // gone already is as good
		case <-ended:
		}
	})
	err = cmd.Wait()
	close(ended)
	asking.Wait()
	if err == nil {
		return "exit code 0"
	}
	return err.Error()
}

// await returns when all the processes are registered.
func (d *demo) await(ctx context.Context, role registry.Role, children []child) error {
	ctx, cancel := context.WithTimeout(ctx, demoReady)
	defer cancel()
	views, err := d.registry.Watch(ctx, role)
	if err != nil {
		return fmt.Errorf("watch the demo's processes: %w", err)
	}
	missing := children
	for view := range views {
		missing = slices.DeleteFunc(slices.Clone(children), func(c child) bool {
			return slices.ContainsFunc(view.Members, func(m registry.Member) bool { return m.Node == c.name })
		})
		if len(missing) == 0 {
			return nil
		}
	}
	if errors.Is(ctx.Err(), context.Canceled) {
		return ctx.Err()
	}
	return fmt.Errorf("%s did not register within %s; see %s", missing[0].name, demoReady, missing[0].log)
}

// upDemo starts the processes instead of a master and a worker in this one.
func (p *parts) upDemo(cfg *standaloneConfig, etcdAddress string) (*demo, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find the demo's program: %w", err)
	}
	d := &demo{parts: p, exe: exe, restart: cfg.DemoRestart, drain: cfg.DrainFor, all: map[registry.Role][]child{}}
	for _, role := range []registry.Role{registry.Master, registry.Worker} {
		children, err := d.children(role, cfg, etcdAddress)
		if err != nil {
			return nil, err
		}
		d.all[role] = children
		d.start(role, children)
	}
	return d, nil
}

// ready waits for all processes and says what to do with them.
func (d *demo) ready(ctx context.Context) (string, error) {
	var lines strings.Builder
	for _, role := range []registry.Role{registry.Master, registry.Worker} {
		if err := d.await(ctx, role, d.all[role]); err != nil {
			return "", err
		}
		for _, c := range d.all[role] {
			fmt.Fprintf(&lines, "  %s  pid %d\n", c.name, d.processes.pid(c.name))
		}
	}
	back := "It stays away; its line in the log says how to start it."
	if d.restart > 0 {
		back = fmt.Sprintf("It comes back after %s.", d.restart)
	}
	return fmt.Sprintf("%sKill one and watch: kill -9 PID. %s\nTheir logs: %s\n", &lines, back, d.data.file(demoDir, "*.log")), nil
}
