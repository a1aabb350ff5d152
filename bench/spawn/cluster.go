package spawn

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/hashicorp/go-hclog"

	stdsql "database/sql"

	"github.com/porpoise/porpoise/cmd/porpoise/client"
	"github.com/porpoise/porpoise/registry/etcd"
)

// migrateTimeout bounds the making of the schema.
const migrateTimeout = 60 * time.Second

// Cluster is the cluster of the compose file as processes.
type Cluster struct {
	Client    *client.Client
	Processes map[string]*Process // by service

	etcd     *etcd.Embedded
	database string
	drop     func() error
	order    []*Process
}

// ClusterConfig says what to start.
type ClusterConfig struct {
	Binary  string
	Compose string // docker-compose.yml
	Dir     string // for data and logs
	DSN     string // of a server, without a database: the cluster gets one of its own
	Masters int    // how many of the file's masters; 0 is all
	Workers int    // the same of its workers
	// Args go behind the command of every service of a role.
	Args map[string][]string
}

// StartCluster starts etcd and the services, and waits until workers and API are there.
// Etcd is embedded in this process; the database is made for this cluster alone.
func StartCluster(ctx context.Context, cfg ClusterConfig) (_ *Cluster, err error) {
	file, err := readCompose(cfg.Compose)
	if err != nil {
		return nil, err
	}
	c := &Cluster{Processes: map[string]*Process{}, drop: func() error { return nil }}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.Stop())
		}
	}()
	if err := c.base(ctx, cfg); err != nil {
		return nil, err
	}
	services := file.names("master")
	workers := file.names("worker")
	if cfg.Masters > 0 {
		services = services[:min(cfg.Masters, len(services))]
	}
	if cfg.Workers > 0 {
		workers = workers[:min(cfg.Workers, len(workers))]
	}
	services = append(append(services, file.names("apiserver")...), workers...)
	places, err := c.places(file, cfg.Dir)
	if err != nil {
		return nil, err
	}
	if err := c.migrate(ctx, cfg, file, places); err != nil {
		return nil, err
	}
	for _, name := range services {
		if err := c.start(cfg, file, name, places); err != nil {
			return nil, err
		}
	}
	api := file.names("apiserver")[0]
	if c.Client, err = connect(ctx, c.Processes[api], "http://"+places[api][httpPlace], filepath.Join(cfg.Dir, "secrets")); err != nil {
		return nil, err
	}
	return c, c.awaitWorkers(ctx, len(workers))
}

// The places in the compose file's commands.
const (
	httpPlace   = "0.0.0.0:8080"
	masterPlace = "0.0.0.0:7070"
	logsPlace   = "0.0.0.0:7071"
)

// base starts what the services need: etcd, and a database of their own.
func (c *Cluster) base(ctx context.Context, cfg ClusterConfig) error {
	for _, dir := range []string{"secrets", "join"} {
		if err := os.MkdirAll(filepath.Join(cfg.Dir, dir), 0o700); err != nil {
			return fmt.Errorf("make folder: %w", err)
		}
	}
	var err error
	c.etcd, err = etcd.Embed(ctx, etcd.EmbedConfig{
		Dir: filepath.Join(cfg.Dir, "etcd"), Listen: "127.0.0.1:0", Logger: hclog.NewNullLogger(),
	})
	if err != nil {
		return err
	}
	parsed, err := mysql.ParseDSN(strings.TrimPrefix(cfg.DSN, "mysql:"))
	if err != nil {
		return fmt.Errorf("database: %w", err)
	}
	parsed.DBName = ""
	admin, err := stdsql.Open("mysql", parsed.FormatDSN())
	if err != nil {
		return fmt.Errorf("database: %w", err)
	}
	name := fmt.Sprintf("porpoise_%d_%d", os.Getpid(), time.Now().UnixNano()%1e9)
	if _, err := admin.ExecContext(ctx, "CREATE DATABASE "+name+" CHARACTER SET utf8mb4 COLLATE utf8mb4_bin"); err != nil {
		return errors.Join(fmt.Errorf("create database: %w", err), admin.Close())
	}
	c.drop = func() error {
		_, err := admin.ExecContext(context.WithoutCancel(ctx), "DROP DATABASE "+name)
		return errors.Join(err, admin.Close())
	}
	parsed.DBName = name
	c.database = "mysql:" + parsed.FormatDSN()
	return nil
}

// places maps, for each service, the containers' hosts and folders to this machine's.
func (c *Cluster) places(file compose, dir string) (map[string]map[string]string, error) {
	shared := map[string]string{
		"/secrets": filepath.Join(dir, "secrets"), "/join": filepath.Join(dir, "join"), "etcd:2379": c.etcd.Addr(),
		"mysql:porpoise:${MYSQL_PASSWORD:-porpoise}@tcp(mysql:3306)/porpoise": c.database,
	}
	own := map[string]map[string]string{}
	for name := range file {
		own[name] = map[string]string{"/data": filepath.Join(dir, name)}
		for place, inside := range map[string]string{httpPlace: "", masterPlace: name + ":7070", logsPlace: name + ":7071"} {
			address, err := freeAddress()
			if err != nil {
				return nil, err
			}
			own[name][place] = address
			if inside != "" {
				shared[inside] = address // how the others call it
			}
		}
	}
	for name := range own {
		maps.Copy(own[name], shared)
	}
	return own, nil
}

// migrate runs the one-shot service to its end.
func (c *Cluster) migrate(ctx context.Context, cfg ClusterConfig, file compose, places map[string]map[string]string) error {
	name := file.names("migrate")[0]
	if err := c.start(cfg, file, name, places); err != nil {
		return err
	}
	p := c.Processes[name]
	delete(c.Processes, name)
	c.order = c.order[:len(c.order)-1]
	select {
	case <-p.done:
		if p.err != nil {
			return fmt.Errorf("migrate: %w; its log ends:\n%s", p.err, p.Tail())
		}
		return nil
	case <-ctx.Done():
		p.Kill()
		return ctx.Err()
	case <-time.After(migrateTimeout):
		p.Kill()
		return fmt.Errorf("migrate is not done after %s; its log ends:\n%s", migrateTimeout, p.Tail())
	}
}

func (c *Cluster) start(cfg ClusterConfig, file compose, name string, places map[string]map[string]string) error {
	args, env, err := file.arguments(name, places[name])
	if err != nil {
		return err
	}
	p, err := start(cfg.Binary, cfg.Dir, name, env, append(args, cfg.Args[args[0]]...))
	if err != nil {
		return err
	}
	c.Processes[name] = p
	c.order = append(c.order, p)
	return nil
}

// awaitWorkers waits until the API sees as many workers as were started.
func (c *Cluster) awaitWorkers(ctx context.Context, want int) error {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	tick := time.NewTicker(10 * readyEvery)
	defer tick.Stop()
	for {
		workers, err := c.Client.Workers(ctx)
		if err == nil && len(workers) >= want {
			return nil
		}
		select {
		case <-ctx.Done():
			var logs strings.Builder
			for _, p := range c.order {
				fmt.Fprintf(&logs, "--- %s\n%s", p.Name, p.Tail())
			}
			return fmt.Errorf("%d of %d workers are there after %s:\n%s", len(workers), want, readyTimeout, logs.String())
		case <-tick.C:
		}
	}
}

// Stop ends the services in the reverse order of their start, then etcd, and drops the database.
func (c *Cluster) Stop() error {
	var wrong []error
	for _, v := range slices.Backward(c.order) {
		wrong = append(wrong, v.Stop())
	}
	c.order = nil
	if c.etcd != nil {
		wrong = append(wrong, c.etcd.Close())
	}
	return errors.Join(append(wrong, c.drop())...)
}

// forget leaves a process out of Stop: it was killed on purpose.
func (c *Cluster) forget(p *Process) {
	c.order = slices.DeleteFunc(c.order, func(other *Process) bool { return other == p })
}
