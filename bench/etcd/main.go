// Command etcd is an etcd server as a process of its own, alone or one member of several,
// for clusters that are started on one machine to be measured or to be broken.
//
// It owns nothing but its data folder, listens on loopback only, without a password, and
// is never part of the product. Packages bench/site and bench/chaos start it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/hashicorp/go-hclog"

	"github.com/porpoise/porpoise/registry/etcd"
)

func main() {
	dir := flag.String("dir", "", "data folder")
	listen := flag.String("listen", "127.0.0.1:0", "loopback address; port 0 is any")
	file := flag.String("address-file", "", "file to write the address to, when it serves")
	var m member
	flag.StringVar(&m.name, "name", "", "name of this member of several; with -cluster and -peer")
	flag.StringVar(&m.peer, "peer", "", "address for the other members")
	flag.StringVar(&m.cluster, "cluster", "", "all members, as name=http://address,...")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	serve := run
	if m.cluster != "" {
		serve = m.run
	}
	if err := serve(ctx, *dir, *listen, *file); err != nil {
		fmt.Fprintln(os.Stderr, "etcd:", err)
		os.Exit(1)
	}
}

// run serves until ctx ends.
func run(ctx context.Context, dir, listen, file string) (err error) {
	log := hclog.New(&hclog.LoggerOptions{Name: "etcd", Level: hclog.Warn, Output: os.Stderr})
	e, err := etcd.Embed(ctx, etcd.EmbedConfig{Dir: dir, Listen: listen, Logger: log})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	if file != "" {
		if err := announce(file, e.Addr()); err != nil {
			return err
		}
	}
	select {
	case <-ctx.Done():
		return nil
	case err := <-e.Err():
		return fmt.Errorf("serve: %w", err)
	}
}

// announce writes the address, whole or not at all, so that who waits for the file
// never reads half of it.
func announce(file, address string) error {
	half := file + ".new"
	if err := os.WriteFile(half, []byte(address), 0o600); err != nil {
		return fmt.Errorf("announce the address: %w", err)
	}
	if err := os.Rename(half, file); err != nil {
		return fmt.Errorf("announce the address: %w", err)
	}
	return nil
}
