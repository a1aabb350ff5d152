package etcd

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/embed"
	"go.etcd.io/etcd/server/v3/etcdserver/api/v3client"
	"go.etcd.io/etcd/server/v3/storage/wal"
)

// One member has nobody to wait for, so its clock may be fast: it leads 0.1 s after
// its start. The rest keeps it small; a registry holds kilobytes.
const (
	embedTickMs     = 10
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
)

// EmbedConfig says where the embedded server lives and who may reach it.
type EmbedConfig struct {
	Dir string // of its data; made with mode 0700
	// Listen is where other processes reach it: empty for nowhere, unix:/path for a
	// socket (mode by its folder), or host:port. Port 0 chooses one. A host that is
	// not loopback needs TLS.
	Listen string
	TLS    *EmbedTLS
	Logger hclog.Logger
}

// EmbedTLS names the PEM files of the listener. Clients must have a certificate of
// the same authority.
type EmbedTLS struct {
	CertFile string // may also hold the key
	KeyFile  string
	CAFile   string
}

// Embedded is a running one-member etcd server.
type Embedded struct {
	server  *embed.Etcd
	client  *clientv3.Client
	closing atomic.Bool
	once    sync.Once
	closed  error
}

// shrinkWAL makes the write-ahead log's segments small. The size is etcd's package
// variable, read when a log is opened, so it is set once before the first server.
var shrinkWAL = sync.OnceFunc(func() { wal.SegmentSizeBytes = embedSegment })

// Embed starts the server and returns when it serves. The folder must be locked by the
// caller: two servers on one folder would wait for each other.
func Embed(ctx context.Context, cfg EmbedConfig) (*Embedded, error) {
	e := &Embedded{}
	config, err := cfg.server(&e.closing)
	if err != nil {
		return nil, fmt.Errorf("embed etcd: %w", err)
	}
	if err := os.MkdirAll(cfg.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("embed etcd: %w", err)
	}
	shrinkWAL()
	server, err := embed.StartEtcd(config)
	if err != nil {
		return nil, fmt.Errorf("embed etcd in %s: %w", cfg.Dir, err)
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	select {
	case <-server.Server.ReadyNotify():
	case err := <-server.Err():
		server.Close()
		return nil, fmt.Errorf("embed etcd in %s: %w", cfg.Dir, err)
	case <-ctx.Done():
		server.Close()
		return nil, fmt.Errorf("embed etcd in %s: not ready: %w", cfg.Dir, ctx.Err())
	}
	e.server, e.client = server, v3client.New(server.Server)
	return e, nil
}

// server translates to etcd's own configuration.
func (cfg EmbedConfig) server(closing *atomic.Bool) (*embed.Config, error) {
	if cfg.Dir == "" {
		return nil, errors.New("no data folder is given")
	}
	c := embed.NewConfig()
	c.Name, c.Dir = embedName, cfg.Dir
	c.TickMs, c.ElectionMs = embedTickMs, embedElectionMs
	c.QuotaBackendBytes = embedQuota
	c.SnapshotCount, c.SnapshotCatchUpEntries = embedSnapshot, embedCatchUp
	c.AutoCompactionMode, c.AutoCompactionRetention = embed.CompactorModePeriodic, embedKeep
	c.ZapLoggerBuilder = embed.NewZapLoggerBuilder(zapLogger(cfg.Logger, closing))
	peer, err := url.Parse(embedPeer)
	if err != nil {
		return nil, fmt.Errorf("peer address: %w", err)
	}
	c.ListenPeerUrls, c.AdvertisePeerUrls = nil, []url.URL{*peer}
	c.InitialCluster = c.InitialClusterFromName(c.Name)
	c.ListenClientUrls, c.AdvertiseClientUrls = nil, []url.URL{*peer}
	if cfg.Listen == "" {
		return c, nil
	}
	listen, err := cfg.listen()
	if err != nil {
		return nil, err
	}
	c.ListenClientUrls, c.AdvertiseClientUrls = []url.URL{listen}, []url.URL{listen}
	if cfg.TLS != nil {
		c.ClientTLSInfo.CertFile, c.ClientTLSInfo.KeyFile = cfg.TLS.CertFile, cfg.TLS.KeyFile
		c.ClientTLSInfo.TrustedCAFile, c.ClientTLSInfo.ClientCertAuth = cfg.TLS.CAFile, true
		c.TlsMinVersion = "TLS1.3"
	}
	return c, nil
}

// listen gives the client listener's URL and refuses to be open to the world.
func (cfg EmbedConfig) listen() (url.URL, error) {
	if path, ok := strings.CutPrefix(cfg.Listen, "unix:"); ok {
		return url.URL{Scheme: "unix", Path: path}, nil
	}
	host, _, err := net.SplitHostPort(cfg.Listen)
	if err != nil {
		return url.URL{}, fmt.Errorf("listen on %q: %w", cfg.Listen, err)
	}
	ip, err := netip.ParseAddr(host)
	if err != nil {
		return url.URL{}, fmt.Errorf("listen on %q: the host must be an IP address", cfg.Listen)
	}
	if cfg.TLS != nil {
		return url.URL{Scheme: "https", Host: cfg.Listen}, nil
	}
	if !ip.IsLoopback() {
		return url.URL{}, fmt.Errorf("listen on %q: an address beyond loopback needs TLS", cfg.Listen)
	}
	return url.URL{Scheme: "http", Host: cfg.Listen}, nil
}

// Client is the in-process client: it uses no socket. It is closed by Close.
func (e *Embedded) Client() *clientv3.Client { return e.client }

// Addr is where other processes reach the server, host:port or unix:/path; empty when
// it listens nowhere.
func (e *Embedded) Addr() string {
	if len(e.server.Clients) == 0 {
		return ""
	}
	addr := e.server.Clients[0].Addr()
	if addr.Network() == "unix" {
		return "unix:" + addr.String()
	}
	return addr.String()
}

// Err gives what ends the server from within, such as a full disk.
func (e *Embedded) Err() <-chan error { return e.server.Err() }

// Close stops the server, within five seconds. Sessions should have left before: a
// lease that is not revoked is found again at the next start.
func (e *Embedded) Close() error {
	e.once.Do(func() {
		e.closing.Store(true)
		done := make(chan struct{})
		go func() {
			defer close(done)
			e.client.Close() //nolint:errcheck // in-process: it only ends its own goroutines
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
