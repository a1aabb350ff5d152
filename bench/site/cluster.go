package site

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// Cluster starts etcd, a database, masters, workers and apiservers, each as a process
// of its own, and returns when the first apiserver is ready and sees all workers. The
// caller ends it with Stop.
func Cluster(ctx context.Context, o Options) (*Site, error) {
	s, err := newSite()
	if err != nil {
		return nil, err
	}
	return s, s.orStop(s.cluster(ctx, o))
}

// cluster is what the parts of one cluster have in common.
type cluster struct {
	Options
	etcd     []string // flags
	database []string // flags
	token    string   // file of the workers' join token
	masters  []string // flags
}

func (s *Site) cluster(ctx context.Context, o Options) error {
	o.Masters, o.Workers, o.APIServers = max(o.Masters, 1), max(o.Workers, 1), max(o.APIServers, 1)
	c := &cluster{Options: o, token: filepath.Join(s.dir, "worker-token")}
	s.Began = time.Now()
	if err := s.startEtcd(ctx, c); err != nil {
		return err
	}
	dsn, err := s.database(ctx, o.Database)
	if err != nil {
		return err
	}
	admin := filepath.Join(s.dir, "admin")
	c.database = []string{"--database", dsn}
	args := append([]string{"migrate", "--data", admin, "--worker-token", c.token}, o.common()...)
	if err := s.runOnce(ctx, "migrate", o.Binary, append(args, c.database...)...); err != nil {
		return err
	}
	c.database = append(c.database, "--cluster-key", filepath.Join(admin, "cluster.key"))
	for i := range o.Masters {
		if err := s.startMaster(ctx, c, i+1); err != nil {
			return err
		}
	}
	var first string
	for i := range o.APIServers {
		address, err := s.startAPIServer(ctx, c, i+1)
		if err != nil {
			return err
		}
		if i == 0 {
			first = address
		}
	}
	if err := s.ready(ctx, first, filepath.Join(admin, "admin-token")); err != nil {
		return err
	}
	for i := range o.Workers {
		if err := s.startWorker(ctx, c, i+1); err != nil {
			return err
		}
	}
	return s.until(ctx, fmt.Sprintf("all %d workers are in", o.Workers), func() error {
		workers, err := s.Client.Workers(ctx)
		if err == nil && len(workers) < o.Workers {
			err = fmt.Errorf("there are %d", len(workers))
		}
		return err
	})
}

// startEtcd builds and runs the registry's server and waits until it has said where it is.
func (s *Site) startEtcd(ctx context.Context, c *cluster) error {
	program, err := Build(ctx, "bench/etcd", s.dir)
	if err != nil {
		return err
	}
	file := filepath.Join(s.dir, "etcd-address")
	if _, err := s.start(ctx, "etcd", program, "-dir", filepath.Join(s.dir, "etcd-data"), "-address-file", file); err != nil {
		return err
	}
	return s.until(ctx, "etcd serves", func() error {
		address, err := os.ReadFile(file)
		c.etcd = []string{"--etcd", string(address)}
		return err
	})
}

func (s *Site) startMaster(ctx context.Context, c *cluster, n int) error {
	rpc, err := freeAddress(ctx)
	if err != nil {
		return err
	}
	name := fmt.Sprintf("master-%d", n)
	args := []string{"master", "--data", filepath.Join(s.dir, name), "--node", name, "--rpc", rpc, "--advertise", rpc}
	args = append(append(append(args, c.common()...), c.etcd...), c.database...)
	c.masters = append(c.masters, "--masters", rpc)
	_, err = s.start(ctx, name, c.Binary, args...)
	return err
}

func (s *Site) startAPIServer(ctx context.Context, c *cluster, n int) (string, error) {
	rpc, err := freeAddress(ctx)
	if err != nil {
		return "", err
	}
	address, err := freeAddress(ctx)
	if err != nil {
		return "", err
	}
	name := fmt.Sprintf("apiserver-%d", n)
	args := []string{"apiserver", "--data", filepath.Join(s.dir, name), "--node", name, "--rpc", rpc, "--advertise", rpc, "--http", address}
	args = append(append(append(args, c.common()...), c.etcd...), c.database...)
	_, err = s.start(ctx, name, c.Binary, args...)
	return address, err
}

func (s *Site) startWorker(ctx context.Context, c *cluster, n int) error {
	name := fmt.Sprintf("worker-%d", n)
	args := []string{"worker", "--data", filepath.Join(s.dir, name), "--node", name, "--join-token-file", c.token}
	args = append(append(append(append(args, c.common()...), c.etcd...), c.masters...), c.slots()...)
	_, err := s.start(ctx, name, c.Binary, args...)
	return err
}
