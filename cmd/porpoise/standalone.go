package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/porpoise/porpoise/apiserver"
	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/examples"
	"github.com/porpoise/porpoise/internal/rpc"
	"github.com/porpoise/porpoise/registry"
	"github.com/porpoise/porpoise/registry/etcd"
	"github.com/porpoise/porpoise/sql"
)

// examplesProject is where a new node keeps what it shows at the first look.
const examplesProject = "examples"

// product is whose name stands on what nobody has asked for.
const product = "porpoise"

// serve builds a process by up, waits for a signal or a part that breaks, and takes
// everything down again. Signals are taken from the first moment, so that Ctrl-C during
// the start is as clean as later.
func serve(ctx context.Context, log logging, name string, up func(ctx context.Context, p *parts) error) error {
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)
	p := &parts{app: newApp(log.logger(name))}
	p.app.tuneCollector()
	starting, cancel := context.WithCancel(ctx)
	defer cancel()
	started := make(chan error, 1)
	go func() {
		err := p.servePprof(starting, log.Pprof)
		if err == nil {
			err = up(starting, p)
		}
		if err == nil && p.data != nil {
			err = p.data.serves()
		}
		started <- err
	}()
	var err error
	select {
	case err = <-started:
		if err == nil {
			err = p.wait(signals)
		}
	case <-signals:
		cancel()
		if err = <-started; err != nil { // all that had come up in the end goes as it would later
			err = &failure{code: exitInterrupted, err: context.Canceled}
		}
	}
	err = errors.Join(err, p.stop(signals))
	p.log.Info("stopped")
	return err
}

func runStandalone(ctx context.Context, c *cli, cfg *standaloneConfig) error {
	return serve(ctx, cfg.logging, "porpoise", func(ctx context.Context, p *parts) error {
		listener, err := listenHTTP(ctx, cfg.web)
		if err != nil {
			return err
		}
		p.closing("http port", func() error { _ = listener.Close(); return nil }) // closed by its server already
		if err := p.identify(cfg.Data, "", "node"); err != nil {
			return err
		}
		etcdAddress, err := p.openAlone(ctx, cfg)
		if err != nil {
			return err
		}
		if err := p.bind(ctx, true); err != nil {
			return err
		}
		p.settings = c.settings
		if cfg.Demo {
			p.processes = newProcesses()
		}
		p.egress, p.retention, p.planning, p.frequency = cfg.rule(), cfg.retention(), cfg.planning, cfg.frequency
		p.surges = cfg.surges
		if !cfg.Demo {
			if err := p.startMaster(ctx, cfg.RPC, cfg.Advertise, 1, 0); err != nil {
				return err
			}
		}
		p.made = apiserver.Made{Mode: "standalone", Database: "sqlite", Registry: "etcd, embedded", ClusterID: p.cluster.ID}
		api, err := p.startAPI(ctx, cfg.web, anyPort(cfg.RPC), anyPort(cfg.Advertise))
		if err != nil {
			return err
		}
		link, first, err := bootstrap(ctx, api, p.data.file, true)
		if err != nil {
			return fmt.Errorf("make the first admin: %w", err)
		}
		var shown []sql.Start
		if first && cfg.Examples {
			if shown, err = p.addExamples(ctx); err != nil {
				return err
			}
		}
		processes, err := p.startWork(cfg, etcdAddress)
		if err != nil {
			return err
		}
		if err := p.startHTTP(listener, cfg.web, api); err != nil {
			return err
		}
		// Last of all: what a person waits for is the page, and the first work of his own.
		if err := p.runExamples(ctx, shown); err != nil {
			return err
		}
		note := ""
		if processes != nil {
			if note, err = processes.ready(ctx); err != nil {
				return err
			}
		}
		return greet(c, cfg, listener, welcome{link: link, processes: note, data: p.data})
	})
}

// startWork starts what runs tasks: a worker in this process, or the processes of a demo.
func (p *parts) startWork(cfg *standaloneConfig, etcdAddress string) (*demo, error) {
	if cfg.Demo {
		return p.upDemo(cfg, etcdAddress)
	}
	certificate, err := p.authority.NewCertificate(registry.Worker, p.node)
	if err != nil {
		return nil, err
	}
	return nil, p.startWorker(work{groups: []string{"default"}, slots: cfg.Slots, drainFor: cfg.DrainFor, heartbeat: cfg.settings(), certificate: certificate})
}

// anyPort is another port of the same host, for the second gRPC server of the process.
func anyPort(address string) string {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return ""
	}
	return net.JoinHostPort(host, "0")
}

// openAlone opens what a cluster has elsewhere: the database and the registry, both in
// the data folder. They don't depend on each other, so they start at the same time; only
// a registry that others may join waits for the authority that lets them in. The address is where those
// find it, "" for nowhere.
func (p *parts) openAlone(ctx context.Context, cfg *standaloneConfig) (etcdAddress string, err error) {
	type started struct {
		embedded *etcd.Embedded
		err      error
	}
	embedding := etcd.EmbedConfig{Dir: p.data.file(etcdDir), Listen: cfg.EtcdListen, Logger: p.log}
	if cfg.Demo && embedding.Listen == "" {
		embedding.Listen = "127.0.0.1:0"
	}
	ready := make(chan started, 1)
	embed := func() {
		e, err := etcd.Embed(ctx, embedding)
		ready <- started{e, err}
	}
	if embedding.Listen == "" {
		go embed()
	}
	err = p.openOwnStore(ctx, cfg)
	if embedding.Listen != "" {
		if err != nil {
			return "", err
		}
		certificate, err := p.authority.NewCertificate(registry.Master, p.node)
		if err != nil {
			return "", err
		}
		embedding.TLS = certificate.StrictServerTLS()
		go embed()
	}
	etcd := <-ready
	if etcd.err != nil {
		return "", errors.Join(err, etcd.err)
	}
	p.closing("etcd", etcd.embedded.Close)
	if err != nil {
		return "", err
	}
	return etcd.embedded.Addr(), p.useEtcd(etcd.embedded.Client(), p.cluster.ID)
}

// openOwnStore opens the database in the data folder and the authority in it.
func (p *parts) openOwnStore(ctx context.Context, cfg *standaloneConfig) error {
	if err := p.openStore(ctx, sql.Config{DSN: "sqlite:" + p.data.file(databaseFile), Relaxed: cfg.Relaxed}); err != nil {
		return err
	}
	if err := p.store.Migrate(ctx); err != nil {
		return err
	}
	var err error
	if p.keys, err = rpc.EnsureKeyring(p.data.file(secretKeyFile)); err != nil {
		return err
	}
	return p.openCluster(ctx, p.data.file(clusterKeyFile))
}

// addExamples fills the first screen of a new node, and returns what is to be run once.
func (p *parts) addExamples(ctx context.Context) ([]sql.Start, error) {
	project, err := p.store.CreateProject(ctx, sql.Project{Name: examplesProject, Description: "Small workflows to start and to change."})
	if errors.Is(err, sql.ErrExists) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("make the examples: %w", err)
	}
	var shown []sql.Start
	for _, e := range examples.All() {
		def, wrong := dag.Parse(e.Text, "yaml")
		if len(wrong) > 0 {
			return nil, fmt.Errorf("example %s: %w", e.File, &fieldErrors{fields: wrong})
		}
		w, v, _, err := p.store.SaveVersion(ctx, sql.SaveVersion{
			ProjectID: project.ID, Name: def.Name, Description: def.Description, Text: string(e.Text), Format: "yaml", By: product, Publish: true,
		})
		if err != nil {
			return nil, fmt.Errorf("save example %s: %w", def.Name, err)
		}
		if err := p.addGroups(ctx, project.ID, def); err != nil {
			return nil, err
		}
		if e.Run {
			shown = append(shown, sql.Start{WorkflowID: w.ID, ProjectID: project.ID, Version: v.Version, OnFailure: def.OnFailure, By: product})
		}
	}
	return shown, nil
}

// exampleGroup is how many places a task group of the examples has: a few at a time.
const exampleGroup = 4

// addGroups makes the task groups that an example names, without which its tasks would wait for ever.
func (p *parts) addGroups(ctx context.Context, project int64, def *dag.Definition) error {
	for i := range def.Tasks {
		name := def.Tasks[i].TaskGroup.Name
		if name == "" {
			continue
		}
		if _, _, err := p.store.PutTaskGroup(ctx, sql.TaskGroup{ProjectID: project, Name: name, Size: exampleGroup}); err != nil {
			return fmt.Errorf("make the task group %s of example %s: %w", name, def.Name, err)
		}
	}
	return nil
}

// runExamples starts what a person then finds done, by the way that every start takes: a row
// that a master takes and a worker runs. Nothing is made up, and no later start does it again.
func (p *parts) runExamples(ctx context.Context, shown []sql.Start) error {
	for _, start := range shown {
		start.At = dag.MillisOf(time.Now())
		if _, _, err := p.store.Start(ctx, start); err != nil {
			return fmt.Errorf("run an example: %w", err)
		}
	}
	return nil
}

// welcome is what a person is told at the start; without a link or processes their text is "".
type welcome struct {
	link, processes string
	data            *dataDir
}

// greet says where everything is.
func greet(c *cli, cfg *standaloneConfig, listener net.Listener, w welcome) error {
	scheme := "http"
	if cfg.TLSCert != "" {
		scheme = "https"
	}
	url := scheme + "://" + reachable(listener.Addr().String())
	lines := "Porpoise is ready: " + url + cfg.BasePath + "\n"
	if w.link != "" {
		lines += "Sign in, once and within 15 minutes: " + url + w.link + "\n"
	}
	if _, err := os.Stat(w.data.file(adminPasswordFile)); err == nil {
		lines += "Admin's password and token: " + w.data.file(adminPasswordFile) + ", " + w.data.file(adminTokenFile) + "\n"
	} else {
		lines += "Admin's token: " + w.data.file(adminTokenFile) + "\n"
	}
	lines += w.processes + "Ctrl-C stops; a second one at once.\n"
	_, err := fmt.Fprint(c.out, lines)
	return err
}

var _ apiserver.Cluster = (*members)(nil)
