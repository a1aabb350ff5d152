package rig

import (
	"bytes"
	"context"
	stdsql "database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	_ "modernc.org/sqlite" // the driver "sqlite"

	"github.com/porpoise/porpoise/bench/chaos/proxy"
)

// Database opens the server itself, past all proxies, with every right.
func (r *Rig) Database() (*stdsql.DB, error) {
	if r.SQLite {
		return stdsql.Open("sqlite", "file:"+r.Path+"?_pragma=busy_timeout(20000)")
	}
	return stdsql.Open("mysql", r.MariaDB.DSN)
}

// Set puts a link into a state.
func (r *Rig) Set(link string, f proxy.Fault) {
	if l := r.links[link]; l != nil {
		l.Set(f)
	}
}

// Links lists the links of a node by the kind of their other end: etcd, database, or
// master for those by which others reach it.
func (r *Rig) Links(node, kind string) []string {
	var list []string
	switch kind {
	case "etcd":
		for _, member := range r.etcds() {
			list = append(list, node+">"+member)
		}
	case "database":
		list = append(list, node+">database")
	case "self":
		list = append(list, "*>"+node)
	}
	return list
}

// LinksTo lists the links of all nodes to a store.
func (r *Rig) LinksTo(store string) []string {
	var list []string
	for _, node := range r.Nodes {
		if key := node + ">" + store; r.links[key] != nil {
			list = append(list, key)
		}
	}
	return list
}

const (
	// reapTries and reapPause bound the wait until a killed database is gone for good.
	reapTries = 300
	reapPause = 10 * time.Millisecond
)

// Kill ends a part as a power cut would. What a worker's runner does then is its own
// matter.
func (r *Rig) Kill(node string) {
	if node == "database" {
		pid, err := r.MariaDB.PID()
		if err != nil {
			return
		}
		_ = syscall.Kill(pid, syscall.SIGKILL)
		// It is nobody's child here: until init has reaped it, it looks alive to who starts it again.
		for range reapTries {
			if syscall.Kill(pid, 0) != nil {
				return
			}
			time.Sleep(reapPause)
		}
		return
	}
	r.parts[node].Kill()
}

// KillRunner ends a worker's runner, if one is there, and says so.
func (r *Rig) KillRunner(node string) bool {
	pids := r.runners(node)
	for _, pid := range pids {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	return len(pids) > 0
}

// KillTree ends a worker's runner and everything that came from it: what it started, and
// what left its group but is still its descendant.
func (r *Rig) KillTree(node string) {
	pids := r.runners(node)
	for _, pid := range pids {
		_ = syscall.Kill(pid, syscall.SIGSTOP) // so that it starts nothing meanwhile
	}
	for i := 0; i < len(pids); i++ {
		pids = append(pids, children(pids[i])...)
	}
	for _, pid := range pids {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}

// children lists the child processes of a process.
func children(pid int) []int {
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	var list []int
	for _, f := range files {
		text, _ := os.ReadFile(f) // gone already is as good
		for word := range strings.FieldsSeq(string(text)) {
			if child, err := strconv.Atoi(word); err == nil {
				list = append(list, child)
			}
		}
	}
	return list
}

// Revive starts a part again that was killed.
func (r *Rig) Revive(ctx context.Context, node string) error {
	if node == "database" {
		if err := r.MariaDB.Start(ctx); err != nil {
			return err
		}
		at, err := r.server()
		if err != nil {
			return err
		}
		for key, l := range r.links {
			if strings.HasSuffix(key, ">database") {
				l.Retarget(at)
			}
		}
		return nil
	}
	p := r.parts[node]
	if err := r.site.Relaunch(ctx, p); err != nil {
		return err
	}
	r.track(node, p)
	return nil
}

// Dead says that a part is not there: killed, or ended by itself.
func (r *Rig) Dead(node string) bool {
	if node == "database" {
		pid, err := r.MariaDB.PID()
		return err != nil || syscall.Kill(pid, 0) != nil
	}
	return r.parts[node].Ended()
}

// LogBytes is how much each node has logged so far.
func (r *Rig) LogBytes() map[string]int64 {
	sizes := make(map[string]int64, len(r.Nodes))
	for _, node := range r.Nodes {
		if info, err := os.Stat(filepath.Join(r.site.Dir, node+".log")); err == nil {
			sizes[node] = info.Size()
		}
	}
	return sizes
}

// Freeze stops a part's process without ending it.
func (r *Rig) Freeze(node string) error { return r.signal(node, syscall.SIGSTOP) }

// Continue lets a frozen part go on.
func (r *Rig) Continue(node string) error { return r.signal(node, syscall.SIGCONT) }

func (r *Rig) signal(node string, sig syscall.Signal) error {
	if node == "database" {
		pid, err := r.MariaDB.PID()
		if err != nil {
			return err
		}
		return syscall.Kill(pid, sig)
	}
	r.parts[node].Signal(sig)
	return nil
}

// FreezeRunner stops or continues a worker's runner.
func (r *Rig) FreezeRunner(node string, stop bool) {
	sig := syscall.SIGCONT
	if stop {
		sig = syscall.SIGSTOP
	}
	for _, pid := range r.runners(node) {
		_ = syscall.Kill(pid, sig)
	}
}

// runners finds the runner of a worker by its command line.
func (r *Rig) runners(node string) []int {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	var pids []int
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		line, err := os.ReadFile(filepath.Join("/proc", e.Name(), "cmdline"))
		if err == nil && bytes.Contains(line, []byte("\x00runner\x00")) && bytes.Contains(line, []byte(r.Data(node)+"/")) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// Idle says what is left to do: instances that are not final or have an owner, commands, and fires and ends of
// schedules. What brings about others is read first: who takes a command owns its instance from then on.
func (r *Rig) Idle(ctx context.Context, db *stdsql.DB) (string, error) {
	table := func(name string) string {
		if r.SQLite {
			return name
		}
		return r.Prefix + "." + name
	}
	var left []string
	for _, of := range []struct{ what, table, where string }{
		{"ends are not planned", "schedule_end", "open = 1"},
		{"fires are open", "fire", "open = 1"},
		{"commands wait", "command", "1 = 1"},
		{"instances are not final", "workflow_instance", "owner <> '' OR state NOT IN ('success', 'failed', 'stopped', 'quarantined')"},
	} {
		var n int
		if err := db.QueryRowContext(ctx, "SELECT count(*) FROM "+table(of.table)+" WHERE "+of.where).Scan(&n); err != nil {
			return "", err
		}
		if n > 0 {
			left = append(left, fmt.Sprintf("%d %s", n, of.what))
		}
	}
	return strings.Join(left, ", "), nil
}
