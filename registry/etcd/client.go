package etcd

import (
	"crypto/tls"
	"errors"
	"fmt"
	"time"

	"github.com/hashicorp/go-hclog"
	clientv3 "go.etcd.io/etcd/client/v3"
)

const (
	dialTimeout = 5 * time.Second
	// pingEvery is the shortest that etcd's servers allow by default before they hang
	// up on a client for pinging too much.
	pingEvery   = 5 * time.Second
	pingTimeout = 3 * time.Second
)

// ClientConfig says where an etcd cluster is and how to get in.
type ClientConfig struct {
	Endpoints []string    // host:port, or URLs
	TLS       *tls.Config // nil for plain text
	Username  string
	Password  string
	Logger    hclog.Logger
}

// Dial makes a client for an external etcd cluster. It does not wait for a connection:
// the registry's calls do. The caller closes it.
func Dial(cfg ClientConfig) (*clientv3.Client, error) {
	if len(cfg.Endpoints) == 0 {
		return nil, errors.New("dial etcd: no endpoints are given")
	}
	client, err := clientv3.New(clientv3.Config{
		Endpoints:            cfg.Endpoints,
		TLS:                  cfg.TLS,
		Username:             cfg.Username,
		Password:             cfg.Password,
		DialTimeout:          dialTimeout,
		DialKeepAliveTime:    pingEvery,
		DialKeepAliveTimeout: pingTimeout,
		PermitWithoutStream:  false, // etcd's servers count such pings as abuse
		Logger:               zapLogger(cfg.Logger),
	})
	if err != nil {
		return nil, fmt.Errorf("dial etcd %v: %w", cfg.Endpoints, err)
	}
	return client, nil
}
