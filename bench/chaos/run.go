package main

import (
	"context"
	stdsql "database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/porpoise/porpoise/bench/chaos/evidence"
	"github.com/porpoise/porpoise/bench/chaos/load"
	"github.com/porpoise/porpoise/bench/chaos/nemesis"
	"github.com/porpoise/porpoise/bench/chaos/rig"
	"github.com/porpoise/porpoise/bench/site"
)

const (
	// warmUp is how long the load runs before the first fault.
	warmUp = 5 * time.Second
	// quietLooks is how often in a row nothing may be left: what is just being handed from
	// one table to another is seen at the next look.
	quietLooks = 4
)

type options struct {
	seed                         uint64
	faults, quota                int
	within, restFor, least       time.Duration
	rate, leastRate              float64
	binary, verdict, dir, level  string
	programs                     string
	failpoints, link, way        string
	sqlite, quiet                bool
	masters, workers, apiservers int
	etcd, slots                  int
	only, shapes                 []string
}

// errVerdict says that the run ended and was judged bad.
var errVerdict = errors.New("the verdict is bad")

// facts is run.json: what the verdict must know of a run.
type facts struct {
	Seed      uint64              `json:"seed"`
	Began     int64               `json:"began"`
	Healed    int64               `json:"healed"`
	Rested    int64               `json:"rested"`
	Rest      string              `json:"rest"` // what was left to do at the end; "" is nothing
	Seconds   float64             `json:"seconds"`
	Faults    int                 `json:"faults"`
	Classes   []string            `json:"classes"`
	Quota     int                 `json:"quota"`
	LeastRate float64             `json:"least_rate"`
	Slots     int                 `json:"slots"`
	SQLite    bool                `json:"sqlite"`
	Points    string              `json:"failpoints,omitempty"` // that the product was given
	Workflows []load.Shape        `json:"workflows"`
	Groups    map[string]int      `json:"groups"` // sizes of the task groups
	Schedules []load.Schedule     `json:"schedules"`
	Heard     [2]int64            `json:"heard"` // calls of timers, and about instances
	Nodes     map[string][]string `json:"nodes"`
	Versions  map[string]string   `json:"versions"`
}

// chaos is one run.
type chaos struct {
	options
	out   io.Writer
	rig   *rig.Rig
	audit evidence.Audit
	load  *load.Load
	files map[string]*evidence.File
	facts facts
}

// run does everything and returns errVerdict where the product was found at fault.
func run(ctx context.Context, o options) (err error) {
	if o.dir == "" {
		if o.dir, err = os.MkdirTemp("", "porpoise-chaos."); err != nil {
			return err
		}
	}
	if o.dir, err = filepath.Abs(o.dir); err != nil {
		return err
	}
	if err := os.MkdirAll(o.dir, 0o755); err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(o.dir, "history.jsonl")); err == nil {
		return fmt.Errorf("%s holds the evidence of another run", o.dir)
	}
	c := &chaos{options: o, out: os.Stdout, files: map[string]*evidence.File{}}
	if o.quiet {
		c.out = io.Discard
	}
	fmt.Fprintf(os.Stdout, "chaos: seed %d, %d faults in %s, evidence in %s\n", o.seed, o.faults, o.within, o.dir)
	if err := c.build(ctx); err != nil {
		return err
	}
	if err := c.course(ctx); err != nil {
		return err
	}
	return c.judge(ctx)
}

// build makes the binaries that were not given.
func (c *chaos) build(ctx context.Context) (err error) {
	if c.binary, err = site.Binary(ctx, c.binary, c.dir); err != nil {
		return err
	}
	if c.verdict == "" {
		c.verdict, err = site.Build(ctx, "bench/verdict", c.dir)
	}
	return err
}

// course brings the cluster up, breaks and heals it, waits, and writes everything down.
func (c *chaos) course(ctx context.Context) (err error) {
	for _, name := range []string{"history", "registry", "faults", "scans"} {
		if c.files[name], err = evidence.Create(filepath.Join(c.dir, name+".jsonl")); err != nil {
			return err
		}
	}
	env, err := c.environment()
	if err != nil {
		return err
	}
	c.rig, err = rig.Start(ctx, c.dir, rig.Options{
		Env:    env,
		Binary: c.binary, Programs: c.programs, Masters: c.masters, Workers: c.workers, Apiservers: c.apiservers, Etcd: c.etcd, SQLite: c.sqlite,
		Slots: c.slots, LogLevel: c.level,
	}, c.prepare)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.rig.Stop()) }()
	c.load, err = load.New(ctx, load.Config{
		URLs: c.rig.URLs, Token: c.rig.Token, Witness: c.rig.Witness, Folder: c.rig.Evidence, Rate: c.rate, Seed: c.seed,
		History: c.files["history"], Only: c.shapes,
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.load.Close()) }()
	watching, stop := context.WithCancel(context.WithoutCancel(ctx))
	var watchers sync.WaitGroup
	watchers.Go(func() { _ = evidence.Watch(watching, c.rig.Registry, c.files["registry"]) })
	watchers.Go(func() { _ = evidence.Scans(watching, c.rig.Evidence, c.files["scans"]) })
	err = c.storm(ctx)
	if err == nil {
		err = c.rest(ctx)
	}
	stop()
	watchers.Wait()
	return errors.Join(err, c.leave(context.WithoutCancel(ctx)))
}

// environment gives the product its failpoints. Each leaves a file in a folder when it is
// hit, and happens once where its action says so.
func (c *chaos) environment() ([]string, error) {
	if c.failpoints == "" {
		return nil, nil
	}
	dir := filepath.Join(c.dir, "points")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	return []string{"PORPOISE_TEST_FAILPOINTS=" + c.failpoints, "PORPOISE_TEST_FAILPOINTS_DIR=" + dir}, nil
}

// prepare installs the audit before any role has started.
func (c *chaos) prepare(ctx context.Context, r *rig.Rig) error {
	db, err := r.Database()
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	c.audit = evidence.Audit{DB: db, Schema: r.Prefix}
	if r.SQLite {
		c.audit.Schema = ""
	}
	return c.audit.Install(ctx)
}

// storm runs the load, and meanwhile the faults.
func (c *chaos) storm(ctx context.Context) error {
	c.facts.Began = time.Now().UnixMilli()
	loading, stop := context.WithCancel(ctx)
	var client sync.WaitGroup
	client.Go(func() { c.load.Run(loading) })
	defer client.Wait()
	defer stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(warmUp):
	}
	plan := nemesis.Plan{Seed: c.seed, Faults: c.faults, Within: c.within, Only: c.only, Link: c.link, Least: c.least, Way: c.way, SQLite: c.sqlite, Targets: map[string][]string{
		"master": c.rig.Role("master"), "worker": c.rig.Role("worker"), "apiserver": c.rig.Role("apiserver"), "etcd": c.rig.Role("etcd"),
	}}
	n := &nemesis.Nemesis{Rig: c.rig, Log: c.files["faults"], Out: c.out}
	n.Keep(time.Now().Add(c.within))
	n.At(time.Now().Add(c.within), func(context.Context) {}) // also without faults it takes that long
	if err := n.Run(ctx, plan.Make()); err != nil {
		return fmt.Errorf("nemesis: %w", err)
	}
	c.facts.Healed = time.Now().UnixMilli()
	return ctx.Err()
}

// rest waits until nothing is left to do.
func (c *chaos) rest(ctx context.Context) error {
	c.load.Settle(ctx)
	db, err := c.rig.Database()
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	quiet := 0
	for end := time.Now().Add(c.restFor); time.Now().Before(end) && quiet < quietLooks; {
		left, err := c.rig.Idle(ctx, db)
		quiet++
		if err != nil || left != "" {
			quiet = 0
		}
		c.facts.Rest = left
		if err != nil {
			c.facts.Rest = err.Error()
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(250 * time.Millisecond):
		}
	}
	c.facts.Rested = time.Now().UnixMilli()
	// Whoever should be gone has a moment to go; then the last look at the processes.
	time.Sleep(2 * time.Second)
	c.files["scans"].Write(struct {
		evidence.Scan
		Rest bool `json:"rest"`
	}{evidence.Look(c.rig.Evidence), true})
	return nil
}

// leave writes what the verdict needs.
func (c *chaos) leave(ctx context.Context) error {
	db, err := c.rig.Database()
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	c.audit.DB = db
	c.facts.Seed, c.facts.Faults, c.facts.Quota, c.facts.LeastRate = c.seed, c.faults, c.quota, c.leastRate
	c.facts.Classes, c.facts.Slots, c.facts.SQLite, c.facts.Points = c.only, c.slots, c.sqlite, c.failpoints
	if len(c.only) == 0 {
		c.facts.Classes = nemesis.Classes()
	}
	c.facts.Seconds = float64(c.facts.Healed-c.facts.Began) / 1000
	c.facts.Workflows, c.facts.Groups, c.facts.Schedules = c.load.Workflows(), load.Groups(), c.load.Schedules()
	c.facts.Heard[0], c.facts.Heard[1] = c.load.Heard()
	c.facts.Nodes = map[string][]string{"master": c.rig.Role("master"), "worker": c.rig.Role("worker"), "apiserver": c.rig.Role("apiserver"), "etcd": c.rig.Role("etcd")}
	c.facts.Versions = c.versions(ctx, db)
	wrong := []error{c.audit.Dump(ctx, c.dir)}
	for _, f := range c.files {
		wrong = append(wrong, f.Close())
	}
	text, err := json.MarshalIndent(c.facts, "", " ")
	return errors.Join(append(wrong, err, os.WriteFile(filepath.Join(c.dir, "run.json"), text, 0o600))...)
}

// versions says what was tested.
func (c *chaos) versions(ctx context.Context, db *stdsql.DB) map[string]string {
	v := map[string]string{"go": runtime.Version()}
	if out, err := exec.CommandContext(ctx, c.binary, "version").Output(); err == nil {
		v["porpoise"] = strings.TrimSpace(string(out))
	}
	name, query := "mariadb", "SELECT VERSION()"
	if c.sqlite {
		name, query = "sqlite", "SELECT sqlite_version()"
	}
	var version string
	if err := db.QueryRowContext(ctx, query).Scan(&version); err == nil {
		v[name] = version
	}
	return v
}

// judge has the run judged.
func (c *chaos) judge(ctx context.Context) error {
	cmd := exec.CommandContext(ctx, c.verdict, c.dir)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	err := cmd.Run()
	if errors.As(err, new(*exec.ExitError)) && cmd.ProcessState.ExitCode() == 1 {
		return errVerdict
	}
	return err
}
