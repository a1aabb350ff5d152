package rig

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
)

const (
	// lowPort to highPort is below what the kernel gives to outgoing connections: a port
	// there is still free when a killed part comes back.
	lowPort, highPort = 10_000, 20_000
	portTries         = 200
)

// address finds a loopback address that is free, and stays so for the parts of this rig.
func (r *Rig) address(ctx context.Context) (string, error) {
	var config net.ListenConfig
	for range portTries {
		at := fmt.Sprintf("127.0.0.1:%d", lowPort+rand.IntN(highPort-lowPort))
		if r.taken[at] {
			continue
		}
		l, err := config.Listen(ctx, "tcp", at)
		if err != nil {
			continue
		}
		_ = l.Close()
		r.taken[at] = true
		return at, nil
	}
	return "", errors.New("find a free port: none of those tried is free")
}
