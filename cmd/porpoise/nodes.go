package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/porpoise/porpoise/apiserver"
	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/internal/rpc"
	"github.com/porpoise/porpoise/registry"
	"github.com/porpoise/porpoise/sql"
)

// openShared opens the database that the cluster's masters and apiservers share, and waits for it. Its
// schema must be there: only migrate makes it.
func (p *parts) openShared(ctx context.Context, db database) error {
	err := p.await(ctx, "the database", func(ctx context.Context) error { return p.tryShared(ctx, db) })
	if err != nil {
		return err
	}
	p.closing("database", p.store.Close)
	return nil
}

// tryShared leaves the store open only where it returns nil.
func (p *parts) tryShared(ctx context.Context, db database) error {
	ctx, cancel := context.WithTimeout(ctx, awaitTry)
	defer cancel()
	store, err := sql.Open(ctx, sql.Config{DSN: db.Database, Logger: p.log})
	if err != nil {
		return err
	}
	p.store = store
	if err = p.readShared(ctx, db); err != nil {
		_ = store.Close() // what was wrong with it says more
	}
	return err
}

func (p *parts) readShared(ctx context.Context, db database) error {
	if err := p.store.CheckSchema(ctx); err != nil {
		return err
	}
	key := db.ClusterKey
	if key == "" {
		key = p.data.file(clusterKeyFile)
	}
	// A cluster without secrets does well without their keys.
	p.keys = rpc.NewKeyring(cmp.Or(db.SecretKeyFile, p.data.file(secretKeyFile)))
	return p.openCluster(ctx, key)
}

func runMaster(ctx context.Context, _ *cli, cfg *masterConfig) error {
	return serve(ctx, cfg.logging, "porpoise", func(ctx context.Context, p *parts) error {
		if err := p.identify(cfg.Data, cfg.Node, "master"); err != nil {
			return err
		}
		if err := p.openShared(ctx, cfg.database); err != nil {
			return err
		}
		// The registry of a standalone node lets masters in by a certificate, too.
		own, err := p.authority.NewCertificate(registry.Master, p.node)
		if err != nil {
			return err
		}
		if err := p.dialEtcd(ctx, cfg.etcdAccess, p.cluster.ID, own); err != nil {
			return err
		}
		if err := p.bind(ctx, true); err != nil {
			return err
		}
		p.egress, p.retention, p.planning = cfg.rule(), cfg.retention(), cfg.planning
		if err := p.startMaster(ctx, cfg.RPC, cfg.Advertise, cfg.Weight, cfg.SuperviseEvery); err != nil {
			return err
		}
		p.log.Info("master is ready", "node", p.node, "incarnation", p.incarnation)
		return nil
	})
}

func runAPIServer(ctx context.Context, c *cli, cfg *apiserverConfig) error {
	return serve(ctx, cfg.logging, "porpoise", func(ctx context.Context, p *parts) error {
		listener, err := listenHTTP(ctx, cfg.web)
		if err != nil {
			return err
		}
		p.closing("http port", func() error { _ = listener.Close(); return nil }) // closed by its server already
		if err := p.identify(cfg.Data, cfg.Node, "apiserver"); err != nil {
			return err
		}
		if err := p.serveWaiting(listener, cfg.web); err != nil {
			return err
		}
		if err := p.openShared(ctx, cfg.database); err != nil {
			return err
		}
		if err := p.dialEtcd(ctx, cfg.etcdAccess, p.cluster.ID, nil); err != nil {
			return err
		}
		if err := p.bind(ctx, false); err != nil {
			return err
		}
		p.egress, p.frequency, p.surges, p.settings = cfg.rule(), cfg.frequency, cfg.surges, c.settings
		kind, _, _ := strings.Cut(cfg.Database, ":")
		p.made = apiserver.Made{Mode: "cluster", Database: kind, Registry: "etcd", ClusterID: p.cluster.ID}
		api, err := p.startAPI(ctx, cfg.web, cfg.RPC, cfg.Advertise)
		if err != nil {
			return err
		}
		if err := p.startHTTP(listener, cfg.web, api); err != nil {
			return err
		}
		p.log.Info("apiserver is ready", "node", p.node, "address", listener.Addr().String())
		return nil
	})
}

func runWorker(ctx context.Context, _ *cli, cfg *workerConfig) error {
	labels, wrong := labelsOf(cfg.Labels)
	if len(wrong) > 0 {
		return errors.Join(wrong...)
	}
	return serve(ctx, cfg.logging, "porpoise", func(ctx context.Context, p *parts) error {
		if err := p.identify(cfg.Data, cfg.Node, "worker"); err != nil {
			return err
		}
		certificate, err := p.join(ctx, cfg)
		if err != nil {
			return err
		}
		if err := p.dialEtcd(ctx, cfg.etcdAccess, certificate.Identity.Cluster, certificate); err != nil {
			return err
		}
		err = p.startWorker(work{
			groups: cfg.Groups, labels: labels, slots: cfg.Slots, drainFor: cfg.DrainFor, keepTasks: cfg.KeepTasks,
			heartbeat: cfg.settings(), leases: true, certificate: certificate,
		})
		if err != nil {
			return err
		}
		p.log.Info("worker is ready", "node", p.node, "incarnation", p.incarnation, "slots", cfg.Slots)
		return nil
	})
}

const (
	// joinFirst to joinMost is the pause between two rounds over the masters of a worker
	// that waits to join: the cluster may be starting, too.
	joinFirst = 200 * time.Millisecond
	joinMost  = 5 * time.Second
	// joinTimeout bounds one try.
	joinTimeout = 10 * time.Second
)

// join returns the node's certificate: that of its data folder, or a new one by a token.
func (p *parts) join(ctx context.Context, cfg *workerConfig) (*rpc.Certificate, error) {
	dir := p.data.file(certificateDir)
	kept, err := rpc.LoadCertificate(dir)
	if err == nil && !kept.Due(time.Now()) {
		return kept, nil
	}
	if err != nil && !isMissing(err) {
		p.log.Warn("kept certificate is of no use, joining again", "error", err)
	}
	token := cfg.JoinToken
	if cfg.JoinTokenFile != "" {
		if token, err = readSecret(cfg.JoinTokenFile); err != nil {
			return nil, &failure{code: exitUsage, err: fmt.Errorf("join-token-file: %w", err)}
		}
	}
	if token == "" || len(cfg.Masters) == 0 {
		if kept != nil {
			p.log.Warn("certificate ends soon, and no join token is given", "not_after", kept.NotAfter)
			return kept, nil
		}
		return nil, &failure{code: exitUsage, err: fmt.Errorf("join-token, masters: this node has no certificate yet: make a token by porpoise token join worker, and name a master")}
	}
	certificate, err := p.joinAny(ctx, cfg.Masters, strings.TrimSpace(token))
	if err != nil {
		return nil, err
	}
	return certificate, certificate.Save(dir)
}

// joinAny asks one master after another until one answers.
func (p *parts) joinAny(ctx context.Context, addresses []string, token string) (*rpc.Certificate, error) {
	wait := joinFirst
	for {
		var last error
		for _, address := range addresses {
			try, cancel := context.WithTimeout(ctx, joinTimeout)
			certificate, err := rpc.Join(try, address, token, p.node, registry.Worker)
			cancel()
			if err == nil {
				return certificate, nil
			}
			last = err
			if !temporary(err) {
				return nil, err
			}
		}
		p.log.Warn("no master lets this node in yet", "error", last)
		pause(ctx, wait)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		wait = min(2*wait, joinMost)
	}
}

// temporary says that a master was not there, or could not look: another try may help.
// A refused token stays refused.
func temporary(err error) bool {
	switch status.Code(err) {
	case codes.Unavailable, codes.DeadlineExceeded, codes.ResourceExhausted, codes.Aborted:
		return true
	default:
		return errors.Is(err, context.DeadlineExceeded)
	}
}

func runMigrate(ctx context.Context, c *cli, cfg *migrateConfig) error {
	return serveOnce(ctx, cfg.logging, func(ctx context.Context, p *parts) error {
		data, err := openData(cfg.Data)
		if err != nil {
			return err
		}
		p.data = data
		p.closing("data folder", data.Close)
		if err := p.openStore(ctx, sql.Config{DSN: cfg.Database, Slots: cfg.ClusterSlots}); err != nil {
			return err
		}
		if err := p.store.Migrate(ctx); err != nil {
			return err
		}
		key := cfg.ClusterKey
		if key == "" {
			key = data.file(clusterKeyFile)
		}
		if err := p.openCluster(ctx, key); err != nil {
			return err
		}
		if p.keys, err = rpc.EnsureKeyring(cmp.Or(cfg.SecretKeyFile, data.file(secretKeyFile))); err != nil {
			return err
		}
		api, err := apiserver.New(apiserver.Config{Store: p.store, Cluster: newMembers(nil, p.cluster.Slots, p.authority.Hash()), Logger: p.log, Version: version()})
		if err != nil {
			return err
		}
		_, first, err := bootstrap(ctx, api, data.file, false)
		if err != nil {
			return fmt.Errorf("make the first admin: %w", err)
		}
		if cfg.WorkerToken != "" {
			if err := p.workerToken(ctx, cfg.WorkerToken); err != nil {
				return err
			}
		}
		fmt.Fprintf(c.out, "cluster %s has its schema, with %d slots\n", p.cluster.ID, p.cluster.Slots)
		if first {
			fmt.Fprintf(c.out, "the admin's password and token are in %s and %s\n", data.file(adminPasswordFile), data.file(adminTokenFile))
		}
		return nil
	})
}

const (
	// workerTokenLife and workerTokenUses bound the token that migrate writes: a first
	// start of a whole cluster, not a door that stays open.
	workerTokenLife = 24 * time.Hour
	workerTokenUses = 100
)

// workerToken writes a join token for workers to a file.
func (p *parts) workerToken(ctx context.Context, path string) error {
	token := p.authority.NewToken().Text()
	now := time.Now()
	_, err := p.store.CreateJoinToken(ctx, sql.JoinToken{
		Hash: joinTokenHash(token), Role: string(registry.Worker), CreatedBy: "porpoise migrate",
		CreatedAt: dag.MillisOf(now), ExpiresAt: dag.MillisOf(now.Add(workerTokenLife)), UsesLeft: workerTokenUses,
	})
	if err != nil {
		return err
	}
	return writeSecret(path, token)
}

// serveOnce is serve for what ends by itself.
func serveOnce(ctx context.Context, log logging, do func(ctx context.Context, p *parts) error) error {
	ctx, stop := interruptible(ctx)
	defer stop()
	p := &parts{app: newApp(log.logger("porpoise"))}
	err := do(ctx, p)
	if down := p.stop(nil); err == nil {
		err = down
	}
	return err
}
