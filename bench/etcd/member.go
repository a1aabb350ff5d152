package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"

	"go.etcd.io/etcd/server/v3/embed"
)

const (
	// The defaults of etcd: a leader that is gone is replaced after one to two seconds.
	memberTickMs     = 100
	memberElectionMs = 1000
)

// member is one of several servers.
type member struct{ name, peer, cluster string }

// run serves until ctx ends. Started again on its folder, it goes on where it was.
func (m member) run(ctx context.Context, dir, listen, file string) error {
	c := embed.NewConfig()
	c.Name, c.Dir, c.InitialCluster = m.name, dir, m.cluster
	c.TickMs, c.ElectionMs = memberTickMs, memberElectionMs
	c.LogLevel = "error"
	client, err := url.Parse("http://" + listen)
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	peer, err := url.Parse("http://" + m.peer)
	if err != nil {
		return fmt.Errorf("peer: %w", err)
	}
	c.ListenClientUrls, c.AdvertiseClientUrls = []url.URL{*client}, []url.URL{*client}
	c.ListenPeerUrls, c.AdvertisePeerUrls = []url.URL{*peer}, []url.URL{*peer}
	server, err := embed.StartEtcd(c)
	if err != nil {
		return fmt.Errorf("start member %s: %w", m.name, err)
	}
	defer server.Close()
	select {
	case <-server.Server.ReadyNotify():
	case <-ctx.Done():
		return nil
	case err := <-server.Err():
		return fmt.Errorf("start member %s: %w", m.name, err)
	}
	if file != "" {
		if err := announce(file, listen); err != nil {
			return err
		}
	}
	select {
	case <-ctx.Done():
		return nil
	case <-server.Server.StopNotify():
		return errors.New("the server stopped by itself")
	case err := <-server.Err():
		return fmt.Errorf("serve: %w", err)
	}
}
