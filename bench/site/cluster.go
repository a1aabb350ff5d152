package site

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// composeFile is where the commands of a cluster's services are read from.
const composeFile = "docker-compose.yml"

// Cluster starts the cluster of docker-compose.yml as processes: etcd, a database, and
// the services with the very commands of the file, hosts and folders replaced by this
// machine's. It returns when the apiserver is ready and sees all workers. A part has its
// service's name. The caller ends it with Stop.
func Cluster(ctx context.Context, o Options) (*Site, error) {
	s, err := newSite()
	if err != nil {
		return nil, err
	}
	return s, s.orStop(s.cluster(ctx, o))
}

// The places in the compose file's commands where services listen.
const (
	httpPlace   = "0.0.0.0:8080"
	masterPlace = "0.0.0.0:7070"
	logsPlace   = "0.0.0.0:7071"
	// databasePlace is where they find the database.
	databasePlace = "mysql:porpoise:${MYSQL_PASSWORD:-porpoise}@tcp(mysql:3306)/porpoise"
)

// cluster is a cluster that is being started.
type cluster struct {
	Options
	file   compose
	places map[string]map[string]string // by service: a place of the containers to one here
}

func (s *Site) cluster(ctx context.Context, o Options) error {
	root, err := Root()
	if err != nil {
		return err
	}
	c := &cluster{Options: o}
	if c.file, err = readCompose(filepath.Join(root, composeFile)); err != nil {
		return err
	}
	masters, workers := c.file.scale("master", o.Masters), c.file.scale("worker", o.Workers)
	apiservers := c.file.names("apiserver")
	s.Began = time.Now()
	if err := s.settle(ctx, c); err != nil {
		return err
	}
	for _, name := range c.file.names("migrate") {
		if err := s.serviceOnce(ctx, c, name); err != nil {
			return err
		}
	}
	for _, name := range append(append(masters, apiservers...), workers...) {
		if err := s.service(ctx, c, name); err != nil {
			return err
		}
	}
	if err := s.ready(ctx, c.places[apiservers[0]][httpPlace], filepath.Join(s.Dir, "secrets", "admin-token")); err != nil {
		return err
	}
	return s.Until(ctx, fmt.Sprintf("all %d workers are in", len(workers)), func() error {
		nodes, err := s.Client.Workers(ctx)
		if err == nil && len(nodes) < len(workers) {
			err = fmt.Errorf("there are %d", len(nodes))
		}
		return err
	})
}

// settle brings up what the services need, and finds a place here for each of theirs.
func (s *Site) settle(ctx context.Context, c *cluster) error {
	shared := map[string]string{}
	for _, dir := range []string{"secrets", "join"} {
		shared["/"+dir] = filepath.Join(s.Dir, dir)
		if err := os.Mkdir(shared["/"+dir], 0o700); err != nil {
			return fmt.Errorf("make a folder: %w", err)
		}
	}
	var err error
	if shared["etcd:2379"], err = s.startEtcd(ctx); err != nil {
		return err
	}
	if shared[databasePlace], err = s.database(ctx, c.Database); err != nil {
		return err
	}
	s.DSN = shared[databasePlace]
	c.places = map[string]map[string]string{}
	for name := range c.file {
		own := map[string]string{"/data": filepath.Join(s.Dir, name)}
		for place, port := range map[string]string{httpPlace: ":8080", masterPlace: ":7070", logsPlace: ":7071"} {
			if own[place], err = FreeAddress(ctx); err != nil {
				return err
			}
			shared[name+port] = own[place] // how the others call it
		}
		c.places[name] = own
	}
	for _, own := range c.places {
		maps.Copy(own, shared)
	}
	return nil
}

// startEtcd builds and runs the registry's server, and returns its address once it serves.
func (s *Site) startEtcd(ctx context.Context) (string, error) {
	program, err := Build(ctx, "bench/etcd", s.Dir)
	if err != nil {
		return "", err
	}
	file := filepath.Join(s.Dir, "etcd-address")
	cmd := command{program: program, args: []string{"-dir", filepath.Join(s.Dir, "etcd-data"), "-address-file", file}}
	if _, err := s.start(ctx, "etcd", cmd); err != nil {
		return "", err
	}
	var address []byte
	err = s.Until(ctx, "etcd serves", func() (err error) {
		address, err = os.ReadFile(file)
		return err
	})
	return strings.TrimSpace(string(address)), err
}

// service starts a service of the compose file.
func (s *Site) service(ctx context.Context, c *cluster, name string) error {
	cmd, err := c.command(name)
	if err != nil {
		return err
	}
	_, err = s.start(ctx, name, cmd)
	return err
}

// serviceOnce runs a service to its end.
func (s *Site) serviceOnce(ctx context.Context, c *cluster, name string) error {
	cmd, err := c.command(name)
	if err != nil {
		return err
	}
	return s.runOnce(ctx, name, cmd)
}

// command is a service's command with what the options add; of a flag that is given
// twice the last one counts.
func (c *cluster) command(name string) (command, error) {
	args, env, err := c.file.arguments(name, c.places[name])
	if err != nil {
		return command{}, err
	}
	return command{program: c.Binary, env: env, args: append(args, c.flags(args[0])...)}, nil
}
