// Package rig is the cluster that a chaos run breaks: real processes on loopback, a proxy
// on every link between them, and a handle on each for the nemesis.
//
// It owns how the processes are started, killed, stopped and found, and the folder with
// what they leave. It decides nothing about faults (package nemesis) and judges nothing
// (program bench/verdict). Its methods are for one goroutine at a time.
package rig

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/porpoise/porpoise/bench/chaos/proxy"
	"github.com/porpoise/porpoise/bench/site"
)

// Options say what stands.
type Options struct {
	Binary                               string // of the product
	Programs                             string // folder of etcd and witness; they are built when not given
	Masters, Workers, Apiservers, Etcd   int
	SQLite                               bool   // one file for all instead of MariaDB
	DatabaseIn                           string // folder for what MariaDB holds; "" is that of temporary files
	Slots                                int    // of every worker
	LogLevel                             string
	Env                                  []string // of the product's processes
	ExtraMaster, ExtraWorker, ExtraShare []string // flags
}

// Rig is a running cluster.
type Rig struct {
	Options
	Dir       string // evidence and what else the verdict needs
	Evidence  string // folder of the tasks' evidence
	URLs      []string
	Token     string
	Registry  []string // the etcd members themselves, not through a proxy
	Witness   string   // the tasks' program
	Prefix    string   // name of the database on the server
	Path      string   // of the SQLite file
	MariaDB   *site.MariaDB
	Nodes     []string          // names of masters, workers and apiservers
	Endpoints map[string]string // where a part listens

	site  *site.Site
	links map[string]*proxy.Link // "from>to"; "*>to" where all share one
	parts map[string]*site.Part
	taken map[string]bool // addresses

	mu   sync.Mutex
	pids map[string]int // for the proxies' accept loops
}

// The names of a role's nodes.
func (o Options) masters() []string    { return names("master", o.Masters) }
func (o Options) workers() []string    { return names("worker", o.Workers) }
func (o Options) apiservers() []string { return names("apiserver", o.Apiservers) }
func (o Options) etcds() []string      { return names("etcd", o.Etcd) }

func names(role string, n int) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf("%s-%d", role, i+1)
	}
	return list
}

// Role lists the nodes of a role: master, worker, apiserver or etcd.
func (r *Rig) Role(role string) []string {
	switch role {
	case "master":
		return r.masters()
	case "worker":
		return r.workers()
	case "apiserver":
		return r.apiservers()
	case "etcd":
		return r.etcds()
	}
	return nil
}

// Start brings the cluster up; prepare is called when the schema is there and no role has
// started. dir holds what the run leaves and is the caller's.
func Start(ctx context.Context, dir string, o Options, prepare func(context.Context, *Rig) error) (*Rig, error) {
	s, err := site.New()
	if err != nil {
		return nil, err
	}
	r := &Rig{
		Options: o, Dir: dir, Evidence: filepath.Join(dir, "tasks"), site: s, Prefix: "porpoise",
		links: map[string]*proxy.Link{}, parts: map[string]*site.Part{}, Endpoints: map[string]string{}, taken: map[string]bool{}, pids: map[string]int{},
	}
	r.Nodes = slices.Concat(o.masters(), o.workers(), o.apiservers())
	if err := r.start(ctx, prepare); err != nil {
		return nil, errors.Join(err, r.Stop())
	}
	return r, nil
}

func (r *Rig) start(ctx context.Context, prepare func(context.Context, *Rig) error) error {
	if err := r.folders(ctx); err != nil {
		return err
	}
	if err := r.startStores(ctx); err != nil {
		return err
	}
	if err := r.link(ctx); err != nil {
		return err
	}
	if err := r.site.Once(ctx, "migrate", r.migrate()); err != nil {
		return err
	}
	if err := prepare(ctx, r); err != nil {
		return err
	}
	token, err := os.ReadFile(filepath.Join(r.site.Dir, "secrets", "admin-token"))
	if err != nil {
		return fmt.Errorf("read the admin's token: %w", err)
	}
	r.Token = strings.TrimSpace(string(token))
	for _, name := range r.Nodes {
		p, err := r.site.Launch(ctx, name, r.program(name))
		if err != nil {
			return err
		}
		r.track(name, p)
	}
	return r.await(ctx)
}

// folders makes the folders and the tasks' program.
func (r *Rig) folders(ctx context.Context) error {
	for _, dir := range []string{filepath.Join(r.Evidence, "locks"), filepath.Join(r.site.Dir, "secrets"), filepath.Join(r.site.Dir, "join")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return fmt.Errorf("make a folder: %w", err)
		}
	}
	var err error
	r.Witness, err = r.helper(ctx, "bench/chaos/witness")
	return err
}

// helper is a program that a run needs beside the product.
func (r *Rig) helper(ctx context.Context, program string) (string, error) {
	if r.Programs == "" {
		return site.Build(ctx, program, r.site.Dir)
	}
	return filepath.Abs(filepath.Join(r.Programs, filepath.Base(program)))
}

// track remembers a part, also under its process for the proxies.
func (r *Rig) track(name string, p *site.Part) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.parts[name] = p
	r.pids[name] = p.PID
}

// who names the process behind a connection.
func (r *Rig) who(client net.Addr) string {
	r.mu.Lock()
	pids := maps.Clone(r.pids)
	r.mu.Unlock()
	return proxy.Owner(client, pids)
}

// readyTimeout bounds a start on a machine with other work.
const readyTimeout = 2 * time.Minute

// await waits until the apiservers serve and all nodes are seen.
func (r *Rig) await(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	var err error
	for {
		if err = r.seen(ctx); err == nil {
			return nil
		}
		for name, p := range r.parts {
			if p.Ended() && len(r.Env) > 0 { // by a failpoint
				if err := r.Revive(ctx, name); err != nil {
					return err
				}
			} else if p.Ended() {
				return fmt.Errorf("%s ended at the start: %s", name, p.Tail())
			}
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for the cluster: %w (%w)", ctx.Err(), err)
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// Stop ends everything and keeps the logs in the run's folder.
func (r *Rig) Stop() error {
	for name := range r.parts {
		_ = r.Continue(name) // who is stopped can't end
	}
	for _, l := range r.links {
		l.Set(proxy.Fault{})
	}
	logs, _ := filepath.Glob(filepath.Join(r.site.Dir, "*.log"))
	var wrong []error
	if len(logs) > 0 {
		wrong = append(wrong, os.MkdirAll(filepath.Join(r.Dir, "logs"), 0o700))
	}
	for _, path := range logs {
		text, err := os.ReadFile(path)
		if err == nil {
			err = os.WriteFile(filepath.Join(r.Dir, "logs", filepath.Base(path)), text, 0o600)
		}
		wrong = append(wrong, err)
	}
	_ = r.site.Stop() // a part that was killed or drains too long is no matter here
	for _, l := range r.links {
		l.Close()
	}
	return errors.Join(wrong...)
}
