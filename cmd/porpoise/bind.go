package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/porpoise/porpoise/registry/binding"
	"github.com/porpoise/porpoise/sql"
)

// boundRows is the store as the binding asks for it.
type boundRows struct {
	store *sql.Store
	by    string
}

// Registry is what the database says of the registry.
func (r boundRows) Registry(ctx context.Context) (binding.Row, error) {
	row, err := r.store.Registry(ctx)
	return binding.Row{ID: row.ID, Beat: row.Beat}, err
}

// Bind gives the database to another registry.
func (r boundRows) Bind(ctx context.Context, from, to string) error {
	return moved(r.store.BindRegistry(ctx, from, to, r.by))
}

// Beat shows that this process lives.
func (r boundRows) Beat(ctx context.Context, id string) error {
	return moved(r.store.BeatRegistry(ctx, id))
}

func moved(err error) error {
	if errors.Is(err, sql.ErrStale) {
		return fmt.Errorf("%w: %w", binding.ErrMoved, err)
	}
	return err
}

// bind makes sure that this process's registry and its database belong together, and keeps them so. A
// process that can serve without the registry does not wait for it: then the check follows.
func (p *parts) bind(ctx context.Context, wait bool) error {
	b := binding.New(binding.Config{Registry: p.registry, Rows: boundRows{p.store, p.node}, Logger: p.log})
	var err error
	if wait {
		err = p.await(ctx, "the registry", b.Check)
	} else {
		p.waiting.say("it asks the registry")
		err = b.Check(ctx)
	}
	if !wait && passing(err) {
		p.log.Warn("the registry does not answer yet; this process serves without it", "error", err)
		err = nil
	}
	if err != nil {
		return p.foreign(err)
	}
	p.run("registry binding", runStop, func(ctx context.Context) error { return p.foreign(b.Run(ctx)) })
	return nil
}

// foreign says what to do about a registry that is not the database's.
func (p *parts) foreign(err error) error {
	if !errors.Is(err, binding.ErrForeign) {
		return err
	}
	return fmt.Errorf("%w; give this process the registry of its cluster, or, where the cluster is to move to this one, "+
		"stop all its processes and run porpoise forget-registry", err)
}

func (c *cli) forgetRegistryCommand() *cobra.Command {
	cfg := &storeConfig{Data: "./porpoise-data"}
	cmd := &cobra.Command{
		Use:   "forget-registry",
		Short: "Let the cluster's database go with another registry (etcd) from the next start on",
		Long: "A database belongs to one registry, and processes that come with another one do not start. This verb makes the database forget its own: the next process to start " +
			"says which it is. Every process of the cluster must be stopped; it looks for eight seconds whether one lives.",
		Args:    cobra.NoArgs,
		GroupID: "role",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.storeOf(cmd, cfg, func(ctx context.Context, p *parts) error { return c.forgetRegistry(ctx, p, cfg) })
		},
	}
	register(cmd.Flags(), cfg)
	return cmd
}

func (c *cli) forgetRegistry(ctx context.Context, p *parts, cfg *storeConfig) error {
	dsn, err := cfg.there()
	if err != nil {
		return err
	}
	if err := p.openStore(ctx, sql.Config{DSN: dsn}); err != nil {
		return err
	}
	if err := p.store.CheckSchema(ctx); err != nil {
		return err
	}
	rows := boundRows{p.store, "porpoise forget-registry"}
	alive, err := binding.Alive(ctx, rows)
	if err != nil {
		return err
	}
	if alive {
		return &failure{code: exitRefused, err: errors.New("processes of the cluster live: stop all masters and apiservers first")}
	}
	row, err := rows.Registry(ctx)
	if err != nil {
		return err
	}
	if row.ID == "" {
		_, err = fmt.Fprintln(c.out, "the database belongs to no registry")
		return err
	}
	if err := rows.Bind(ctx, row.ID, ""); err != nil {
		return err
	}
	_, err = fmt.Fprintf(c.out, "the database has forgotten registry %s: the next process to start says which it is\n", row.ID)
	return err
}

// there is the database that must be there already.
func (s *storeConfig) there() (dsn string, err error) {
	if s.Database != "" {
		return s.Database, nil
	}
	path := (&dataDir{path: s.Data}).file(databaseFile)
	if _, err := os.Stat(path); err != nil {
		return "", usagef("data: %w; name a standalone node's folder by --data, or a database by --database", err)
	}
	return "sqlite:" + path, nil
}

var _ binding.Rows = boundRows{}
