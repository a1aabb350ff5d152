package main

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/hashicorp/go-hclog"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc"

	"github.com/porpoise/porpoise/apiserver"
	"github.com/porpoise/porpoise/apiserver/logs"
	"github.com/porpoise/porpoise/apiserver/watch"
	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/internal/egress"
	"github.com/porpoise/porpoise/internal/failpoint"
	"github.com/porpoise/porpoise/internal/rpc"
	"github.com/porpoise/porpoise/master"
	"github.com/porpoise/porpoise/registry"
	"github.com/porpoise/porpoise/registry/etcd"
	"github.com/porpoise/porpoise/sql"
	"github.com/porpoise/porpoise/ui"
	"github.com/porpoise/porpoise/worker"
	"github.com/porpoise/porpoise/worker/heartbeat"
	"github.com/porpoise/porpoise/worker/lease"
	"github.com/porpoise/porpoise/worker/runner"
)

const (
	// grpcStop is how long calls may take to end before connections are cut.
	grpcStop = time.Second
	// httpStop is the same for requests; streams end at once.
	httpStop = 5 * time.Second
	// runStop bounds a part that has nothing to drain.
	runStop = 10 * time.Second
	// drainSlack is what a worker may take beyond its drain: to end what is left, to
	// report it, and to hear that it was written.
	drainSlack = 40 * time.Second
)

// parts is what the roles are built from. Every role uses the same ones, alone or in a
// cluster.
type parts struct {
	*app
	store       *sql.Store
	cluster     sql.Cluster
	registry    registry.Registry
	authority   *rpc.CA
	key         rpc.ClusterKey
	keys        *rpc.Keyring // of secrets
	egress      egress.Rule  // where listeners may be called
	retention   master.Retention
	planning    planning
	frequency   frequency
	surges      surges
	node        string
	incarnation string
	predecessor string // the incarnation that this one follows in the data folder
	made        apiserver.Made
	data        *dataDir
	waiting     *waiting // nil where no HTTP is served
	settings    []apiserver.Setting
	processes   *processes        // of a demo; nil without
	here        map[string]served // by address
}

// demonstrated is the demo as the API ends its processes; nil outside of one.
func (p *parts) demonstrated() apiserver.Demo {
	if p.processes == nil {
		return nil
	}
	return p.processes
}

// openStore opens the database, to be closed last.
func (p *parts) openStore(ctx context.Context, cfg sql.Config) error {
	cfg.Logger, cfg.Statements = p.log, p.statements
	store, err := sql.Open(ctx, cfg)
	if err != nil {
		return err
	}
	p.store = store
	p.closing("database", store.Close)
	return nil
}

// openCluster reads what the database says about the cluster, and its authority.
func (p *parts) openCluster(ctx context.Context, keyFile string) error {
	var err error
	if p.cluster, err = p.store.Cluster(ctx); err != nil {
		return fmt.Errorf("read the cluster's row: %w", err)
	}
	key, err := rpc.EnsureClusterKey(keyFile)
	if err != nil {
		return err
	}
	p.key = key
	certificate, sealed, err := p.store.CertificateAuthority(ctx, func() ([]byte, []byte, error) {
		ca, err := rpc.NewCA(p.cluster.ID)
		if err != nil {
			return nil, nil, err
		}
		return ca.Seal(key)
	})
	if err != nil {
		return err
	}
	if p.authority, err = rpc.LoadCA(certificate, sealed, key); err != nil {
		return fmt.Errorf("%w; is %s the key of this cluster?", err, keyFile)
	}
	return nil
}

// identify locks the data folder and finds out who this node is.
func (p *parts) identify(path, wanted, prefix string) error {
	data, err := openData(path)
	if err != nil {
		return err
	}
	p.data = data
	p.closing("data folder", data.Close)
	if p.node, err = data.node(wanted, prefix); err != nil {
		return err
	}
	p.incarnation = newIncarnation()
	p.predecessor, err = data.succeed(p.incarnation)
	return err
}

// useEtcd makes the registry of a client, which the caller has opened.
func (p *parts) useEtcd(client *clientv3.Client, clusterID string) error {
	reg, err := etcd.New(client, clusterID, p.log)
	if err != nil {
		return err
	}
	p.registry = reg
	return nil
}

// dialEtcd makes the registry of an external etcd. An https endpoint of which nothing more is
// said is a standalone node's: own, where there is one, is this node's certificate for it.
func (p *parts) dialEtcd(ctx context.Context, access etcdAccess, clusterID string, own *rpc.Certificate) error {
	cfg := etcd.ClientConfig{Endpoints: access.Etcd, Username: access.EtcdUser, Password: access.EtcdPassword, Logger: p.log}
	var err error
	if cfg.TLS, err = access.tls(); err != nil {
		return err
	}
	if cfg.TLS == nil && own != nil && strings.HasPrefix(access.Etcd[0], "https://") {
		cfg.TLS = own.ClientTLS(registry.Master)
	}
	var client *clientv3.Client
	err = p.await(ctx, "the registry", func(ctx context.Context) error {
		client, err = etcd.Dial(ctx, cfg)
		return err
	})
	if err != nil {
		return err
	}
	p.closing("etcd client", client.Close)
	return p.useEtcd(client, clusterID)
}

// tls is nil where nothing was said of certificates.
func (e *etcdAccess) tls() (*tls.Config, error) {
	if e.EtcdCA == "" && e.EtcdCert == "" {
		return nil, nil
	}
	cfg := &tls.Config{MinVersion: tls.VersionTLS12}
	if e.EtcdCA != "" {
		text, err := os.ReadFile(e.EtcdCA)
		if err != nil {
			return nil, fmt.Errorf("etcd-ca: %w", err)
		}
		cfg.RootCAs = x509.NewCertPool()
		if !cfg.RootCAs.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("etcd-ca: %s holds no certificate", e.EtcdCA)
		}
	}
	if e.EtcdCert != "" {
		pair, err := loadPair("etcd-key", e.EtcdCert, e.EtcdKey)
		if err != nil {
			return nil, err
		}
		cfg.Certificates = []tls.Certificate{pair}
	}
	return cfg, nil
}

// loadPair reads a certificate and its key, which only its owner may read.
func loadPair(what, certFile, keyFile string) (tls.Certificate, error) {
	key, err := readSecret(keyFile)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("%s: %w", what, err)
	}
	cert, err := os.ReadFile(certFile)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("%s: %w", what, err)
	}
	pair, err := tls.X509KeyPair(cert, []byte(key))
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("%s: %w", what, err)
	}
	return pair, nil
}

// listenRPC takes the port of a gRPC server, so that its address is known before what it
// serves is made.
func listenRPC(ctx context.Context, address string) (net.Listener, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("rpc: %w; give --rpc another address", err)
	}
	return listener, nil
}

// serveRPC runs a gRPC server for a role on a port that is taken already. What it turns away is counted.
func (p *parts) serveRPC(role registry.Role, listener net.Listener, refusals *rpc.Refusals, register func(*grpc.Server)) error {
	certificate, err := p.authority.NewCertificate(role, p.node)
	if err != nil {
		return err
	}
	server, err := rpc.NewServer(rpc.ServerConfig{Certificate: certificate, Logger: p.log, OnRefused: refusals.Count})
	if err != nil {
		return err
	}
	register(server)
	p.run(string(role)+" rpc", grpcStop+time.Second, func(ctx context.Context) error { return serveUntil(ctx, server, listener) })
	return nil
}

// serveUntil serves until ctx ends. Streams that live as long as their peer would keep
// a graceful stop waiting, so it gets a moment only.
func serveUntil(ctx context.Context, server *grpc.Server, listener net.Listener) error {
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	}
	cut := time.AfterFunc(grpcStop, server.Stop)
	defer cut.Stop()
	server.GracefulStop()
	return <-served
}

// served is a service of this process.
type served struct {
	service *grpc.ServiceDesc
	server  any
}

// serves notes what this process serves at an address, so that its own parts need no network for that.
func (p *parts) serves(address string, service *grpc.ServiceDesc, server any) {
	if p.here == nil {
		p.here = map[string]served{}
	}
	p.here[address] = served{service, server}
}

// dialer makes connections to servers of the given roles, as this node in its own role: without
// a network where they are in this process by now.
func (p *parts) dialer(certificate *rpc.Certificate, roles ...registry.Role) func(ctx context.Context, address string) (rpc.Conn, error) {
	creds, here := certificate.Credentials(roles...), maps.Clone(p.here)
	return func(ctx context.Context, address string) (rpc.Conn, error) {
		conn, err := rpc.Dial(ctx, address, creds)
		if err != nil {
			return nil, err
		}
		if own, ok := here[address]; ok {
			return rpc.NewLocal(conn, certificate, own.service, own.server), nil
		}
		return conn, nil
	}
}

// startMaster runs a master that others dial at the advertised address, or at the
// listener's own where that is "".
func (p *parts) startMaster(ctx context.Context, listen, advertise string, weight int, superviseEvery time.Duration) error {
	listener, err := listenRPC(ctx, listen)
	if err != nil {
		return err
	}
	advertise = advertised(advertise, listener.Addr().String())
	refusals := &rpc.Refusals{}
	m := master.New(master.Config{
		Self: rpc.Process{Node: p.node, Incarnation: p.incarnation}, Cluster: p.cluster.ID, Generation: p.cluster.Generation, Address: advertise, Version: version(),
		Slots: p.cluster.Slots, Weight: weight, Takeover: true, Store: p.store, Registry: p.registry,
		Joins:   &rpc.JoinServer{CA: p.authority, VerifyToken: p.verifyJoin, Logger: p.log},
		Keys:    p.keys,
		Figures: figuresOf(refusals), Logger: p.log, SuperviseEvery: superviseEvery, Retention: p.retention, PlanAhead: p.planning.PlanAhead,
		FiresEach: p.planning.KeepFires, FiresKept: time.Duration(p.planning.KeepFireDays) * 24 * time.Hour, Secrets: p.key, Egress: p.egress,
	})
	if err := p.serveRPC(registry.Master, listener, refusals, func(s *grpc.Server) { rpc.RegisterMasterServer(s, m) }); err != nil {
		_ = listener.Close()
		return err
	}
	p.serves(advertise, &rpc.Master_ServiceDesc, m)
	p.run("master", runStop, m.Run)
	return nil
}

// verifyJoin uses a join token up and tells which role it is for.
func (p *parts) verifyJoin(ctx context.Context, token string) (string, error) {
	_, err := rpc.ParseToken(token)
	if err != nil {
		return "", err
	}
	taken, err := p.store.TakeJoinToken(ctx, joinTokenHash(token), dag.MillisOf(time.Now()))
	if errors.Is(err, sql.ErrNotFound) {
		return "", fmt.Errorf("%w: unknown, expired or used up", rpc.ErrToken)
	}
	return taken.Role, err
}

// joinTokenHash is what the database knows a join token by: the hash of its secret part.
func joinTokenHash(token string) string {
	sum := sha256.Sum256([]byte(token[strings.LastIndexByte(token, '.')+1:]))
	return hex.EncodeToString(sum[:])
}

// advertised is the address that others are told: the wanted one, with the listener's port
// where its own is 0, or the listener's where none is wanted.
func advertised(wanted, listening string) string {
	host, port, err := net.SplitHostPort(wanted)
	if err != nil {
		return reachable(listening)
	}
	if port == "0" {
		_, port, _ = net.SplitHostPort(listening)
	}
	return net.JoinHostPort(host, port)
}

// reachable turns a listener's address into one that others can dial: an unspecified
// host becomes this machine's name.
func reachable(address string) string {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return address
	}
	if ip := net.ParseIP(host); ip == nil || !ip.IsUnspecified() {
		return address
	}
	name, err := os.Hostname()
	if err != nil {
		return address
	}
	return net.JoinHostPort(name, port)
}

// startAPI builds the API. The server serves nothing until startHTTP.
func (p *parts) startAPI(ctx context.Context, w web, listen, advertise string) (*apiserver.Server, error) {
	certificate, err := p.authority.NewCertificate(registry.APIServer, p.node)
	if err != nil {
		return nil, err
	}
	logServer := logs.New(logs.Config{
		Peer: func(ctx context.Context) (string, error) {
			id, err := rpc.Peer(ctx)
			return id.Node, err
		},
		Logger: p.log,
	})
	listener, err := listenRPC(ctx, listen)
	if err != nil {
		return nil, err
	}
	refusals := &rpc.Refusals{}
	if err := p.serveRPC(registry.APIServer, listener, refusals, func(s *grpc.Server) { rpc.RegisterLogsServer(s, logServer) }); err != nil {
		_ = listener.Close()
		return nil, err
	}
	advertise = advertised(advertise, listener.Addr().String())
	p.serves(advertise, &rpc.Logs_ServiceDesc, logServer)
	watcher := watch.New(watch.Config{Masters: masters{p.registry}, Dial: p.dialer(certificate, registry.Master), Logger: p.log})
	p.run("watcher", runStop, watcher.Run)
	cluster := newMembers(p.registry, p.cluster.Slots, p.authority.Hash())
	p.run("members", runStop, cluster.Run)
	console, err := ui.Handler(w.BasePath)
	if err != nil {
		return nil, err
	}
	api, err := apiserver.New(apiserver.Config{
		Store: p.store, Logs: logServer, Hints: watcher, Events: watcher, Cluster: cluster, Workers: workers{p.registry, logServer},
		Masters: watcher, Keys: p.keys, Node: p.node, Refusals: refusals, Logger: p.log, Secrets: p.key, Egress: p.egress,
		BasePath: w.BasePath, Console: console, SecureCookies: w.SecureCookies, TrustProxy: w.TrustProxy, Version: version(), Made: p.made,
		LeastInterval: p.frequency.LeastInterval, SurgeStarts: p.surges.SurgeStarts,
		SetUp: p.dropPassword, Balancer: cluster, Leases: apiserver.Leases{Master: master.DefaultTTL, Worker: lease.Length},
		Settings: p.settings, Demo: p.demonstrated(),
	})
	if err != nil {
		return nil, err
	}
	p.run("apiserver", runStop, api.Run)
	self := p.member(registry.APIServer)
	self.Address = advertise
	p.run("apiserver membership", runStop, func(ctx context.Context) error { return keepMember(ctx, p.registry, self, p.log) })
	return api, nil
}

func (p *parts) member(role registry.Role) registry.Member {
	return registry.Member{
		Role: role, Node: p.node, Incarnation: p.incarnation, Version: version(),
		StartedAt: time.Now().UnixMilli(), Takeover: true,
	}
}

// listenHTTP takes the port, before anything else is touched.
func listenHTTP(ctx context.Context, w web) (net.Listener, error) {
	if w.TLSCert != "" {
		if _, err := loadPair("tls-key", w.TLSCert, w.TLSKey); err != nil {
			return nil, &failure{code: exitUsage, err: err}
		}
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", w.HTTP)
	if err != nil {
		return nil, fmt.Errorf("%w; give --http another address", err)
	}
	return listener, nil
}

// startHTTP serves the API and the console on a port that is taken already.
func (p *parts) startHTTP(listener net.Listener, w web, api *apiserver.Server) error {
	if err := p.waiting.end(); err != nil {
		return fmt.Errorf("http: %w", err)
	}
	base, endStreams := context.WithCancel(context.Background())
	server := apiserver.NewHTTPServer(api.Handler(), apiserver.HTTPConfig{Address: w.HTTP, Base: base})
	server.ErrorLog = p.log.Named("http").StandardLogger(&hclog.StandardLoggerOptions{ForceLevel: hclog.Debug})
	p.run("http", httpStop+time.Second, func(ctx context.Context) error {
		served := make(chan error, 1)
		go func() {
			if w.TLSCert != "" {
				served <- server.ServeTLS(listener, w.TLSCert, w.TLSKey)
				return
			}
			served <- server.Serve(listener)
		}()
		select {
		case err := <-served:
			endStreams()
			return err
		case <-ctx.Done():
		}
		endStreams()
		down, cancel := context.WithTimeout(context.WithoutCancel(ctx), httpStop)
		defer cancel()
		err := server.Shutdown(down)
		if errors.Is(err, context.DeadlineExceeded) {
			err = server.Close()
		}
		if served := <-served; err == nil && !errors.Is(served, http.ErrServerClosed) {
			err = served
		}
		return err
	})
	return nil
}

// work is what a worker is told beside who it is.
type work struct {
	groups    []string
	labels    dag.Labels
	slots     int
	drainFor  time.Duration
	keepTasks bool
	heartbeat heartbeat.Settings
	// leases says that others might run the tasks again: where this process is the only master, too,
	// tasks live on for as long as nobody is there to start them anew.
	leases      bool
	certificate *rpc.Certificate
}

// startWorker runs a worker and keeps it registered.
func (p *parts) startWorker(w work) error {
	exe, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find the runner's program: %w", err)
	}
	runner.Shield()
	dir := p.data.file(workerDir)
	self := p.member(registry.Worker)
	self.Groups, self.Labels, self.Slots = w.groups, w.labels, w.slots
	place := &membership{reg: p.registry, log: p.log, member: self}
	wk, err := worker.New(worker.Config{
		Node: p.node, Incarnation: p.incarnation, Predecessor: p.predecessor,
		Groups: w.groups, Labels: w.labels, Slots: w.slots, DataDir: dir, Version: version(),
		Masters: peers{p.registry, registry.Master}, Apiservers: peers{p.registry, registry.APIServer},
		Dial:   p.dialer(w.certificate, registry.Master, registry.APIServer),
		Runner: []string{exe, "runner", "--data", dir}, RunnerEnv: append(taskEnvironment(os.Environ()), failpoint.Environment()...),
		DrainFor: w.drainFor, KeepTasks: w.keepTasks, Heartbeat: w.heartbeat, Leases: w.leases, Membership: place, Logger: p.log,
	})
	if err != nil {
		return err
	}
	// The membership outlives the drain: until it is over, the tasks have a worker.
	p.run("worker membership", runStop, func(ctx context.Context) error { return place.Run(ctx, wk.Ready()) })
	p.run("wishes", runStop, func(ctx context.Context) error { return place.obey(ctx, wk) })
	p.run("worker", w.drainFor+drainSlack, wk.Run)
	return nil
}

// taskEnvironment is what tasks inherit: this process's environment without what
// configures Porpoise, which may hold passwords, and without what systemd means for
// this process alone.
func taskEnvironment(environ []string) []string {
	var kept []string
	for _, pair := range environ {
		name, _, _ := strings.Cut(pair, "=")
		if strings.HasPrefix(name, envPrefix) || name == "NOTIFY_SOCKET" || name == "INVOCATION_ID" || strings.HasPrefix(name, "LISTEN_") {
			continue
		}
		kept = append(kept, pair)
	}
	return kept
}

// bootstrap makes the first admin and keeps his secrets in the data folder; a later
// call only makes a sign-in link where one is wanted.
func bootstrap(ctx context.Context, api *apiserver.Server, dir func(name ...string) string, link bool) (path string, first bool, err error) {
	password, token, path, err := api.Bootstrap(ctx)
	switch {
	case err == nil:
		if err := writeSecret(dir(adminPasswordFile), password); err != nil {
			return "", true, err
		}
		return path, true, writeSecret(dir(adminTokenFile), token)
	case !errors.Is(err, apiserver.ErrBootstrapped):
		return "", false, err
	case !link:
		return "", false, nil
	}
	path, err = api.AdminLink(ctx)
	if errors.Is(err, sql.ErrNotFound) {
		return "", false, nil // no admin is enabled: the link is a comfort only
	}
	return path, false, err
}

// dropPassword deletes the file of a password that signs nobody in any more.
func (p *parts) dropPassword() {
	if err := os.Remove(p.data.file(adminPasswordFile)); err != nil && !isMissing(err) {
		p.log.Warn("the first password's file stays, though it is of no use", "error", err)
	}
}

// isMissing says that a file is not there.
func isMissing(err error) bool { return errors.Is(err, fs.ErrNotExist) }
