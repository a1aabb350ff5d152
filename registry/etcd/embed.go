package etcd

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/netip"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/embed"
	"go.etcd.io/etcd/server/v3/etcdserver/api/v3client"
	"go.etcd.io/etcd/server/v3/etcdserver/api/v3rpc"
	"go.etcd.io/etcd/server/v3/storage/wal"
	"google.golang.org/grpc"
	"google.golang.org/grpc/keepalive"
)

// One member has nobody to wait for, so its clock may be fast: it leads 0.1 s after
// its start. It ticks as seldom as that time allows, since each tick wakes a process that rests. The rest
// keeps it small; a registry holds kilobytes.
const (
	embedTickMs     = 20
	embedElectionMs = 100
	embedQuota      = 64 << 20
	embedSegment    = 1 << 20 // of the write-ahead log; etcd would preallocate 64 MB
	embedSnapshot   = 2000    // entries between snapshots: they bound the replay at a start
	embedCatchUp    = 100     // entries kept for a slow follower, of which there is none
	embedKeep       = "10m"   // history for watchers; they list again when it is gone
	embedName       = "porpoise"
	// embedPeer is where the member says its peers would find it. There are none, and
	// nothing listens.
	embedPeer = "http://127.0.0.1:0"

	startTimeout = 30 * time.Second
	closeTimeout = 5 * time.Second
	// doorHandshake bounds how long a stranger may hold a connection.
	doorHandshake = 5 * time.Second
)

// EmbedConfig says where the embedded server lives and who may reach it.
type EmbedConfig struct {
	Dir string // of its data; made with mode 0700
	// Listen is where other processes reach it: empty for nowhere, unix:/path for a
	// socket (guarded by its folder's mode), or an IP address and a port, 0 for any.
	// An address that is not loopback needs TLS.
	Listen string
	// TLS must ask for client certificates: whoever gets in can write everything.
	TLS    *tls.Config
	Logger hclog.Logger
}

// Embedded is a running one-member etcd server.
type Embedded struct {
	server *embed.Etcd
	client *clientv3.Client
	addr   string
	door   *grpc.Server   // for other processes, or nil
	served sync.WaitGroup // the door's Serve
	once   sync.Once
	closed error
}

// shrinkWAL makes the write-ahead log's segments small. The size is etcd's package
// variable, read when a log is opened, so it is set once before the first server.
var shrinkWAL = sync.OnceFunc(func() { wal.SegmentSizeBytes = embedSegment })

// Embed starts the server and returns when it serves. The folder must be locked by the
// caller: two servers on one folder would wait for each other.
func Embed(ctx context.Context, cfg EmbedConfig) (*Embedded, error) {
	e := &Embedded{}
	config, err := cfg.server()
	if err != nil {
		return nil, fmt.Errorf("embed etcd: %w", err)
	}
	if err := os.MkdirAll(cfg.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("embed etcd: %w", err)
	}
	// Before the server, so that a busy port costs nothing.
	listener, err := cfg.listen(ctx)
	if err != nil {
		return nil, fmt.Errorf("embed etcd: %w", err)
	}
	shrinkWAL()
	if e.server, err = start(ctx, config); err != nil {
		if listener != nil {
			listener.Close() // the start's error is the one to tell
		}
		return nil, fmt.Errorf("embed etcd in %s: %w", cfg.Dir, err)
	}
	e.client = v3client.New(e.server.Server)
	if listener != nil {
		e.open(listener, cfg.TLS)
	}
	return e, nil
}

// start runs etcd and waits until it leads.
func start(ctx context.Context, config *embed.Config) (*embed.Etcd, error) {
	server, err := embed.StartEtcd(config)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	select {
	case <-server.Server.ReadyNotify():
		return server, nil
	case err = <-server.Err():
	case <-ctx.Done():
		err = fmt.Errorf("not ready: %w", ctx.Err())
	}
	server.Close()
	return nil, err
}

// open serves other processes. The door is ours and not etcd's, since etcd's own waits
// for its clients when it closes, and adds an HTTP gateway.
func (e *Embedded) open(listener net.Listener, secure *tls.Config) {
	e.addr = listener.Addr().String()
	if listener.Addr().Network() == "unix" {
		e.addr = "unix:" + e.addr
	}
	e.door = v3rpc.Server(e.server.Server, secure, nil,
		grpc.ConnectionTimeout(doorHandshake),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: pingEvery / 2, PermitWithoutStream: true}),
		grpc.KeepaliveParams(keepalive.ServerParameters{Time: pingEvery, Timeout: pingTimeout}))
	e.served.Go(func() { _ = e.door.Serve(listener) }) // until Stop closes the listener
}

// server translates to etcd's own configuration, with no listener at all.
func (cfg EmbedConfig) server() (*embed.Config, error) {
	if cfg.Dir == "" {
		return nil, errors.New("no data folder is given")
	}
	nowhere, err := url.Parse(embedPeer)
	if err != nil {
		return nil, fmt.Errorf("peer address: %w", err)
	}
	c := embed.NewConfig()
	c.Name, c.Dir = embedName, cfg.Dir
	c.TickMs, c.ElectionMs = embedTickMs, embedElectionMs
	c.QuotaBackendBytes = embedQuota
	c.SnapshotCount, c.SnapshotCatchUpEntries = embedSnapshot, embedCatchUp
	c.AutoCompactionMode, c.AutoCompactionRetention = embed.CompactorModePeriodic, embedKeep
	c.ZapLoggerBuilder = embed.NewZapLoggerBuilder(zapLogger(cfg.Logger))
	c.ListenPeerUrls, c.AdvertisePeerUrls = nil, []url.URL{*nowhere}
	c.ListenClientUrls, c.AdvertiseClientUrls = nil, []url.URL{*nowhere}
	c.InitialCluster = c.InitialClusterFromName(c.Name)
	return c, nil
}

// listen opens the door's listener, if there is to be one, and refuses to be open to
// the world.
func (cfg EmbedConfig) listen(ctx context.Context) (net.Listener, error) {
	network, addr := "tcp", cfg.Listen
	if addr == "" {
		return nil, nil
	}
	if cfg.TLS != nil && cfg.TLS.ClientAuth != tls.RequireAndVerifyClientCert {
		return nil, fmt.Errorf("listen on %q: TLS must require client certificates", addr)
	}
	if path, ok := strings.CutPrefix(addr, "unix:"); ok {
		network, addr = "unix", path
		// Left behind by a process that was killed: the folder's lock is ours.
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("listen on %q: %w", cfg.Listen, err)
		}
	} else {
		at, err := netip.ParseAddrPort(addr)
		if err != nil {
			return nil, fmt.Errorf("listen on %q: want an IP address and a port: %w", addr, err)
		}
		if !at.Addr().IsLoopback() && cfg.TLS == nil {
			return nil, fmt.Errorf("listen on %q: an address beyond loopback needs TLS", addr)
		}
	}
	var config net.ListenConfig
	return config.Listen(ctx, network, addr)
}

// Client is the in-process client: it uses no socket. It is closed by Close.
func (e *Embedded) Client() *clientv3.Client { return e.client }

// Addr is where other processes reach the server, host:port or unix:/path; empty when
// it listens nowhere.
func (e *Embedded) Addr() string { return e.addr }

// Err gives what ends the server from within, such as a full disk.
func (e *Embedded) Err() <-chan error { return e.server.Err() }

// Close stops the server, within five seconds. Sessions should have left before: a
// lease that is not revoked is found again at the next start.
func (e *Embedded) Close() error {
	e.once.Do(func() {
		done := make(chan struct{})
		go func() {
			defer close(done)
			if e.door != nil {
				e.door.Stop()
				e.served.Wait()
			}
			e.client.Close() // in-process: it only ends its own goroutines
			e.server.Close()
		}()
		timer := time.NewTimer(closeTimeout)
		defer timer.Stop()
		select {
		case <-done:
		case <-timer.C:
			e.closed = fmt.Errorf("close etcd: not stopped after %v", closeTimeout)
		}
	})
	return e.closed
}
