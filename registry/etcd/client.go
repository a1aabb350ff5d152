package etcd

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"time"

	"github.com/hashicorp/go-hclog"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/status"
)

const (
	dialTimeout = 5 * time.Second
	// pingEvery is the shortest that etcd's servers allow by default before they hang
	// up on a client for pinging too much.
	pingEvery   = 5 * time.Second
	pingTimeout = 3 * time.Second
)

// reconnect keeps trying often: an etcd that is back is found before the leases that it
// has kept run out, which takes the default of up to two minutes far too long for.
var reconnect = grpc.ConnectParams{
	Backoff:           backoff.Config{BaseDelay: 100 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: time.Second},
	MinConnectTimeout: 2 * time.Second,
}

// ClientConfig says where an etcd cluster is and how to get in.
type ClientConfig struct {
	Endpoints []string    // host:port, or URLs
	TLS       *tls.Config // nil for plain text
	Username  string
	Password  string
	Logger    hclog.Logger
}

// Dial makes a client for an external etcd cluster. It does not wait for a connection:
// the registry's calls do. Only with a user it asks etcd at once; then ErrUnavailable and ErrDenied
// of package registry say what came of it. The caller closes it.
func Dial(ctx context.Context, cfg ClientConfig) (*clientv3.Client, error) {
	if len(cfg.Endpoints) == 0 {
		return nil, errors.New("dial etcd: no endpoints are given")
	}
	// The client outlives the call, which ctx bounds.
	life, end := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, end)
	client, err := clientv3.New(clientv3.Config{
		Context:              life,
		Endpoints:            cfg.Endpoints,
		TLS:                  cfg.TLS,
		Username:             cfg.Username,
		Password:             cfg.Password,
		DialTimeout:          dialTimeout,
		DialKeepAliveTime:    pingEvery,
		DialKeepAliveTimeout: pingTimeout,
		PermitWithoutStream:  false, // etcd's servers count such pings as abuse
		DialOptions:          []grpc.DialOption{grpc.WithConnectParams(reconnect)},
		Logger:               zapLogger(cfg.Logger),
	})
	if err == nil && !stop() {
		err = errors.Join(ctx.Err(), client.Close())
	}
	if err != nil {
		end()
		if asked(err) {
			err = unavailable(err)
		}
		return nil, fmt.Errorf("dial etcd %v: %w", cfg.Endpoints, err)
	}
	return client, nil
}

// asked says that an error is etcd's answer, or that there was none; others are of the configuration.
func asked(err error) bool {
	var answer rpctypes.EtcdError
	_, told := status.FromError(err)
	return told || errors.As(err, &answer) || errors.Is(err, context.DeadlineExceeded)
}
